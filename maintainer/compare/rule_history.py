"""What a finished job teaches about its rule on its table."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.plan import RuleHistory
from maintainer.domain.rollback import Repair
from maintainer.domain.streak import extend_streak, is_overload


def learn_from_job(before: RuleHistory | None, job: Job) -> RuleHistory | None:
    """The rule's history with the finished job; None for a rollback, which is no rule's job."""
    if isinstance(job.rule, Repair):
        return None
    history = before or RuleHistory(job.rule)
    at = job.closed_at
    learnt = replace(history, last_finished_at=at, streak=extend_streak(history.streak, job))
    match job.state, job.failure_reason:
        case JobState.SUCCEEDED, _:
            is_empty = job.effect is not None and job.effect.is_idle
            learnt = replace(
                learnt,
                last_success_at=at,
                consecutive_failures=0,
                idle_at_state=job.idle_state,
                empty_runs=history.empty_runs + 1 if is_empty else 0,
                recent_conflicts=max(0, history.recent_conflicts - 1),
                recent_overloads=max(0, history.recent_overloads - 1),
            )
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
