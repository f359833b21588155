"""Small facts of the store, under keys that begin alike: costs of scans, drivers' reports, pins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.schema import store_info
from maintainer.domain.driver import SparkFacts
from maintainer.domain.pin import Pin
from maintainer.domain.scan_cost import MAX_SCAN_COSTS, ScanCost

_SCANS = "scan costs of "  # a catalog
_DRIVERS = "spark facts of "  # a pool
_SESSIONS = "ended session "  # a hash of its cookie


def read_scan_costs(connection: Connection) -> Mapping[str, Sequence[ScanCost]]:
    """Read the last scans of each catalog, newest first."""
    return {
        key.removeprefix(_SCANS): documents.read(tuple[ScanCost, ...], value)
        for key, value in _read(connection, _SCANS)
    }


def record_scan_cost(database: Database, connection: Connection, cost: ScanCost) -> None:
    """Add a scan to its catalog's list, which keeps the newest MAX_SCAN_COSTS scans."""
    key = f"{_SCANS}{cost.catalog}"
    known = connection.execute(
        select(store_info.c.value).where(store_info.c.key == key)
    ).scalar_one_or_none()
    before = documents.read_or_none(tuple[ScanCost, ...], known) or ()
    _write(database, connection, key, (cost, *before)[:MAX_SCAN_COSTS])


def read_spark_facts(connection: Connection) -> Mapping[str, SparkFacts]:
    found = [documents.read(SparkFacts, value) for _, value in _read(connection, _DRIVERS)]
    return {facts.pool: facts for facts in found}


def record_spark_facts(database: Database, connection: Connection, facts: SparkFacts) -> None:
    """Replace the facts of the pool."""
    _write(database, connection, f"{_DRIVERS}{facts.pool}", facts)


def read_pins(connection: Connection, table_uuid: str) -> Sequence[Pin]:
    """Read the table's pins, sorted by name."""
    found = _read(connection, _key_of_pin(table_uuid, ""))
    return tuple(documents.read(Pin, value) for _, value in found)


def set_pin(database: Database, connection: Connection, table_uuid: str, pin: Pin) -> None:
    """Add or replace a pin."""
    _write(database, connection, _key_of_pin(table_uuid, pin.name), pin)


def remove_pin(connection: Connection, table_uuid: str, name: str) -> bool:
    """Remove the pin; False if no pin has this name."""
    is_pin = store_info.c.key == _key_of_pin(table_uuid, name)
    return bool(connection.execute(delete(store_info).where(is_pin)).rowcount)


def end_session(
    database: Database, connection: Connection, name: str, until: datetime, now: datetime
) -> None:
    """Add an ended session, and drop those that would be over by now."""
    for key, value in list(_read(connection, _SESSIONS)):
        if documents.read(datetime, value) <= now:
            connection.execute(delete(store_info).where(store_info.c.key == key))
    _write(database, connection, f"{_SESSIONS}{name}", until)


def read_ended_sessions(connection: Connection, now: datetime) -> Sequence[str]:
    """Read the names of the ended sessions that would not be over yet."""
    return tuple(
        key.removeprefix(_SESSIONS)
        for key, value in _read(connection, _SESSIONS)
        if documents.read(datetime, value) > now
    )


def _key_of_pin(table_uuid: str, name: str) -> str:
    return f"pin {table_uuid} {name}"


def _read(connection: Connection, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield the keys that begin so and their values, by key."""
    begins_so = store_info.c.key.startswith(prefix, autoescape=True)
    for row in connection.execute(select(store_info).where(begins_so).order_by(store_info.c.key)):
        yield row.key, row.value


def _write(database: Database, connection: Connection, key: str, fact: object) -> None:
    values = {"key": key, "value": documents.write(fact)}
    connection.execute(database.upsert(store_info, values))
