"""What the tables of a lake on a SQLite catalog hold, read twice: by PyIceberg, and without it
(sqlite3, json, fastavro, DuckDB, PyArrow's ORC reader).

``contents`` is the same before and after maintenance, for any files, their order and their
number are.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from struct import unpack_from
from typing import Any

import duckdb
import fastavro
import pyarrow as pa
from pyarrow import compute, orc
from pyiceberg.catalog.sql import SqlCatalog
from pyroaring import BitMap

CATALOG_NAME = "lake"
_DELETED = 2  # manifest entry status
_POSITIONS = 1  # content of a delete file that names positions
_MANIFEST_OF_DELETES = 1
_VECTOR_MAGIC = b"\xd1\xd3\x39\x64"


@dataclass(frozen=True)
class Contents:
    """The rows of one table: how many, and the sum of their hashes, which does not depend on their
    order.
    """

    rows: int
    checksum: str


@dataclass(frozen=True)
class Files:
    """The live files of one table's current snapshot, as its manifests list them (paths without the
    scheme).
    """

    columns: tuple[str, ...]
    data: tuple[dict[str, Any], ...]
    deletes: tuple[dict[str, Any], ...]
    manifests: int
    snapshots: int


def contents(directory: Path) -> dict[str, Contents]:
    """Every table's contents as PyIceberg reads them; AssertionError when the other reader sees
    something else.
    """
    by_pyiceberg, independently = read_by_pyiceberg(directory), read_independently(directory)
    assert by_pyiceberg == independently
    return by_pyiceberg


def read_by_pyiceberg(directory: Path) -> dict[str, Contents]:
    logging.getLogger("pyiceberg").setLevel(
        logging.ERROR
    )  # it notes for every ORC file that nanoseconds become microseconds
    catalog = SqlCatalog(
        CATALOG_NAME,
        uri=f"sqlite:///{directory / 'catalog.db'}",
        warehouse=f"file://{directory / 'warehouse'}",
    )
    with closing(catalog):
        return {
            name: summarize(catalog.load_table((namespace, table)).scan().to_arrow())
            for name, namespace, table, _ in list_tables(directory)
        }


def read_independently(directory: Path) -> dict[str, Contents]:
    return {
        name: summarize(read_rows(list_files(metadata)))
        for name, _, _, metadata in list_tables(directory)
    }


def list_tables(directory: Path) -> list[tuple[str, str, str, Path]]:
    """Full name, namespace, table and metadata file of every table in the catalog's database."""
    query = (
        "SELECT table_namespace, table_name, metadata_location FROM iceberg_tables WHERE "
        "catalog_name = ? ORDER BY 1, 2"
    )
    with closing(
        sqlite3.connect(f"file:{directory / 'catalog.db'}?mode=ro", uri=True)
    ) as connection:
        found = connection.execute(query, (CATALOG_NAME,)).fetchall()
    return [
        (f"{CATALOG_NAME}.{namespace}.{table}", namespace, table, Path(_plain(location)))
        for namespace, table, location in found
    ]


def list_files(metadata_file: Path) -> Files:
    metadata = json.loads(metadata_file.read_text())
    schema = next(
        schema
        for schema in metadata["schemas"]
        if schema["schema-id"] == metadata["current-schema-id"]
    )
    current = next(
        snapshot
        for snapshot in metadata["snapshots"]
        if snapshot["snapshot-id"] == metadata["current-snapshot-id"]
    )
    manifests = list(_read_avro(current["manifest-list"]))
    data: list[dict[str, Any]] = []
    deletes: list[dict[str, Any]] = []
    for manifest in manifests:
        live = [
            entry["data_file"]
            for entry in _read_avro(manifest["manifest_path"])
            if entry["status"] != _DELETED
        ]
        (deletes if manifest["content"] == _MANIFEST_OF_DELETES else data).extend(live)
    columns = tuple(field["name"] for field in schema["fields"])
    return Files(columns, tuple(data), tuple(deletes), len(manifests), len(metadata["snapshots"]))


