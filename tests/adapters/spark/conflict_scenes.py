"""Run by test_conflicts in a process of its own: a writer and a procedure meet on real tables, and
what Iceberg says of it is printed.

Arguments: the directory of the catalog, and the jars, separated by commas. Each line of the answer:
{"scene", "causes", "result", "facts"}.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from maintainer.adapters.spark.driver.results import JavaObject, read_causes
from tests.conformance.spark_process import start
from tests.quick_java import QUICK_SPARK

_DEADLINE_SECONDS = 60
_POLL_SECONDS = 0.002
_FILES = 30  # enough for the writer to be done before the rewrite is
_COUNTED = "count(*) AS rows, count(DISTINCT id) AS ids, count_if(id = 3) AS deleted"


class Stage:
    """One table, a procedure that works on it, and a writer that commits in the middle."""

    def __init__(self, spark: SparkSession, scene: str) -> None:
        self.spark = spark
        self.jvm: Any = spark._jvm
        self.name = f"lake.db.{scene}"
        self.causes: list[dict[str, str]] = []
        self.result: dict[str, Any] = {}

    def create(self, properties: str = "", *, clauses: str = "", files: int = _FILES) -> None:
        reported = f"'format-version' = '2', 'write.delete.mode' = 'merge-on-read'{properties}"
        self.sql(
            f"CREATE TABLE {self.name} (id bigint, part bigint) USING iceberg {clauses} "
            f"TBLPROPERTIES ({reported})"
        )
        rows = self.spark.range(0, files * 10, 1, files).selectExpr("id", "id div 30 AS part")
        rows.writeTo(self.name).append()

    def sql(self, statement: str) -> list[dict[str, Any]]:
        return [row.asDict() for row in self.spark.sql(statement).collect()]

    def load(self) -> JavaObject:
        return self.jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
            self.spark._jsparkSession, self.name
        )

    def data_files(self) -> list[Any]:
        """As Iceberg has them, by path."""
        return sorted(
            (task.file() for task in self.load().newScan().planFiles().iterator()),
            key=lambda file: str(file.location()),
        )

    def call(self, procedure: str, arguments: str = "") -> None:
        """What the driver does with a statement."""
        try:
            rows = self.sql(f"CALL lake.system.{procedure}(table => '{self.name}'{arguments})")
            self.result = rows[0]
        except Exception as error:  # noqa: BLE001 - what Spark says is what this is about
            self.causes = read_causes(error)

    def meet(
        self,
        write: Callable[[], None],
        procedure: str,
        arguments: str = "",
        when: Callable[[], bool] | None = None,
    ) -> None:
        """Call the procedure and let the writer commit as soon as Spark works on it."""
        working = threading.Thread(target=self.call, args=(procedure, arguments))
        tracker = self.spark.sparkContext.statusTracker()
        working.start()
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while (
            working.is_alive()
            and not (when() if when is not None else tracker.getActiveStageIds())
            and time.monotonic() < deadline
        ):
            time.sleep(_POLL_SECONDS)
        write()
        working.join(_DEADLINE_SECONDS)

    def facts(self) -> dict[str, Any]:
        snapshots = self.sql(f"SELECT operation FROM {self.name}.snapshots ORDER BY committed_at")
        return {
            **self.sql(f"SELECT {_COUNTED} FROM {self.name}")[0],
            "operations": [row["operation"] for row in snapshots],
        }


def drop_files(stage: Stage, choose: Callable[[list[Any]], list[Any]]) -> Callable[[], None]:
    """A writer that removes whole data files: what an overwrite of their rows does."""
    removal = stage.load().newDelete()
    for file in choose(stage.data_files()):
        removal.deleteFile(
            file
        )  # never by its path: Py4J would take a method of that name that deletes the file itself
    commit: Callable[[], None] = removal.commit
    return commit


def first(files: list[Any]) -> list[Any]:
    return files[:1]


def delete_row(stage: Stage, *, equality: bool = False) -> Callable[[], None]:
    """A writer that deletes the row with id 3 by a delete file; it lies there beforehand and is
    committed when this is called.
    """
    table = stage.load()
    path = Path(table.location().removeprefix("file:")) / "data" / "delete.parquet"
    data_file = stage.sql(f"SELECT DISTINCT _file FROM {stage.name} WHERE id = 3")[0]["_file"]
    if equality:
        content = pa.table(
            [pa.array([3], pa.int64())], schema=pa.schema([_numbered("id", pa.int64(), 1)])
        )
    else:
        position = stage.sql(f"SELECT _pos FROM {stage.name} WHERE id = 3")[0]["_pos"]
        columns = [
            _numbered("file_path", pa.string(), 2147483546),
            _numbered("pos", pa.int64(), 2147483545),
        ]
        content = pa.table([[data_file], [position]], schema=pa.schema(columns))
    pq.write_table(content, path)
    builder = stage.jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(table.spec())
    if equality:
        gateway: Any = stage.spark.sparkContext._gateway
        ids = gateway.new_array(stage.jvm.int, 1)
        ids[0] = 1
        builder = builder.ofEqualityDeletes(ids)
    else:
        builder = builder.ofPositionDeletes().withReferencedDataFile(data_file)
    builder = (
        builder.withPath(f"file:{path}")
        .withFormat("parquet")
        .withFileSizeInBytes(path.stat().st_size)
        .withRecordCount(1)
    )
    made = builder.build()
    return lambda: table.newRowDelta().addDeletes(made).commit()


def is_rewritten(table: JavaObject) -> bool:
    """True once a rewrite is the table's newest commit."""
    table.refresh()
    return bool(table.currentSnapshot().operation() == "replace")


