"""Roll back: a job of its own sets the table back to the snapshot before another job."""

from __future__ import annotations

from maintainer.compare.effect import Verdict
from maintainer.compare.rollback import compare_rollback, conclude_rollback
from maintainer.decide.jobs.rollback import judge_rollback
from maintainer.domain.admission import Halt
from maintainer.domain.effect import Effect
from maintainer.domain.errors import InvalidTransitionError
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import Job
from maintainer.domain.plan import Estimate
from maintainer.domain.rollback import Repair, RollBack
from maintainer.measure.health import summarise
from maintainer.steps.halt import halt
from maintainer.steps.ports import Ports
from maintainer.steps.record import Measured
from maintainer.steps.scan import scan_table

PRIORITY = 100


def request_rollback(ports: Ports, job: Job, requested_by: str) -> Job:
    """Pause the table and store the pending job that undoes the given one.

    InvalidTransitionError gives the reason when the job cannot be undone.
    """
    scanned = scan_table(ports, job.table)
    if isinstance(scanned, TableFault):
        message = f"job {job.job_id} cannot be rolled back: {scanned.reason}"
        raise InvalidTransitionError(message)
    action = judge_rollback(job, scanned.inventory)
    unfinished = ports.store.unfinished_job_of(job.table_uuid)
    if isinstance(action, str):
        message = f"job {job.job_id} cannot be rolled back: {action}"
        raise InvalidTransitionError(message)
    if unfinished is not None:
        message = (
            f"job {job.job_id} cannot be rolled back yet: job {unfinished.job_id} is working on "
            f"the table; one at a time"
        )
        raise InvalidTransitionError(message)
    # The pause comes first, so that the undone work is not repeated until a person resumes
    # the table.
    reason = (
        f"job {job.job_id} ({job.rule}) was rolled back; resume the table when it may be worked "
        f"on again"
    )
    halt(ports, Halt(str(job.table), requested_by, ports.clock.now(), reason))
    undoing = _make_job(ports, job, action, requested_by)
    if not ports.store.add_job(undoing):
        message = (
            f"job {job.job_id} cannot be rolled back yet: another job of the table was faster; "
            f"ask again"
        )
        raise InvalidTransitionError(message)
    return undoing


def _make_job(ports: Ports, job: Job, action: RollBack, requested_by: str) -> Job:
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
        memory_gb=ports.admission.memory_gb,
    )


def review_rollback(
    ports: Ports, job: Job, action: RollBack, scanned: Measured
) -> tuple[Effect, Verdict]:
    """Compare the table with its state before the job that was undone."""
    undone = ports.store.job(action.of_job)
    baseline = undone.baseline if undone is not None else None
    expected = (
        baseline.measurement
        if baseline is not None and baseline.snapshot_id == action.snapshot_id
        else None
    )
    after = summarise(scanned.health)
    before = job.baseline.measurement if job.baseline is not None else after
    effect = compare_rollback(job, action, before, after, expected)
    return effect, conclude_rollback(job, action, effect, scanned.inventory)
