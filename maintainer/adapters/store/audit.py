"""The audit log. The database itself refuses to change or delete its rows."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import ColumnElement, Connection, insert, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.paging import is_named_within, read_newest
from maintainer.adapters.store.schema import audit_log
from maintainer.adapters.store.types import AnyRow, write_text
from maintainer.domain.audit import AuditEntry, AuditQuery, Deed
from maintainer.ports.store.pages import Page

_ORDER = "audit:sequence:desc"


def append(connection: Connection, entries: Iterable[AuditEntry]) -> None:
    rows = [
        {
            "at": entry.at,
            "actor": write_text(entry.actor),
            "deed": entry.deed.value,
            "full_name": str(entry.table) if entry.table is not None else None,
            "levels": documents.write_levels(entry.table) if entry.table is not None else None,
            "table_uuid": entry.table_uuid,
            "job_id": entry.job_id,
            "fields": documents.write_fields(entry.fields),
        }
        for entry in entries
    ]
    if rows:
        connection.execute(insert(audit_log), rows)


def read_page(connection: Connection, query: AuditQuery) -> Page[AuditEntry]:
    """Read a page, sorted by sequence number, newest first."""
    rows = select(audit_log).where(*_filter(query))
    newest = (audit_log.c.sequence,)
    return read_newest(connection, rows, newest, _ORDER, query.limit, query.cursor, _read)


def _filter(query: AuditQuery) -> list[ColumnElement[bool]]:
    wanted = {
        audit_log.c.full_name: str(query.table) if query.table is not None else "",
        audit_log.c.job_id: query.job_id,
        audit_log.c.actor: query.actor,
    }
    filters = [column == value for column, value in wanted.items() if value]
    if query.since is not None:
        filters.append(audit_log.c.at >= query.since)
    if query.until is not None:
        filters.append(audit_log.c.at < query.until)
    if query.within is not None:
        filters.append(is_named_within(audit_log.c.full_name, query.within))
    return filters


def _read(row: AnyRow) -> AuditEntry:
    return AuditEntry(
        at=row.at,
        actor=row.actor,
        deed=Deed(row.deed),
        table=documents.read_levels(row.levels) if row.levels is not None else None,
        table_uuid=row.table_uuid,
        job_id=row.job_id,
        fields=documents.read_fields(row.fields),
        sequence=row.sequence,
    )
