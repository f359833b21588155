"""The health of a table after a rewrite, as its groups predict it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.file_sizes import FileSizes
from maintainer.domain.health import PartitionHealth, PartitionKey, TableHealth
from maintainer.domain.inventory import ManifestContent
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.estimate.output_files import find_kept_rows, find_overhead, predict_bytes
from maintainer.estimate.rewrite_data_files import (
    FileGroup,
    PlannerOptions,
    plan_groups,
    take_groups,
)
from maintainer.procedures.deletes import count_deletes
from maintainer.procedures.manifests import count_needed, with_manifests


@dataclass(slots=True)
class _Change:
    """What a rewrite changes in one partition."""

    taken: int = 0
    outputs: int = 0
    bytes_saved: int = 0
    small_outputs: int = 0
    small_output_bytes: int = 0
    applies_deletes: bool = False


def predict_rewrite(
    health: TableHealth, rule: RewriteDataFilesRule, action: RewriteDataFiles, now: datetime
) -> TableHealth:
    """The table after the rewrite, with the groups that Iceberg would take."""
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
        count_deletes(
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
    return with_manifests(
        health,
        tuple(
            replace(
                group,
                count=group.count + 1,
                bytes=round(group.bytes * shrunk),
                ideal=count_needed(health, round(group.bytes * shrunk)),
            )
            if group.content is ManifestContent.DATA and group.spec_id == health.default_spec_id
            else group
            for group in health.manifest_groups
        ),
    )
