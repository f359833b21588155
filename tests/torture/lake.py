"""The lake of the torture run: one PostgreSQL catalog that PyIceberg and Spark share, and the
tables in it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

from pyarrow import parquet
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import parquet_file_to_data_file, schema_to_pyarrow
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

from maintainer.adapters.demo.history import (
    DatedCommit,
    NewTable,
    create_with_history,
    describe_table,
)
from maintainer.adapters.spark.catalogs import spark_configuration
from tests.torture.ledger import Operation, Told
from tests.torture.rows import COLUMNS, Row, to_arrow
from tests.torture.schedule import SHARED_PARTS, TABLES, TablePlan

CATALOG = "lake"
PAST = "past"  # the writer of what was there before
PAST_COMMITS = 9
STRAYS = 2  # left beside a table's files by a writer that failed
PAST_REPLACED_AT = 4  # this commit took the place of all before it
DAYS_BETWEEN = timedelta(days=1)
_TEXT_COLUMNS = {"part", "writer", "payload"}
_PROPERTIES = {
    "write.merge.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.delete.mode": "merge-on-read",
    # Each writer changes its own rows alone; serializable would make it fail at others' appends,
    # with and without the daemon.
    "write.merge.isolation-level": "snapshot",
    "write.update.isolation-level": "snapshot",
    "write.delete.isolation-level": "snapshot",
}


@dataclass(frozen=True, slots=True)
class Lake:
    """Where the catalog and the files are."""

    url: str  # postgresql+psycopg://user:password@127.0.0.1:port/database
    warehouse: Path

    def at_port(self, port: int) -> Lake:
        """The same lake through a proxy."""
        return Lake(at_port(self.url, port), self.warehouse)

    @property
    def properties(self) -> dict[str, str]:
        """PyIceberg's."""
        return {"type": "sql", "uri": self.url, "warehouse": f"file://{self.warehouse}"}

    def open_catalog(self) -> SqlCatalog:
        """A catalog of one's own; whoever opens it closes it."""
        return SqlCatalog(
            CATALOG, **{name: value for name, value in self.properties.items() if name != "type"}
        )


