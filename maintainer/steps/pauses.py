"""Pauses and resumes a table because of a job, and finds the pause or drain that stops a job."""

from __future__ import annotations

from datetime import datetime

from maintainer.domain.admission import ScopePause
from maintainer.domain.audit import BY_WAIT, AuditEntry, Deed
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.policy.restriction import find_scope_pause
from maintainer.ports import Ports
from maintainer.ports.store.tables import Pause


def find_stop(
    ports: Ports, table: TableIdentifier, since: datetime | None = None
) -> ScopePause | None:
    """Return the widest pause or drain that covers the table; `since` ignores older pauses."""
    scope_pauses = [*ports.store.scope_pauses()]
    record = ports.store.table(table)
    if record is not None and record.pause is not None:
        scope_pauses.append(
            ScopePause(str(table), record.pause.by, record.pause.at, record.pause.reason)
        )
    return find_scope_pause(
        [pause for pause in scope_pauses if since is None or pause.at > since], table
    )


def pause_table(ports: Ports, job: Job, by: str, reason: str) -> None:
    """Pause the job's table, with an audit entry, until a person or the daemon resumes it."""
    ports.store.set_pause(job.table, Pause(by, ports.clock.now(), reason), job.table_uuid)
    _record(ports, job, by, Deed.WORK_PAUSED, reason)


def resume_readable(ports: Ports, job: Job) -> None:
    """Resume the table if it was paused only because it could not be read."""
    record = ports.store.table(job.table) if job.unreadable_since is not None else None
    if record is not None and record.pause is not None and record.pause.by == BY_WAIT:
        ports.store.set_pause(job.table, None)
        _record(ports, job, BY_WAIT, Deed.WORK_RESUMED, "the table can be read again")


def _record(ports: Ports, job: Job, by: str, deed: Deed, reason: str) -> None:
    fields = {"scope": str(job.table), "reason": reason}
    entry = AuditEntry(ports.clock.now(), by, deed, job.table, job.table_uuid, job.job_id, fields)
    ports.store.record_audit([entry])
