"""Which schema a database has, and which one this version needs."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import inspect, text

from maintainer.adapters.store.database import Database
from maintainer.adapters.store.schema import VERSION_TABLE

MIGRATIONS = Path(__file__).parent / "migrations"


def is_current(database: Database) -> bool:
    """Say whether nothing has to be migrated, without Alembic, which is slow to import."""
    with database.read() as connection:
        if not inspect(connection).has_table(VERSION_TABLE):
            return False
        query = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a constant
        return list(connection.execute(query).scalars()) == [_newest()]


def _newest() -> str:
    """The newest revision: the file of each is named after it, `r0001_initial.py`."""
    return max(path.name[1:5] for path in (MIGRATIONS / "versions").glob("r*.py"))
