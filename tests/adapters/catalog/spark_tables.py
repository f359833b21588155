"""Run by the tests in a process of its own: writes tables as Spark writes them, and what Spark itself says they hold.

Arguments: the directory of the catalog, and the jars, separated by commas.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

STATEMENTS = """
create namespace lake.mor
create namespace lake.mor.deep
create table lake.mor.positions (id bigint, word string, at timestamp) using iceberg partitioned by (days(at), bucket(2, id)) tblproperties \
('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'partition', 'write.metadata.compression-codec' = 'gzip')
create table lake.mor.vectors (id bigint, word string, at timestamp) using iceberg partitioned by (hours(at)) tblproperties \
('format-version' = '3', 'write.delete.mode' = 'merge-on-read')
create table lake.mor.deep.layouts (id bigint, word string, at timestamp) using iceberg partitioned by (truncate(2, word), months(at), id) tblproperties \
('format-version' = '1', 'write.format.default' = 'orc')
insert into lake.mor.positions select id, 'w', timestamp '2026-01-01 00:00:00' + make_interval(0, 0, 0, int(id % 3)) from range(0, 3000, 1, 2)
insert into lake.mor.positions select id, 'w', timestamp '2026-01-01 05:00:00' from range(3000, 4000, 1, 2)
insert into lake.mor.vectors select /*+ repartition(4) */ id, 'w', timestamp '2026-01-01 13:00:00' from range(0, 4000, 1, 4)
insert into lake.mor.vectors select id, 'w', timestamp '2026-01-01 14:00:00' from range(4000, 4100, 1, 1)
delete from lake.mor.positions where id % 7 = 0
delete from lake.mor.positions where id = 11
delete from lake.mor.vectors where id % 5 = 0
insert into lake.mor.deep.layouts values (1, 'abc', timestamp '2026-01-01 13:00:00'), (2, null, timestamp '2026-02-01 13:00:00'), (3, 'a/b=c', null)
alter table lake.mor.deep.layouts drop partition field id
alter table lake.mor.deep.layouts set tblproperties ('write.format.default' = 'avro')
insert into lake.mor.deep.layouts values (1, 'abc', timestamp '2026-01-01 13:00:00'), (9, 'xyz', null)
create view lake.mor.seen as select id from lake.mor.positions
"""
TABLES = ("mor.positions", "mor.vectors", "mor.deep.layouts")


def main() -> None:
    directory, jars = sys.argv[1:3]
    catalog = "spark.sql.catalog.lake"
    settings = {
        "spark.master": "local[2]",
        "spark.jars": jars,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.local.dir": f"{directory}/temporary",
        "spark.sql.warehouse.dir": f"{directory}/hive",
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "jdbc",
        f"{catalog}.uri": f"jdbc:sqlite:{directory}/catalog.db",
        f"{catalog}.jdbc.schema-version": "V1",
        f"{catalog}.warehouse": f"file://{directory}/warehouse",
        f"{catalog}.cache-enabled": "false",
    }
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for statement in STATEMENTS.strip().splitlines():
        spark.sql(statement)
    said = {table: [row.asDict(recursive=True) for row in spark.sql(f"select * from lake.{table}.files").collect()] for table in TABLES}  # noqa: S608
    manifests = {table: [row.asDict() for row in spark.sql(f"select path, length from lake.{table}.manifests").collect()] for table in TABLES}  # noqa: S608
    counts = {table: spark.table(f"lake.{table}").count() for table in TABLES}
    Path(directory, "said.json").write_text(json.dumps({"files": said, "manifests": manifests, "rows": counts}, default=str), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
