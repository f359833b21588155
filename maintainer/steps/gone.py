"""Notify people when a paused table disappears from its catalog.

The pause is kept and is in force again when the table comes back.
"""

from __future__ import annotations

from collections.abc import Iterable

from maintainer.decide.notices import notice_of_gone
from maintainer.domain.audit import AuditEntry, Deed
from maintainer.domain.identifier import TableIdentifier
from maintainer.steps.ports import Ports

BY_SCAN = "a scan"


def tell_missing(ports: Ports, catalog: str, listed: Iterable[TableIdentifier]) -> None:
    """Report the paused tables that a complete listing of the catalog lacks.

    Runs before the scan forgets these tables.
    """
    there = set(listed)
    for table in ports.store.paused_tables():
        if table.catalog == catalog and table not in there:
            tell_gone(ports, table, f"catalog {catalog} does not list it any more")


def tell_gone(ports: Ports, table: TableIdentifier, reason: str) -> None:
    """Report one paused table before the scan forgets it; do nothing for other tables."""
    record = ports.store.table(table)
    if record is None or record.pause is None:
        return
    now, pause = ports.clock.now(), record.pause
    uuid = record.health.table_uuid if record.health is not None else ""
    fields = {
        "scope": str(table),
        "reason": reason,
        "paused_by": pause.by,
        "paused_at": pause.at.isoformat(),
        "paused_because": pause.reason,
    }
    ports.store.record_audit(
        [AuditEntry(now, BY_SCAN, Deed.PAUSED_TABLE_GONE, table, uuid, fields=fields)]
    )
    ports.notifier.notify(notice_of_gone(table, pause.by, pause.reason, reason, now))
