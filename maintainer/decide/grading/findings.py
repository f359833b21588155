"""The findings of a table's figures, each compared with published bounds.

A bound that was crossed counts until the figure is better by a margin, so that it does not flap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from maintainer.domain.health import Band, Finding, ManifestGroup, TableHealth
from maintainer.domain.metric import Metric
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import Policy
from maintainer.domain.rules import ExpireSnapshotsRule, RewriteDataFilesRule
from maintainer.domain.units import MIB, format_size
from maintainer.estimate.expire_snapshots import estimate_expire_snapshots
from maintainer.estimate.rewrite_data_files import estimate_rewrite_data_files
from maintainer.estimate.rewrite_manifests import MANIFEST_EXCESS_FACTOR

# Published measurements: good throughput above about 13 MB, 10-12 MB acceptable, marked degradation
# below 4 MB, best practice >= 30-40 MB on average.
AVERAGE_FILE_SIZE_BOUNDS = (
    (Band.CRITICAL, 4 * MIB),
    (Band.DEGRADED, 12 * MIB),
    (Band.WATCH, 32 * MIB),
)
SMALL_FILE_RATIO_BOUNDS = ((Band.DEGRADED, 0.5), (Band.WATCH, 0.2))
MANIFEST_COUNT_BOUNDS = (
    (Band.DEGRADED, 500),
    (Band.WATCH, 100),
)  # of one partition spec and content
SNAPSHOT_COUNT_BOUNDS = ((Band.DEGRADED, 500), (Band.WATCH, 100))
DELETE_FILE_COUNT_BOUNDS = ((Band.DEGRADED, 500), (Band.WATCH, 100))
DANGLING_DELETE_BOUNDS = (
    (Band.DEGRADED, 500),
    (Band.WATCH, 10),
)  # their data files are gone: no reader needs them
DELETE_RATIO_BOUNDS = ((Band.WATCH, 0.3),)  # Iceberg: delete-ratio-threshold
# A rewrite that would remove less than this share of the table's files changes little and raises no
# alarm.
MATERIAL_GAIN_RATIO = 0.1
# A crossed bound counts until the figure is better than the bound by this share of it.
MARGIN = 0.1

DELETE_RATIO = "delete_ratio"
BAND_ORDER = tuple(Band)
_Bounds = tuple[tuple[Band, float], ...]  # worst first
Held = Mapping[str, Band]  # by metric: the severity in the grade before


@dataclass(frozen=True, slots=True)
class _Excess:
    """The worst bound that a figure crosses.

    held: the figure is better than the bound again, but not by the margin.
    """

    severity: Band
    bound: float
    is_held: bool


def find_findings(health: TableHealth, policy: Policy, now: datetime, held: Held) -> list[Finding]:
    """The findings of all figures. held: the severity of each metric in the grade before."""
    return [
        *_file_findings(health, policy, held),
        *_delete_findings(health, held),
        *_manifest_findings(health, held),
        *_snapshot_findings(health, policy, now, held),
    ]


def _exceed(
    bounds: _Bounds, value: float, held: Band | None, *, is_below: bool = False
) -> _Excess | None:
    for band, bound in bounds:
        is_beyond = value < bound if is_below else value >= bound
        was_beyond = held is not None and BAND_ORDER.index(held) >= BAND_ORDER.index(band)
        is_near = value < bound * (1 + MARGIN) if is_below else value > bound * (1 - MARGIN)
        if is_beyond or (was_beyond and is_near):
            return _Excess(band, bound, is_held=not is_beyond)
    return None


def _tell(excess: _Excess, beyond: str, bound: str) -> str:
    """The comparison as a sentence. `beyond` says how the figure crosses its bound."""
    return f"not yet {MARGIN:.0%} clear of {bound}" if excess.is_held else f"{beyond} {bound}"


def _file_findings(health: TableHealth, policy: Policy, held: Held) -> list[Finding]:
    if (
        not health.data_files
        or health.average_file_size_bytes is None
        or health.small_file_ratio is None
    ):
        return []
    rule = policy.rule(RewriteDataFilesRule) or RewriteDataFilesRule()
    gain = estimate_rewrite_data_files(health, rule)
    gains = gain.items_removed > 0
    outcome = (
        f"; a rewrite would turn {gain.items_before:,} files into {gain.items_after:,}"
        if gains
        else "; a rewrite would not reduce the files"
    )
    found: list[Finding] = []
    average = _exceed(
        AVERAGE_FILE_SIZE_BOUNDS,
        health.average_file_size_bytes,
        held.get(Metric.AVERAGE_FILE_SIZE_BYTES),
        is_below=True,
    )
    if average is not None:
        sentence = (
            f"average file size {format_size(health.average_file_size_bytes)} is "
            f"{_tell(average, 'below', format_size(average.bound))}{outcome}"
        )
        severity = _soften(
            average.severity, gain, health.data_files, held.get(Metric.AVERAGE_FILE_SIZE_BYTES)
        )
        found.append(
            Finding(
                Metric.AVERAGE_FILE_SIZE_BYTES,
                health.average_file_size_bytes,
                average.bound,
                severity,
                gains,
                sentence,
            )
        )
    ratio = _exceed(
        SMALL_FILE_RATIO_BOUNDS, health.small_file_ratio, held.get(Metric.SMALL_FILE_RATIO)
    )
    if ratio is not None:
        share = f"{health.small_file_ratio:.0%}, {_tell(ratio, 'limit', f'{ratio.bound:.0%}')}"
        sentence = (
            f"{health.small_files:,} of {health.data_files:,} files are small ({share}){outcome}"
        )
        severity = _soften(
            ratio.severity, gain, health.data_files, held.get(Metric.SMALL_FILE_RATIO)
        )
        found.append(
            Finding(
                Metric.SMALL_FILE_RATIO,
                health.small_file_ratio,
                ratio.bound,
                severity,
                gains,
                sentence,
            )
        )
    return found


def _soften(severity: Band, gain: Estimate, total: int, held: Band | None) -> Band:
    """At most watch when a rewrite would change little."""
    least = MATERIAL_GAIN_RATIO * (1 if held in {None, Band.WATCH} else 1 - MARGIN)
    return severity if gain.items_removed >= least * total else Band.WATCH


def _delete_findings(health: TableHealth, held: Held) -> list[Finding]:
    found: list[Finding] = []
    files = health.position_delete_files or 0
    many = _exceed(DELETE_FILE_COUNT_BOUNDS, files, held.get(Metric.POSITION_DELETE_FILE_COUNT))
    if many is not None:
        sentence = f"{files:,} position delete files, {_tell(many, 'limit', f'{many.bound:,.0f}')}"
        found.append(
            Finding(
                Metric.POSITION_DELETE_FILE_COUNT,
                files,
                many.bound,
                many.severity,
                is_actionable=True,
                sentence=sentence,
            )
        )
    dangling = health.dangling_delete_files or 0
    idle = _exceed(DANGLING_DELETE_BOUNDS, dangling, held.get(Metric.DANGLING_DELETE_FILE_COUNT))
    if idle is not None:
        reported = (
            f"{dangling:,} of {files:,} position delete files no longer apply to a data file, "
            f"{_tell(idle, 'limit', f'{idle.bound:,.0f}')}"
        )
        found.append(
            Finding(
                Metric.DANGLING_DELETE_FILE_COUNT,
                dangling,
                idle.bound,
                idle.severity,
                is_actionable=True,
                sentence=reported,
            )
        )
    ratio = (
        health.delete_records / health.records
        if health.delete_records is not None and health.records
        else 0.0
    )
    much = _exceed(DELETE_RATIO_BOUNDS, ratio, held.get(DELETE_RATIO))
    if much is not None:
        # Iceberg's planner computes a file's deleted share from position deletes and deletion
        # vectors. It cannot assign equality deletes to single files.
        applies = bool(files or health.deletion_vectors)
        sentence = (
            f"{health.delete_records:,} deletes for {health.records:,} records ({ratio:.0%}, "
            f"{_tell(much, 'limit', f'{much.bound:.0%}')})"
        )
        outcome = (
            "every reader applies them"
            if applies
            else "equality deletes, which no threshold of a rewrite counts"
        )
        found.append(
            Finding(
                DELETE_RATIO, ratio, much.bound, much.severity, applies, f"{sentence}; {outcome}"
            )
        )
    return found


def _manifest_findings(health: TableHealth, held: Held) -> list[Finding]:
    """Findings for the manifest group with the most to gain.

    Many manifests that are all needed are noted only.
    """
    before = held.get(Metric.MANIFEST_COUNT)
    least_factor = MANIFEST_EXCESS_FACTOR * (1 if before is None else 1 - MARGIN)
    excessive = [
        (group, ideal)
        for group in health.manifest_groups
        if group.count >= least_factor * (ideal := _ideal(group, health))
    ]
    group, ideal = max(excessive, key=lambda pair: pair[0].count, default=(None, 0))
    found = _exceed(MANIFEST_COUNT_BOUNDS, group.count, before) if group is not None else None
    if group is not None and found is not None:
        reported = (
            f"{group.count:,} {group.content.value} manifests of spec {group.spec_id}, "
            f"{_tell(found, 'limit', f'{found.bound:,.0f}')}; could be {ideal:,}"
        )
        return [
            Finding(
                Metric.MANIFEST_COUNT,
                group.count,
                found.bound,
                found.severity,
                is_actionable=True,
                sentence=reported,
            )
        ]
    total = health.manifests or 0
    many = _exceed(MANIFEST_COUNT_BOUNDS, total, None)
    if many is None:
        return []
    reported = (
        f"{total:,} manifests, bound {many.bound:,.0f}; no partition spec has that many and "
        f"{MANIFEST_EXCESS_FACTOR} times what it needs"
    )
    return [
        Finding(
            Metric.MANIFEST_COUNT,
            total,
            many.bound,
            many.severity,
            is_actionable=False,
            sentence=reported,
        )
    ]


def _ideal(group: ManifestGroup, health: TableHealth) -> int:
    ideal = (
        ceil(group.bytes / health.target_manifest_size_bytes)
        if group.ideal is None
        else group.ideal
    )
    return max(1, ideal)


def _snapshot_findings(
    health: TableHealth, policy: Policy, now: datetime, held: Held
) -> list[Finding]:
    found = _exceed(SNAPSHOT_COUNT_BOUNDS, health.snapshots, held.get(Metric.SNAPSHOT_COUNT))
    if found is None:
        return []
    rule = policy.rule(ExpireSnapshotsRule) or ExpireSnapshotsRule()
    gain = estimate_expire_snapshots(health, now - rule.max_age, rule.keep, now).estimate
    reported = (
        f"{health.snapshots:,} snapshots, {_tell(found, 'limit', f'{found.bound:,.0f}')}; "
        f"{gain.items_removed:,} are old enough to expire"
    )
    return [
        Finding(
            Metric.SNAPSHOT_COUNT,
            health.snapshots,
            found.bound,
            found.severity,
            gain.items_removed > 0,
            reported,
        )
    ]
