"""A rule's thresholds held against health: findings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, floor
from typing import assert_never

from maintainer.domain.health import Band, Finding, TableHealth
from maintainer.domain.policy import Metric, Rule, Threshold
from maintainer.domain.units import format_duration, format_size

_HOUR_SECONDS = 3600


def observe(metric: Metric, health: TableHealth, now: datetime) -> float | None:
    """The metric's value in the health; None when it was not measured or does not exist (the average of no files)."""
    match metric:
        case Metric.AVERAGE_FILE_SIZE_BYTES:
            return health.average_file_size_bytes
        case Metric.SMALL_FILE_COUNT:
            return health.small_files
        case Metric.SMALL_FILE_RATIO:
            return health.small_file_ratio
        case Metric.MANIFEST_COUNT:
            return health.manifests
        case Metric.SNAPSHOT_COUNT:
            return health.snapshots
        case Metric.OLDEST_SNAPSHOT_AGE_SECONDS:
            return (now - health.oldest_snapshot_at).total_seconds() if health.oldest_snapshot_at else None
        case Metric.POSITION_DELETE_FILE_COUNT:
            return health.position_delete_files
        case _:
            assert_never(metric)


def write_value(metric: Metric | str, value: float) -> str:
    """A metric's value for people, with its unit."""
    if metric == Metric.AVERAGE_FILE_SIZE_BYTES:
        return format_size(value)
    if metric == Metric.OLDEST_SNAPSHOT_AGE_SECONDS:
        return format_duration(timedelta(seconds=value))
    if metric == Metric.SMALL_FILE_RATIO:
        return f"{value:.0%}"
    return f"{value:,.0f}"


_WORDS = {
    Metric.AVERAGE_FILE_SIZE_BYTES: "average file size",
    Metric.SMALL_FILE_COUNT: "small files",
    Metric.SMALL_FILE_RATIO: "share of small files",
    Metric.MANIFEST_COUNT: "manifests",
    Metric.SNAPSHOT_COUNT: "snapshots",
    Metric.OLDEST_SNAPSHOT_AGE_SECONDS: "age of the oldest snapshot",
    Metric.POSITION_DELETE_FILE_COUNT: "position delete files",
}


def describe_threshold(threshold: Threshold, observed: float) -> str:
    """One comparison in words: "average file size 48 KiB, threshold below 32 MiB"."""
    value, bound = write_value(threshold.metric, observed), write_value(threshold.metric, threshold.bound)
    return f"{_WORDS[threshold.metric]} {value}, threshold {threshold.direction} {bound}"


@dataclass(frozen=True, slots=True)
class Assessment:
    """A rule's thresholds held against a table: those that hold, those that do not, and what was not measured."""

    findings: tuple[Finding, ...]
    unmet: tuple[str, ...]
    not_measured: tuple[Metric, ...]


def assess(rule: Rule, health: TableHealth, now: datetime) -> Assessment:
    """Hold every threshold of the rule against the table."""
    findings: list[Finding] = []
    unmet: list[str] = []
    not_measured: list[Metric] = []
    for threshold in rule.when:
        observed = observe(threshold.metric, health, now)
        if observed is None:
            not_measured.append(threshold.metric)
            continue
        holds = observed < threshold.bound if threshold.direction == "below" else observed > threshold.bound
        shown = _round_away(observed, holds=holds) if threshold.metric is Metric.OLDEST_SNAPSHOT_AGE_SECONDS else observed
        sentence = describe_threshold(threshold, shown)
        if holds:
            findings.append(Finding(threshold.metric, shown, threshold.bound, Band.WATCH, is_actionable=True, sentence=sentence))
        else:
            unmet.append(sentence)
    return Assessment(tuple(findings), tuple(unmet), tuple(not_measured))


def _round_away(seconds: float, *, holds: bool) -> float:
    """An age to the full hour: up when it is beyond its bound, else down. It grows by itself, and a verdict that has not changed must read the same."""
    hours = seconds / _HOUR_SECONDS
    return float(_HOUR_SECONDS * (ceil(hours) if holds else floor(hours)))
