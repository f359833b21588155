"""The findings of a table's figures, each compared with published bounds.

A crossed bound remains a finding until the figure is better by a margin, so that findings do not
change often near a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from math import ceil
from typing import Final

from maintainer.domain.health import Band, Finding, ManifestGroup, TableHealth
from maintainer.domain.metric import Metric
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import Policy
from maintainer.domain.rules import ExpireSnapshotsRule, RewriteDataFilesRule
from maintainer.domain.units import MIB, format_size, write_duration
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
)  # their data files no longer exist, so no reader needs them
DELETE_RATIO_BOUNDS = ((Band.WATCH, 0.3),)  # Iceberg: delete-ratio-threshold
# A rewrite that would remove a smaller share of the table's files changes little, and is no
# finding.
MATERIAL_GAIN_RATIO = 0.1
# A crossed bound remains a finding until the figure is better than the bound by this share.
MARGIN = 0.1

DELETE_RATIO = "delete_ratio"
BAND_ORDER = tuple(Band)
_Bounds = tuple[tuple[Band, float], ...]  # worst first
Held = Mapping[str, Band]  # the severity in the previous grade, by metric
LAG: Final = "stream_lag"
_MARGIN: Final = 0.1  # of the trigger; a gap between commits may exceed the trigger by this share
FORMATS: Final = "file_formats"  # the number of formats
BY_ROW: Final = "row_format_ratio"  # the share of data files in a row format
CODEC: Final = "compression_codec"
_ROW_FORMAT: Final = "avro"  # a query for one column must read all columns
_DEFAULT: Final = "parquet"
_MOST_BY_ROW: Final = 0.5  # of the data files
_NO_COMPRESSION: Final = frozenset({"uncompressed", "none"})


def find_findings(
    health: TableHealth, policy: Policy, gain: Estimate, now: datetime, held: Held
) -> list[Finding]:
    """The findings of all figures.

    gain: of a compaction. held: the severity of each metric in the grade before.
    """
    return [
        *_file_findings(health, gain, held),
        *_delete_findings(health, held),
        *_manifest_findings(health, held),
        *_snapshot_findings(health, policy, now, held),
    ]


def _cross(  # noqa: PLR0913 - one comparison
    metric: str,
    value: float,
    bounds: _Bounds,
    held: Band | None,
    write: Callable[[float], str] = "{:,.0f}".format,
    *,
    is_below: bool = False,
) -> Finding | None:
    """The worst bound that the figure crosses; the sentence is only the comparison."""
    for band, bound in bounds:
        is_beyond = value < bound if is_below else value >= bound
        was_beyond = held is not None and BAND_ORDER.index(held) >= BAND_ORDER.index(band)
        is_near = value < bound * (1 + MARGIN) if is_below else value > bound * (1 - MARGIN)
        if is_beyond or (was_beyond and is_near):
            word = "below" if is_below else "limit"
            text = f"{word if is_beyond else f'not yet {MARGIN:.0%} better than'} {write(bound)}"
            return Finding(metric, value, bound, band, is_actionable=True, sentence=text)
    return None


def estimate_compaction(health: TableHealth, policy: Policy) -> Estimate:
    """What a rewrite of the data files would do, by the policy's rule or the built-in one."""
    rule = policy.rule(RewriteDataFilesRule) or RewriteDataFilesRule()
    return estimate_rewrite_data_files(health, rule)


def _file_findings(health: TableHealth, gain: Estimate, held: Held) -> Iterator[Finding]:
    files, average, ratio = (
        health.data_files,
        health.average_file_size_bytes,
        health.small_file_ratio,
    )
    if not files or average is None or ratio is None:
        return
    outcome = (
        f"a rewrite would turn {gain.items_before:,} files into {gain.items_after:,}"
        if gain.items_removed > 0
        else "a rewrite would not reduce the files"
    )
    size, share = Metric.AVERAGE_FILE_SIZE_BYTES, Metric.SMALL_FILE_RATIO
    figures = (
        (
            _cross(
                size, average, AVERAGE_FILE_SIZE_BOUNDS, held.get(size), format_size, is_below=True
            ),
            f"average file size {format_size(average)} is {{}}",
        ),
        (
            # All files are small, or none, if there is only one.
            None
            if files == 1
            else _cross(share, ratio, SMALL_FILE_RATIO_BOUNDS, held.get(share), "{:.0%}".format),
            f"{health.small_files:,} of {files:,} files are small ({ratio:.0%}, {{}})",
        ),
    )
    for found, text in figures:
        if found is not None:
            yield replace(
                found,
                severity=_soften(found.severity, gain, files, held.get(found.metric)),
                is_actionable=gain.items_removed > 0,
                sentence=f"{text.format(found.sentence)}; {outcome}",
            )


def _soften(severity: Band, gain: Estimate, total: int, held: Band | None) -> Band:
    """Limit the severity to watch if a rewrite would change little."""
    least = MATERIAL_GAIN_RATIO * (1 if held in {None, Band.WATCH} else 1 - MARGIN)
    return severity if gain.items_removed >= least * total else Band.WATCH


