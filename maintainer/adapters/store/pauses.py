"""Pauses of single tables.

A pause applies to the tables with its name and with its UUID, until somebody resumes the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Index,
    Table,
    Text,
    delete,
    false,
    or_,
    select,
    update,
)

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.due import want_plan
from maintainer.adapters.store.locks import lock_tables
from maintainer.adapters.store.schema import metadata, tables
from maintainer.adapters.store.types import name_type
from maintainer.domain.errors import UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.store.tables import Pause

# Pauses are not in `tables`: a listing without the table deletes its row there. The row has a copy
# of the pause, for lists and sums.
pauses = Table(
    "pauses",
    metadata,
    Column("full_name", name_type(), primary_key=True),
    Column("levels", Text, nullable=False),  # JSON, as in tables
    Column("table_uuid", name_type()),  # None until the table is measured
    Column("document", Text, nullable=False),  # JSON
    Index("ix_pauses_table_uuid", "table_uuid"),
)


def find_pause(connection: Connection, full_name: str, table_uuid: str | None) -> str | None:
    """Return the pause of the table as JSON; the pause of its own name comes first."""
    holds = or_(pauses.c.full_name == full_name, _is_of(pauses.c.table_uuid, table_uuid))
    rows = connection.execute(select(pauses.c.full_name, pauses.c.document).where(holds)).all()
    return (
        min(rows, key=lambda row: (row.full_name != full_name, row.full_name)).document
        if rows
        else None
    )


def _is_of(column: ColumnElement[str | None], table_uuid: str | None) -> ColumnElement[bool]:
    return false() if table_uuid is None else column == table_uuid


def join_uuid(connection: Connection, full_name: str, table_uuid: str) -> None:
    """Add the table's UUID to a pause that was set before the table was measured."""
    connection.execute(
        update(pauses)
        .where(pauses.c.full_name == full_name, pauses.c.table_uuid.is_(None))
        .values(table_uuid=table_uuid)
    )


def set_pause(
    database: Database,
    connection: Connection,
    table: TableIdentifier,
    pause: Pause,
    table_uuid: str | None,
) -> None:
    """Pause the table under all of its names."""
    full_name = str(table)
    uuid = _read_uuid(connection, full_name) or table_uuid
    present = lock_tables(connection, _names_of(connection, full_name, uuid))
    if full_name not in present and uuid is None:
        raise _unknown(table)
    row = {
        "full_name": full_name,
        "levels": documents.write_levels(table),
        "table_uuid": uuid,
        "document": documents.write(pause),
    }
    connection.execute(database.upsert(pauses, row))
    _derive(connection, present)


def lift_pause(connection: Connection, table: TableIdentifier) -> None:
    """Resume the table under all of its names."""
    full_name = str(table)
    uuid = _read_uuid(connection, full_name)
    holds = or_(pauses.c.full_name == full_name, _is_of(pauses.c.table_uuid, uuid))
    found = connection.execute(select(pauses.c.full_name, pauses.c.table_uuid).where(holds)).all()
    names = {full_name}.union(
        *(_names_of(connection, row.full_name, row.table_uuid) for row in found)
    )
    present = lock_tables(connection, [*names])
    if full_name not in present and not found:
        raise _unknown(table)
    connection.execute(delete(pauses).where(holds))
    _derive(connection, present)


def _read_uuid(connection: Connection, full_name: str) -> str | None:
    found: str | None = connection.execute(
        select(tables.c.table_uuid).where(tables.c.full_name == full_name)
    ).scalar_one_or_none()
    return found


def _names_of(connection: Connection, full_name: str, table_uuid: str | None) -> list[str]:
    """List this name and the names of known tables with this UUID."""
    is_this = or_(tables.c.full_name == full_name, _is_of(tables.c.table_uuid, table_uuid))
    return list(connection.execute(select(tables.c.full_name).where(is_this)).scalars())


def _unknown(table: TableIdentifier) -> UnknownTableError:
    message = f"table {table} is not known"
    return UnknownTableError(message)


def _derive(connection: Connection, full_names: Sequence[str]) -> None:
    for full_name in full_names:
        is_this = tables.c.full_name == full_name
        document = find_pause(connection, full_name, _read_uuid(connection, full_name))
        connection.execute(update(tables).where(is_this).values(pause=document))
        want_plan(connection, is_this)


def read_pauses(connection: Connection) -> Mapping[TableIdentifier, Pause]:
    """Return each pause by its own name and by the names of known tables with its UUID."""
    every = select(pauses.c.full_name, pauses.c.levels, pauses.c.document)
    others = select(tables.c.full_name, tables.c.levels, pauses.c.document).join_from(
        pauses, tables, tables.c.table_uuid == pauses.c.table_uuid
    )
    found = {
        row.full_name: row
        for statement in (others.order_by(pauses.c.full_name.desc()), every)
        for row in connection.execute(statement)
    }
    return {
        documents.read_levels(row.levels): documents.read(Pause, row.document)
        for _, row in sorted(found.items())
    }
