"""Checks that rewritten rows kept their ids: in the new data files and in the new manifests.

A rewritten file has the ids of its rows in a separate column. For a file that a new manifest only
lists again, the manifest has its first row id. Without these ids, readers assign new ids to the
rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any, Final

import fastavro
import pyarrow.parquet as pq
from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestContent, ManifestEntryStatus, ManifestFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot

ROW_ID_FIELD: Final = 2147483540  # the field id of _row_id in Iceberg's specification
MAX_MANIFESTS: Final = 3  # for each snapshot


def find_first_new_id(table: Table, snapshot_id: int) -> int | None:
    """Return the lowest id that a rewrite's snapshot may assign; rewritten rows have lower ids.

    None if it is unknown: the snapshot is not of a rewrite, its parent no longer exists, or the
    rows of the parent had no ids yet.
    """
    snapshot = table.snapshot_by_id(snapshot_id)
    if snapshot is None or snapshot.parent_snapshot_id is None:
        return None
    parent = table.snapshot_by_id(snapshot.parent_snapshot_id)
    if parent is None or parent.first_row_id is None or not _is_rewrite(snapshot):
        return None
    return snapshot.first_row_id


def _is_rewrite(snapshot: Snapshot) -> bool:
    return snapshot.summary is not None and snapshot.summary.operation is Operation.REPLACE


def find_lost_ids(parquet: pq.ParquetFile, first_new_id: int) -> str | None:
    """Say how rows of a rewritten Parquet file lost their ids; None if its footer shows no loss."""
    column = _find_column(parquet)
    if column is None:
        return "has no row ids (_row_id), so that its rows get new ids"
    for group in range(parquet.metadata.num_row_groups):
        found = parquet.metadata.row_group(group).column(column).statistics
        if found is not None and found.has_null_count and found.null_count:
            return f"has {found.null_count:,} rows without a row id, so that they get new ids"
        if found is not None and found.has_min_max and found.max >= first_new_id:
            return f"has row id {found.max}, but its rows had ids below {first_new_id}"
    return None


def _find_column(parquet: pq.ParquetFile) -> int | None:
    names = {
        field.name
        for field in parquet.schema_arrow
        if (field.metadata or {}).get(b"PARQUET:field_id") == str(ROW_ID_FIELD).encode()
    }
    return next(
        (
            number
            for number in range(parquet.metadata.num_columns)
            if parquet.schema.column(number).path in names
        ),
        None,
    )


def find_unnumbered(io: FileIO, manifests: list[ManifestFile], first_new_id: int) -> Iterator[str]:
    """Yield a sentence for each new data manifest that lists a file again without its row ids."""
    data = (one for one in manifests if one.content is ManifestContent.DATA)
    for manifest in islice(data, MAX_MANIFESTS):
        for path, first in _list_again(io, manifest):
            if first is not None and first < first_new_id:
                continue
            given = "no first row id" if first is None else f"first row id {first}"
            yield (
                f"manifest {manifest.manifest_path} lists {path} with {given}, but its rows "
                f"had ids below {first_new_id}"
            )
            break


def _list_again(io: FileIO, manifest: ManifestFile) -> Iterator[tuple[str, int | None]]:
    """Yield path and first row id of each file that was in the table before.

    PyIceberg's entries have no first row id.
    """
    with io.new_input(manifest.manifest_path).open() as stream:
        raw = BytesIO(stream.read())
    entries: Iterator[Any] = fastavro.reader(raw)
    for entry in entries:
        if entry["status"] == ManifestEntryStatus.EXISTING:
            file = entry["data_file"]
            yield file["file_path"], file.get("first_row_id")