def at_port(url: str, port: int) -> str:
    """The same address at another port of this machine."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{port}"))


class WritersSpark:
    """The Spark of the writers: one JVM in a child process of this one, and a session for each
    thread that asks.
    """

    def __init__(self, lake: Lake, directory: Path) -> None:
        # A second, which the tests of the checker need not wait for.
        from pyspark.sql import SparkSession  # noqa: PLC0415

        jars = ",".join(
            str(jar)
            for jar in sorted(
                (Path(sys.prefix) / "share" / "iceberg-maintainer" / "jars").glob("*.jar")
            )
        )
        assert jars, "run make setup: there are no jars of Iceberg"
        settings = {
            "spark.master": "local[2]",
            "spark.app.name": "torture-writers",
            "spark.jars": jars,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": f"-XX:+UseSerialGC -Djava.io.tmpdir={directory}",
            "spark.local.dir": str(directory),
            "spark.sql.warehouse.dir": str(directory / "hive"),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.sources.partitionOverwriteMode": "dynamic",
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions."
            "IcebergSparkSessionExtensions",
            **spark_configuration(CATALOG, lake.properties, {"clients": "4"}),
        }
        builder: Any = SparkSession.builder
        for key, value in settings.items():
            builder = builder.config(key, value)
        self._spark: Any = builder.getOrCreate()

    def session(self) -> Any:
        """A session with settings of its own."""
        return self._spark.newSession()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spark.stop()


def make_tables(lake: Lake, namespace: str, spark: Any, now: datetime) -> list[Operation]:
    """Create every table; returns what they hold from the beginning, as the ledger has it."""
    catalog = lake.open_catalog()
    try:
        catalog.create_namespace_if_not_exists(namespace)
        return [_make_table(catalog, namespace, plan, spark, now) for plan in TABLES]
    finally:
        catalog.close()


def _make_table(
    catalog: SqlCatalog,
    namespace: str,
    plan: TablePlan,
    spark: Any,
    now: datetime,
) -> Operation:
    schema = Schema(
        *(
            NestedField(number, name, StringType() if name in _TEXT_COLUMNS else LongType())
            for number, name in enumerate(COLUMNS, 1)
        )
    )
    spec = (
        PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "part"))
        if plan.is_partitioned
        else UNPARTITIONED_PARTITION_SPEC
    )
    name = f"{namespace}.{plan.name}"
    properties = _PROPERTIES | dict(plan.properties)
    rows: list[Row] = []
    if plan.has_history:
        rows = _make_past(
            catalog, NewTable((namespace, plan.name), schema, spec, tuple(properties.items())), now
        )
    else:
        catalog.create_table(name, schema, partition_spec=spec, properties=properties)
    if plan.format_version > 2:
        spark.sql(
            f"ALTER TABLE {CATALOG}.{name} SET TBLPROPERTIES ('format-version' = "
            f"'{plan.format_version}')"
        )
    return Operation(f"past-{name}", name, PAST, PAST, tuple(rows), told=Told.COMMITTED)


def _make_past(catalog: SqlCatalog, new: NewTable, now: datetime) -> list[Row]:
    """Snapshots that are days old; returns the rows that are left."""
    metadata, io = describe_table(catalog, new)
    data = Path(metadata.location.removeprefix("file://")) / "data"
    commits: list[DatedCommit] = []
    live: list[Row] = []
    for number in range(PAST_COMMITS):
        at = now.astimezone(UTC) - DAYS_BETWEEN * (PAST_COMMITS + 2 - number)
        files = []
        for part in SHARED_PARTS if metadata.spec().fields else ("p0",):
            rows = [
                Row(PAST, (number * len(SHARED_PARTS) + int(part[1:])) * 10 + offset, 0, part)
                for offset in range(5)
            ]
            path = data / f"past-{number}-{part}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            parquet.write_table(
                to_arrow(rows).cast(schema_to_pyarrow(metadata.schema())), path, store_schema=False
            )
            os.utime(
                path, (at.timestamp(), at.timestamp())
            )  # as old as its commit: no orphan removal spares it for its age
            files.append(parquet_file_to_data_file(io, metadata, f"file://{path}"))
            live = [*([] if number == PAST_REPLACED_AT and part == "p0" else live), *rows]
        commits.append(DatedCommit(at, tuple(files), is_overwrite=number == PAST_REPLACED_AT))
    create_with_history(catalog, new, commits)
    return live


def leave_strays(lake: Lake, namespace: str, now: datetime) -> list[Path]:
    """Files that no snapshot knows and that are old enough to be removed, beside those of each
    table with a past.
    """
    catalog = lake.open_catalog()
    try:
        tables = [
            catalog.load_table(f"{namespace}.{plan.name}") for plan in TABLES if plan.has_history
        ]
    finally:
        catalog.close()
    strays = [
        Path(table.location().removeprefix("file://")) / "data" / f"stray-{number}.parquet"
        for table in tables
        for number in range(STRAYS)
    ]
    for number, path in enumerate(strays):
        parquet.write_table(to_arrow([Row("nobody", number, 0, "p0")]), path, store_schema=False)
        written = (now - DAYS_BETWEEN * PAST_COMMITS).timestamp()
        os.utime(path, (written, written))
    return strays


def drop_tables(lake: Lake, namespace: str) -> None:
    """Take the namespace's tables out of the catalog; their files stay."""
    catalog = lake.open_catalog()
    try:
        for plan in TABLES:
            catalog.drop_table(f"{namespace}.{plan.name}")
    finally:
        catalog.close()


def locate_tables(lake: Lake, namespace: str) -> Mapping[str, str]:
    """The metadata file of every table of the namespace, as the catalog has it now."""
    catalog = lake.open_catalog()
    try:
        return {
            f"{namespace}.{plan.name}": catalog.load_table(
                f"{namespace}.{plan.name}"
            ).metadata_location
            for plan in TABLES
        }
    finally:
        catalog.close()
