"""The history of a rule on a table, learnt from finished jobs."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.action import Repair
from maintainer.domain.job import BY_NO_DAEMON, BY_SHUTDOWN, FailureReason, Job, JobState
from maintainer.domain.plan import FailureStreak, RuleHistory

_BY_PROGRAM = frozenset({"", BY_SHUTDOWN, BY_NO_DAEMON})
# the job had too much work
OVERLOADS = frozenset({FailureReason.TIMEOUT, FailureReason.OUT_OF_MEMORY})
# Temporary causes outside the table, which say nothing about the rule.
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

    A success ends them, a cancelled job does not count. Temporary failures do not shorten the wait
    for the table's own failures, and do not lengthen it.
    """
    if job.state is JobState.SUCCEEDED:
        return None
    if job.state is not JobState.FAILED:
        return before
    reason = job.failure_reason or FailureReason.OTHER
    if before is not None and reason in PASSING and before.reason not in PASSING:
        return replace(before, passing=extend_streak(before.passing, job))
    is_counted_on = before is not None and (before.reason in PASSING) == (reason in PASSING)
    state = (job.baseline.state or None) if job.baseline is not None else None
    return FailureStreak(
        reason.value,
        before.times + 1 if before is not None and is_counted_on else 1,
        job.closed_at,
        job.job_id,
        state,
        job.policy_version,
    )


def is_overload(job: Job) -> bool:
    """True if the job failed because it had too much work."""
    return job.state is JobState.FAILED and job.failure_reason in OVERLOADS


def learn_from_job(before: RuleHistory | None, job: Job) -> RuleHistory | None:
    """The rule's history with the finished job; None for a rollback, which has no rule."""
    if isinstance(job.rule, Repair):
        return None
    history = before or RuleHistory(job.rule)
    at = job.closed_at
    learnt = replace(history, last_finished_at=at, streak=extend_streak(history.streak, job))
    match job.state, job.failure_reason:
        case JobState.SUCCEEDED, _:
            learnt = replace(
                learnt,
                last_success_at=at,
                consecutive_failures=0,
                idle_at_state=job.idle_state,
                empty_runs=history.empty_runs + 1 if job.is_without_gain else 0,
                recent_conflicts=max(0, history.recent_conflicts - 1),
                recent_overloads=max(0, history.recent_overloads - 1),
                cancelled_at=None,
                cancelled_by=None,
            )
        case JobState.CANCELLED, _ if job.cancel_requested_by not in _BY_PROGRAM:
            learnt = replace(learnt, cancelled_at=at, cancelled_by=job.cancel_requested_by)
        case JobState.FAILED, reason if reason is not FailureReason.LOST_RUNNER:
            learnt = replace(
                learnt,
                last_failure_at=at,
                last_failure_reason=reason.value if reason else "",
                consecutive_failures=history.consecutive_failures + 1,
            )
        case _:  # cancelled, or lost with its runner: says nothing about the rule
            pass
    if job.has_met_writers:
        learnt = replace(learnt, recent_conflicts=history.recent_conflicts + 1)
    if is_overload(job):
        learnt = replace(learnt, recent_overloads=history.recent_overloads + 1)
    return learnt
