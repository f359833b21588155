"""DuckDB with its extensions for Iceberg and S3, loaded from the installed wheels: nothing is
fetched, and the home directory is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import duckdb_extension_avro
import duckdb_extension_httpfs
import duckdb_extension_iceberg

OFFLINE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "threads": "2",
}


_METADATA = ".metadata.json"


@contextmanager
def duckdb_with_iceberg(scratch: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that has iceberg_scan, iceberg_metadata and iceberg_snapshots, also on S3."""
    with duckdb.connect(config={**OFFLINE, "extension_directory": str(scratch)}) as connection:
        for wheel in (
            duckdb_extension_httpfs,
            duckdb_extension_avro,
            duckdb_extension_iceberg,
        ):  # the last asks for the one before it
            connection.execute(f"LOAD '{find_extension(wheel)}'")
        yield connection


def read_by_duckdb(
    connection: duckdb.DuckDBPyConnection, metadata: str, columns: str
) -> list[tuple[Any, ...]]:
    """The rows of a table in order, from its metadata file.

    Other files are read below the same directory, under the names that they have below the table:
    so a copy can be read, and a table that was written under another scheme.
    """
    table, _, file = metadata.rpartition("/metadata/")
    query = (
        f"SELECT {columns} FROM iceberg_scan(?, version = ?, allow_moved_paths = true) ORDER BY ALL"
    )
    return connection.execute(query, [table, file.removesuffix(_METADATA)]).fetchall()


def find_extension(wheel: ModuleType) -> Path:
    """The extension's file in an installed wheel."""
    assert wheel.__file__ is not None
    (path,) = Path(wheel.__file__).parent.rglob("*.duckdb_extension")
    return path
