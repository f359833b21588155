"""Spark's `files` table as a peer: a local session that is started once, warmed up, and asked for
one aggregate.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pyspark.sql import SparkSession

from maintainer.adapters.spark.jars import default_directory, find_jars
from maintainer.adapters.spark.java import find_java, prepare_home
from maintainer.domain.errors import RunnerUnavailableError
from tests.benchmarks.harness import Timed, measure

MASTER: Final = "local[2]"
WARM_UP: Final = 2


@dataclass(frozen=True, slots=True)
class Counted:
    """The same files, asked for by an aggregate that skips their statistics, as our readers do, and
    row by row with all columns.
    """

    aggregate: Timed[int]
    rows: Timed[int]


def count_files(metadata: Path) -> Counted | None:
    """Ask for the files of a table by its metadata's location; None on a machine without Java or
    the jars.

    The CPU time is that of the whole JVM while it answers, its compilers and its garbage collector
    included; what was started once is not.
    """
    try:
        java, jars = find_java(None, os.environ), find_jars(default_directory())
    except RunnerUnavailableError as error:
        sys.stderr.write(f"bench: no Spark: {error}\n")
        return None
    shutil.copyfile(
        metadata, metadata.with_name("v1.metadata.json")
    )  # the names by which Iceberg finds a table without a catalog
    metadata.with_name("version-hint.text").write_text("1", encoding="utf-8")
    with TemporaryDirectory(prefix="bench-spark-") as scratch:
        os.environ["JAVA_HOME"] = str(prepare_home(java, Path(scratch)))
        settings = {
            "spark.master": MASTER,
            "spark.jars": ",".join(map(str, jars)),
            "spark.driver.memory": "4g",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": scratch,
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
        }
        return _ask(settings, metadata.parent.parent)


def _ask(settings: dict[str, str], location: Path) -> Counted:
    spark = SparkSession.builder.config(map=dict(settings)).getOrCreate()
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    try:
        files = spark.read.format("iceberg").load(f"{location}#files")

        def add_up() -> int:
            # A question of its own each time: of one that is asked again Spark skips the stage
            # whose shuffle files still lie there, and reads nothing.
            aggregate = files.groupBy("content").agg(
                {"*": "count", "file_size_in_bytes": "sum", "record_count": "sum"}
            )
            return sum(row["count(1)"] for row in aggregate.collect())

        def read_rows() -> int:
            files.write.format("noop").mode("overwrite").save()
            return 0

        for _ in range(WARM_UP):
            add_up()
            read_rows()
        java = [gateway.proc.pid]
        counted = measure(add_up, processes=java)
        return Counted(counted, replace(measure(read_rows, processes=java), result=counted.result))
    finally:
        spark.stop()
        gateway.shutdown()
        gateway.proc.terminate()
        gateway.proc.wait()
