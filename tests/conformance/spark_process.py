"""Run by the conformance suite in a process of its own: one Spark that answers one line of JSON
with one line of JSON.

Arguments: the directory of the catalog, the jars, separated by commas, and further settings of
Spark as JSON. Requests: {"sql": ...} or {"deletes": [...], "table": ...} or {"column": ...,
"default": ..., "table": ...} or {"streams": [[statement, ...], ...]}.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pyspark.sql import SparkSession


def start(directory: str, jars: str, further: Mapping[str, str] | None = None) -> SparkSession:
    catalog = "spark.sql.catalog.lake"
    settings = {
        "spark.master": "local[2]",
        "spark.jars": jars,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": f"{directory}/temporary",
        "spark.sql.warehouse.dir": f"{directory}/hive",
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.parser.escapedStringLiterals": "false",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "jdbc",
        f"{catalog}.uri": f"jdbc:sqlite:{directory}/catalog.db",
        f"{catalog}.jdbc.schema-version": "V1",
        f"{catalog}.warehouse": f"file://{directory}/warehouse",
        f"{catalog}.cache-enabled": "false",
        **(further or {}),
    }
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def run_sql(spark: SparkSession, statement: str) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in spark.sql(statement).collect()]


def commit_deletes(
    spark: SparkSession, table: str, files: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Delete files that lie there already, in one commit of Iceberg's own: Spark itself writes no
    equality deletes.
    """
    jvm: Any = spark._jvm
    iceberg = jvm.org.apache.iceberg
    loaded = iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)
    delta = loaded.newRowDelta()
    tasks = list(loaded.newScan().planFiles().iterator())
    places = {task.file().location(): task.file() for task in tasks}
    for file in files:
        spec = loaded.specs().get(file["spec_id"])
        builder = iceberg.FileMetadata.deleteFileBuilder(spec)
        if file["equality_ids"]:
            gateway: Any = spark.sparkContext._gateway
            ids = gateway.new_array(jvm.int, len(file["equality_ids"]))
            for position, field_id in enumerate(file["equality_ids"]):
                ids[position] = field_id
            builder = builder.ofEqualityDeletes(ids)
        else:
            builder = builder.ofPositionDeletes()
            if file["referenced"]:
                builder = builder.withReferencedDataFile(file["referenced"])
        builder = (
            builder.withPath(file["path"])
            .withFormat("parquet")
            .withFileSizeInBytes(file["bytes"])
            .withRecordCount(file["records"])
        )
        if spec.isPartitioned():
            builder = builder.withPartition(places[file["partition_like"]].partition())
        delta.addDeletes(builder.build())
    delta.commit()
    return []


def add_column(spark: SparkSession, table: str, column: str, default: int) -> list[dict[str, Any]]:
    """Add a column with a default value, which Spark's SQL cannot do on Iceberg's tables."""
    jvm: Any = spark._jvm
    iceberg = jvm.org.apache.iceberg
    loaded = iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)
    value = iceberg.expressions.Literal.of(default)
    loaded.updateSchema().addColumn(column, iceberg.types.Types.IntegerType.get(), value).commit()
    return []


def run_streams(spark: SparkSession, streams: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Run the streams side by side, the statements of each one after the other."""

    def run(statements: Sequence[str]) -> dict[str, Any]:
        seconds = []
        for statement in statements:
            started = time.monotonic()
            spark.sql(statement).collect()
            seconds.append(time.monotonic() - started)
        return {"seconds": seconds}

    with ThreadPoolExecutor(len(streams)) as pool:
        return list(pool.map(run, streams))


def do(spark: SparkSession, request: dict[str, Any]) -> list[dict[str, Any]]:
    """Do what is asked."""
    if "deletes" in request:
        return commit_deletes(spark, request["table"], request["deletes"])
    if "column" in request:
        return add_column(spark, request["table"], request["column"], request["default"])
    if "streams" in request:
        return run_streams(spark, request["streams"])
    return run_sql(spark, request["sql"])


def main() -> None:
    directory, jars, further = sys.argv[1:4]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Java prints goes to the log
    spark = start(directory, jars, json.loads(further))
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer: dict[str, Any] = {"rows": do(spark, request)}
        except Exception as error:  # noqa: BLE001 - every exception of Spark is the answer to the question
            answer = {"error": f"{type(error).__name__}: {error}"[:4000]}
        answers.write(json.dumps(answer, default=str) + "\n")
        answers.flush()
    spark.stop()


if __name__ == "__main__":
    main()
