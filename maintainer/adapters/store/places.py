"""Where tables lie: an entry of the store's facts for each directory, table and name, never taken away, so that a dropped table's place is remembered."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, and_, or_, select

from maintainer.adapters.store.database import MAX_SQL_VARIABLES, Database
from maintainer.adapters.store.schema import store_info, tables
from maintainer.domain.health import TableHealth
from maintainer.domain.place import Place, ancestors_of, paths_of

_SIGN = "place\t"
_AFTER_TAB = "\n"  # the next character
_LAST = "\U0010ffff"


def record_places(database: Database, connection: Connection, health: TableHealth) -> None:
    """Remember every directory that the table writes to now."""
    for path in paths_of(health.location, health.properties):
        connection.execute(database.insert_unless_present(store_info, {"key": f"{_SIGN}{path}\t{health.table_uuid}\t{health.table}", "value": ""}))


def read_places_near(connection: Connection, paths: Sequence[str]) -> Sequence[Place]:
    """By ranges of the one index: what lies in each path, and what each of its ancestors is."""
    key = store_info.c.key
    ranges = []
    for path in paths:
        ranges.append(and_(key >= f"{_SIGN}{path}", key < f"{_SIGN}{path}{_LAST}"))
        ranges += [and_(key >= f"{_SIGN}{wider}\t", key < f"{_SIGN}{wider}{_AFTER_TAB}") for wider in ancestors_of(path)[:-1]]
    if not ranges:
        return ()
    found = [stored.split("\t", 3)[1:] for stored in connection.execute(select(key).where(or_(*ranges)).order_by(key)).scalars()]
    known: set[tuple[str, str]] = set()
    names = sorted({name for _, _, name in found})
    for start in range(0, len(names), MAX_SQL_VARIABLES):
        some = tables.c.full_name.in_(names[start : start + MAX_SQL_VARIABLES])
        known.update((row.table_uuid, row.full_name) for row in connection.execute(select(tables.c.table_uuid, tables.c.full_name).where(some)))
    return tuple(Place(path, name, uuid, (uuid, name) not in known) for path, uuid, name in found)