def _delete_findings(health: TableHealth, held: Held) -> Iterator[Finding]:
    files, dangling = health.position_delete_files or 0, health.dangling_delete_files or 0
    metric = Metric.POSITION_DELETE_FILE_COUNT
    many = _cross(metric, files, DELETE_FILE_COUNT_BOUNDS, held.get(metric))
    if many is not None:
        yield replace(many, sentence=f"{files:,} position delete files, {many.sentence}")
    metric = Metric.DANGLING_DELETE_FILE_COUNT
    idle = _cross(metric, dangling, DANGLING_DELETE_BOUNDS, held.get(metric))
    if idle is not None:
        sentence = f"{dangling:,} of {files:,} position delete files no longer apply to a data file"
        yield replace(idle, sentence=f"{sentence}, {idle.sentence}")
    if health.delete_records is None or not health.records:
        return
    ratio = health.delete_records / health.records
    much = _cross(DELETE_RATIO, ratio, DELETE_RATIO_BOUNDS, held.get(DELETE_RATIO), "{:.0%}".format)
    if much is not None:
        # Iceberg's planner computes a file's deleted share from position deletes and deletion
        # vectors. It cannot assign equality deletes to single files.
        applies = bool(files or health.deletion_vectors)
        outcome = (
            "every reader applies them"
            if applies
            else "equality deletes, which no threshold of a rewrite counts"
        )
        sentence = (
            f"{health.delete_records:,} deletes for {health.records:,} records ({ratio:.0%}, "
            f"{much.sentence}); {outcome}"
        )
        yield replace(much, is_actionable=applies, sentence=sentence)


def _manifest_findings(health: TableHealth, held: Held) -> Iterator[Finding]:
    """Findings for the manifest group with the most to gain.

    Many manifests that are all needed are only noted.
    """
    metric = Metric.MANIFEST_COUNT
    before = held.get(metric)
    least_factor = MANIFEST_EXCESS_FACTOR * (1 if before is None else 1 - MARGIN)
    excessive = [
        (group, ideal)
        for group in health.manifest_groups
        if group.count >= least_factor * (ideal := _ideal(group, health))
    ]
    group, ideal = max(excessive, key=lambda pair: pair[0].count, default=(None, 0))
    found = _cross(metric, group.count, MANIFEST_COUNT_BOUNDS, before) if group else None
    if group is not None and found is not None:
        what = f"{group.count:,} {group.content.value} manifests of spec {group.spec_id}"
        yield replace(found, sentence=f"{what}, {found.sentence}; could be {ideal:,}")
        return
    total = health.manifests or 0
    many = _cross(metric, total, MANIFEST_COUNT_BOUNDS, None)
    if many is not None:
        sentence = (
            f"{total:,} manifests, limit {many.bound:,.0f}; no partition spec has that many and at "
            f"least {MANIFEST_EXCESS_FACTOR} times the manifests that it needs"
        )
        yield replace(many, is_actionable=False, sentence=sentence)


def _ideal(group: ManifestGroup, health: TableHealth) -> int:
    ideal = group.ideal
    return max(1, ceil(group.bytes / health.target_manifest_size_bytes) if ideal is None else ideal)


def _snapshot_findings(
    health: TableHealth, policy: Policy, now: datetime, held: Held
) -> Iterator[Finding]:
    metric = Metric.SNAPSHOT_COUNT
    found = _cross(metric, health.snapshots, SNAPSHOT_COUNT_BOUNDS, held.get(metric))
    if found is not None:
        rule = policy.rule(ExpireSnapshotsRule) or ExpireSnapshotsRule()
        old = estimate_expire_snapshots(health, now - rule.max_age, rule.keep, now).estimate
        sentence = (
            f"{health.snapshots:,} snapshots, {found.sentence}; "
            f"{old.items_removed:,} are old enough to expire"
        )
        yield replace(found, is_actionable=old.items_removed > 0, sentence=sentence)


def find_stream_lag(health: TableHealth, policy: Policy, *, is_helped: bool) -> Iterator[Finding]:
    """A stream whose commits take longer than its trigger, as the policy has it.

    `is_helped`: maintenance would improve the table, and so perhaps the stream.
    """
    gap, trigger = health.commit_gap_seconds, policy.stream_trigger
    if gap is None or trigger is None or gap <= (1 + _MARGIN) * trigger.total_seconds():
        return
    seconds = trigger.total_seconds()
    yield Finding(
        LAG,
        gap,
        seconds,
        Band.WATCH,
        is_actionable=is_helped,
        sentence=f"the busiest writer commits every {write_duration(round(gap))} (median of 24 h), "
        f"the stream's trigger is {write_duration(seconds)}",
    )


def find_format_findings(health: TableHealth) -> Iterator[Finding]:
    """Mixed formats, data by row, and no compression.

    No rule rewrites files because of these findings, so people must change the table's properties.
    """
    written = health.properties.get("write.format.default", _DEFAULT).lower()
    files = {name: count for name, count in health.formats.items() if count > 0}
    total, by_row = sum(files.values()), files.get(_ROW_FORMAT, 0)
    if by_row > _MOST_BY_ROW * total:
        cure = (
            f"write.format.default is {_ROW_FORMAT}; set it to {_DEFAULT}"
            if written == _ROW_FORMAT
            else f"a rewrite writes {written}"
        )
        yield _note(
            BY_ROW,
            by_row / total,
            _MOST_BY_ROW,
            f"{by_row:,} of {total:,} data files are {_ROW_FORMAT}, of which a query reads every "
            f"column; {cure}",
        )
    elif len(files) > 1:
        counts = ", ".join(
            f"{count:,} {name}" for name, count in sorted(files.items(), key=lambda kv: -kv[1])
        )
        yield _note(
            FORMATS,
            len(files),
            1,
            f"data files are in {len(files)} formats ({counts}); new ones are {written}",
        )
    codec = f"write.{written}.compression-codec"
    if health.properties.get(codec, "").lower() in _NO_COMPRESSION:
        yield _note(
            CODEC, 1, 0, f"{codec} is {health.properties[codec]}: new files are not compressed"
        )


def _note(metric: str, observed: float, bound: float, sentence: str) -> Finding:
    return Finding(metric, observed, bound, Band.WATCH, is_actionable=False, sentence=sentence)
