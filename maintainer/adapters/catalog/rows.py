"""Counts live rows, which are the rows after all deletes."""

from __future__ import annotations

from collections.abc import Iterable

from pyiceberg.table import FileScanTask, Table

from maintainer.domain.inventory import Content, ManifestDigest


def count_without_reading(digests: Iterable[ManifestDigest]) -> int | None:
    """Count the rows of a snapshot from its digests; None if it has deletes."""
    total = 0
    for digest in digests:
        for share in digest.partitions:
            if share.content is not Content.DATA:
                return None
            total += share.record_count
    return total


def has_equality_deletes(digests: Iterable[ManifestDigest]) -> bool:
    """Return True if there are equality deletes, which PyIceberg cannot apply."""
    return any(
        share.content is Content.EQUALITY_DELETES
        for digest in digests
        for share in digest.partitions
    )


def count_by_reading(table: Table, snapshot_id: int, limit_bytes: int) -> int | None:
    """Count the rows after position deletes and deletion vectors, by reading files.

    None if these files have more than `limit_bytes`.
    """
    scan = table.scan(snapshot_id=snapshot_id)
    total, to_read = 0, []
    for task in scan.plan_files():
        if task.delete_files:
            to_read.append(task)
        else:
            total += task.file.record_count
    if _bytes_of(to_read) > limit_bytes:
        return None
    # This import is slow, because it imports pandas, and few processes count rows.
    from pyiceberg.io.pyarrow import ArrowScan  # noqa: PLC0415

    reader = ArrowScan(
        table_metadata=scan.table_metadata,
        io=scan.io,
        projected_schema=scan.projection(),
        row_filter=scan.row_filter,
        case_sensitive=scan.case_sensitive,
    )
    for batch in reader.to_record_batches(to_read):
        total += int(batch.num_rows)
    return total


def _bytes_of(tasks: Iterable[FileScanTask]) -> int:
    deletes = {
        delete.file_path: delete.file_size_in_bytes
        for task in tasks
        for delete in task.delete_files
    }
    return sum(task.file.file_size_in_bytes for task in tasks) + sum(deletes.values())
