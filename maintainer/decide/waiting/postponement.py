"""Reasons to postpone a rule that is due, and until when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from maintainer.decide.circumstances import Circumstances, digest_state
from maintainer.decide.waiting.retries import find_next_attempt
from maintainer.domain.action import Action
from maintainer.domain.health import Rewriter, TableHealth
from maintainer.domain.identifier import Registration
from maintainer.domain.plan import (
    PlannedAction,
    RuleHistory,
    SkipCode,
    SkippedRule,
    name_state,
)
from maintainer.domain.policy import Mode, Others, Policy, Rule, RuleName
from maintainer.domain.rules import RewriteDataFilesRule, RewriteRule
from maintainer.domain.units import format_duration, format_instant, is_ahead, is_recent
from maintainer.estimate.floors import Refusal
from maintainer.policy.restriction import describe_scope_pause
from maintainer.policy.windows import blackout_end, is_blacked_out, is_open, next_opening

MOST_NAMED = 5  # names in one sentence
HOW_TO_OWN = "write `owner: true` in a policy for the name that is to be maintained"
# the beginning of the application name of every instance of this program
OURS = "iceberg-maintainer-"
LEAST_RUNS = 2  # within 7 days; a single compaction by hand does not count
STANDS_BACK_FOR = timedelta(days=7)
LEAST_WAIT_OF_CANCELLING = timedelta(hours=1)
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
class Unrest:
    """Active writers that delay a rewrite: the reason, the end, and whether the wait is over."""

    reason: str
    next_at: datetime
    is_waited_out: bool


def find_unrest(
    rule: Rule, health: TableHealth, policy: Policy, now: datetime, waiting_since: datetime
) -> Unrest | None:
    """Why the table's writers delay a rewrite; None: they do not."""
    if not isinstance(rule, RewriteRule):
        return None
    if rule.quiet_period is not None:
        return _judge(
            "others last committed",
            health.last_write_at,
            rule.quiet_period,
            rule,
            now,
            waiting_since,
        )
    # Appends and rewrites do not conflict. In a window, other writers are the operator's
    # responsibility. A single partition can be left out.
    if (
        not isinstance(rule, RewriteDataFilesRule)
        or health.is_partitioned is not False
        or policy.window is not None
    ):
        return None
    return _judge(
        "the table has no partitions to leave out, and its rows were last changed",
        health.last_change_at,
        rule.hot_partition_age,
        rule,
        now,
        waiting_since,
    )


def has_waited_out(rule: RewriteRule, now: datetime, waiting_since: datetime) -> bool:
    """True when the rule has waited for writers as long as allowed."""
    return now >= waiting_since + rule.wait_for_quiet


def end_of_patience(rule: RewriteRule, waiting_since: datetime) -> datetime:
    """When the rule stops waiting for writers."""
    return waiting_since + rule.wait_for_quiet


def _judge(  # noqa: PLR0913, PLR0917 - one condition
    words: str,
    moment: datetime | None,
    period: timedelta,
    rule: RewriteRule,
    now: datetime,
    waiting_since: datetime,
) -> Unrest | None:
    if moment is None or not is_recent(moment, period, now):
        return None
    until = end_of_patience(rule, waiting_since)
    reported = f"{words} at {format_instant(moment)}"
    if now >= until:
        return Unrest(
            f"{reported}, and it has waited for a quiet period of {format_duration(period)} since "
            f"{format_instant(waiting_since)}",
            now,
            is_waited_out=True,
        )
    reason = (
        f"{reported}; it waits for a quiet period of {format_duration(period)}, "
        f"until {format_instant(until)} at most"
    )
    return Unrest(reason, min(moment + period, until), is_waited_out=False)


