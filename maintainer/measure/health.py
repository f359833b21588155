"""Compute a table's health from its inventory: sums of digests only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from maintainer.domain.effect import Measurement
from maintainer.domain.file_sizes import list_limit
from maintainer.domain.health import PartitionHealth, TableHealth
from maintainer.domain.inventory import (
    DEFAULT_TARGET_FILE_SIZE_BYTES,
    DEFAULT_TARGET_MANIFEST_SIZE_BYTES,
    Content,
    ManifestContent,
    StatisticsFile,
    TableInventory,
)
from maintainer.domain.units import read_whole
from maintainer.measure.delete_index import JoinedDeletes, join_deletes
from maintainer.measure.deleted_files import MOST_SINGLE
from maintainer.measure.history import (
    count_kept_files,
    date_writes,
    find_commit_gap,
    find_last_change,
    find_last_write,
    find_ref_retention,
    find_rewriters,
    grow_per_day,
    rate_commits,
    stamp_snapshots,
)
from maintainer.measure.lost_deletes import describe_lost, find_last_removal
from maintainer.measure.name_node import DIRECTORIES_OF_A_TABLE
from maintainer.measure.sums import ManifestSums, add_up, find_disagreements


def positive_property(properties: Mapping[str, str], name: str, default: int) -> int:
    """A table property as a positive whole number, else the default.

    A missing or malformed property must not stop a scan.
    """
    return read_whole(properties.get(name, "")) or default


def target_file_size(properties: Mapping[str, str]) -> int:
    """The table's target file size in bytes, else Iceberg's default."""
    return positive_property(
        properties, "write.target-file-size-bytes", DEFAULT_TARGET_FILE_SIZE_BYTES
    )


def measure(inventory: TableInventory) -> TableHealth:
    """The complete health: the sums of the digests, and the figures from the history."""
    sums = add_up(inventory.manifests)
    disagreements = find_disagreements(inventory, sums)
    health = _add_history(_describe_sums(sums, inventory), inventory)
    return replace(health, disagreements=disagreements)


def _describe_sums(all_sums: ManifestSums, inventory: TableInventory) -> TableHealth:
    """Health at the inventory's snapshot.

    File and manifest counts are None when any part of the metadata could not be read.
    """
    known = not inventory.unreadable
    sums, manifests = all_sums.contents, all_sums.manifests
    data = sums[Content.DATA]
    deletes = [sums[content] for content in Content if content is not Content.DATA]
    stamps = stamp_snapshots(inventory.snapshots)
    times = [stamp.committed_at for stamp in stamps]
    delete_files = sum(s.files for s in deletes)
    target_manifest_size = positive_property(
        inventory.properties,
        "commit.manifest.target-size-bytes",
        DEFAULT_TARGET_MANIFEST_SIZE_BYTES,
    )
    groups = all_sums.tell_groups(target_manifest_size)
    partitions, joined = _partitions(all_sums, inventory)
    lost_deletes, lost_delete = describe_lost(joined.lost, inventory.snapshots)
    return TableHealth(
        table=inventory.table,
        table_uuid=inventory.table_uuid,
        format_version=inventory.format_version,
        location=inventory.location,
        paths=inventory.paths,
        metadata_location=inventory.metadata_location,
        snapshot_id=inventory.current_snapshot_id,
        measured_at=inventory.read_at,
        target_file_size_bytes=inventory.size_classes.target_bytes,
        target_manifest_size_bytes=target_manifest_size,
        data_files=data.files if known else None,
        data_bytes=data.bytes if known else None,
        average_file_size_bytes=data.bytes / data.files if known and data.files else None,
        small_files=data.small_files if known else None,
        small_file_ratio=data.small_files / data.files if known and data.files else None,
        small_file_bytes=data.small_bytes if known else None,
        records=data.records if known else None,
        position_delete_files=sums[Content.POSITION_DELETES].files if known else None,
        equality_delete_files=sums[Content.EQUALITY_DELETES].files if known else None,
        deletion_vectors=sums[Content.DELETION_VECTORS].files if known else None,
        delete_bytes=sum(s.bytes for s in deletes) if known else None,
        delete_records=sum(s.records for s in deletes) if known else None,
        manifests=len(inventory.manifests) if known else None,
        manifest_bytes=all_sums.bytes if known else None,
        data_manifests=manifests[ManifestContent.DATA] if known else None,
        delete_manifests=manifests[ManifestContent.DELETES] if known else None,
        snapshots=len(inventory.snapshots),
        oldest_snapshot_at=min(times, default=None),
        newest_snapshot_at=max(times, default=None),
        branches=sum(ref.is_branch for ref in inventory.refs),
        tags=sum(not ref.is_branch for ref in inventory.refs),
        metadata_bytes=inventory.metadata_bytes,
        histogram=tuple(all_sums.histogram),
        histogram_bytes=tuple(all_sums.histogram_bytes),
        formats=dict(sorted(all_sums.formats.items())),
        partitions=partitions,
        manifest_groups=groups,
        history=stamps,
        refs=inventory.refs,
        properties=inventory.properties,
        default_spec_id=inventory.default_spec_id,
        unreadable=inventory.unreadable,
        delete_file_ratio=delete_files / data.files if known and data.files else None,
        oldest_delete_at=_date_deletes(all_sums.first_delete, inventory) if known else None,
        partition_skew=max((p.skew for p in partitions if p.skew is not None), default=None)
        if known
        else None,
        manifest_excess=sum(group.count - (group.ideal or 0) for group in groups)
        if known
        else None,
        statistics_snapshot_id=_newest_described(inventory, inventory.statistics),
        partition_statistics_snapshot_id=_newest_described(
            inventory, inventory.partition_statistics
        ),
        is_partitioned=inventory.default_spec_is_partitioned,
        sort_order=inventory.sort_order,
        columns=inventory.columns,
        column_types=inventory.column_types,
        dangling_delete_files=_count_dangling(joined) if known else None,
        directories=_count_directories(partitions) if known else None,
        wrong_summaries=all_sums.wrong_summaries if known else None,
        wrong_summary=all_sums.wrong_summary,
        lost_deletes=lost_deletes if known and joined.dangling is not None else None,
        lost_delete=lost_delete if known else None,
    )


def _count_directories(partitions: Iterable[PartitionHealth]) -> int:
    """A lower bound: the table's, those of data and metadata, and each part of a partition's path.

    Partitions of earlier snapshots may have more.
    """
    paths = {partition.partition for partition in partitions} - {""}
    parts = {path[:end] for path in paths for end in _ends_of_parts(path)}
    return DIRECTORIES_OF_A_TABLE + len(parts)


def _ends_of_parts(path: str) -> Iterator[int]:
    yield from (index for index, letter in enumerate(path) if letter == "/")
    yield len(path)


def _add_history(health: TableHealth, inventory: TableInventory) -> TableHealth:
    snapshots, current, now = inventory.snapshots, inventory.current_snapshot_id, inventory.read_at
    kept = count_kept_files(snapshots, "total-data-files", "added-data-files")
    if kept is not None and health.data_files is not None and kept < health.data_files:
        kept = None  # the summaries are wrong, which is reported as a disagreement
    kept_deletes = count_kept_files(snapshots, "total-delete-files", "added-delete-files")
    rate = rate_commits(snapshots, now)
    return replace(
        health,
        kept_data_files=kept,
        live_file_ratio=health.data_files / kept
        if kept and health.data_files is not None
        else None,
        commits_per_hour=rate.commits_per_hour if rate else None,
        commit_window_seconds=rate.window.total_seconds() if rate else None,
        commit_gap_seconds=find_commit_gap(snapshots, now),
        writers=rate.writers if rate else (),
        growth_bytes_per_day=grow_per_day(snapshots, current, "total-files-size", now),
        growth_records_per_day=grow_per_day(snapshots, current, "total-records", now),
        metadata_files=inventory.metadata_files,
        storage_files=_count_storage(health, kept, kept_deletes, inventory.metadata_files),
        ref_retention=find_ref_retention(snapshots, inventory.refs),
        specs=inventory.specs,
        last_write_at=find_last_write(snapshots, current),
        last_change_at=find_last_change(snapshots, current),
        rewriters=find_rewriters(snapshots, now),
    )


def _count_storage(
    health: TableHealth, kept: int | None, kept_deletes: int | None, metadata_files: int | None
) -> int | None:
    """A lower bound of the table's files.

    Manifests of earlier snapshots were not read and do not count. Deletion vectors share files and
    do not count either.
    """
    data, position, equality = (
        health.data_files,
        health.position_delete_files,
        health.equality_delete_files,
    )
    if (
        data is None
        or position is None
        or equality is None
        or health.manifests is None
        or health.deletion_vectors is None
    ):
        return None
    deletes = (
        kept_deletes
        if kept_deletes is not None and not health.deletion_vectors
        else position + equality
    )
    data_files = kept if kept is not None else data
    return (
        data_files
        + max(deletes, position + equality)
        + health.manifests
        + health.snapshots
        + (metadata_files or 1)
    )


def _date_deletes(first: int | None, inventory: TableInventory) -> datetime | None:
    """The commit time of the first kept snapshot with the oldest delete manifest.

    Deletes that were carried over from another manifest are older.
    """
    return (
        None
        if first is None
        else min(
            (s.committed_at for s in inventory.snapshots if s.sequence_number >= first),
            default=None,
        )
    )


def _newest_described(
    inventory: TableInventory, statistics: Iterable[StatisticsFile]
) -> int | None:
    described = {file.snapshot_id for file in statistics}
    newest = [
        snapshot.snapshot_id
        for snapshot in inventory.snapshots
        if snapshot.snapshot_id in described
    ]  # oldest first
    return newest[-1] if newest else None


def summarise(health: TableHealth) -> Measurement:
    """The few health figures that an effect compares."""
    deletes = (health.position_delete_files, health.equality_delete_files, health.deletion_vectors)
    counted = [count for count in deletes if count is not None]
    return Measurement(
        snapshot_id=health.snapshot_id,
        measured_at=health.measured_at,
        data_files=health.data_files,
        data_bytes=health.data_bytes,
        average_file_size_bytes=health.average_file_size_bytes,
        delete_files=sum(counted) if len(counted) == len(deletes) else None,
        records=health.records,
        manifests=health.manifests,
        manifest_bytes=health.manifest_bytes,
        snapshots=health.snapshots,
        histogram=health.histogram,
        histogram_bytes=health.histogram_bytes,
    )


def _partitions(
    sums: ManifestSums, inventory: TableInventory
) -> tuple[tuple[PartitionHealth, ...], JoinedDeletes]:
    """The health of each (spec, partition), worst first: most small files, then most delete files.

    It includes the deletes that apply to single files, and the last write. The second value says
    which deletes apply to which data files.
    """
    limit = list_limit(len(sums.partitions.partitions), MOST_SINGLE)
    joined = (
        join_deletes(
            inventory.manifests,
            limit,
            inventory.size_classes,
            find_last_removal(inventory.snapshots),
        )
        if sums.manifests[ManifestContent.DELETES]
        else JoinedDeletes()
    )
    written_at = date_writes(inventory.snapshots)
    dangling = joined.dangling or {}
    partitions = [
        replace(
            known,
            deleted=joined.deleted.pop(place, ()),
            dangling_delete_files=dangling.get(place, 0),
            written_at=written_at(newest),
        )
        for place, known, newest in sums.partitions.tell()
    ]
    worst_first = sorted(
        partitions,
        key=lambda p: (-p.small_files, -p.delete_files, -p.data_files, p.spec_id, p.partition),
    )
    return tuple(worst_first), joined


def _count_dangling(joined: JoinedDeletes) -> int | None:
    return None if joined.dangling is None else sum(joined.dangling.values())
