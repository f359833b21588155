"""Prove a rollback: the table is back at the snapshot before another job."""

from __future__ import annotations

from maintainer.compare.effect import Verdict
from maintainer.compare.rollback import compare_rollback, conclude_rollback
from maintainer.domain.effect import Effect
from maintainer.domain.job import Job
from maintainer.domain.rollback import RollBack
from maintainer.measure.health import summarise
from maintainer.ports import Ports
from maintainer.steps.table import Measured


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
