"""Reasons to postpone a rule that is due, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.table_state import digest_state
from maintainer.decide.waiting.quiet_periods import find_unrest
from maintainer.decide.waiting.retries import find_next_attempt
from maintainer.domain.health import Rewriter, TableHealth
from maintainer.domain.instants import is_ahead, is_recent
from maintainer.domain.plan import (
    PlannedAction,
    RuleHistory,
    SkipCode,
    SkippedRule,
    name_state,
)
from maintainer.domain.policy import Mode, Others, Policy, Rule, RuleName
from maintainer.domain.rules import RewriteRule
from maintainer.domain.units import format_duration, format_instant
from maintainer.policy.scope_pauses import describe_scope_pause
from maintainer.policy.windows import blackout_end, is_blacked_out, is_open, next_opening

OURS = (
    "iceberg-maintainer-"  # the beginning of the application name of every instance of this program
)
LEAST_RUNS = 2  # within 7 days; a single compaction by hand does not count
STANDS_BACK_FOR = timedelta(days=7)


def find_other_maintainer(
    rule: Rule, health: TableHealth, policy: Policy, application: str, now: datetime
) -> Rewriter | None:
    """Another program that keeps rewriting the table, so that this rule must not.

    None: there is none, or the policy ignores it.
    """
    if not isinstance(rule, RewriteRule) or policy.others is Others.IGNORE:
        return None
    others = (one for one in health.rewriters if one.name != application and one.runs >= LEAST_RUNS)
    return next((one for one in others if is_recent(one.last_at, STANDS_BACK_FOR, now)), None)


def describe_other(other: Rewriter) -> str:
    """The other program's name, and why no rewrite runs, as a sentence."""
    who = (
        f"{other.name}, another instance of this program,"
        if other.name.startswith(OURS)
        else f"{other.name}, another maintainer,"
    )
    last = f"{format_instant(other.last_at)}"
    return (
        f"{who} rewrote this table {other.runs} times in 7 days, last at {last}; rewrites are left "
        f"to it (with others: ignore in the policy they would run too)"
    )


EMPTY_RUNS_PER_DOUBLING = 3  # so many empty runs in a row double the least time between runs
LONGEST_INTERVAL = timedelta(days=30)  # upper limit of the doubling
_MOST_DOUBLINGS = 10

# With one of these codes, the waiting time of a rule continues. With any other code, the rule waits
# for nothing.
KEEPS_WAITING = frozenset(
    {
        SkipCode.OUTSIDE_WINDOW,
        SkipCode.IN_FLIGHT,
        SkipCode.PAUSED,
        SkipCode.OVER_BUDGET,
        SkipCode.HOT_PARTITION,
        SkipCode.NOT_QUIET,
    }
)


@dataclass(frozen=True, slots=True)
class Hold:
    """A reason to wait. next_at None: until the table or its policy changes."""

    code: SkipCode
    reason: str
    next_at: datetime | None = None


def hold_back(
    rule: Rule,
    health: TableHealth,
    policy: Policy,
    circumstances: Circumstances,
    history: RuleHistory,
) -> Hold | None:
    """The reasons to wait and their ends; the longest-lasting is checked first."""
    if history.idle_at_state is not None and history.idle_at_state == name_state(
        digest_state(health), policy.version
    ):
        return Hold(
            SkipCode.NOTHING_TO_GAIN,
            "the last run changed nothing, and the table has not changed since",
        )
    if circumstances.in_flight is not None:
        return Hold(
            SkipCode.IN_FLIGHT,
            f"job {circumstances.in_flight} is working on this table; a table has one job at a "
            "time",
        )
    if circumstances.paused_by is not None:
        return Hold(SkipCode.PAUSED, f"{circumstances.paused_by} paused this table")
    if circumstances.pause is not None:
        return Hold(SkipCode.PAUSED, describe_scope_pause(circumstances.pause))
    other = find_other_maintainer(
        rule, health, policy, circumstances.application, circumstances.now
    )
    if other is not None:
        return Hold(
            SkipCode.OTHER_MAINTAINER, describe_other(other), other.last_at + STANDS_BACK_FOR
        )
    if policy.mode is Mode.OBSERVE:
        return Hold(
            SkipCode.OBSERVE_ONLY,
            "the policy is in observe mode: enforce mode would run it",
        )
    cooling = (
        None
        if circumstances.is_requested
        else _cooling_down(rule, health, policy, circumstances.now, history)
    )
    if cooling is not None:
        return cooling
    if policy.window is not None and not is_open(policy.window, circumstances.now):
        opening = next_opening(policy.window, circumstances.now)
        return Hold(
            SkipCode.OUTSIDE_WINDOW,
            f"outside the maintenance window ({policy.window.cron}, {policy.window.timezone})",
            opening,
        )
    return _find_blackout(policy, circumstances.now) or _find_unrest(
        rule, health, policy, circumstances
    )


