"""TPC-DS: its data and its queries, from DuckDB's generator, which the installed wheel contains."""

from __future__ import annotations

from pathlib import Path

import duckdb
import duckdb_extension_tpcds
import pyarrow as pa
import pyarrow.parquet as pq

from tests.duckdb_iceberg import OFFLINE, find_extension

FACTS = ("store_sales", "catalog_sales", "web_sales")
DIMENSIONS = (
    "customer", "customer_address", "customer_demographics", "date_dim", "household_demographics",
    "item", "promotion", "store", "time_dim",
)  # fmt: skip
# Queries that read one fact table each, among them 96, which small files slowed down most.
QUERIES = (3, 7, 12, 15, 19, 26, 42, 96)
_SAMPLE_ROWS = 200_000  # whose file says how many rows a file of the wanted size has
_PARQUET = {"compression": "zstd", "store_decimal_as_integer": True}


class Tpcds:
    """The tables at one scale factor; 1 is a gigabyte of text."""

    def __init__(self, scratch: Path, scale_factor: float) -> None:
        self._scratch = scratch
        self._connection = duckdb.connect(
            str(scratch / "tpcds.duckdb"),
            config={**OFFLINE, "extension_directory": str(scratch / "extensions")},
        )
        self._connection.execute(f"LOAD '{find_extension(duckdb_extension_tpcds)}'")
        self._connection.execute(f"CALL dsdgen(sf={scale_factor})")

    def query(self, number: int) -> str:
        """The text of a query, which Spark understands as it is."""
        rows = self._connection.execute(
            "SELECT query FROM tpcds_queries() WHERE query_nr = ?", [number]
        ).fetchall()
        return str(rows[0][0]).strip().rstrip(";")

    def load(self, table: str) -> pa.Table:
        """All rows of a table."""
        return self._connection.table(table).to_arrow_table()

    def close(self) -> None:
        """Close the database."""
        self._connection.close()


def write_files(rows: pa.Table, directory: Path, file_bytes: int | None = None) -> int:
    """Write the rows as Parquet files of about this size, or as one; how many they are."""
    directory.mkdir(parents=True)
    count = rows.num_rows
    if file_bytes is not None:
        sample = rows.slice(0, min(count, _SAMPLE_ROWS))
        probe = directory / "probe.parquet"
        pq.write_table(sample, probe, **_PARQUET)
        count = max(1, round(file_bytes * sample.num_rows / probe.stat().st_size))
        probe.unlink()
    starts = range(0, rows.num_rows, count)
    for number, start in enumerate(starts):
        path = directory / f"{number:06d}.parquet"
        pq.write_table(rows.slice(start, count), path, **_PARQUET)
    return len(starts)
