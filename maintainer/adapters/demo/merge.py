"""Makes the tables that only Spark can make, with MERGE INTO, in a child process.

It uses only the standard library and pyspark. It reads one line of JSON from standard input and
writes a line for each table to standard output. It ends when standard input is closed, so it never
outlives its parent.
"""

from __future__ import annotations

import json
import os
import sys
from threading import Thread
from typing import Any

from pyspark.sql import SparkSession

_COLUMNS = (
    "account_id BIGINT NOT NULL, region STRING NOT NULL, state STRING, balance DECIMAL(12, 2), "
    "changed_at TIMESTAMP"
)
_PROPERTIES = {
    "write.merge.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.delete.mode": "merge-on-read",
    "write.delete.granularity": "partition",
    "write.distribution-mode": "hash",
    "write.merge.distribution-mode": "hash",
}
_MERGE = """
MERGE INTO {table} AS target
USING (SELECT * FROM changes WHERE batch = {batch}) AS change
ON target.account_id = change.account_id AND target.region = change.region
WHEN MATCHED AND change.operation = 'D' THEN DELETE
WHEN MATCHED THEN UPDATE
  SET state = change.state, balance = change.balance, changed_at = change.changed_at
WHEN NOT MATCHED AND change.operation <> 'D'
  THEN INSERT (account_id, region, state, balance, changed_at)
  VALUES (change.account_id, change.region, change.state, change.balance, change.changed_at)
"""


def _create(spark: SparkSession, table: str, format_version: int) -> None:
    properties = ", ".join(
        f"'{key}' = '{value}'"
        for key, value in {**_PROPERTIES, "format-version": str(format_version)}.items()
    )
    spark.sql(
        f"CREATE TABLE {table} ({_COLUMNS}) USING iceberg PARTITIONED BY (region) TBLPROPERTIES "
        f"({properties})"
    )
    spark.sql(
        # The names come from this package.
        f"INSERT INTO {table} SELECT account_id, region, state, balance, changed_at "  # noqa: S608
        f"FROM changes WHERE batch = 0"
    )


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(3)


def main() -> None:
    """Create each table from batch 0 of the changes and merge the others, one commit each."""
    order: dict[str, Any] = json.loads(sys.stdin.readline())
    Thread(target=_end_with_parent, daemon=True).start()
    builder: Any = SparkSession.builder
    for key, value in order["configuration"].items():
        builder = builder.config(key, value)
    spark: SparkSession = builder.getOrCreate()
    spark.read.parquet(order["changes"]).createOrReplaceTempView("changes")
    spark.catalog.cacheTable("changes")
    for table in order["tables"]:
        _create(spark, table["name"], table["format_version"])
        for batch in range(1, table["batches"] + 1):
            spark.sql(_MERGE.format(table=table["name"], batch=batch))
        _say(
            f"{table['label']}: {table['batches']} MERGE INTO, format version "
            f"{table['format_version']}"
        )
    spark.stop()


if __name__ == "__main__":
    main()
