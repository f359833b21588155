"""Reads some files that a snapshot added with another library than the writer's, and row ids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any, Final

import fastavro
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
from pyiceberg.io import FileIO, InputFile
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntryStatus,
    ManifestFile,
)
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot

from maintainer.adapters.catalog.limits import UnreadableFileError
from maintainer.adapters.catalog.manifests.container import open_container
from maintainer.domain.effect import CanaryResult
from maintainer.domain.units import MIB

MAX_SNAPSHOTS: Final = 3  # the newest snapshots
MAX_MANIFESTS: Final = 3  # for each snapshot
MAX_ENTRIES: Final = 200_000  # of the manifests, in the search for a file
MAX_FILES: Final = 10  # for all snapshots together
# For one file. Of a longer file only the footer is read, and the first rows if they fit.
MAX_READ_BYTES: Final = 16 * MIB
# Iceberg reserves ids from this one on for metadata columns, such as the columns of row lineage.
_RESERVED_FIELD_ID: Final = 2**31 - 201
_SCHEME: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:(//)?")
_FIELD_ID: Final = b"PARQUET:field_id"
_PUFFIN_MAGIC: Final = b"PFA1"
ROW_ID_FIELD: Final = 2147483540  # the field id of _row_id in Iceberg's specification


class _WrongFileError(Exception):
    """The file differs from what its manifest says."""


@dataclass(frozen=True, slots=True)
class _Expected:
    """The columns and row ids that the table allows in a data file."""

    field_ids: set[int]
    first_new_id: int | None  # a rewritten row has a lower id; None: rows may have no id


def read_canary(
    table: Table, snapshot_ids: Sequence[int], failure: str = "", *, had_row_ids: bool = True
) -> CanaryResult:
    """Read a few files that these snapshots added; expired snapshots are left out.

    Without `had_row_ids` the rows had no row ids when the job began. Their files then need none,
    although another writer may have given them ids before the job's commit.
    """
    field_ids = {field_id for schema in table.schemas().values() for field_id in schema.field_ids}
    read, problems, unread = 0, [], []
    for file, first_new_id in _choose(list(_added_files(table, snapshot_ids))):
        try:
            lowest = first_new_id if had_row_ids else None
            _check_file(table.io, file, _Expected(field_ids, lowest))
            read += 1
        except _WrongFileError as error:
            problems.append(f"{file.file_path} {error}")
        # Storage libraries raise many kinds of exceptions. A file that cannot be read proves
        # nothing.
        except Exception as error:  # noqa: BLE001
            unread.append(f"{file.file_path}: {type(error).__name__}: {error}")
    try:
        problems += _find_unnumbered(table, snapshot_ids) if had_row_ids else ()
    except Exception as error:  # noqa: BLE001 - as above, for a manifest
        unread.append(f"the manifests' row ids: {type(error).__name__}: {error}")
    older: tuple[str, ...] = ()
    try:
        older = _find_older(table, snapshot_ids, failure) if failure else ()
    except Exception as error:  # noqa: BLE001 - as above; the job is not cleared then
        unread.append(f"the table's manifests: {type(error).__name__}: {error}")
    return CanaryResult(read, tuple(problems), tuple(unread), older)


def _find_older(table: Table, snapshot_ids: Sequence[int], failure: str) -> tuple[str, ...]:
    """Return the table's files that the text names, if other snapshots added all of them.

    After MAX_ENTRIES entries, the rest of the table counts as not named.
    """
    current = table.current_snapshot()
    manifests = current.manifests(table.io) if current is not None else []
    entries = (
        (entry.snapshot_id or manifest.added_snapshot_id, entry.data_file.file_path)
        for manifest in manifests
        for entry in manifest.fetch_manifest_entry(table.io)
    )
    named = {
        path: snapshot_id
        for snapshot_id, path in islice(entries, MAX_ENTRIES)
        if _is_named(path, failure)
    }
    return () if set(named.values()) & set(snapshot_ids) else tuple(named)


def _is_named(path: str, text: str) -> bool:
    """Return whether the text has the path, with or without the scheme, and no longer path."""
    # Hadoop writes file:/a for file:///a. Without any scheme the whole path is its name.
    name = _SCHEME.sub("", path)
    whole = r"(?<![\w.-])" + re.escape(name) + r"(?![\w/-]|\.\w)"
    return name in text and re.search(whole, text) is not None


def _find_unnumbered(table: Table, snapshot_ids: Sequence[int]) -> Iterator[str]:
    for snapshot_id in list(reversed(snapshot_ids))[:MAX_SNAPSHOTS]:
        first_new_id = find_first_new_id(table, snapshot_id)
        if first_new_id is not None:
            manifests = _manifests_of(table, snapshot_id)
            new = [one for one in manifests if one.added_snapshot_id == snapshot_id]
            yield from find_unnumbered(table.io, new, first_new_id)


def _manifests_of(table: Table, snapshot_id: int) -> list[ManifestFile]:
    snapshot = table.snapshot_by_id(snapshot_id)
    return snapshot.manifests(table.io) if snapshot is not None else []


def _added_files(
    table: Table, snapshot_ids: Sequence[int]
) -> Iterator[tuple[DataFile, int | None]]:
    """Yield each added file, with the lowest row id that its snapshot assigns (None: unknown)."""
    for snapshot_id in list(reversed(snapshot_ids))[:MAX_SNAPSHOTS]:
        first_new_id = find_first_new_id(table, snapshot_id)
        manifests = _manifests_of(table, snapshot_id)
        for manifest in [manifest for manifest in manifests if _is_new(manifest, snapshot_id)][
            :MAX_MANIFESTS
        ]:
            for entry in manifest.fetch_manifest_entry(table.io):
                if (
                    entry.status == ManifestEntryStatus.ADDED
                    and (entry.snapshot_id or snapshot_id) == snapshot_id
                ):
                    yield entry.data_file, first_new_id


def _is_new(manifest: ManifestFile, snapshot_id: int) -> bool:
    # added_files_count is None in format version 1, which does not record it.
    return manifest.added_snapshot_id == snapshot_id and manifest.added_files_count != 0


def _choose(files: list[tuple[DataFile, int | None]]) -> list[tuple[DataFile, int | None]]:
    """Choose at most MAX_FILES files, evenly spread over all files."""
    step = max(1, -(-len(files) // MAX_FILES))
    return files[::step]


def _check_file(io: FileIO, file: DataFile, expected: _Expected) -> None:
    source = io.new_input(file.file_path)
    try:
        length = len(source)
    except FileNotFoundError:
        raise _WrongFileError("does not exist") from None
    if file.content != DataFileContent.DATA and file.file_format == FileFormat.PUFFIN:
        _check_magic(source)
        return
    if length != file.file_size_in_bytes:
        raise _WrongFileError(
            f"has {length:,} bytes, and its manifest says {file.file_size_in_bytes:,}"
        )
    rows = (
        _count_in_memory(source, file, expected)
        if length <= MAX_READ_BYTES
        else _count_by_footer(source, file, expected)
    )
    if rows is not None and rows != file.record_count:
        raise _WrongFileError(f"has {rows:,} rows, and its manifest says {file.record_count:,}")


def _count_in_memory(source: InputFile, file: DataFile, expected: _Expected) -> int | None:
    """Count the rows of a file in memory; an error from here on is an error of the file."""
    with source.open() as stream:
        raw = stream.read()
    try:
        if file.file_format == FileFormat.AVRO:
            return sum(count for count, _ in open_container(raw).blocks())
        return _count_rows(pa.BufferReader(raw), file, expected)
    except (pa.ArrowException, OSError, UnreadableFileError) as error:
        raise _unreadable(file, error) from error


def _count_by_footer(source: InputFile, file: DataFile, expected: _Expected) -> int | None:
    with source.open() as stream:
        try:
            return _count_rows(stream, file, expected)
        except pa.ArrowInvalid as error:  # an OSError may be an error of the storage
            raise _unreadable(file, error) from error


def _unreadable(file: DataFile, error: Exception) -> _WrongFileError:
    return _WrongFileError(f"cannot be read as {file.file_format.value}: {error}")


# The stream is a file of PyIceberg or a buffer of PyArrow.
def _count_rows(stream: Any, file: DataFile, expected: _Expected) -> int | None:  # noqa: ANN401
    match file.file_format:
        case FileFormat.PARQUET:
            return _read_parquet(
                pq.ParquetFile(stream), expected if file.content == DataFileContent.DATA else None
            )
        case FileFormat.ORC:
            return int(pa.orc.ORCFile(stream).nrows)
        case _:  # Avro has no footer, and a long file is not read completely
            return None


def _read_parquet(parquet: pq.ParquetFile, expected: _Expected | None) -> int:
    if expected is not None:
        _check_columns(parquet.schema_arrow, expected.field_ids)
        _check_row_ids(parquet, expected.first_new_id)
    if (
        parquet.metadata.num_row_groups
        and parquet.metadata.row_group(0).total_byte_size <= MAX_READ_BYTES
    ):
        read, claimed = parquet.read_row_group(0).num_rows, parquet.metadata.row_group(0).num_rows
        if read != claimed:
            raise _WrongFileError(
                f"has {read:,} rows in its first row group, and its footer says {claimed:,}"
            )
    return int(parquet.metadata.num_rows)


def _check_columns(schema: pa.Schema, field_ids: set[int]) -> None:
    for field in schema:
        found = _find_field_id(field)
        if found is None or (found not in field_ids and found < _RESERVED_FIELD_ID):
            raise _WrongFileError(
                f"has a column {field.name!r} with "
                f"{'no field id' if found is None else f'field id {found}'}, which is none of "
                f"the table's"
            )


def _check_row_ids(parquet: pq.ParquetFile, first_new_id: int | None) -> None:
    lost = find_lost_ids(parquet, first_new_id) if first_new_id is not None else None
    if lost is not None:
        raise _WrongFileError(lost)


def _find_field_id(field: Any) -> int | None:  # noqa: ANN401 - pyarrow has no types
    text = (field.metadata or {}).get(_FIELD_ID)
    return int(text) if text is not None else None


def _check_magic(source: InputFile) -> None:
    with source.open() as stream:
        if stream.read(len(_PUFFIN_MAGIC)) != _PUFFIN_MAGIC:
            raise _WrongFileError("is not a Puffin file")


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
