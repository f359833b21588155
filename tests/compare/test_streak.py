from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.compare.rule_history import OVERLOADS, PASSING, extend_streak, is_overload
from maintainer.domain.job import FailureReason, JobState
from maintainer.domain.plan import FailureStreak
from tests.adapters.store.values import NOW, failed, make_job, succeeded

MINUTE = timedelta(minutes=1)


def after(*reasons: FailureReason) -> FailureStreak | None:
    streak: FailureStreak | None = None
    for number, reason in enumerate(reasons):
        streak = extend_streak(
            streak, failed(make_job(f"job-{number}"), NOW + number * MINUTE, reason)
        )
    return streak


def reported(streak: FailureStreak | None) -> tuple[str, int] | None:
    return None if streak is None else (streak.reason, streak.times)


C, T, L, U = (
    FailureReason.CONFLICT,
    FailureReason.TIMEOUT,
    FailureReason.LOST_RUNNER,
    FailureReason.CATALOG_UNREACHABLE,
)


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        ((), None),
        ((C,), ("conflict", 1)),
        ((C, C, T), ("timeout", 3)),
        ((L, U, L), ("lost_runner", 3)),
        ((L, L, C), ("conflict", 1)),
        ((C, C, L, U), ("conflict", 2)),
    ],
)
def test_what_passes_neither_shortens_nor_lengthens_what_the_table_has_earned(
    reasons: tuple[FailureReason, ...], expected: tuple[str, int] | None
) -> None:
    assert reported(after(*reasons)) == expected


def test_a_streak_remembers_the_last_job_and_what_the_table_and_the_policy_were() -> None:
    job = failed(make_job("job-x"), NOW)
    assert extend_streak(None, job) == FailureStreak(
        "conflict", 1, NOW, "job-x", "state-job-x", "v1"
    )
    unseen = replace(
        job, baseline=None, failure_reason=None, finished_at=None, ended_at=NOW - MINUTE
    )
    assert extend_streak(None, unseen) == FailureStreak(
        "other", 1, NOW - MINUTE, "job-x", None, "v1"
    )
    passed = extend_streak(after(C), failed(make_job("job-y"), NOW + 9 * MINUTE, L))
    assert passed is not None
    assert (passed.job_id, passed.last_at, passed.table_state) == ("job-0", NOW, "state-job-0")
    assert passed.passing is not None
    assert (passed.passing.reason, passed.passing.job_id, passed.passing.last_at) == (
        "lost_runner",
        "job-y",
        NOW + 9 * MINUTE,
    )
    own = extend_streak(passed, failed(make_job("job-z"), NOW + 10 * MINUTE))
    assert own is not None
    assert (own.times, own.passing) == (2, None)


def test_a_success_ends_the_streak_and_a_cancelled_job_says_nothing() -> None:
    streak = after(C, C)
    assert extend_streak(streak, replace(make_job(), state=JobState.CANCELLED)) == streak
    assert extend_streak(streak, succeeded(make_job(), NOW)) is None


def test_too_much_at_once_is_a_timeout_or_a_want_of_memory() -> None:
    assert {
        reason for reason in FailureReason if is_overload(failed(make_job(), NOW, reason))
    } == OVERLOADS
    assert not is_overload(replace(make_job(), failure_reason=T))
    assert not OVERLOADS & PASSING
