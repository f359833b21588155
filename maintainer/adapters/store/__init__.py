"""The store on SQLAlchemy, with SQLite or PostgreSQL."""

from __future__ import annotations

from maintainer.adapters.store.sql import SqlStore, open_store
from maintainer.adapters.store.sums import MAX_AGE

__all__ = ["MAX_AGE", "SqlStore", "open_store"]
