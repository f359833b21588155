"""Wait for a table that cannot be read after its job, up to a limit.

After a while people are notified and the table is paused.
"""

from __future__ import annotations

from dataclasses import replace

from maintainer.compare.effect import Verdict
from maintainer.compare.proof_deadline import find_end_of_wait, is_worth_telling
from maintainer.decide.notices import notice_of_wait
from maintainer.domain.audit import AuditEntry, Deed
from maintainer.domain.job import FailureReason, Job, JobEvent, JobState
from maintainer.ports.store import Pause
from maintainer.steps.ports import Ports

BY_WAIT = "a job that waits for its proof"
WAITING_PHASE = "waiting until its table can be read"
TOLD_OF_WAIT = "job.unproved"  # the event of a job: it waits so long that people were notified


def wait_for_table(ports: Ports, job: Job, reason: str) -> Verdict | None:
    """Wait for the table; returns the final verdict when the job waits no longer, else None."""
    now = ports.clock.now()
    since = job.unreadable_since
    if since is None:
        waiting = replace(
            job, unreadable_since=now, progress=replace(job.progress, phase=WAITING_PHASE)
        )
        if ports.store.update_job(waiting, job):
            ports.store.append_events(
                [JobEvent(job.job_id, now, "job.waits_for_table", {"reason": reason})]
            )
        return None
    end = find_end_of_wait(job, now)
    if end is not None or is_worth_telling(since, now):
        _tell(ports, job, reason)
    if end is None:
        return None
    return Verdict(
        JobState.FAILED, FailureReason.UNPROVED, f"what it did is not known: {end} ({reason})"
    )


def resume_proved(ports: Ports, job: Job) -> None:
    """Resume a table that was paused only because it could not be read."""
    record = ports.store.table(job.table) if job.unreadable_since is not None else None
    if record is not None and record.pause is not None and record.pause.by == BY_WAIT:
        ports.store.set_pause(job.table, None)
        _note(ports, job, Deed.WORK_RESUMED, "the table can be read again")


def _tell(ports: Ports, job: Job, reason: str) -> None:
    """Pause the table and notify people, once.

    Nothing may work on the table before it is known what the job did.
    """
    if any(event.name == TOLD_OF_WAIT for event in ports.store.events(job.job_id)):
        return
    now = ports.clock.now()
    record = ports.store.table(job.table)
    is_paused = record is None or record.pause is None
    if is_paused:
        why = f"what job {job.job_id} did is not known, because the table cannot be read"
        ports.store.set_pause(job.table, Pause(BY_WAIT, now, why), job.table_uuid)
        _note(ports, job, Deed.WORK_PAUSED, why)
    ports.notifier.notify(notice_of_wait(job, reason, now, is_paused=is_paused))
    ports.store.append_events([JobEvent(job.job_id, now, TOLD_OF_WAIT, {"reason": reason})])


def _note(ports: Ports, job: Job, deed: Deed, reason: str) -> None:
    fields = {"scope": str(job.table), "reason": reason}
    ports.store.record_audit(
        [
            AuditEntry(
                ports.clock.now(), BY_WAIT, deed, job.table, job.table_uuid, job.job_id, fields
            )
        ]
    )