def _find_blackout(policy: Policy, now: datetime) -> Hold | None:
    ends = [
        (blackout_end(window, now), window)
        for window in policy.blackouts
        if is_blacked_out(window, now)
    ]
    if not ends:
        return None
    end, window = max(ends, key=lambda entry: entry[0])
    return Hold(
        SkipCode.OUTSIDE_WINDOW,
        f"in the blackout window of the policy ({window.cron}, {window.timezone})",
        end,
    )


def _find_unrest(
    rule: Rule, health: TableHealth, policy: Policy, circumstances: Circumstances
) -> Hold | None:
    unrest = find_unrest(
        rule, health, policy, circumstances.now, find_waiting_since(rule.name, circumstances)
    )
    return (
        Hold(SkipCode.NOT_QUIET, unrest.reason, unrest.next_at)
        if unrest is not None and not unrest.is_waited_out
        else None
    )


def find_waiting_since(rule: RuleName, circumstances: Circumstances) -> datetime:
    """The time since which the rule is due without running.

    It is now if the rule was not waiting in the last plan.
    """
    last = circumstances.previous
    verdicts: list[PlannedAction | SkippedRule] = (
        [*last.planned, *last.skipped] if last is not None else []
    )
    since = next((verdict.waiting_since for verdict in verdicts if verdict.rule is rule), None)
    return min(since, circumstances.now) if since is not None else circumstances.now


def _cooling_down(
    rule: Rule, health: TableHealth, policy: Policy, now: datetime, history: RuleHistory
) -> Hold | None:
    pause = _find_pause(rule, history)
    done_at = history.last_success_at
    if done_at is not None and now < done_at + pause and not is_ahead(done_at, now):
        reason = f"last run at {format_instant(done_at)}, at most every {format_duration(pause)}"
        if history.empty_runs >= EMPTY_RUNS_PER_DOUBLING:
            reason += f", because the last {history.empty_runs} runs changed nothing"
        return Hold(SkipCode.COOLING_DOWN, reason, done_at + pause)
    failures = history.failures
    if failures is None or is_ahead(failures.last_at, now):
        return None
    following = find_next_attempt(rule, failures, digest_state(health), policy.version)
    if now >= following.at:
        return None
    times = f"{failures.times} times in a row" if failures.times > 1 else "once"
    reason = (
        f"failed {times} ({failures.reason}), last at {format_instant(failures.last_at)}; "
        f"{following.sentence}; next at {format_instant(following.at)}"
    )
    return Hold(SkipCode.COOLING_DOWN, reason, following.at)


def _find_pause(rule: Rule, history: RuleHistory) -> timedelta:
    """The least time between two runs.

    It is the policy's, doubled for every three runs in a row that changed nothing.
    """
    pause = max(rule.cooldown, rule.every or timedelta(0))
    doublings = min(history.empty_runs // EMPTY_RUNS_PER_DOUBLING, _MOST_DOUBLINGS)
    return max(pause, min(LONGEST_INTERVAL, pause * float(1 << doublings)))
