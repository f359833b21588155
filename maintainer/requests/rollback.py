"""Request a rollback: a job of its own that undoes another job."""

from __future__ import annotations

from maintainer.decide.jobs.rollback import judge_rollback
from maintainer.domain.admission import ScopePause
from maintainer.domain.errors import InvalidTransitionError
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import Job
from maintainer.domain.plan import Estimate
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.domain.rollback import Repair, RollBack
from maintainer.ports import Ports
from maintainer.requests.pause import pause_scope
from maintainer.steps.table import measure_table

PRIORITY = 100


def request_rollback(ports: Ports, job: Job, requested_by: str) -> Job:
    """Pause the table and store the pending job that undoes the given one.

    InvalidTransitionError gives the reason when the job cannot be undone.
    """
    scanned = measure_table(ports, job.table)
    if isinstance(scanned, TableFault):
        raise InvalidTransitionError(f"job {job.job_id} cannot be rolled back: {scanned.reason}")
    action = judge_rollback(job, scanned.inventory)
    unfinished = ports.store.unfinished_job_of(job.table_uuid)
    if isinstance(action, str):
        raise InvalidTransitionError(f"job {job.job_id} cannot be rolled back: {action}")
    if unfinished is not None:
        raise InvalidTransitionError(
            f"job {job.job_id} cannot be rolled back yet: job {unfinished.job_id} is working on "
            f"the table, and a table has one job at a time"
        )
    # The pause comes first, so that the undone work is not repeated until a person resumes
    # the table.
    reason = (
        f"job {job.job_id} ({job.rule}) was rolled back; resume the table when it may be worked "
        f"on again"
    )
    pause_scope(ports, ScopePause(str(job.table), requested_by, ports.clock.now(), reason))
    undoing = _make_job(ports, job, action, requested_by)
    if not ports.store.add_job(undoing):
        raise InvalidTransitionError(
            f"job {job.job_id} cannot be rolled back yet: another job of the table has started; "
            f"ask again"
        )
    return undoing


def _make_job(ports: Ports, job: Job, action: RollBack, requested_by: str) -> Job:
    # The job's pool may no longer exist, and setting main back needs little memory.
    pool = job.pool if job.pool in ports.admission.pools else DEFAULT_POOL
    return Job(
        job_id=ports.new_id(),
        table=job.table,
        table_uuid=job.table_uuid,
        rule=Repair.ROLL_BACK,
        action=action,
        findings=(),
        estimate=Estimate(0, 0, 0, 0, note=f"back to snapshot {action.snapshot_id}"),
        reason=f"undo job {job.job_id} ({job.rule}): main goes back from snapshot "
        f"{action.expected_snapshot_id} to {action.snapshot_id}",
        policy_version="",
        priority=PRIORITY,
        requested_by=requested_by,
        created_at=ports.clock.now(),
        memory_gb=ports.admission.pools[pool].memory_gb,
        pool=pool,
    )
