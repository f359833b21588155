"""The gain of rewriting position delete files, so that no rewrite runs without a gain.

Sources: Iceberg's BinPackRewritePositionDeletePlanner and SparkPositionDeletesRewrite, and Spark's
results on tables made for this test.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from maintainer.domain.action import RewritePositionDeleteFiles
from maintainer.domain.health import PartitionHealth, PartitionKey, TableHealth
from maintainer.domain.inventory import DEFAULT_TARGET_DELETE_FILE_SIZE_BYTES, SMALL_FILE_RATIO
from maintainer.domain.plan import Estimate
from maintainer.domain.units import read_whole
from maintainer.estimate.filters.filter_writer import write_where

DEFAULT_MIN_INPUT_FILES = 5  # Iceberg: min-input-files
# from this format version on, a rewrite turns position delete files into deletion vectors
DELETION_VECTORS_SINCE = 3


def converts_deletes(health: TableHealth) -> bool:
    """True when the rewrite writes deletion vectors and leaves no position delete file."""
    return health.format_version >= DELETION_VECTORS_SINCE


def estimate_rewrite_position_deletes(
    health: TableHealth,
    action: RewritePositionDeleteFiles,
    within: Collection[PartitionKey] | None = None,
) -> Estimate:
    """Position delete files in and out, of the whole table or of some partitions.

    The number of files out is an upper bound, so the gain is certain.
    """
    options = dict(action.options)
    target = int(options.get("target-file-size-bytes", _target(health.properties)))
    minimum = int(options.get("min-input-files", DEFAULT_MIN_INPUT_FILES))
    is_whole = converts_deletes(health) or options.get("rewrite-all") == "true"
    meant = [
        p
        for p in health.partitions
        if p.position_delete_files and (within is None or (p.spec_id, p.partition) in within)
    ]
    taken = [
        (p, _count_outputs(p, health, target))
        for p in meant
        if is_whole or _is_taken(p, minimum, target)
    ]
    return Estimate(
        items_before=sum(partition.position_delete_files for partition, _ in taken),
        items_after=sum(output for _, output in taken),
        items_removed=sum(partition.position_delete_files - output for partition, output in taken),
        bytes_rewritten=sum(partition.position_delete_bytes for partition, _ in taken),
        partitions=len(taken),
        note=_note(health, action, is_exact=not any(output for _, output in taken)),
        error_bound=sum(output for _, output in taken),
    )


def find_dangling(health: TableHealth) -> tuple[frozenset[PartitionKey], str | None] | None:
    """The partitions with dangling position delete files, and a filter that selects them.

    None when there are none, or no filter selects them. A filter of None means all partitions with
    position delete files.
    """
    partitions = frozenset(
        (p.spec_id, p.partition) for p in health.partitions if p.dangling_delete_files
    )
    if not partitions:
        return None
    if all(p.dangling_delete_files for p in health.partitions if p.position_delete_files):
        return partitions, None
    where = write_where(health.table.catalog, sorted(partitions), health.specs)
    return (partitions, where) if where is not None else None


def _target(properties: Mapping[str, str]) -> int:
    return (
        read_whole(properties.get("write.delete.target-file-size-bytes", ""))
        or DEFAULT_TARGET_DELETE_FILE_SIZE_BYTES
    )


def _is_taken(partition: PartitionHealth, minimum: int, target: int) -> bool:
    """True when the planner takes the partition.

    Digests have no sizes of single delete files, so all count with the average size.
    """
    files = partition.position_delete_files
    is_small = partition.position_delete_bytes < SMALL_FILE_RATIO * target * files
    return is_small and files > 1 and (files >= minimum or partition.position_delete_bytes > target)


def _count_outputs(partition: PartitionHealth, health: TableHealth, target: int) -> int:
    if (
        converts_deletes(health)
        or partition.dangling_delete_files >= partition.position_delete_files
    ):
        return 0
    by_size = max(1, -(-partition.position_delete_bytes // target))
    if health.properties.get("write.delete.granularity", "file").strip().lower() == "partition":
        return by_size
    # One delete file for each data file with deletes, which may be more than now.
    deleted = (
        sum(files.files for files in partition.deleted)
        if health.dangling_delete_files is not None
        else partition.data_files
    )
    return max(by_size, deleted)


def _note(health: TableHealth, action: RewritePositionDeleteFiles, *, is_exact: bool) -> str:
    notes = (
        []
        if is_exact
        else ["an upper bound: one is counted for each data file that has deletes, of any kind"]
    )
    if converts_deletes(health):
        notes.append("they become deletion vectors, at most one for each data file")
    if action.where:
        notes.append("an upper bound: the filter is not applied in the estimate")
    return "; ".join(notes)
