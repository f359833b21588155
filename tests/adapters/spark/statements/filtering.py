"""Run by the tests in a process of its own: asks Iceberg's procedure about each condition.

Arguments: the directory of the catalog, and the jars, separated by commas. Writes a JSON object:
each condition, and the error, or nothing.
"""

from __future__ import annotations

import json
import sys

from tests.conditions import DECLARED, FITTING, UNFIT
from tests.conformance.spark_process import start
from tests.quick_java import QUICK_SPARK


def main() -> None:
    directory, jars = sys.argv[1:3]
    spark = start(directory, jars, QUICK_SPARK)
    spark.sql("create namespace lake.ns")
    spark.sql(f"create table lake.ns.t ({DECLARED}) using iceberg")
    spark.sql(
        "insert into lake.ns.t (id, place, flag) values (1, named_struct('city', 'Rome'), true)"
    )
    found = {}
    for where in (*FITTING, *UNFIT):
        quoted = where.replace("'", "''")
        try:
            spark.sql(
                f"CALL lake.system.rewrite_data_files(table => 'ns.t', where => '{quoted}')"
            ).collect()
            found[where] = ""
        except Exception as error:  # noqa: BLE001 - each error of Spark is a result
            found[where] = str(error)[:200] or type(error).__name__
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