def _numbered(name: str, kind: pa.DataType, field_id: int) -> pa.Field:
    return pa.field(name, kind, nullable=False, metadata={"PARQUET:field_id": str(field_id)})


def new_position_delete(stage: Stage) -> None:
    stage.create()
    stage.meet(delete_row(stage), "rewrite_data_files", ", options => map('rewrite-all', 'true')")


def new_equality_delete(stage: Stage) -> None:
    stage.create()
    options = ", options => map('rewrite-all', 'true', 'use-starting-sequence-number', 'true')"
    stage.meet(delete_row(stage, equality=True), "rewrite_data_files", options)


DROP_DANGLING = (
    "'rewrite-all', 'true', 'use-starting-sequence-number', 'true', 'remove-dangling-deletes', "
    "'true'"
)


def old_spec_delete(stage: Stage) -> None:
    """A writer that still has the spec without partitions deletes a row while the files are
    rewritten into partitions.
    """
    stage.create()
    write = delete_row(stage, equality=True)
    stage.sql(f"ALTER TABLE {stage.name} ADD PARTITION FIELD part")
    stage.meet(write, "rewrite_data_files", f", options => map({DROP_DANGLING})")


def _delete_without_partitions(stage: Stage) -> Callable[[], None]:
    """A writer of an equality delete for all partition specs, on a table whose files lie in
    partitions of an old spec.

    The partition that the scene rewrites has a position delete, which dangles afterwards.
    """
    stage.create(clauses="PARTITIONED BY (part)")
    stage.sql(f"DELETE FROM {stage.name} WHERE id = 153")
    stage.sql(f"ALTER TABLE {stage.name} DROP PARTITION FIELD part")
    return delete_row(stage, equality=True)


def delete_for_all_specs(stage: Stage) -> None:
    """The equality delete's own spec has newer files only; the row that it deletes lies in a file
    of the other spec.
    """
    _delete_without_partitions(stage)()
    stage.call("rewrite_data_files", f", where => 'part = 5', options => map({DROP_DANGLING})")


def dangling_deletes_met(stage: Stage) -> None:
    """The writer commits between the rewrite and the removal of dangling deletes, which are two
    commits.
    """
    write, table = _delete_without_partitions(stage), stage.load()
    stage.meet(
        write,
        "rewrite_data_files",
        f", where => 'part = 5', options => map({DROP_DANGLING})",
        lambda: is_rewritten(table),
    )


def files_gone(stage: Stage) -> None:
    stage.create()
    stage.meet(
        drop_files(stage, first), "rewrite_data_files", ", options => map('rewrite-all', 'true')"
    )


def lost_commits(stage: Stage) -> None:
    """Ten groups, one commit each; the writer takes a file of the last one away after the first of
    our commits.
    """
    stage.create(clauses="PARTITIONED BY (part)")
    table = stage.load()
    removal = drop_files(
        stage, lambda files: [max(files, key=lambda file: int(file.partition().get(0)))]
    )
    options = {
        "rewrite-all": "true", "max-concurrent-file-group-rewrites": "1",
        "rewrite-job-order": "bytes-asc",
        "partial-progress.enabled": "true", "partial-progress.max-commits": "10",
        "partial-progress.max-failed-commits": "3",
    }  # fmt: skip
    written = ", ".join(f"'{key}', '{value}'" for key, value in options.items())
    stage.meet(
        removal, "rewrite_data_files", f", options => map({written})", lambda: is_rewritten(table)
    )


def all_commits_lost(stage: Stage) -> None:
    """Every group has lost a file."""
    stage.create(clauses="PARTITIONED BY (part)")
    removal = drop_files(
        stage, lambda files: list({int(file.partition().get(0)): file for file in files}.values())
    )
    options = (
        "'rewrite-all', 'true', 'partial-progress.enabled', 'true', "
        "'partial-progress.max-commits', '10', 'partial-progress.max-failed-commits', '3'"
    )
    stage.meet(removal, "rewrite_data_files", f", options => map({options})")


