"""Rewrites wait until other writers are quiet, for a limited time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from maintainer.domain.health import TableHealth
from maintainer.domain.instants import is_recent
from maintainer.domain.policy import Policy, Rule, RuleName
from maintainer.domain.rule_defaults import DEFAULT_HOT_PARTITION_AGE, DEFAULT_QUIET_WAIT
from maintainer.domain.units import format_duration

REWRITES = frozenset(
    {
        RuleName.REWRITE_DATA_FILES,
        RuleName.REWRITE_POSITION_DELETE_FILES,
        RuleName.REWRITE_MANIFESTS,
    }
)


@dataclass(frozen=True, slots=True)
class Unrest:
    """Active writers that a rewrite would meet: the reason, the end, and if it waited enough."""

    reason: str
    next_at: datetime
    is_waited_out: bool


def find_unrest(
    rule: Rule, health: TableHealth, policy: Policy, now: datetime, waiting_since: datetime
) -> Unrest | None:
    """Why the table's writers delay a rewrite; None: they do not."""
    if rule.name not in REWRITES:
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
        rule.name is not RuleName.REWRITE_DATA_FILES
        or health.is_partitioned is not False
        or policy.window is not None
    ):
        return None
    age = DEFAULT_HOT_PARTITION_AGE if rule.hot_partition_age is None else rule.hot_partition_age
    return _judge(
        "the table has no partitions to leave out, and its rows were last changed",
        health.last_change_at,
        age,
        rule,
        now,
        waiting_since,
    )


def has_waited_out(rule: Rule, now: datetime, waiting_since: datetime) -> bool:
    """True when the rule has waited for writers as long as allowed."""
    return now >= waiting_since + _longest_wait(rule)


def end_of_patience(rule: Rule, waiting_since: datetime) -> datetime:
    """When the rule stops waiting for writers."""
    return waiting_since + _longest_wait(rule)


def _longest_wait(rule: Rule) -> timedelta:
    return DEFAULT_QUIET_WAIT if rule.wait_for_quiet is None else rule.wait_for_quiet


def _judge(  # noqa: PLR0913, PLR0917 - one condition
    words: str,
    moment: datetime | None,
    period: timedelta,
    rule: Rule,
    now: datetime,
    waiting_since: datetime,
) -> Unrest | None:
    if moment is None or not is_recent(moment, period, now):
        return None
    until = end_of_patience(rule, waiting_since)
    told = f"{words} at {_write_time(moment)}"
    if now >= until:
        return Unrest(
            f"{told}, and it has waited for {format_duration(period)} of quiet since "
            f"{_write_time(waiting_since)}",
            now,
            is_waited_out=True,
        )
    reason = (
        f"{told}; it waits for {format_duration(period)} of quiet, until {_write_time(until)} at "
        f"most"
    )
    return Unrest(reason, min(moment + period, until), is_waited_out=False)


def _write_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
