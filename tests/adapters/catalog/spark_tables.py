"""Run by the tests in a process of its own: writes tables as Spark, Flink and Trino write them, and
what Spark itself says they hold.

Arguments: the directory of the catalog, and the jars, separated by commas.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, cast

from pyspark.sql import SparkSession

from tests.conformance.spark_process import start
from tests.quick_java import QUICK_SPARK

STATEMENTS = """
create namespace lake.mor
create namespace lake.mor.deep
create table lake.mor.positions (id bigint, word string, at timestamp) using iceberg partitioned \
by (days(at), bucket(2, id)) tblproperties \
('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = \
'partition', 'write.metadata.compression-codec' = 'gzip')
create table lake.mor.vectors (id bigint, word string, at timestamp) using iceberg partitioned by \
(hours(at)) tblproperties \
('format-version' = '3', 'write.delete.mode' = 'merge-on-read')
create table lake.mor.deep.layouts (id bigint, word string, at timestamp) using iceberg \
partitioned by (truncate(2, word), months(at), id) tblproperties \
('format-version' = '1', 'write.format.default' = 'orc')
insert into lake.mor.positions select id, 'w', timestamp '2026-01-01 00:00:00' + make_interval(0, \
0, 0, int(id % 3)) from range(0, 3000, 1, 2)
insert into lake.mor.positions select id, 'w', timestamp '2026-01-01 05:00:00' from range(3000, \
4000, 1, 2)
insert into lake.mor.vectors select /*+ repartition(4) */ id, 'w', timestamp '2026-01-01 \
13:00:00' from range(0, 4000, 1, 4)
insert into lake.mor.vectors select id, 'w', timestamp '2026-01-01 14:00:00' from range(4000, \
4100, 1, 1)
delete from lake.mor.positions where id % 7 = 0
delete from lake.mor.positions where id = 11
delete from lake.mor.vectors where id % 5 = 0
insert into lake.mor.deep.layouts values (1, 'abc', timestamp '2026-01-01 13:00:00'), (2, null, \
timestamp '2026-02-01 13:00:00'), (3, 'a/b=c', null)
alter table lake.mor.deep.layouts drop partition field id
alter table lake.mor.deep.layouts set tblproperties ('write.format.default' = 'avro')
insert into lake.mor.deep.layouts values (1, 'abc', timestamp '2026-01-01 13:00:00'), (9, 'xyz', \
null)
create view lake.mor.seen as select id from lake.mor.positions
create table lake.mor.upserts (id bigint, word string, day date) using iceberg partitioned by \
(day) tblproperties \
('format-version' = '2', 'write.upsert.enabled' = 'true', 'write.manifest.compression-codec' = \
'zstd')
create table lake.mor.inserts (id bigint, word string, day date) using iceberg partitioned by \
(truncate(3, word), months(day)) tblproperties \
('format-version' = '2', 'write.format.default' = 'orc', 'write.manifest.compression-codec' = \
'snappy')
create table lake.mor.unchecked (id bigint, word string) using iceberg
"""
TABLES = ("mor.positions", "mor.vectors", "mor.deep.layouts")
COMMITTED_TABLES = (
    "mor.upserts",
    "mor.inserts",
)  # as Flink and Trino do; their manifests name files that do not exist
UNCHECKED_TABLE = "mor.unchecked"
PATH_OF_POSITIONS = (
    2147483546  # Iceberg's reserved id of the column file_path in position delete files
)


def main() -> None:
    directory, jars = sys.argv[1:3]
    spark = start(directory, jars, QUICK_SPARK)
    for statement in STATEMENTS.strip().splitlines():
        spark.sql(statement)
    commit_as_flink(Library(spark, "lake.mor.upserts"))
    commit_as_trino(Library(spark, "lake.mor.inserts"))
    commit_without_a_check(spark, UNCHECKED_TABLE)
    listed = (*TABLES, *COMMITTED_TABLES, UNCHECKED_TABLE)
    said = {
        table: [
            row.asDict(recursive=True)
            for row in spark.sql(f"select * from lake.{table}.files").collect()
        ]
        for table in listed
    }
    manifests = {
        table: [
            row.asDict()
            for row in spark.sql(f"select path, length from lake.{table}.manifests").collect()
        ]
        for table in listed
    }
    counts = {table: spark.table(f"lake.{table}").count() for table in TABLES}
    Path(directory, "said.json").write_text(
        json.dumps({"files": said, "manifests": manifests, "rows": counts}, default=str),
        encoding="utf-8",
    )
    spark.stop()


class Library:
    """Iceberg's own library, as the engines call it that have no writer of manifests beside it:
    Flink and Trino are among them, and neither runs here.

    So manifests and lists are real, by the library's writers; what is said of files (kinds, bounds,
    the summary's keys) follows the engines' sources.
    """

    def __init__(self, spark: SparkSession, name: str) -> None:
        self.jvm: Any = cast("Any", spark._jvm)
        self.gateway: Any = spark._sc._gateway
        self.table = self.jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
            spark._jsparkSession, name
        )

    def path(self, directory: str, name: str) -> str:
        return f"{self.table.location()}/data/{directory}/{name}"

    def data_file(self, path: str, partition: str, size: int) -> Any:
        return self._describe(
            self.jvm.org.apache.iceberg.DataFiles.builder(self.table.spec()), path, partition, size
        ).build()

    def equality_deletes(self, path: str, partition: str, columns: list[int]) -> Any:
        ids = self.gateway.new_array(self.jvm.int, len(columns))
        for position, column in enumerate(columns):
            ids[position] = column
        builder = self.jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(
            self.table.spec()
        ).ofEqualityDeletes(ids)
        return self._describe(builder, path, partition, 700).build()

    def position_deletes(
        self, path: str, partition: str, first: str, last: str, referenced: str | None = None
    ) -> Any:
        """Of data files from the first to the last path, by the bounds of the paths in it."""
        builder = self.jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(
            self.table.spec()
        ).ofPositionDeletes()
        bounds = [self.jvm.java.util.HashMap() for _ in (first, last)]
        for bound, text in zip(bounds, (first, last), strict=True):
            bound.put(
                PATH_OF_POSITIONS, self.jvm.java.nio.ByteBuffer.wrap(bytearray(text.encode()))
            )
        builder = self._describe(builder, path, partition, 900).withMetrics(
            self.jvm.org.apache.iceberg.Metrics(3, None, None, None, None, *bounds)
        )
        return (
            builder if referenced is None else builder.withReferencedDataFile(referenced)
        ).build()

    @staticmethod
    def _describe(builder: Any, path: str, partition: str, size: int) -> Any:
        file_format = path.rpartition(".")[2]
        return (
            builder.withPath(path)
            .withFormat(file_format)
            .withPartitionPath(partition)
            .withFileSizeInBytes(size)
            .withRecordCount(1 + size // 100)
        )


def commit_as_flink(library: Library, checkpoints: int = 3) -> None:
    """An upserting stream: at each checkpoint one row delta of data, equality deletes by the key
    and the day, and position deletes of rows of its own.
    """
    for checkpoint in range(1, checkpoints + 1):
        delta = library.table.newRowDelta()
        for day in ("2026-01-01", "2026-01-02"):
            partition = f"day={day}"
            files = [
                library.path(partition, f"00000-0-{checkpoint}-{number}.parquet")
                for number in range(2)
            ]
            for number, path in enumerate(files):
                delta.addRows(library.data_file(path, partition, 1000 * checkpoint + number))
            delta.addDeletes(
                library.equality_deletes(
                    library.path(partition, f"00000-0-{checkpoint}-equalities.parquet"),
                    partition,
                    [1, 3],
                )
            )
            delta.addDeletes(
                library.position_deletes(
                    library.path(partition, f"00000-0-{checkpoint}-positions.parquet"),
                    partition,
                    files[0],
                    files[-1],
                )
            )
        delta.set("flink.job-id", "f" * 32)
        delta.set("flink.operator-id", "e" * 32)
        delta.set("flink.max-committed-checkpoint-id", str(checkpoint))
        delta.toBranch("main")
        delta.commit()


def commit_as_trino(library: Library) -> None:
    """Two fast appends of ORC files and a delete with a position delete file for each data file,
    each in a transaction of its own.
    """
    partition, directory = "word_trunc=abc/day_month=672", "word_trunc=abc/day_month=2026-01"
    files = [
        library.path(directory, f"20260101_000000_0000{number}_abcde.orc") for number in range(4)
    ]
    for number, some in enumerate((files[:3], files[3:])):
        transaction = library.table.newTransaction()
        append = transaction.newFastAppend()
        for path in some:
            append.appendFile(library.data_file(path, partition, 5000 + number))
        append.set("trino_query_id", f"20260101_000000_0000{number}_abcde")
        append.commit()
        transaction.commitTransaction()
    transaction = library.table.newTransaction()
    delta = transaction.newRowDelta()
    for number, path in enumerate(files[:2]):
        delta.addDeletes(
            library.position_deletes(
                library.path(directory, f"deletes-{number}.orc"),
                partition,
                path,
                path,
                path if number else None,
            )
        )
    delta.set("trino_query_id", "20260101_000000_00009_abcde")
    delta.commit()
    transaction.commitTransaction()


def commit_without_a_check(spark: SparkSession, name: str) -> None:
    """A position delete for a data file that a rewrite has replaced: nothing checks it."""
    for first in (0, 100):
        spark.sql(
            f"insert into lake.{name} select /*+ repartition(1) */ id, 'x' "
            f"from range({first}, {first + 100})"
        )
    paths = sorted(
        row["_file"] for row in spark.sql(f"select distinct _file from lake.{name}").collect()
    )
    spark.sql(
        f"call lake.system.rewrite_data_files(table => '{name}', "
        "options => map('rewrite-all', 'true'))"
    )
    library = Library(spark, f"lake.{name}")
    delta = library.table.newRowDelta()
    delta.addDeletes(
        library.position_deletes(library.path("", "lost.parquet"), "", paths[0], paths[0])
    )
    delta.commit()


if __name__ == "__main__":
    main()
