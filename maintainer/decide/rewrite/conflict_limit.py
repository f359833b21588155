"""Limit a rewrite after conflicts: it must fit between two commits of the other writers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from maintainer.decide.rewrite.limits import Part
from maintainer.domain.calibration import Calibration
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import RuleHistory
from maintainer.domain.policy import RuleName
from maintainer.domain.units import format_duration
from maintainer.estimate.cost import Pace, find_pace

LEAST_WORK_PER_START_UP = 0.5  # a shorter job would be mostly start-up, which no limit shortens
_SECONDS_PER_HOUR = 3600


@dataclass(frozen=True, slots=True)
class ConflictLimit:
    """What a job can rewrite between two commits of the other writers."""

    bytes: int
    pace: Pace
    conflicts: int  # lost lately
    gap: timedelta | None  # between two commits

    def is_exceeded(self, group_bytes: int, _job_bytes: int, /) -> bool:
        """True when the groups are over it, even if the job takes only a few files of them.

        A filter for fewer partitions meets fewer writers.
        """
        return group_bytes > self.bytes

    def explain(self, part: Part) -> str:
        """Why only this part is rewritten, and how long it takes."""
        work = format_duration(timedelta(seconds=self.pace.seconds(part.bytes)))
        lost = f"{self.conflicts:,} recent rewrite{'' if self.conflicts == 1 else 's'}"
        often = (
            ""
            if self.gap is None
            else f" that leave about {format_duration(self.gap)} between two commits"
        )
        return (
            f"only {part.amount} at once, about {work} of work, because {lost} lost to "
            f"writers{often}"
        )


def limit_between_commits(
    health: TableHealth, history: RuleHistory, calibration: Calibration
) -> ConflictLimit | None:
    """The limit after conflicts; None without conflicts.

    It is a limit on the whole job. Iceberg checks for conflicts since the job began: smaller file
    groups do not help against a writer that commits more often than a job takes.
    """
    if not history.recent_conflicts:
        return None
    pace = find_pace(RuleName.REWRITE_DATA_FILES, calibration)
    most = find_most_bytes(health, history, pace)
    return ConflictLimit(most, pace, history.recent_conflicts, find_gap(health))


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
