"""Thresholds held against health: findings, and the band a table is in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, floor
from typing import assert_never

from maintainer.domain.health import Band, Finding, Grade, TableHealth
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import Metric, Policy, Rule, RuleName, Threshold
from maintainer.domain.units import MIB, format_duration, format_size
from maintainer.policy.estimate import (
    estimate_expire_snapshots,
    estimate_rewrite_data_files,
    estimate_rewrite_manifests,
    is_manifest_rewrite_worthwhile,
)
from maintainer.policy.guard import DEFAULT_EXPIRE_AGE, DEFAULT_SNAPSHOTS_KEPT

# Published measurements: good throughput above ~13 MB, 10-12 MB acceptable, marked degradation below 4 MB, best practice >= 30-40 MB on average.
AVERAGE_FILE_SIZE_BOUNDS = ((Band.CRITICAL, 4 * MIB), (Band.DEGRADED, 12 * MIB), (Band.WATCH, 32 * MIB))
SMALL_FILE_RATIO_BOUNDS = ((Band.DEGRADED, 0.5), (Band.WATCH, 0.2))
MANIFEST_COUNT_BOUNDS = ((Band.DEGRADED, 500), (Band.WATCH, 100))
SNAPSHOT_COUNT_BOUNDS = ((Band.DEGRADED, 500), (Band.WATCH, 100))
DELETE_FILE_COUNT_BOUNDS = ((Band.DEGRADED, 500), (Band.WATCH, 100))
# A rewrite that would remove less than this share of the table's files changes little: it is no reason for alarm.
MATERIAL_GAIN_RATIO = 0.1

DISAGREEMENT = "metadata_disagreement"  # the finding's metric: observed is what is claimed, bound what was counted
MAX_DISAGREEMENTS = 5  # findings; health has them all

_BAND_ORDER = tuple(Band)
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


def grade(health: TableHealth, policy: Policy, now: datetime) -> Grade:
    """The band from the published bounds; what no maintenance can change is noted, but is no reason for a worse band."""
    judged = [*_unreadable_findings(health), *_file_findings(health, policy), *_manifest_findings(health), *_snapshot_findings(health, policy, now)]
    findings = [*judged, *_disagreement_findings(health)]
    findings.sort(key=lambda f: (not f.is_actionable, -_BAND_ORDER.index(f.severity)))
    actionable = [finding for finding in findings if finding.is_actionable]
    band = max((finding.severity for finding in actionable), key=_BAND_ORDER.index, default=Band.HEALTHY)
    return Grade(band, tuple(findings), _reason(health, findings, actionable))


def _disagreement_findings(health: TableHealth) -> list[Finding]:
    """Other engines write wrong summaries: worth knowing, but no maintenance changes it."""
    return [
        Finding(
            DISAGREEMENT,
            found.claimed,
            found.counted,
            Band.WATCH,
            is_actionable=False,
            sentence=f"the {found.source} says {found.claimed:,} {found.figure}, the manifests' entries add up to {found.counted:,}",
        )
        for found in health.disagreements[:MAX_DISAGREEMENTS]
    ]


def _reason(health: TableHealth, findings: list[Finding], actionable: list[Finding]) -> str:
    if actionable:
        return actionable[0].sentence
    if health.snapshot_id is None:
        return "The table is empty."
    beyond = [finding for finding in findings if finding.metric != DISAGREEMENT]
    if beyond:
        return f"Nothing to gain: {beyond[0].sentence}"
    return "No bound is exceeded."


def _severity(bounds: tuple[tuple[Band, float], ...], value: float, *, is_below: bool = False) -> tuple[Band, float] | None:
    return next(((band, bound) for band, bound in bounds if (value < bound if is_below else value > bound)), None)


def _unreadable_findings(health: TableHealth) -> list[Finding]:
    if not health.unreadable:
        return []
    first = health.unreadable[0]
    sentence = f"{len(health.unreadable)} metadata files cannot be read, the first is {first.path}: {first.reason}"
    return [Finding("unreadable_metadata", len(health.unreadable), 0, Band.CRITICAL, is_actionable=True, sentence=sentence)]


def _gain_severity(severity: Band, gain: Estimate, total: int) -> Band:
    return severity if gain.items_removed >= MATERIAL_GAIN_RATIO * total else Band.WATCH


def _file_findings(health: TableHealth, policy: Policy) -> list[Finding]:
    if not health.data_files or health.average_file_size_bytes is None or health.small_file_ratio is None:
        return []
    rule = policy.rule(RuleName.REWRITE_DATA_FILES) or Rule(RuleName.REWRITE_DATA_FILES)
    gain = estimate_rewrite_data_files(health, rule)
    gains = gain.items_removed > 0
    outcome = f"; a rewrite would turn {gain.items_before:,} files into {gain.items_after:,}" if gains else "; a rewrite would not reduce the files"
    found: list[Finding] = []
    average = _severity(AVERAGE_FILE_SIZE_BOUNDS, health.average_file_size_bytes, is_below=True)
    if average is not None:
        sentence = f"average file size {format_size(health.average_file_size_bytes)} is below {format_size(average[1])}{outcome}"
        severity = _gain_severity(average[0], gain, health.data_files)
        found.append(Finding(Metric.AVERAGE_FILE_SIZE_BYTES, health.average_file_size_bytes, average[1], severity, gains, sentence))
    ratio = _severity(SMALL_FILE_RATIO_BOUNDS, health.small_file_ratio)
    if ratio is not None:
        sentence = f"{health.small_files:,} of {health.data_files:,} files are small ({health.small_file_ratio:.0%}, bound {ratio[1]:.0%}){outcome}"
        severity = _gain_severity(ratio[0], gain, health.data_files)
        found.append(Finding(Metric.SMALL_FILE_RATIO, health.small_file_ratio, ratio[1], severity, gains, sentence))
    deletes = _severity(DELETE_FILE_COUNT_BOUNDS, health.position_delete_files or 0)
    if deletes is not None:
        sentence = f"{health.position_delete_files:,} position delete files, bound {deletes[1]:,.0f}"
        found.append(
            Finding(Metric.POSITION_DELETE_FILE_COUNT, health.position_delete_files or 0, deletes[1], deletes[0], is_actionable=True, sentence=sentence)
        )
    return found


def _manifest_findings(health: TableHealth) -> list[Finding]:
    found = _severity(MANIFEST_COUNT_BOUNDS, health.manifests or 0)
    gain = estimate_rewrite_manifests(health)
    if found is None or gain is None:
        return []
    estimate = gain.estimate
    is_actionable = is_manifest_rewrite_worthwhile(estimate)
    sentence = f"{health.manifests:,} manifests, bound {found[1]:,.0f}; {estimate.items_after:,} of spec {gain.spec_id} would do"
    return [Finding(Metric.MANIFEST_COUNT, health.manifests or 0, found[1], found[0], is_actionable, sentence)]


def _snapshot_findings(health: TableHealth, policy: Policy, now: datetime) -> list[Finding]:
    found = _severity(SNAPSHOT_COUNT_BOUNDS, health.snapshots)
    if found is None:
        return []
    rule = policy.rule(RuleName.EXPIRE_SNAPSHOTS) or Rule(RuleName.EXPIRE_SNAPSHOTS)
    gain = estimate_expire_snapshots(health, now - (rule.max_age or DEFAULT_EXPIRE_AGE), rule.keep or DEFAULT_SNAPSHOTS_KEPT, now).estimate
    sentence = f"{health.snapshots:,} snapshots, bound {found[1]:,.0f}; {gain.items_removed:,} are old enough to expire"
    return [Finding(Metric.SNAPSHOT_COUNT, health.snapshots, found[1], found[0], gain.items_removed > 0, sentence)]
