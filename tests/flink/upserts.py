"""Run in Flink's own environment: upserts into one table of a JDBC catalog, with checkpoints.

Arguments: JSON with the jars, the catalog's `uri` and `warehouse`, the table, its keys as (first,
number), the rows, how many of them a second, and the seconds between checkpoints. It ends after
the last row is committed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

JAVA_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


def open_environment(order: dict[str, Any]) -> TableEnvironment:
    """A streaming Flink in this process, with the lake as its catalog."""
    configuration = Configuration()
    settings = {
        "parallelism.default": "1",
        "execution.checkpointing.interval": f"{order['checkpoint_seconds']} s",
        "rest.address": "127.0.0.1",
        "rest.bind-address": "127.0.0.1",
        "rest.bind-port": "0",
        "jobmanager.rpc.address": "127.0.0.1",
        "jobmanager.bind-host": "127.0.0.1",
        "taskmanager.host": "127.0.0.1",
        "taskmanager.bind-host": "127.0.0.1",
        "restart-strategy.type": "none",
    }
    for name, text in settings.items():
        configuration.set_string(name, text)
    environment = TableEnvironment.create(
        EnvironmentSettings.new_instance()
        .in_streaming_mode()
        .with_configuration(configuration)
        .build()
    )
    environment.execute_sql(
        "CREATE CATALOG lake WITH ('type' = 'iceberg', "
        "'catalog-impl' = 'org.apache.iceberg.jdbc.JdbcCatalog', 'jdbc.schema-version' = 'V1', "
        f"'uri' = '{order['uri']}', 'warehouse' = '{order['warehouse']}', "
        "'cache-enabled' = 'false')"
    )
    return environment


def main() -> None:
    """Write every key many times; the last value of each is the one that stays."""
    order = json.loads(sys.argv[1])
    environment = open_environment(order)
    first, keys = order["keys"]
    environment.execute_sql(
        "CREATE TEMPORARY TABLE numbers (number BIGINT) WITH ('connector' = 'datagen', "
        f"'rows-per-second' = '{order['rows_per_second']}', 'fields.number.kind' = 'sequence', "
        f"'fields.number.start' = '0', 'fields.number.end' = '{order['rows'] - 1}')"
    )
    result = environment.execute_sql(
        f"INSERT INTO lake.{order['table']} /*+ OPTIONS('upsert-enabled' = 'true') */ "
        f"SELECT {first} + MOD(number, {keys}), number FROM numbers"
    )
    print("started", flush=True)  # noqa: T201 - the test waits for it
    result.wait()
    print("finished", flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    main()
