"""The schema version of a database, and the check whether this program may use it."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, select, text

from maintainer.adapters.store.schema import COMPATIBLE_FROM_KEY, VERSION_TABLE, store_info
from maintainer.domain.errors import StoreUnavailableError

MIGRATIONS = Path(__file__).parent / "migrations"


def is_usable(connection: Connection, place: str) -> bool:
    """Return whether this version can use the schema without a migration.

    This check does not import Alembic, which is slow. A newer schema names the oldest schema whose
    version may use it. StoreUnavailableError if this version's schema is older, or if the database
    has a schema that was never released.
    """
    if not inspect(connection).has_table(VERSION_TABLE):
        return False
    revision = read_revision(connection)
    if revision is None:
        return False
    if revision < min(_revisions()):
        raise StoreUnavailableError(
            f"store {place} has schema {revision}, which was never released and cannot be "
            "migrated: start with a new store"
        )
    if revision > newest():
        _refuse_incompatible(connection, revision, place)
    return revision >= newest()


def read_revision(connection: Connection) -> str | None:
    """Return the revision of a database; its table of versions must exist."""
    query = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a constant
    return connection.execute(query).scalar()


def newest() -> str:
    return max(_revisions())


def _revisions() -> list[str]:
    """Return all revisions, unsorted. The file of a revision has its name: `r0003_initial.py`."""
    return [path.name[1:5] for path in (MIGRATIONS / "versions").glob("r*.py")]


def _refuse_incompatible(connection: Connection, revision: str, place: str) -> None:
    query = select(store_info.c.value).where(store_info.c.key == COMPATIBLE_FROM_KEY)
    oldest = connection.execute(query).scalar()
    if oldest is None or oldest > newest():
        needed = f"a version with schema {oldest or revision} or newer"
        raise StoreUnavailableError(
            f"store {place} has schema {revision}, which needs {needed}; this version has "
            f"{newest()}: start a newer version, or restore the backup from before the upgrade"
        )
