"""The store on SQLAlchemy: SQLite embedded, PostgreSQL in production."""

from __future__ import annotations

from maintainer.adapters.store.sql import SqlStore, open_store

__all__ = ["SqlStore", "open_store"]