def refuse_shared(
    health: TableHealth, policy: Policy, registrations: Sequence[Registration]
) -> Refusal | None:
    """Why nothing may run on the table under this name.

    None when it has no other name, or this name is the owner.
    """
    if not registrations:
        return None
    owners = [other for other in registrations if other.is_owner]
    if policy.is_owner and not owners:
        newer = next((other for other in registrations if _is_newer(other, health)), None)
        if newer is None:
            return None
        reason = (
            f"a policy names this name as the owner, but {newer.table} has newer commits, which "
            f"work under this name could destroy"
        )
    elif policy.is_owner:
        reason = (
            f"policies name several owners, {health.table} and {_name(owners)}; only one name "
            f"may own the table"
        )
    elif owners:
        reason = f"it is maintained as {_name(owners)}, which a policy names as the owner"
    else:
        reason = f"work under one name may destroy what the other needs; {HOW_TO_OWN}"
    return Refusal(SkipCode.UNSAFE, f"{describe_names(registrations)}: {reason}")


def describe_names(registrations: Sequence[Registration]) -> str:
    """The other names as text."""
    return f"the table is registered as {_name(registrations)} too"


def _is_newer(other: Registration, health: TableHealth) -> bool:
    if other.newest_snapshot_at is None:
        return False
    return health.newest_snapshot_at is None or other.newest_snapshot_at > health.newest_snapshot_at


def _name(registrations: Iterable[Registration]) -> str:
    names = sorted(str(other.table) for other in registrations)
    more = f" and {len(names) - MOST_NAMED:,} others" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


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


@dataclass(frozen=True, slots=True)
class Hold:
    """A reason to wait. next_at None: until the table or its policy changes."""

    code: SkipCode
    reason: str
    next_at: datetime | None = None


def hold_back(  # noqa: PLR0913, PLR0917 - each is a reason to wait
    rule: Rule,
    action: Action,
    health: TableHealth,
    policy: Policy,
    circumstances: Circumstances,
    history: RuleHistory,
) -> Hold | None:
    """The reasons to wait and their ends; the reason that lasts longest is checked first."""
    if history.idle_at_state is not None and history.idle_at_state == name_state(
        digest_state(health), policy.version, action
    ):
        return Hold(
            SkipCode.NOTHING_TO_GAIN,
            "the last run did the same and changed nothing, and the table has not changed since",
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
        return Hold(SkipCode.OBSERVE_ONLY, "the policy is in observe mode")
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

    This is now if the rule was not waiting in the last plan.
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
    pause = find_pause(rule, history)
    cancelled_at = history.cancelled_at
    if cancelled_at is not None and not is_ahead(cancelled_at, now):
        until = find_end_of_cancelling(rule, cancelled_at)
        reason = (
            f"{history.cancelled_by} cancelled the last job at {format_instant(cancelled_at)}; the "
            f"rule waits for {format_duration(until - cancelled_at)}, or until a person runs it"
        )
        if now < until:
            return Hold(SkipCode.COOLING_DOWN, reason, until)
    done_at = history.last_success_at
    if done_at is not None and now < done_at + pause and not is_ahead(done_at, now):
        reason = f"last run at {format_instant(done_at)}, at most every {format_duration(pause)}"
        if pause > max(rule.cooldown, rule.every or timedelta(0)):
            runs = (
                "the last run" if history.empty_runs == 1 else f"the last {history.empty_runs} runs"
            )
            reason += f", because {runs} gained nothing, or less than a tenth of the prediction"
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


def find_end_of_cancelling(rule: Rule, cancelled_at: datetime) -> datetime:
    """Until when a rule waits after a person cancelled its job: its interval, at least an hour."""
    return cancelled_at + max(LEAST_WAIT_OF_CANCELLING, rule.cooldown, rule.every or timedelta(0))


def find_pause(rule: Rule, history: RuleHistory) -> timedelta:
    """The least time between two runs.

    The time of the policy is doubled for every run in a row without a gain, unless files become
    due by their age alone.
    """
    pause = max(rule.cooldown, rule.every or timedelta(0))
    doublings = 0 if rule.depends_on_age else min(history.empty_runs, _MOST_DOUBLINGS)
    return max(pause, min(LONGEST_INTERVAL, pause * float(1 << doublings)))
