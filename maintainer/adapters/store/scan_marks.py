"""Scan marks: the state in which each table was measured, so that a scan skips unchanged tables."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.schema import scan_marks, tables
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.store.tables import ScanMark


def record_mark(
    database: Database, connection: Connection, table: TableIdentifier, mark: ScanMark
) -> None:
    """Record the mark, unless the table was forgotten meanwhile."""
    name = str(table)
    present = (
        select(tables.c.full_name).where(tables.c.full_name == name).with_for_update(key_share=True)
    )
    if connection.execute(present).one_or_none() is not None:
        connection.execute(
            database.upsert(
                scan_marks, {"full_name": name, "token": mark.token, "basis": mark.basis}
            )
        )


def read_marks(connection: Connection, catalog: str) -> Mapping[TableIdentifier, ScanMark]:
    """Read the marks of a catalog's tables that have been measured without a fault."""
    rows = connection.execute(
        select(tables.c.levels, scan_marks.c.token, scan_marks.c.basis, tables.c.measured_at)
        .join_from(tables, scan_marks)
        .where(tables.c.catalog == catalog, tables.c.fault.is_(None))
    )
    return {
        documents.read_levels(levels): ScanMark(token, basis, measured_at)
        for levels, token, basis, measured_at in rows
    }