def summarize(table: pa.Table) -> Contents:
    """Count the rows and add up their hashes; values are compared, not Arrow's spellings of a
    type.
    """
    columns = [_plain_values(table.column(name)) for name in sorted(table.column_names)]
    total = sum(
        int.from_bytes(blake2b(repr(row).encode(), digest_size=8).digest())
        for row in zip(*columns, strict=True)
    )
    return Contents(table.num_rows, f"{total % 2**64:016x}")


def _plain_values(column: pa.ChunkedArray) -> list[Any]:
    kind = column.type
    if pa.types.is_timestamp(kind):
        column = compute.cast(compute.cast(column, pa.timestamp("us", tz=kind.tz)), pa.int64())
    elif pa.types.is_decimal(kind):
        column = compute.cast(column, pa.string())
    elif pa.types.is_date(kind):
        column = compute.cast(column, pa.int32())
    values: list[Any] = column.to_pylist()
    return values


def _plain(location: str) -> str:
    """A file's path without its scheme: writers spell it file:/ and file:///."""
    return "/" + location.removeprefix("file:").lstrip("/")


def _read_avro(location: str) -> Iterator[dict[str, Any]]:
    with Path(_plain(location)).open("rb") as file:
        for record in fastavro.reader(file):
            assert isinstance(record, dict)
            yield record


def read_rows(files: Files) -> pa.Table:
    formats = {file["file_format"].upper() for file in files.data}
    paths = [_plain(file["file_path"]) for file in files.data]
    match sorted(formats):
        case ["PARQUET"]:
            return _read_parquet(paths, files)
        case ["ORC"]:
            assert not files.deletes
            return pa.concat_tables([orc.read_table(path) for path in paths]).select(
                list(files.columns)
            )
        case other:
            message = f"no independent reader for a table of {other}"
            raise AssertionError(message)


def _read_parquet(paths: list[str], files: Files) -> pa.Table:
    deleted = pa.Table.from_pylist(
        list(_deleted_positions(files)),
        schema=pa.schema([("path", pa.string()), ("position", pa.int64())]),
    )
    columns = ", ".join(f'data."{column}"' for column in files.columns)
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.register("deleted", deleted)
        query = f"""
            SELECT {columns} FROM read_parquet(?, filename = true, file_row_number = true,
                hive_partitioning = false, union_by_name = true) AS data
            ANTI JOIN deleted ON deleted.path = data.filename AND deleted.position =
                data.file_row_number
        """
        return connection.sql(query, params=[paths]).to_arrow_table()


def _deleted_positions(files: Files) -> Iterator[dict[str, Any]]:
    position_files = [
        _plain(file["file_path"])
        for file in files.deletes
        if file["file_format"].upper() == "PARQUET"
    ]
    assert all(file["content"] == _POSITIONS for file in files.deletes)
    if position_files:
        for path, position in duckdb.execute(
            "SELECT file_path, pos FROM read_parquet(?)", [position_files]
        ).fetchall():
            yield {"path": _plain(path), "position": position}
    for file in files.deletes:
        if file["file_format"].upper() == "PUFFIN":
            path = _plain(file["referenced_data_file"])
            yield from (
                {"path": path, "position": position} for position in read_deletion_vector(file)
            )


def read_deletion_vector(file: dict[str, Any]) -> Iterator[int]:
    """The positions in a deletion vector: length (big-endian), magic, then 64-bit Roaring: a count,
    and for each high word a bitmap (little-endian).
    """
    offset, size = file["content_offset"], file["content_size_in_bytes"]
    blob = Path(_plain(file["file_path"])).read_bytes()[offset : offset + size]
    assert blob[4:8] == _VECTOR_MAGIC
    (length,) = unpack_from(">i", blob)
    assert length == size - 8  # without the length itself and the checksum behind the vector
    (bitmaps,) = unpack_from("<q", blob, 8)
    position = 16
    for _ in range(bitmaps):
        (high,) = unpack_from("<i", blob, position)
        bitmap = BitMap.deserialize(blob[position + 4 : 4 + length])
        yield from ((high << 32) + low for low in bitmap)
        position += 4 + len(bitmap.serialize())
