"""Simulates tables of the store: their writes, growth, rewrites and conflicts.

The figures come from the store's samples and jobs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise

from maintainer.domain.conflict import ConflictKind
from maintainer.domain.cost import Calibration
from maintainer.domain.health import TableHealth
from maintainer.domain.job import Job, JobState
from maintainer.domain.policy import RuleName
from maintainer.estimate.cost import find_pace
from maintainer.measure.history import Samples, drop_unknown, mean_over_time, sum_rises
from maintainer.procedures.registry import CHAPTERS
from tests.labs.simulation.fleet import SMALLEST_FILE_BYTES, Traits, Writer, take_table

METRICS = ("commits_per_hour", "data_files", "data_bytes")  # samples that are read
LOOKS_BACK = timedelta(days=30)
MOST_JOBS = 200  # the newest jobs of a table
SHORTEST_SPAN = timedelta(hours=6)  # of samples, so that growth is known
# The assumed conflict rate has the weight of so many hours of a table's jobs.
ASSUMED_HOURS = 1.0
_RULE = RuleName.REWRITE_DATA_FILES
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
# Conflicts because of changed rows; None: the kind is unknown, as some commits were lost.
_OF_ROWS = frozenset(
    {
        ConflictKind.NEW_DELETES,
        ConflictKind.NEW_FILES,
        ConflictKind.FILES_GONE,
        ConflictKind.COMMITS_LOST,
        None,
    }
)


@dataclass(frozen=True, slots=True)
class TableHistory:
    """The stored history of one table: samples by metric, oldest first, and finished jobs."""

    health: TableHealth
    samples: Mapping[str, Samples] = field(default_factory=dict)
    jobs: Sequence[Job] = ()
    calibration: Calibration = field(default_factory=Calibration)


def recall_table(history: TableHistory) -> Traits | None:
    """Make a table from its history; unknown figures come from its last health.

    None if it has no files or was not measured completely.
    """
    if not history.health.data_files or not history.health.data_bytes:
        return None
    return _with_conflicts(
        _with_pace(_with_writers(take_table(history.health), history), history.calibration),
        history.jobs,
    )


def _with_writers(traits: Traits, history: TableHistory) -> Traits:
    """Add commits, files and bytes; only additions count, because rewrites remove files."""
    files, size = (
        drop_unknown(history.samples.get(metric, ())) for metric in ("data_files", "data_bytes")
    )
    rates = drop_unknown(history.samples.get("commits_per_hour", ()))
    commits = mean_over_time(rates) if rates else traits.commits_per_hour
    span = files[-1][0] - files[0][0] if files else timedelta(0)
    if span < SHORTEST_SPAN:
        return replace(traits, commits_per_hour=commits)
    files_added, bytes_added = sum_rises(files), sum_rises(size)
    if not commits:
        commits = sum(after > before for (_, before), (_, after) in pairwise(files)) / (
            span / _HOUR
        )
    each = bytes_added / files_added if files_added and bytes_added else traits.file_bytes
    per_commit = files_added / (span / _HOUR) / commits if commits else 0.0
    return replace(
        traits,
        commits_per_hour=commits,
        files_per_commit=max(1, round(per_commit)),
        file_bytes=max(SMALLEST_FILE_BYTES, round(each)),
    )


def _with_pace(traits: Traits, calibration: Calibration) -> Traits:
    """Add the pace of the table's jobs, else its catalog's, else of all, else the assumed."""
    if not any(
        level.get(_RULE) for level in (calibration.table, calibration.catalog, calibration.fleet)
    ):
        return traits
    pace = find_pace(_RULE, CHAPTERS[_RULE].first_pace, calibration)
    return replace(
        traits,
        bytes_per_second=1 / pace.seconds_per_unit,
        start_up=timedelta(seconds=pace.start_seconds),
    )


def _with_conflicts(traits: Traits, jobs: Sequence[Job]) -> Traits:
    """Add how often writers won in each hour of rewriting; almost never without any conflict."""
    rewrites = [
        job
        for job in jobs
        if job.rule is _RULE
        and job.duration is not None
        and (job.state is JobState.SUCCEEDED or _lost(job))
    ]
    if not rewrites:
        return traits
    conflicts, hours = (
        sum(map(_lost, rewrites)),
        sum(job.duration / _HOUR for job in rewrites if job.duration is not None),
    )
    writer = Writer.MERGE if conflicts else traits.writer
    assumed = traits.commits_per_hour if writer is Writer.MERGE else 0.0
    return replace(
        traits,
        writer=writer,
        conflicts_per_hour=(conflicts + assumed * ASSUMED_HOURS) / (hours + ASSUMED_HOURS),
    )


def _lost(job: Job) -> bool:
    return (
        job.has_met_writers
        and (job.outcome.conflict if job.outcome is not None else None) in _OF_ROWS
    )
