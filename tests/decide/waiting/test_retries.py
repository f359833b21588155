"""Whether what failed is tried again, when, and how: by its cause."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.compare.rule_history import PASSING, extend_streak
from maintainer.decide.circumstances import Circumstances, digest_state
from maintainer.decide.plan import decide
from maintainer.decide.waiting.retries import (
    EXHAUSTED_WAIT,
    JITTER_SHARE,
    LONGEST_WAIT,
    MOST_ATTEMPTS,
    RETRIES,
    Remedy,
    find_next_attempt,
    shorten,
)
from maintainer.domain.job import FailureReason
from maintainer.domain.plan import FailureStreak, RuleHistory
from maintainer.domain.policy import Rule
from maintainer.domain.rules import RewriteDataFilesRule, RewriteManifestsRule
from maintainer.domain.units import MIB
from maintainer.procedures.rewrite_data_files.limits import shrink_groups
from tests.adapters.store.values import failed, make_job
from tests.decide.waiting.test_postponement import ENFORCED, ROTTEN, held
from tests.samples import NOW

FILES, MANIFESTS = RewriteDataFilesRule(), RewriteManifestsRule()
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
HERE, POLICY = "state-9", "v1"


def streak(reason: FailureReason, times: int = 1, **changes: object) -> FailureStreak:
    return replace(FailureStreak(reason.value, times, NOW, "", HERE, POLICY), **changes)  # type: ignore[arg-type]


def wait(
    of: FailureStreak, state: str = HERE, policy: str = POLICY, rule: Rule = FILES
) -> timedelta:
    return find_next_attempt(rule, of, state, policy).at - NOW


def test_every_cause_has_its_answer() -> None:
    assert set(RETRIES) == set(FailureReason)
    assert {reason for reason, retry in RETRIES.items() if retry.first < HOUR} == PASSING
    assert {reason for reason, retry in RETRIES.items() if retry.remedy is Remedy.NARROWER} == {
        FailureReason.CONFLICT, FailureReason.OUT_OF_MEMORY, FailureReason.TIMEOUT,
    }  # fmt: skip


def test_failures_back_off_doubling_up_to_the_ceiling() -> None:
    assert [wait(streak(FailureReason.CONFLICT, times)) for times in (1, 2, 5, 6, 7)] == [
        HOUR,
        2 * HOUR,
        16 * HOUR,
        LONGEST_WAIT,
        LONGEST_WAIT,
    ]
    assert [
        wait(streak(FailureReason.LOST_RUNNER, times)) for times in (1, 2, 3, 7, 8, 10_000)
    ] == [0 * MINUTE, MINUTE, 2 * MINUTE, 32 * MINUTE, HOUR, HOUR]
    assert wait(streak(FailureReason.CATALOG_UNREACHABLE)) == MINUTE


def test_after_a_conflict_a_rule_that_may_run_often_waits_no_longer_than_between_two_runs() -> None:
    often = replace(FILES, cooldown=2 * MINUTE)
    assert [wait(streak(FailureReason.CONFLICT, times), rule=often) for times in (1, 2, 6)] == [
        2 * MINUTE,
        4 * MINUTE,
        64 * MINUTE,
    ]
    assert wait(streak(FailureReason.OUT_OF_MEMORY), rule=often) == HOUR, (
        "nobody but the job itself is to blame"
    )
    assert wait(streak(FailureReason.CONFLICT), rule=replace(FILES, cooldown=DAY)) == HOUR


def test_after_too_many_failures_for_one_cause_it_is_tried_once_a_week() -> None:
    worn = streak(FailureReason.TIMEOUT, MOST_ATTEMPTS)
    assert wait(worn) == EXHAUSTED_WAIT
    assert wait(worn, policy="v2") == LONGEST_WAIT
    assert wait(streak(FailureReason.PERMISSION, MOST_ATTEMPTS), state="another") == EXHAUSTED_WAIT


@pytest.mark.parametrize(
    "reason", [reason for reason, retry in RETRIES.items() if retry.remedy is Remedy.AFTER_A_CHANGE]
)
def test_what_would_fail_again_waits_for_a_change_or_a_day(reason: FailureReason) -> None:
    assert wait(streak(reason)) == DAY
    assert wait(streak(reason, 2), state="another") == 2 * HOUR, (
        "a table that is written every minute changes every minute"
    )
    assert wait(streak(reason, 2), policy="v2") == timedelta(0)
    unseen = streak(reason, table_state=None, policy_version="")
    assert wait(unseen, state="another", policy="v2") == DAY, "what is not known has not changed"


def test_what_is_narrower_at_the_next_attempt_is_said_of_data_files_alone() -> None:
    conflict = streak(FailureReason.CONFLICT)
    assert (
        find_next_attempt(FILES, conflict, HERE, POLICY).sentence
        == "tried again with less work in one job"
    )
    assert find_next_attempt(MANIFESTS, conflict, HERE, POLICY).sentence == "tried again unchanged"
    assert wait(conflict, rule=MANIFESTS) == HOUR


def test_a_reason_of_another_version_is_answered_like_any_other() -> None:
    assert wait(replace(streak(FailureReason.OTHER), reason="cosmic_ray")) == HOUR


@given(st.text(max_size=30), st.timedeltas(MINUTE, DAY))
def test_a_wait_is_shortened_by_a_share_that_is_the_same_for_the_same_job(
    seed: str, longest: timedelta
) -> None:
    short = shorten(longest, seed)
    assert short == shorten(longest, seed)
    assert (
        longest * (1 - JITTER_SHARE) - timedelta(seconds=1)
        <= short
        <= longest + timedelta(seconds=1)
    )


def test_a_temporary_failure_at_the_weekly_attempt_costs_no_further_week() -> None:
    worn = streak(FailureReason.TIMEOUT, MOST_ATTEMPTS)
    week_later = replace(make_job("job-b"), failure_reason=None)
    away = failed(week_later, NOW + EXHAUSTED_WAIT, FailureReason.RUNNER_UNAVAILABLE)
    after = extend_streak(worn, away)
    assert after is not None
    following = find_next_attempt(FILES, after, HERE, POLICY)
    assert NOW + EXHAUSTED_WAIT < following.at <= NOW + EXHAUSTED_WAIT + timedelta(minutes=1)
    assert following.sentence == "tried again after a temporary failure (runner_unavailable)"
    early = extend_streak(worn, failed(make_job("job-b"), NOW, FailureReason.RUNNER_UNAVAILABLE))
    assert early is not None
    assert find_next_attempt(FILES, early, HERE, POLICY).at == NOW + EXHAUSTED_WAIT


def test_jobs_that_failed_together_are_not_tried_again_together() -> None:
    assert (
        len(
            {
                wait(streak(FailureReason.CATALOG_UNREACHABLE, 7, job_id=f"m-{number}"))
                for number in range(100)
            }
        )
        > 80
    )


@given(st.lists(st.sampled_from(FailureReason), min_size=2, max_size=12))
def test_failures_make_a_table_wait_longer_never_less(reasons: list[FailureReason]) -> None:
    waits, causes = [], []
    known: FailureStreak | None = None
    for number, reason in enumerate(reasons):
        known = extend_streak(known, failed(make_job(f"job-{number}"), NOW, reason))
        assert known is not None
        causes.append(FailureReason(known.reason))
        waits.append(
            find_next_attempt(FILES, replace(known, job_id="", table_state=None), HERE, POLICY).at
            - NOW
        )
    assert waits[-1] > timedelta(0), "only the first lost runner is followed at once"
    for (earlier, later), before in zip(pairwise(waits), causes, strict=False):
        assert later >= earlier or RETRIES[before].remedy is Remedy.AFTER_A_CHANGE, (
            "but for what waited for a change, and has now failed otherwise"
        )


def test_the_plan_says_which_cause_and_when_next() -> None:
    history = RuleHistory(
        FILES.name,
        streak=streak(
            FailureReason.PERMISSION,
            2,
            table_state=digest_state(ROTTEN),
            policy_version=ENFORCED.version,
        ),
    )
    skipped = held(decide(ROTTEN, ENFORCED, Circumstances(NOW, {FILES.name: history})))
    assert skipped.next_at == NOW + DAY
    assert skipped.reason == (
        f"failed 2 times in a row (permission), last at {NOW:%Y-%m-%d %H:%M} UTC; tried again "
        f"when the table or the policy changes, or after a day; "
        f"next at {NOW + DAY:%Y-%m-%d %H:%M} UTC"
    )
    assert decide(
        ROTTEN, ENFORCED, Circumstances(NOW, {FILES.name: history}, is_requested=True)
    ).planned, "a person may have put it right"
    assert decide(ROTTEN, ENFORCED, Circumstances(NOW + DAY, {FILES.name: history})).planned


def test_after_timeouts_and_want_of_memory_file_groups_become_smaller() -> None:
    huge = replace(ROTTEN, data_bytes=1024**4, target_file_size_bytes=512 * MIB)
    once = shrink_groups(FILES, huge, RuleHistory(FILES.name, recent_overloads=1))
    both = shrink_groups(
        FILES, huge, RuleHistory(FILES.name, recent_overloads=1, recent_conflicts=1)
    )
    assert [options["max-file-group-size-bytes"] for options in (once, both)] == [
        str(512 * 1024**3),
        str(256 * 1024**3),
    ]
