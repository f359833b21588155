"""Run as a program: a Spark that reads tables, as a team's own engine does.

The order comes as JSON on standard input: {"settings": {...}, "statements": [...]}.
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession


def main() -> None:
    order = json.load(sys.stdin)
    builder = SparkSession.builder
    for key, value in order["settings"].items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for statement in order["statements"]:
        spark.sql(statement).collect()
    spark.stop()


if __name__ == "__main__":
    main()
