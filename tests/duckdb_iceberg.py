"""DuckDB with its Iceberg extension, loaded from the installed wheels: nothing is fetched, and the
home directory is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg

OFFLINE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "threads": "2",
}


@contextmanager
def duckdb_with_iceberg(scratch: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that has iceberg_scan, iceberg_metadata and iceberg_snapshots."""
    with duckdb.connect(config={**OFFLINE, "extension_directory": str(scratch)}) as connection:
        for wheel in (
            duckdb_extension_avro,
            duckdb_extension_iceberg,
        ):  # the second asks for the first
            connection.execute(f"LOAD '{_extension(wheel)}'")
        yield connection


def _extension(wheel: ModuleType) -> Path:
    assert wheel.__file__ is not None
    (path,) = Path(wheel.__file__).parent.rglob("*.duckdb_extension")
    return path
