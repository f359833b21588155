"""Pins of snapshots: facts of the store whose keys begin with the table's UUID.

Pins are few, and are read for one table at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.schema import store_info
from maintainer.domain.pin import Pin


def read_pins(connection: Connection, table_uuid: str) -> Sequence[Pin]:
    """Read the table's pins, sorted by name."""
    is_of_table = store_info.c.key.startswith(_key(table_uuid, ""), autoescape=True)
    rows = connection.execute(
        select(store_info.c.value).where(is_of_table).order_by(store_info.c.key)
    )
    return tuple(documents.read(Pin, row.value) for row in rows)


def set_pin(database: Database, connection: Connection, table_uuid: str, pin: Pin) -> None:
    connection.execute(
        database.upsert(
            store_info,
            {"key": _key(table_uuid, pin.name), "value": documents.write(pin)},
        )
    )


def remove_pin(connection: Connection, table_uuid: str, name: str) -> bool:
    """Remove the pin; False if no pin has this name."""
    return bool(
        connection.execute(
            delete(store_info).where(store_info.c.key == _key(table_uuid, name))
        ).rowcount
    )


def _key(table_uuid: str, name: str) -> str:
    return f"pin {table_uuid} {name}"
