"""The figures of one table, counted by four programs that share no code: ours, PyIceberg, Spark,
DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from pyiceberg.table import Table

from maintainer.domain.health import TableHealth

DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2  # Iceberg's numbers of a file's content
_DUCKDB_CONTENTS = {
    "EXISTING": DATA,
    "POSITION_DELETES": POSITION_DELETES,
    "EQUALITY_DELETES": EQUALITY_DELETES,
}  # its name of 0 is that of a status


@dataclass(frozen=True)
class Figures:
    """Live files at the current snapshot, sizes in bytes."""

    data_files: int | None
    data_bytes: int | None
    records: int | None
    position_delete_files: int | None
    equality_delete_files: int | None
    deletion_vectors: int | None
    delete_records: int | None
    manifests: int | None
    snapshots: int


@dataclass(frozen=True)
class File:
    content: int
    file_format: str
    bytes: int
    records: int
    count: int = 1


def measured(health: TableHealth) -> Figures:
    """As we measured it."""
    return Figures(
        health.data_files, health.data_bytes, health.records, health.position_delete_files,
        health.equality_delete_files, health.deletion_vectors,
        health.delete_records, health.manifests, health.snapshots,
    )  # fmt: skip


def add_up(files: Iterable[File], manifests: int, snapshots: int) -> Figures:
    """Figures of files that somebody else listed; a position delete in a Puffin file is a deletion
    vector.
    """
    listed = list(files)
    data = [file for file in listed if file.content == DATA]
    deletes = [file for file in listed if file.content != DATA]
    vectors = [file for file in deletes if file.file_format == "PUFFIN"]
    return Figures(
        data_files=sum(file.count for file in data),
        data_bytes=sum(file.bytes for file in data),
        records=sum(file.records for file in data),
        position_delete_files=sum(
            file.count
            for file in deletes
            if file.content == POSITION_DELETES and file.file_format != "PUFFIN"
        ),
        equality_delete_files=sum(
            file.count for file in deletes if file.content == EQUALITY_DELETES
        ),
        deletion_vectors=sum(file.count for file in vectors),
        delete_records=sum(file.records for file in deletes),
        manifests=manifests,
        snapshots=snapshots,
    )


def counted_by_pyiceberg(table: Table) -> Figures:
    files = (
        table.inspect.files()
        .select(["content", "file_format", "file_size_in_bytes", "record_count"])
        .to_pylist()
    )
    return add_up(
        (File(*file.values()) for file in files),
        table.inspect.manifests().num_rows,
        table.inspect.snapshots().num_rows,
    )


def counted_by_spark(rows: list[list[Any]]) -> Figures:
    """From the rows that counting_spark answers: the live files as its metadata tables list
    them.
    """
    files = (
        File(content, file_format, size, records, count)
        for name, content, file_format, count, size, records in rows
        if name == "files"
    )
    counts = {
        name: sum(row[3] for row in rows if row[0] == name) for name in ("manifests", "snapshots")
    }
    return add_up(files, **counts)


def counted_by_duckdb(connection: duckdb.DuckDBPyConnection, metadata: Path) -> Figures:
    """DuckDB lists no sizes: those are of the data files themselves, as the file system has
    them.
    """
    listed = connection.execute(
        "SELECT content, file_format, file_path, record_count, status FROM iceberg_metadata(?)",
        [str(metadata)],
    ).fetchall()
    files = [
        File(
            _DUCKDB_CONTENTS[content],
            file_format,
            _size(path) if _DUCKDB_CONTENTS[content] == DATA else 0,
            records,
        )
        for content, file_format, path, records, status in listed
        if status != "DELETED"
    ]
    return add_up(
        files,
        _one(connection, "SELECT count(DISTINCT manifest_path) FROM iceberg_metadata(?)", metadata),
        _one(connection, "SELECT count(*) FROM iceberg_snapshots(?)", metadata),
    )


def rows_by_duckdb(connection: duckdb.DuckDBPyConnection, metadata: Path) -> int:
    """The live rows, deletes applied; duckdb.Error where DuckDB cannot read the table."""
    return _one(connection, "SELECT count(*) FROM iceberg_scan(?)", metadata)


def _one(connection: duckdb.DuckDBPyConnection, query: str, metadata: Path) -> int:
    row = connection.execute(query, [str(metadata)]).fetchone()
    assert row is not None
    return int(row[0])


def _size(location: str) -> int:
    return Path("/" + location.removeprefix("file:").lstrip("/")).stat().st_size