def deletes_gone(stage: Stage) -> None:
    stage.create(files=8)
    for number in range(6):
        stage.sql(f"DELETE FROM {stage.name} WHERE id = {number}")
    table = stage.load()
    removal = table.newRowDelta()
    tasks = list(table.newScan().planFiles().iterator())
    for deletes in next(task.deletes() for task in tasks if task.deletes().size()):
        removal.removeDeletes(deletes)
    stage.meet(
        removal.commit, "rewrite_position_delete_files", ", options => map('rewrite-all', 'true')"
    )


def manifests_gone(stage: Stage) -> None:
    stage.create()
    for number in range(8):
        stage.sql(f"INSERT INTO {stage.name} VALUES ({1000 + number}, 0)")
    stage.meet(drop_files(stage, first), "rewrite_manifests", ", use_caching => false")


def merge_copies(stage: Stage) -> None:
    merge_beside(stage, "copy-on-write")


def merge_marks(stage: Stage) -> None:
    merge_beside(stage, "merge-on-read")


def merge_beside(stage: Stage, mode: str) -> None:
    """A MERGE has read the table and works; our rewrite of its files commits first, and the writer
    tries once more.
    """
    stage.create(f", 'write.merge.mode' = '{mode}'")
    place = Path(stage.load().location().removeprefix("file:"))
    begun, go_on = place / "begun", place / "go-on"

    def hold(number: int) -> int:
        """The first call waits; only that one, because Spark may read the source twice and its
        other tasks need the places.
        """
        try:
            begun.touch(exist_ok=False)
        except FileExistsError:
            return number
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while not go_on.exists() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return number

    stage.spark.udf.register("hold", hold, "bigint")
    merge = f"""MERGE INTO {stage.name} AS t USING (SELECT hold(id) AS id FROM range(290, 310, 1,
        1)) AS s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET part = 99 WHEN NOT MATCHED THEN INSERT (id, part) VALUES
            (s.id, 99)"""
    refused: list[dict[str, str]] = []

    def write() -> None:
        try:
            stage.sql(merge)
        # What Spark says to the writer is what this is about.
        except Exception as error:  # noqa: BLE001
            refused.extend(read_causes(error))

    writing = threading.Thread(target=write)
    writing.start()
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not begun.exists() and writing.is_alive() and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    stage.call("rewrite_data_files", ", options => map('rewrite-all', 'true')")
    go_on.touch()
    writing.join(_DEADLINE_SECONDS)
    operations = stage.facts()["operations"]
    stage.sql(merge)
    merged = stage.sql(f"SELECT count(*) AS merged FROM {stage.name} WHERE part = 99")[0]["merged"]
    stage.result |= {
        "refused": refused,
        "operations_before_the_second_try": operations,
        "merged": merged,
    }


def requirement(stage: Stage) -> None:
    """A commit of ours in the moment of another one, without another try."""
    stage.create(files=2)
    operations = stage.load().operations()
    base = operations.current()
    stage.load().updateProperties().set("a", "1").commit()
    try:
        operations.commit(base, base.replaceProperties({"b": "2"}))
    except Exception as error:  # noqa: BLE001 - what Iceberg says is what this is about
        stage.causes = read_causes(error)


SCENES = [
    new_position_delete,
    new_equality_delete,
    old_spec_delete,
    delete_for_all_specs,
    dangling_deletes_met,
    files_gone,
    lost_commits,
    all_commits_lost,
    deletes_gone,
    manifests_gone,
    requirement,
    merge_copies,
    merge_marks,
]


# Their writer must commit in a short gap, which it can miss on a busy machine.
SHORT_GAPS = {dangling_deletes_met}
_ATTEMPTS = 5


def play(spark: SparkSession, scene: Callable[[Stage], None]) -> Stage:
    """The stage after the scene; one with a short gap is played anew until there is a conflict."""
    attempts = _ATTEMPTS if scene in SHORT_GAPS else 1
    while True:
        stage = Stage(spark, f"{scene.__name__}_{attempts}")
        scene(stage)
        attempts -= 1
        if stage.causes or not attempts:
            return stage


def main() -> None:
    directory, jars = sys.argv[1:3]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Java prints goes to the log
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = start(directory, jars, QUICK_SPARK)
    spark.sql("CREATE NAMESPACE lake.db")
    for scene in SCENES:
        begun = time.monotonic()
        stage = play(spark, scene)
        answer = {
            "scene": scene.__name__,
            "causes": stage.causes,
            "result": stage.result,
            "facts": stage.facts(),
            "seconds": time.monotonic() - begun,
        }
        answers.write(json.dumps(answer, default=str) + "\n")
        answers.flush()
    spark.stop()


if __name__ == "__main__":
    main()
