"""Rewrites wait until other writers are quiet, for a limited time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from maintainer.domain.health import TableHealth
from maintainer.domain.instants import is_recent
from maintainer.domain.policy import Policy, Rule
from maintainer.domain.rules import RewriteDataFilesRule, RewriteRule
from maintainer.domain.units import format_duration, format_instant


@dataclass(frozen=True, slots=True)
class Unrest:
    """Active writers that delay a rewrite: the reason, the end, and whether it waited enough."""

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
