"""Retries: whether a failed rule runs again, when, and with what changes, by cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import assert_never

from maintainer.domain.job import FailureReason
from maintainer.domain.plan import FailureStreak
from maintainer.domain.policy import Rule

LONGEST_WAIT = timedelta(days=1)
MOST_ATTEMPTS = 8  # in a row for one cause; then a person should act, and the rule runs once a week
EXHAUSTED_WAIT = timedelta(days=7)
JITTER_SHARE = 0.2  # of the wait, subtracted: rules that failed together do not run together again
_MOST_DOUBLINGS = 20
_SEED_DIGITS = 8


class Remedy(StrEnum):
    """What changes in the next attempt."""

    AS_IT_IS = "as it is"  # nothing changes: the cause is outside the table and temporary
    NARROWER = "narrower"  # with less work at a time
    AFTER_A_CHANGE = "after a change"  # of the table or the policy; otherwise it would fail again


@dataclass(frozen=True, slots=True)
class Retry:
    """The retry for a cause of failure: the first wait, doubled each time up to the longest."""

    first: timedelta
    longest: timedelta = LONGEST_WAIT
    remedy: Remedy = Remedy.AS_IT_IS
    at_once: int = 0  # attempts without a wait
    # if the cooldown of the rule is shorter than the first wait, the cooldown replaces it
    heeds_cooldown: bool = False


_SOON, _LATER = (
    timedelta(minutes=1),
    timedelta(hours=1),
)  # as in OpenHouse (1 h after a failure) and Floe (6 h after three failures)

RETRIES: Mapping[FailureReason, Retry] = {
    # the other writer finishes in seconds
    FailureReason.CONFLICT: Retry(_LATER, remedy=Remedy.NARROWER, heeds_cooldown=True),
    FailureReason.OUT_OF_MEMORY: Retry(_LATER, remedy=Remedy.NARROWER),
    FailureReason.TIMEOUT: Retry(_LATER, remedy=Remedy.NARROWER),
    FailureReason.MISSING_FILE: Retry(_LATER, remedy=Remedy.AFTER_A_CHANGE),
    FailureReason.PERMISSION: Retry(_LATER, remedy=Remedy.AFTER_A_CHANGE),
    FailureReason.INVALID_REQUEST: Retry(_LATER, remedy=Remedy.AFTER_A_CHANGE),
    FailureReason.UNPROVED: Retry(_LATER, remedy=Remedy.AFTER_A_CHANGE),
    FailureReason.TABLE_CHANGED: Retry(_SOON, _LATER),
    FailureReason.CATALOG_UNREACHABLE: Retry(_SOON, _LATER),
    FailureReason.LOST_RUNNER: Retry(_SOON, _LATER, at_once=1),  # a restarted daemon continues
    FailureReason.RUNNER_UNAVAILABLE: Retry(_SOON, _LATER),
    FailureReason.OTHER: Retry(_LATER),
}


@dataclass(frozen=True, slots=True)
class NextAttempt:
    """When the rule may run again, and why then."""

    at: datetime
    sentence: str  # how the rule continues; written after the cause


def find_next_attempt(
    rule: Rule, streak: FailureStreak, table_state: str, policy_version: str
) -> NextAttempt:
    """The next attempt, from the failures in a row and changes of the table or policy since.

    The result for a job is always the same. Temporary failures since then have a wait of their own.
    """
    own = _find_own_attempt(rule, streak, table_state, policy_version)
    if streak.passing is None:
        return own
    again = _find_own_attempt(rule, streak.passing, table_state, policy_version)
    sentence = f"tried again after a temporary failure ({streak.passing.reason})"
    return own if own.at >= again.at else replace(again, sentence=sentence)


def _find_own_attempt(
    rule: Rule, streak: FailureStreak, table_state: str, policy_version: str
) -> NextAttempt:
    retry = RETRIES[_read_reason(streak.reason)]
    if retry.heeds_cooldown:
        retry = replace(retry, first=min(retry.first, rule.cooldown))
    has_new_policy = streak.policy_version not in {"", policy_version}
    has_new_table = streak.table_state not in {None, table_state}
    wait = shorten(_find_wait(retry, streak.times), streak.job_id)
    if streak.times >= MOST_ATTEMPTS and not has_new_policy and retry.longest >= LONGEST_WAIT:
        return NextAttempt(
            streak.last_at + EXHAUSTED_WAIT,
            "tried once a week from now on, or when the policy changes, or on request",
        )
    match retry.remedy:
        case Remedy.AS_IT_IS:
            return NextAttempt(streak.last_at + wait, "tried again unchanged")
        case Remedy.NARROWER if (
            not rule.replaces_data_files
        ):  # other rules are limited already, or cannot be limited
            return NextAttempt(streak.last_at + wait, "tried again unchanged")
        case Remedy.NARROWER:
            return NextAttempt(streak.last_at + wait, "tried again with less work in one job")
        case Remedy.AFTER_A_CHANGE if has_new_policy:
            return NextAttempt(streak.last_at, "tried again because the policy has changed")
        case Remedy.AFTER_A_CHANGE if has_new_table:
            return NextAttempt(streak.last_at + wait, "tried again because the table has changed")
        case Remedy.AFTER_A_CHANGE:
            return NextAttempt(
                streak.last_at + LONGEST_WAIT,
                "tried again when the table or the policy changes, or after a day",
            )
        case other:
            assert_never(other)


def _find_wait(retry: Retry, times: int) -> timedelta:
    doublings = min(times - 1 - retry.at_once, _MOST_DOUBLINGS)
    return (
        timedelta(0) if doublings < 0 else min(retry.longest, retry.first * float(1 << doublings))
    )


def shorten(wait: timedelta, seed: str) -> timedelta:
    """The wait minus a share that depends on the seed, in whole seconds.

    Without a seed the wait does not change.
    """
    if not seed:
        return wait
    part = int(sha256(seed.encode()).hexdigest()[:_SEED_DIGITS], 16) / 16**_SEED_DIGITS
    return timedelta(seconds=round((wait * (1 - JITTER_SHARE * part)).total_seconds()))


def _read_reason(text: str) -> FailureReason:
    return (
        FailureReason(text) if text in set(FailureReason) else FailureReason.OTHER
    )  # from another version of this program
