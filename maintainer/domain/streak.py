"""Failures in a row, updated with each finished job."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.plan import FailureStreak

OVERLOADS = frozenset(
    {FailureReason.TIMEOUT, FailureReason.OUT_OF_MEMORY}
)  # the job took on too much at once
# Causes outside the table that pass: they say nothing about the rule.
PASSING = frozenset(
    {
        FailureReason.LOST_RUNNER,
        FailureReason.RUNNER_UNAVAILABLE,
        FailureReason.CATALOG_UNREACHABLE,
        FailureReason.TABLE_CHANGED,
    },
)


def extend_streak(before: FailureStreak | None, job: Job) -> FailureStreak | None:
    """The failures in a row including this job.

    A success ends them, a cancelled job does not count. Failures that pass do not shorten the wait
    for the table's own failures, and do not lengthen it.
    """
    if job.state is JobState.SUCCEEDED:
        return None
    if job.state is not JobState.FAILED:
        return before
    reason = job.failure_reason or FailureReason.OTHER
    at = job.closed_at
    if before is not None and reason in PASSING and before.reason not in PASSING:
        return replace(before, last_at=at, job_id=job.job_id)
    is_counted_on = before is not None and (before.reason in PASSING) == (reason in PASSING)
    state = (job.baseline.state or None) if job.baseline is not None else None
    return FailureStreak(
        reason.value,
        before.times + 1 if before is not None and is_counted_on else 1,
        at,
        job.job_id,
        state,
        job.policy_version,
    )


def is_overload(job: Job) -> bool:
    """True when the job failed because it took on too much at once."""
    return job.state is JobState.FAILED and job.failure_reason in OVERLOADS
