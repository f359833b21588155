"""Where tables lie: an entry of the store's facts for each directory and table, never taken away, so that a dropped table's place is remembered."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, and_, or_, select

from maintainer.adapters.store.database import Database
from maintainer.adapters.store.schema import store_info, tables
from maintainer.domain.health import TableHealth
from maintainer.domain.place import Place, ancestors_of, paths_of

_SIGN = "place\t"
_AFTER_TAB = "\n"  # the next character
_LAST = "\U0010ffff"


def record_places(database: Database, connection: Connection, health: TableHealth) -> None:
    """Remember every directory that the table writes to now."""
    for path in paths_of(health.location, health.properties):
        connection.execute(database.upsert(store_info, {"key": f"{_SIGN}{path}\t{health.table_uuid}", "value": str(health.table)}))


def read_places_near(connection: Connection, paths: Sequence[str]) -> Sequence[Place]:
    """By ranges of the one index: what lies in each path, and what each of its ancestors is."""
    key = store_info.c.key
    ranges = []
    for path in paths:
        ranges.append(and_(key >= f"{_SIGN}{path}", key < f"{_SIGN}{path}{_LAST}"))
        ranges += [and_(key >= f"{_SIGN}{wider}\t", key < f"{_SIGN}{wider}{_AFTER_TAB}") for wider in ancestors_of(path)[:-1]]
    if not ranges:
        return ()
    found = [(*row.key.split("\t")[1:], row.value) for row in connection.execute(select(key, store_info.c.value).where(or_(*ranges)).order_by(key))]
    uuids = {uuid for _, uuid, _ in found}
    known = set(connection.execute(select(tables.c.table_uuid).where(tables.c.table_uuid.in_(uuids))).scalars()) if uuids else set()
    return tuple(Place(path, name, uuid, uuid not in known) for path, uuid, name in found)
