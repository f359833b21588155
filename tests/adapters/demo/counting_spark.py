"""Run as a program: counts the lake's tables by a Spark of its own, their rows and what their
metadata tables say.

The order comes as JSON on standard input, ``{"configuration": {...}, "tables": [...]}``; the answer
goes to standard output, ``{table: {"rows": n, "metadata": [[source, content, format, count, bytes,
records], ...]}}``.
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession

METADATA = """
SELECT 'files' AS source, content, file_format, count(*) AS files, sum(file_size_in_bytes) AS
    bytes, sum(record_count) AS records
FROM {table}.files GROUP BY content, file_format
UNION ALL
SELECT 'manifests', content, '', count(*), sum(length), 0 FROM {table}.manifests GROUP BY content
UNION ALL
SELECT 'snapshots', 0, '', count(*), 0, 0 FROM {table}.snapshots
"""


def main() -> None:
    order = json.load(sys.stdin)
    builder = SparkSession.builder
    for key, value in order["configuration"].items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    found = {}
    for table in order["tables"]:
        # The hash makes Spark read every column: a bare count is answered from metadata.
        row = spark.sql(f"SELECT count(*), bit_xor(xxhash64(*)) FROM {table}").first()
        assert row is not None
        found[table] = {
            "rows": row[0],
            "metadata": [list(one) for one in spark.sql(METADATA.format(table=table)).collect()],
        }
    print(json.dumps(found))  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
