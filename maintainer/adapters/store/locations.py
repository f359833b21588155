"""Locations of tables: one fact of the store for each directory, table and name.

Locations are never deleted: the location of a dropped table must stay known.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, and_, or_, select

from maintainer.adapters.store.database import MAX_SQL_VARIABLES, Database
from maintainer.adapters.store.schema import store_info, tables
from maintainer.domain.health import TableHealth
from maintainer.domain.location import TableLocation, ancestors_of

_SIGN = "location\t"
_AFTER_TAB = "\n"  # the character after a tab: the end of a range of keys
_LAST = "\U0010ffff"


def record_locations(database: Database, connection: Connection, health: TableHealth) -> None:
    """Record every directory that the table writes to now."""
    for path in health.own_paths():
        connection.execute(
            database.insert_unless_present(
                store_info,
                {"key": f"{_SIGN}{path}\t{health.table_uuid}\t{health.table}", "value": ""},
            )
        )


def record_foreign(
    database: Database, connection: Connection, locations: Sequence[TableLocation]
) -> None:
    """Record directories of other kinds of tables, and the time when they were last seen."""
    for location in locations:
        seen_at = location.seen_at.isoformat() if location.seen_at is not None else ""
        connection.execute(
            database.upsert(
                store_info, {"key": f"{_SIGN}{location.path}\t\t{location.table}", "value": seen_at}
            )
        )


def read_locations_near(connection: Connection, paths: Sequence[str]) -> Sequence[TableLocation]:
    """Read the locations at, below and above each path, by ranges of one index."""
    key = store_info.c.key
    ranges = []
    for path in paths:
        ranges.append(and_(key >= f"{_SIGN}{path}", key < f"{_SIGN}{path}{_LAST}"))
        ranges += [
            and_(key >= f"{_SIGN}{wider}\t", key < f"{_SIGN}{wider}{_AFTER_TAB}")
            for wider in ancestors_of(path)[:-1]
        ]
    if not ranges:
        return ()
    rows = connection.execute(
        select(key, store_info.c.value).where(or_(*ranges)).order_by(key)
    ).all()
    found = [(*row.key.split("\t", 3)[1:], row.value) for row in rows]
    known: set[tuple[str, str]] = set()
    names = sorted({name for _, uuid, name, _ in found if uuid})
    for start in range(0, len(names), MAX_SQL_VARIABLES):
        some = tables.c.full_name.in_(names[start : start + MAX_SQL_VARIABLES])
        known.update(
            (row.table_uuid, row.full_name)
            for row in connection.execute(
                select(tables.c.table_uuid, tables.c.full_name).where(some)
            )
        )
    return tuple(
        _make_location(path, name, uuid, seen_at, is_known=(uuid, name) in known)
        for path, uuid, name, seen_at in found
    )


def _make_location(
    path: str, name: str, uuid: str, seen_at: str, *, is_known: bool
) -> TableLocation:
    return TableLocation(
        path,
        name,
        uuid,
        bool(uuid) and not is_known,
        datetime.fromisoformat(seen_at) if seen_at else None,
    )
