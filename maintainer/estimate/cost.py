"""Predict the cost and the benefit of an action from finished jobs.

docs/decisions.md has the formulas and the sources of their figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import exp, sqrt

from maintainer.domain.cost import (
    BYTES_PER_FILE,
    BYTES_PER_GROUP,
    NOTHING_LEARNT,
    Benefit,
    Calibration,
    Cost,
    CostBasis,
    CostFit,
    Worth,
)
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import RuleHistory
from maintainer.domain.policy import RuleName
from maintainer.domain.units import is_recent

_SECONDS_PER_HOUR = 3600
_P90 = 1.2816  # of a normal distribution, in standard deviations
# Of the published score. With Spark on a local disk, the pace of rewrites was higher.
PUBLISHED_BYTES_PER_SECOND = 2e6
FIRST_BYTES_PER_SECOND = 8e6  # before any job has finished
_UNKNOWN_SPREAD = 0.3  # ln(actual / predicted) squared; P90 is then twice the prediction
_SPREAD_STRENGTH = 2.0  # the weight of the wider level's spread, in jobs
_PRIOR_STRENGTH = 0.001  # the weight of the wider level's start-up and pace, in jobs, about
# of the wider level's start-up and pace, so that noise in few jobs cannot make them zero
_LEAST_SHARE = 0.01

LEAST_CHANCE = 0.01  # so that the factor for waiting can outweigh a low chance in bounded time
FILE_WEIGHT = 1.0
DELETE_WEIGHT = 2.0  # a query reads a delete file with each data file to which it may apply

PUBLISHED_MEMORY_GB = 2.0
PUBLISHED_START_UP_GB_HOURS = 0.5
PUBLISHED_CONFLICT_AGE = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of an action: seconds to start, and seconds per unit of work.

    A unit is a byte, or a snapshot for an expiry. Files and groups
    count as bytes.
    """

    start_seconds: float
    seconds_per_unit: float
    spread: float = _UNKNOWN_SPREAD

    def seconds(self, work: float) -> float:
        """Predicted duration of this much work."""
        return self.start_seconds + self.seconds_per_unit * work


def find_byte_share(health: TableHealth) -> float:
    """The share of the bytes in the work of rewriting all of the table's files."""
    size, files = health.data_bytes or 0, health.data_files or 0
    groups = len(health.partitions)
    work = size + BYTES_PER_FILE * files + BYTES_PER_GROUP * groups
    return size / work if size else 1.0


def predict(
    rule: RuleName, first_pace: Pace, work: float, calibration: Calibration, memory_gb: float
) -> Cost:
    """Predict the cost of an action of the rule with this much work.

    `first_pace` is the rule's pace before any job has finished, memory_gb the memory of one job.
    """
    table = calibration.table.get(rule, NOTHING_LEARNT)
    catalog = calibration.catalog.get(rule, NOTHING_LEARNT)
    fleet = calibration.fleet.get(rule, NOTHING_LEARNT)
    pace = find_pace(rule, first_pace, calibration)
    nearest, basis = (
        (table, CostBasis.TABLE)
        if table.samples
        else (catalog, CostBasis.CATALOG)
        if catalog.samples
        else (fleet, CostBasis.DEFAULT)
    )
    seconds = _round(pace.seconds(work))
    gb_hours = memory_gb * seconds / _SECONDS_PER_HOUR
    return Cost(
        _round(gb_hours),
        _round(gb_hours * exp(_P90 * sqrt(pace.spread))),
        seconds,
        basis,
        nearest.samples,
        work,
    )


def most_work(pace: Pace, gb_hours_p90: float, memory_gb: float) -> float:
    """The amount of work with this predicted cost; negative when the start-up alone costs more."""
    seconds = gb_hours_p90 / exp(_P90 * sqrt(pace.spread)) / memory_gb * _SECONDS_PER_HOUR
    return (seconds - pace.start_seconds) / pace.seconds_per_unit


def find_pace(rule: RuleName, first: Pace, calibration: Calibration) -> Pace:
    """The pace of the rule's actions on this table.

    It refines the first figures with all finished jobs, then the catalog's, then the table's.
    """
    pace = first
    for level in (calibration.fleet, calibration.catalog, calibration.table):
        pace = _refine(pace, level.get(rule, NOTHING_LEARNT))
    return pace


def _refine(wide: Pace, fit: CostFit) -> Pace:
    """The pace of a level, mixed with the pace of the next wider level.

    One job cannot separate start-up from pace; many jobs outweigh the wider level.
    """
    start, unit = wide.start_seconds, wide.seconds_per_unit
    a, b, d = (
        fit.starts * start**2 + _PRIOR_STRENGTH,
        fit.mixed * start * unit,
        fit.squares * unit**2 + _PRIOR_STRENGTH,
    )
    e, f = fit.start_sum * start + _PRIOR_STRENGTH, fit.work_sum * unit + _PRIOR_STRENGTH
    determinant = a * d - b * b
    starts, units = (e * d - b * f) / determinant, (a * f - b * e) / determinant
    if units < _LEAST_SHARE:
        starts, units = (e - b * _LEAST_SHARE) / a, _LEAST_SHARE
    if starts < _LEAST_SHARE:
        starts, units = _LEAST_SHARE, max(_LEAST_SHARE, (f - b * _LEAST_SHARE) / d)
    spread = (fit.misses + _SPREAD_STRENGTH * wide.spread) / (fit.judged + _SPREAD_STRENGTH)
    return Pace(start * starts, unit * units, spread)


def _round(value: float) -> float:
    """Round to three digits: a plan must not change with each job that finishes elsewhere."""
    return float(f"{value:.3g}")


def find_chance(health: TableHealth, duration_seconds: float, history: RuleHistory) -> float:
    """The chance that no other writer commits first.

    Halved for each failure in a row; at least LEAST_CHANCE.
    """
    commits_per_minute = (health.commits_per_hour or 0.0) / 60
    undisturbed = exp(-commits_per_minute * duration_seconds / 60)
    return max(LEAST_CHANCE, _round(undisturbed * 0.5 ** min(history.consecutive_failures, 16)))


def find_worth(
    benefit: Benefit,
    published: tuple[int, float],
    cost: Cost,
    health: TableHealth,
    history: RuleHistory,
) -> Worth:
    """Benefit and chance, and the published model's gain in files and cost in GB-hours."""
    chance = find_chance(health, cost.duration_seconds, history)
    return Worth(benefit, chance, *published)


def publish_compaction(health: TableHealth) -> tuple[int, float]:
    """AutoComp's gain and cost: the number of small files, and a cost from their bytes.

    Partitions do not matter. The gain is 0 where commits would conflict.
    """
    hours = (health.small_file_bytes or 0) / PUBLISHED_BYTES_PER_SECOND / _SECONDS_PER_HOUR
    newest = health.newest_snapshot_at
    is_disturbed = (
        health.is_partitioned is False
        and newest is not None
        and is_recent(newest, PUBLISHED_CONFLICT_AGE, health.measured_at)
    )
    return (0 if is_disturbed else health.small_files or 0), _round(
        PUBLISHED_MEMORY_GB * hours + PUBLISHED_START_UP_GB_HOURS
    )
