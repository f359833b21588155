"""Why a rule that would help waits all the same, and until when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from maintainer.domain.health import TableHealth
from maintainer.domain.plan import RuleHistory, SkipCode
from maintainer.domain.policy import Mode, Policy, Rule, RuleName
from maintainer.domain.units import format_duration
from maintainer.policy.window import is_open, next_opening

# Seen elsewhere: 16 h after success and 1 h after failure (OpenHouse), 6 h after three failures (Floe).
FIRST_FAILURE_BACKOFF = timedelta(hours=1)
LONGEST_FAILURE_BACKOFF = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a decision needs beside the table and its policy."""

    now: datetime
    history: Mapping[RuleName, RuleHistory] = field(default_factory=dict)
    in_flight: str | None = None  # the id of the table's unfinished job
    paused_by: str | None = None
    is_requested: bool = False  # a person asks for it now: what failed before may have been put right


@dataclass(frozen=True, slots=True)
class Hold:
    """A reason to wait; next_at None means until the table or its policy changes."""

    code: SkipCode
    reason: str
    next_at: datetime | None = None


def hold_back(rule: Rule, health: TableHealth, policy: Policy, circumstances: Circumstances, history: RuleHistory) -> Hold | None:
    """Reasons to wait, the most lasting first: each says until when."""
    if history.idle_at_metadata_location == health.metadata_location:
        return Hold(SkipCode.NOTHING_TO_GAIN, "the last run changed nothing, and the table has not changed since")
    if circumstances.in_flight is not None:
        return Hold(SkipCode.IN_FLIGHT, f"job {circumstances.in_flight} is working on this table; one at a time")
    if circumstances.paused_by is not None:
        return Hold(SkipCode.PAUSED, f"{circumstances.paused_by} paused this table")
    if policy.mode is Mode.OBSERVE:
        return Hold(SkipCode.OBSERVE_ONLY, "the policy is in observe mode: this is what enforce mode would do")
    cooling = None if circumstances.is_requested else _cooling_down(rule, history, circumstances.now)
    if cooling is not None:
        return cooling
    if policy.window is not None and not is_open(policy.window, circumstances.now):
        opening = next_opening(policy.window, circumstances.now)
        return Hold(SkipCode.OUTSIDE_WINDOW, f"outside the maintenance window ({policy.window.cron}, {policy.window.timezone})", opening)
    return None


def _cooling_down(rule: Rule, history: RuleHistory, now: datetime) -> Hold | None:
    pause = max(rule.cooldown, rule.every or timedelta(0))
    if history.last_success_at is not None and now < history.last_success_at + pause:
        reason = f"last done at {_write_time(history.last_success_at)}, at most every {format_duration(pause)}"
        return Hold(SkipCode.COOLING_DOWN, reason, history.last_success_at + pause)
    backoff = history.failure_backoff(FIRST_FAILURE_BACKOFF, LONGEST_FAILURE_BACKOFF)
    if history.last_failure_at is not None and now < history.last_failure_at + backoff:
        times = f"{history.consecutive_failures} times in a row" if history.consecutive_failures > 1 else "once"
        reason = f"failed {times} ({history.last_failure_reason}), last at {_write_time(history.last_failure_at)}; waits {format_duration(backoff)}"
        return Hold(SkipCode.COOLING_DOWN, reason, history.last_failure_at + backoff)
    return None


def _write_time(moment: datetime) -> str:
    # An instant, not "3 min ago": a verdict that has not changed must read the same at each look.
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
