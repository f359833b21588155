"""Prepare and prove a rollback, which sets a table back to the snapshot before another job."""

from __future__ import annotations

from maintainer.compare.rollback import compare_rollback, conclude_rollback
from maintainer.decide.jobs.rollback import refuse_rollback
from maintainer.domain.job import FailureReason, Job
from maintainer.domain.rollback import RollBack
from maintainer.measure.health import summarise
from maintainer.ports import Ports
from maintainer.steps.kinds.results import Preparation, Proved, Ready, Refused
from maintainer.steps.table import Measured


def prepare_rollback(job: Job, action: RollBack, scanned: Measured) -> Preparation:
    """Check that the table is still as it was when the rollback was requested."""
    refusal = refuse_rollback(action, scanned.inventory.current_snapshot_id)
    if refusal is not None:
        return Refused(FailureReason.TABLE_CHANGED, refusal)
    # It starts in spite of the pause that came with its request; a later pause stops it.
    return Ready(job, ignores_pauses_until=job.created_at)


def prove_rollback(ports: Ports, job: Job, action: RollBack, scanned: Measured) -> Proved:
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
    return Proved(effect, conclude_rollback(job, action, effect, scanned.inventory))
