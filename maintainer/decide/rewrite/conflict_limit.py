"""Limit a rewrite after conflicts: it must fit between two commits of the other writers."""

from __future__ import annotations

from datetime import datetime, timedelta

from maintainer.decide.rewrite.limits import Bounded, take_at_most
from maintainer.domain.calibration import Calibration
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import RuleHistory
from maintainer.domain.policy import Rule
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import format_duration
from maintainer.estimate.cost import Pace, find_pace
from maintainer.estimate.rewrite_data_files import Place

LEAST_WORK_PER_START_UP = 0.5  # a shorter job would be mostly start-up, which no limit shortens
_SECONDS_PER_HOUR = 3600


# What a job's length and its partitions depend on.
def fit_between_commits(  # noqa: PLR0913, PLR0917
    rule: Rule,
    health: TableHealth,
    history: RuleHistory,
    calibration: Calibration,
    now: datetime,
    too_heavy: frozenset[Place] = frozenset(),
) -> Bounded:
    """A limit on the whole job: first by partitions where possible, then by a number of files.

    The policy's own limits stay. Iceberg checks for conflicts since the job began: smaller file
    groups do not help against a writer that commits more often than a job takes.
    """
    if not isinstance(rule, RewriteDataFilesRule) or not history.recent_conflicts:
        return Bounded(rule)
    pace = find_pace(rule.name, calibration)
    most = find_most_bytes(health, history, pace)
    part = take_at_most(most, rule, health, now, too_heavy)
    return (
        Bounded(part.rule, _explain(part.amount, pace.seconds(part.bytes), health, history))
        if part is not None
        else Bounded(rule)
    )


def find_most_bytes(health: TableHealth, history: RuleHistory, pace: Pace) -> int:
    """Bytes that a job can rewrite in a share of the time between two commits.

    The time includes the start-up. The share is a half after one conflict, a quarter after two. The
    result is at most that share of the table, and large enough that the job is not mostly start-up.
    """
    bounds = [history.scope_factor * (health.data_bytes or 0) * pace.seconds_per_unit]
    gap = find_gap(health)
    if gap is not None:
        bounds.append(history.scope_factor * gap.total_seconds() - pace.start_seconds)
    return int(
        max(LEAST_WORK_PER_START_UP * pace.start_seconds, min(bounds)) / pace.seconds_per_unit
    )


def find_gap(health: TableHealth) -> timedelta | None:
    """The time between two commits: the mean, or the time since rows last changed if longer.

    Appends do not conflict, but a writer does not announce changes of rows: all commits count.
    None: unknown, or no commits.
    """
    gaps = (
        [timedelta(seconds=_SECONDS_PER_HOUR / health.commits_per_hour)]
        if health.commits_per_hour
        else []
    )
    if gaps and health.last_change_at is not None:
        gaps.append(health.measured_at - health.last_change_at)
    return max(gaps, default=None)


def _explain(bound: str, seconds: float, health: TableHealth, history: RuleHistory) -> str:
    number, gap = history.recent_conflicts, find_gap(health)
    lost = f"{number:,} rewrite{'' if number == 1 else 's'} of late"
    often = "" if gap is None else f" and leave about {format_duration(gap)} between two commits"
    return (
        f"only {bound} at once, about {format_duration(timedelta(seconds=seconds))} of work, "
        f"because writers won {lost}{often}"
    )
