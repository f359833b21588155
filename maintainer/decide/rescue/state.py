"""The health of a table after a job, as the estimate of the job predicts it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil

from maintainer.domain.action import (
    ExpireSnapshots,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
    rollback_tag,
)
from maintainer.domain.file_sizes import FileSizes
from maintainer.domain.health import (
    ManifestGroup,
    PartitionHealth,
    PartitionKey,
    SnapshotStamp,
    TableHealth,
)
from maintainer.domain.inventory import ManifestContent, Ref
from maintainer.domain.pin import Pin
from maintainer.domain.plan import PlannedAction
from maintainer.domain.policy import Policy
from maintainer.domain.rules import ExpireSnapshotsRule, RewriteDataFilesRule
from maintainer.estimate.expire_snapshots import find_expired_refs
from maintainer.estimate.output_files import find_kept_rows, find_overhead, predict_bytes
from maintainer.estimate.retained_snapshots import preview_expiry
from maintainer.estimate.rewrite_data_files import (
    FileGroup,
    PlannerOptions,
    plan_groups,
    take_groups,
)

# Each field of a health is in one of these sets, or is predicted below.
# What a job does not change, or not enough to matter in a rescue plan.
KEPT = frozenset({
    "table", "table_uuid", "format_version", "location", "metadata_location", "properties",
    "target_file_size_bytes", "target_manifest_size_bytes", "default_spec_id", "is_partitioned",
    "sort_order", "specs", "columns", "paths", "unreadable", "formats",
    "records", "branches", "tags", "metadata_bytes", "metadata_files",
    "statistics_snapshot_id", "partition_statistics_snapshot_id",
    "commits_per_hour", "commit_window_seconds", "commit_gap_seconds", "writers",
    "growth_bytes_per_day", "growth_records_per_day", "last_write_at", "last_change_at",
    "rewriters", "wrong_summaries", "wrong_summary", "lost_deletes", "lost_delete",
})  # fmt: skip
# What is known only after the next measurement, with the value of an unknown figure.
UNKNOWN: Mapping[str, object] = {
    "histogram": (),
    "histogram_bytes": (),
    "manifest_bytes": None,
    "data_manifests": None,
    "delete_manifests": None,
    "oldest_delete_at": None,
    "partition_skew": None,
    "kept_data_files": None,
    "live_file_ratio": None,
    "storage_files": None,
    "directories": None,
    "ref_retention": (),
    "disagreements": (),
}


def predict_health(
    health: TableHealth,
    planned: PlannedAction,
    policy: Policy,
    at: datetime,
    pins: Iterable[Pin] = (),
) -> TableHealth:
    """The health after a planned job that ends at this time, if nobody else writes meanwhile."""
    action = planned.action
    if isinstance(action, RewriteDataFiles):
        rewritten = _rewrite_files(health, action, policy, at)
    elif isinstance(action, RewriteManifests):
        rewritten = _rewrite_manifests(health, action.spec_id)
    elif isinstance(action, RewritePositionDeleteFiles):
        removed = planned.estimate.items_removed
        left = max(0, (health.position_delete_files or 0) - removed)
        rewritten = _count_deletes(
            replace(health, position_delete_files=left, dangling_delete_files=0)
        )
    elif isinstance(action, ExpireSnapshots):
        return _forget(_expire(health, policy, at, pins))
    else:
        return health
    return _forget(_commit(rewritten, policy, at))


def _forget(health: TableHealth) -> TableHealth:
    """The table with the figures that only a measurement can give as unknown."""
    return replace(health, **UNKNOWN)  # type: ignore[arg-type]


def _count_deletes(health: TableHealth) -> TableHealth:
    """The table with the ratio of its delete files; unknown if a kind of them is."""
    kinds = (health.position_delete_files, health.equality_delete_files, health.deletion_vectors)
    known = [count for count in kinds if count is not None]
    is_known = bool(health.data_files) and len(known) == len(kinds)
    ratio = sum(known) / (health.data_files or 1) if is_known else None
    return replace(health, delete_file_ratio=ratio)


@dataclass(slots=True)
class _Change:
    """What a rewrite changes in one partition."""

    taken: int = 0
    outputs: int = 0
    bytes_saved: int = 0
    small_outputs: int = 0
    small_output_bytes: int = 0
    applies_deletes: bool = False


def _rewrite_files(
    health: TableHealth, action: RewriteDataFiles, policy: Policy, now: datetime
) -> TableHealth:
    rule = policy.rule(RewriteDataFilesRule) or RewriteDataFilesRule()
    options = PlannerOptions.read(
        health, replace(rule, where=action.where), now, dict(action.options)
    )
    groups = list(take_groups(plan_groups(health, options), options.max_files))
    changes = _spread(groups, health, options.sizes.small_below)
    size = (health.data_bytes or 0) - sum(change.bytes_saved for change in changes.values())
    partitions = tuple(
        _change(partition, changes[partition.spec_id, partition.partition])
        if (partition.spec_id, partition.partition) in changes
        else partition
        for partition in health.partitions
    )
    files = sum(partition.data_files for partition in partitions)
    small = sum(partition.small_files for partition in partitions)
    deletes, deletes_left = (
        sum(partition.delete_files for partition in each)
        for each in (health.partitions, partitions)
    )
    return _renew_manifests(
        _count_deletes(
            replace(
                _apply_deletes(health, deletes_left / deletes if deletes else 1.0),
                partitions=partitions,
                data_files=files,
                data_bytes=size,
                average_file_size_bytes=size / files if files else None,
                small_files=small,
                small_file_ratio=small / files if files else None,
                small_file_bytes=sum(partition.small_bytes for partition in partitions),
            )
        ),
        files / max(1, health.data_files or 0),
    )


def _spread(
    groups: Iterable[FileGroup], health: TableHealth, small_below: int
) -> Mapping[PartitionKey, _Change]:
    """Assign the files of each group to its partitions; its output files are in the first one."""
    left = {
        (partition.spec_id, partition.partition): partition.data_files
        for partition in health.partitions
    }
    changes: dict[PartitionKey, _Change] = defaultdict(_Change)
    overhead, kept_rows = find_overhead(health), find_kept_rows(health)
    for group in groups:
        files = group.files
        for key in group.partitions:
            taken = min(files, left[key])
            changes[key].taken += taken
            changes[key].applies_deletes |= group.deleted_files > 0
            left[key] -= taken
            files -= taken
        first = changes[group.partitions[0]]
        outputs = group.outputs.expected
        size = predict_bytes(group.bytes, group.files, outputs, overhead, kept_rows)
        first.outputs += outputs
        first.bytes_saved += group.bytes - size
        if size < small_below * outputs:
            first.small_outputs += outputs
            first.small_output_bytes += size
    return changes


def _change(partition: PartitionHealth, change: _Change) -> PartitionHealth:
    """The partition without the rewritten files, small ones first, and with the output files."""
    small = min(change.taken, partition.small_files)
    large = min(change.taken - small, partition.large_files)
    small_bytes = partition.small_bytes * small // max(1, partition.small_files)
    large_bytes = partition.large_bytes * large // max(1, partition.large_files)
    changed = replace(
        partition,
        data_files=partition.data_files - change.taken + change.outputs,
        data_bytes=max(0, partition.data_bytes - change.bytes_saved),
        small_files=partition.small_files - small + change.small_outputs,
        small_bytes=partition.small_bytes - small_bytes + change.small_output_bytes,
        large_files=partition.large_files - large,
        large_bytes=partition.large_bytes - large_bytes,
        sizes=FileSizes(),  # only the counts are known
    )
    if not change.applies_deletes and change.taken < partition.data_files:
        return changed  # its deletes may apply to other files
    return replace(
        changed, delete_files=0, position_delete_files=0, position_delete_bytes=0, deleted=()
    )


def _apply_deletes(health: TableHealth, share: float) -> TableHealth:
    """The table with this share of its deletes: the others were applied.

    Iceberg drops delete files that are older than all data files.
    """

    def left(count: int | None) -> int | None:
        return None if count is None else round(count * share)

    return replace(
        health,
        position_delete_files=left(health.position_delete_files),
        equality_delete_files=left(health.equality_delete_files),
        deletion_vectors=left(health.deletion_vectors),
        delete_records=left(health.delete_records),
        delete_bytes=left(health.delete_bytes),
        dangling_delete_files=left(health.dangling_delete_files),
    )


def _renew_manifests(health: TableHealth, shrunk: float) -> TableHealth:
    """Add the manifest of the rewrite; the others are kept, with entries of removed files."""
    return _count_manifests(
        health,
        tuple(
            replace(
                group,
                count=group.count + 1,
                bytes=round(group.bytes * shrunk),
                ideal=_needed(health, round(group.bytes * shrunk)),
            )
            if group.content is ManifestContent.DATA and group.spec_id == health.default_spec_id
            else group
            for group in health.manifest_groups
        ),
    )


def _rewrite_manifests(health: TableHealth, spec_id: int) -> TableHealth:
    return _count_manifests(
        health,
        tuple(
            replace(group, count=min(group.count, _needed(health, group.bytes)))
            if group.spec_id == spec_id
            else group
            for group in health.manifest_groups
        ),
    )


def _needed(health: TableHealth, size: int) -> int:
    return max(1, ceil(size / health.target_manifest_size_bytes))


def _count_manifests(health: TableHealth, groups: tuple[ManifestGroup, ...]) -> TableHealth:
    return replace(
        health,
        manifest_groups=groups,
        manifests=sum(group.count for group in groups),
        manifest_excess=sum(max(0, group.count - _needed(health, group.bytes)) for group in groups),
    )


def _commit(health: TableHealth, policy: Policy, at: datetime) -> TableHealth:
    """The table with one more snapshot on main, and the policy's tag for a rollback."""
    before = health.snapshot_id
    snapshot_id = max([before or 0, *(stamp.snapshot_id for stamp in health.history)]) + 1
    refs = [
        replace(ref, snapshot_id=snapshot_id) if ref.name == "main" else ref for ref in health.refs
    ]
    kept_for = policy.safeguards.rollback_for
    if kept_for and before is not None:
        age = round(kept_for.total_seconds() * 1000)
        refs.append(Ref(rollback_tag(f"step-{snapshot_id}"), before, False, age))  # noqa: FBT003
    return replace(
        health,
        snapshot_id=snapshot_id,
        snapshots=health.snapshots + 1,
        newest_snapshot_at=at,
        measured_at=at,
        history=(*health.history, SnapshotStamp(snapshot_id, before, at)),
        refs=tuple(refs),
    )


def _expire(health: TableHealth, policy: Policy, at: datetime, pins: Iterable[Pin]) -> TableHealth:
    rule = policy.rule(ExpireSnapshotsRule) or ExpireSnapshotsRule()
    preview = preview_expiry(health, rule, pins, at)
    gone = {stamp.snapshot_id for stamp in preview.snapshots}
    expired = set(find_expired_refs(health, at))
    kept = tuple(stamp for stamp in health.history if stamp.snapshot_id not in gone)
    return replace(
        health,
        snapshots=health.snapshots - len(gone),
        history=kept,
        oldest_snapshot_at=min((stamp.committed_at for stamp in kept), default=None),
        refs=tuple(ref for ref in health.refs if ref not in expired),
        measured_at=at,
    )
