"""Pause a table because of a job, resume it, and find what stops work on a table."""

from __future__ import annotations

from datetime import datetime

from maintainer.domain.admission import Halt
from maintainer.domain.audit import AuditEntry, Deed
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.policy.halts import find_halt
from maintainer.ports import Ports
from maintainer.ports.store import Pause


def find_stop(ports: Ports, table: TableIdentifier, since: datetime | None = None) -> Halt | None:
    """The widest pause or drain that covers the table; with `since`, only later ones."""
    halts = [*ports.store.halts()]
    record = ports.store.table(table)
    if record is not None and record.pause is not None:
        halts.append(Halt(str(table), record.pause.by, record.pause.at, record.pause.reason))
    return find_halt([halt for halt in halts if since is None or halt.at > since], table)


BY_PROOF = "the proof of a job"


def pause(ports: Ports, job: Job, reason: str) -> None:
    """Pause the job's table, and write into the audit log that the job's proof did it."""
    now = ports.clock.now()
    ports.store.set_pause(job.table, Pause(BY_PROOF, now, reason), job.table_uuid)
    paused = {"scope": str(job.table), "reason": reason}
    ports.store.record_audit(
        [AuditEntry(now, BY_PROOF, Deed.WORK_PAUSED, job.table, job.table_uuid, job.job_id, paused)]
    )


BY_WAIT = "a job that waits for its proof"


def resume_proved(ports: Ports, job: Job) -> None:
    """Resume a table that was paused only because it could not be read."""
    record = ports.store.table(job.table) if job.unreadable_since is not None else None
    if record is not None and record.pause is not None and record.pause.by == BY_WAIT:
        ports.store.set_pause(job.table, None)
        note_pause(ports, job, Deed.WORK_RESUMED, "the table can be read again")


def note_pause(ports: Ports, job: Job, deed: Deed, reason: str) -> None:
    """Write into the audit log that a waiting job paused or resumed its table."""
    fields = {"scope": str(job.table), "reason": reason}
    ports.store.record_audit(
        [
            AuditEntry(
                ports.clock.now(), BY_WAIT, deed, job.table, job.table_uuid, job.job_id, fields
            )
        ]
    )
