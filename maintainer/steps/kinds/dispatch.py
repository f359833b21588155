"""Prepares and proves a job by the functions of its kind."""

from __future__ import annotations

from maintainer.compare.rollback import compare_rollback, conclude_rollback
from maintainer.decide.jobs.rollback import refuse_rollback
from maintainer.domain.action import RemoveOrphanFiles, RollBack
from maintainer.domain.job import Baseline, FailureReason, Job
from maintainer.measure.health import summarise
from maintainer.ports import Ports
from maintainer.steps.kinds.maintenance import prepare_maintenance, prove_maintenance
from maintainer.steps.kinds.orphans import prepare_orphans, prove_orphans
from maintainer.steps.kinds.results import Preparation, Proof, Proved, Ready, Refused
from maintainer.steps.table import Measured


def prepare_rollback(job: Job, action: RollBack, scanned: Measured) -> Preparation:
    """Check that the table is still as it was when the rollback was requested."""
    refusal = refuse_rollback(action, scanned.inventory.current_snapshot_id)
    if refusal is not None:
        return Refused(FailureReason.TABLE_CHANGED, refusal)
    # The request of a rollback pauses the table. Only a later pause stops the rollback.
    return Ready(job, ignores_pauses_until=job.created_at)


def prove_rollback(ports: Ports, job: Job, action: RollBack, scanned: Measured) -> Proved:
    """Compare the table with its state before the undone job."""
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


def prepare(ports: Ports, job: Job, scanned: Measured) -> Preparation:
    """Check the job with the new measurement of its table, and update the job."""
    match job.action:
        case RollBack() as action:
            return prepare_rollback(job, action, scanned)
        case RemoveOrphanFiles() as action:
            return prepare_orphans(ports, job, action, scanned.health)
        case action:
            return prepare_maintenance(ports, job, action, scanned.health)


def prove(ports: Ports, job: Job, baseline: Baseline, scanned: Measured) -> Proof:
    """Compare the new measurement of the table with its state before the job."""
    match job.action:
        case RollBack() as action:
            return prove_rollback(ports, job, action, scanned)
        case RemoveOrphanFiles() as action:
            return prove_orphans(ports, job, action, baseline, scanned)
        case _:
            return prove_maintenance(ports, job, baseline, scanned)
