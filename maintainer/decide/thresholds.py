"""Compare a rule's thresholds with a table's health."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, floor
from types import MappingProxyType

from maintainer.domain.health import Band, Finding, TableHealth
from maintainer.domain.policy import Metric, Rule, Threshold
from maintainer.domain.units import format_duration, format_size

_HOUR_SECONDS = 3600


_FIELDS: Mapping[Metric, Callable[[TableHealth], float | None]] = MappingProxyType(
    {
        Metric.AVERAGE_FILE_SIZE_BYTES: lambda health: health.average_file_size_bytes,
        Metric.SMALL_FILE_COUNT: lambda health: health.small_files,
        Metric.SMALL_FILE_RATIO: lambda health: health.small_file_ratio,
        Metric.MANIFEST_COUNT: lambda health: health.manifests,
        Metric.MANIFEST_EXCESS: lambda health: health.manifest_excess,
        Metric.SNAPSHOT_COUNT: lambda health: health.snapshots,
        Metric.POSITION_DELETE_FILE_COUNT: lambda health: health.position_delete_files,
        Metric.EQUALITY_DELETE_FILE_COUNT: lambda health: health.equality_delete_files,
        Metric.DELETION_VECTOR_COUNT: lambda health: health.deletion_vectors,
        Metric.DELETE_RATIO: lambda health: (
            health.delete_records / health.records
            if health.delete_records is not None and health.records
            else None
        ),
        Metric.DELETE_FILE_RATIO: lambda health: health.delete_file_ratio,
        Metric.DANGLING_DELETE_FILE_COUNT: lambda health: health.dangling_delete_files,
        Metric.LIVE_FILE_RATIO: lambda health: health.live_file_ratio,
        Metric.METADATA_FILE_COUNT: lambda health: health.metadata_files,
    }
)


def observe(metric: Metric, health: TableHealth, now: datetime) -> float | None:
    """The metric's value; None when not measured or undefined (the average of no files)."""
    if metric is Metric.OLDEST_SNAPSHOT_AGE_SECONDS:
        return (
            (now - health.oldest_snapshot_at).total_seconds() if health.oldest_snapshot_at else None
        )
    return _FIELDS[metric](health)


def write_value(metric: Metric | str, value: float) -> str:
    """A metric's value as text, with its unit."""
    if metric == Metric.AVERAGE_FILE_SIZE_BYTES:
        return format_size(value)
    if metric == Metric.OLDEST_SNAPSHOT_AGE_SECONDS:
        return format_duration(timedelta(seconds=value))
    if metric in _RATIOS:
        return f"{value:.0%}"
    return f"{value:,.0f}"


_RATIOS = frozenset(
    {Metric.SMALL_FILE_RATIO, Metric.DELETE_RATIO, Metric.DELETE_FILE_RATIO, Metric.LIVE_FILE_RATIO}
)
_WORDS = {
    Metric.AVERAGE_FILE_SIZE_BYTES: "average file size",
    Metric.SMALL_FILE_COUNT: "small files",
    Metric.SMALL_FILE_RATIO: "share of small files",
    Metric.MANIFEST_COUNT: "manifests",
    Metric.SNAPSHOT_COUNT: "snapshots",
    Metric.OLDEST_SNAPSHOT_AGE_SECONDS: "age of the oldest snapshot",
    Metric.POSITION_DELETE_FILE_COUNT: "position delete files",
    Metric.EQUALITY_DELETE_FILE_COUNT: "equality delete files",
    Metric.DELETION_VECTOR_COUNT: "deletion vectors",
    Metric.DANGLING_DELETE_FILE_COUNT: "dangling position delete files",
    Metric.DELETE_RATIO: "share of deleted records",
    Metric.DELETE_FILE_RATIO: "delete files to data files",
    Metric.MANIFEST_EXCESS: "manifests beyond those needed",
    Metric.LIVE_FILE_RATIO: "share of kept data files that are live",
    Metric.METADATA_FILE_COUNT: "metadata files",
}


def describe_threshold(threshold: Threshold, observed: float) -> str:
    """One comparison as text: "average file size 48 KiB, threshold below 32 MiB"."""
    value, bound = (
        write_value(threshold.metric, observed),
        write_value(threshold.metric, threshold.bound),
    )
    return f"{_WORDS[threshold.metric]} {value}, threshold {threshold.direction} {bound}"


@dataclass(frozen=True, slots=True)
class Assessment:
    """A rule's thresholds for one table: met, not met, and not measured."""

    findings: tuple[Finding, ...]
    unmet: tuple[str, ...]
    not_measured: tuple[Metric, ...]


def assess(rule: Rule, health: TableHealth, now: datetime) -> Assessment:
    """Compare all thresholds of the rule with the table."""
    findings: list[Finding] = []
    unmet: list[str] = []
    not_measured: list[Metric] = []
    for threshold in rule.when:
        observed = observe(threshold.metric, health, now)
        if observed is None:
            not_measured.append(threshold.metric)
            continue
        holds = (
            observed < threshold.bound
            if threshold.direction == "below"
            else observed > threshold.bound
        )
        shown = (
            _round_away(observed, holds=holds)
            if threshold.metric is Metric.OLDEST_SNAPSHOT_AGE_SECONDS
            else observed
        )
        sentence = describe_threshold(threshold, shown)
        if holds:
            findings.append(
                Finding(
                    threshold.metric,
                    shown,
                    threshold.bound,
                    Band.WATCH,
                    is_actionable=True,
                    sentence=sentence,
                )
            )
        else:
            unmet.append(sentence)
    return Assessment(tuple(findings), tuple(unmet), tuple(not_measured))


def _round_away(seconds: float, *, holds: bool) -> float:
    """An age rounded to the full hour: up when it crosses its bound, else down.

    An age grows by itself, and an unchanged verdict must have the same text.
    """
    hours = seconds / _HOUR_SECONDS
    return float(_HOUR_SECONDS * (ceil(hours) if holds else floor(hours)))
