"""Approve, reject or restore a list of orphan files, each with an audit entry."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.audit import AuditEntry, Deed, name_actor
from maintainer.domain.errors import InvalidTransitionError, UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import OrphanList, OrphanListState
from maintainer.ports import Ports
from maintainer.procedures.remove_orphan_files.approval import (
    approve,
    refuse_approval,
    refuse_rejection,
    refuse_restoring,
    reject,
)


def find_list(ports: Ports, table: TableIdentifier, list_id: str) -> OrphanList:
    """Read an orphan list; UnknownTableError when the table has no list with that id."""
    orphans = ports.store.orphan_list(list_id)
    if orphans is None or orphans.table != table:
        raise UnknownTableError(f"table {table} has no list {list_id!r} of orphan files")
    return orphans


def approve_list(
    ports: Ports, table: TableIdentifier, list_id: str, by: str, sha256: str = ""
) -> OrphanList:
    """Approve the removal of exactly the files of a list.

    InvalidTransitionError gives the reason when the list cannot be approved. `sha256` is the
    hash of the list that the person has seen.
    """
    orphans, now = find_list(ports, table, list_id), ports.clock.now()
    refusal = refuse_approval(orphans, now, sha256)
    return _decide(ports, orphans, refusal, approve(orphans, by, now), Deed.ORPHANS_APPROVED)


def reject_list(ports: Ports, table: TableIdentifier, list_id: str, by: str) -> OrphanList:
    """Reject a list, also an approved one; InvalidTransitionError when it is closed already."""
    orphans = find_list(ports, table, list_id)
    return _decide(
        ports,
        orphans,
        refuse_rejection(orphans),
        reject(orphans, by, ports.clock.now()),
        Deed.ORPHANS_REJECTED,
    )


def restore_list(ports: Ports, table: TableIdentifier, list_id: str, by: str) -> OrphanList:
    """Request that the table's next job moves a list's files back from quarantine.

    InvalidTransitionError when the files are not in quarantine.
    """
    orphans = find_list(ports, table, list_id)
    wanted = replace(
        orphans, state=OrphanListState.RESTORING, decided_by=by, decided_at=ports.clock.now()
    )
    return _decide(
        ports, orphans, refuse_restoring(orphans), wanted, Deed.ORPHANS_RESTORE_REQUESTED
    )


def _decide(
    ports: Ports, orphans: OrphanList, refusal: str | None, decided: OrphanList, deed: Deed
) -> OrphanList:
    if refusal is not None:
        raise InvalidTransitionError(refusal)
    fields = {
        "list": orphans.list_id,
        "files": orphans.files,
        "bytes": orphans.bytes,
        "sha256": orphans.sha256,
    }
    entry = AuditEntry(
        ports.clock.now(),
        name_actor(decided.decided_by),
        deed,
        orphans.table,
        orphans.table_uuid,
        orphans.list_id,
        fields,
    )
    if not ports.store.update_orphan_list(decided, orphans, (entry,)):
        raise InvalidTransitionError(
            f"list {orphans.list_id} of {orphans.table} was changed by another person at the same "
            f"time; check it again"
        )
    return decided
