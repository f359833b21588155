"""Run by a benchmark as a process of its own: a fresh Spark session that calls one procedure and
says how long that took.

Arguments: the directory of the catalog, the jars (separated by commas), the statement, the
warehouse.
"""

from __future__ import annotations

import json
import sys
import time

from pyspark.sql import SparkSession


def main() -> None:
    """Start Spark as the daemon starts its own, but for what makes a daemon: no warm session, no
    options of the procedure.
    """
    directory, jars, statement, warehouse = sys.argv[1:5]
    catalog = "spark.sql.catalog.lake"
    settings = {
        "spark.master": "local[2]",
        "spark.jars": jars,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.local.dir": f"{directory}/temporary",
        "spark.ui.enabled": "false",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "jdbc",
        f"{catalog}.uri": f"jdbc:sqlite:{directory}/catalog.db",
        f"{catalog}.jdbc.schema-version": "V1",
        f"{catalog}.warehouse": warehouse,
    }
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    started = time.monotonic()
    row = spark.sql(statement).collect()[0]
    # The benchmark reads it.
    print(json.dumps({"seconds": time.monotonic() - started, **row.asDict()}))  # noqa: T201


if __name__ == "__main__":
    main()
