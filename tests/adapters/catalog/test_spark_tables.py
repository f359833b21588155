"""Tables that Spark wrote: position deletes, deletion vectors, dropped partition fields, ORC and
Avro, views, gzip metadata.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.domain.file_sizes import path_key, unpack_files
from maintainer.domain.health import LostDelete
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Content, ManifestContent, TableFault, TableInventory
from maintainer.measure.health import measure
from tests.adapters.catalog import spark_tables
from tests.adapters.catalog.lake import (
    StoppedClock,
    identify,
    know_nothing,
    partitions,
    read_by,
    small_target,
    total,
)
from tests.plain_manifests import EQUALITY_IDS, FIRST_ROW_ID, check_every_manifest

pytestmark = [pytest.mark.spark, pytest.mark.slow]
SPARK_SECONDS = 200


WRITTEN = (*spark_tables.TABLES, *spark_tables.COMMITTED_TABLES, spark_tables.UNCHECKED_TABLE)


@dataclass(frozen=True)
class SparkLake:
    directory: Path
    catalog: PyIcebergCatalog
    said: dict[str, Any]

    def read(self, table: str) -> TableInventory:
        inventory = read_by(self.catalog, find(table))
        assert inventory.unreadable == ()
        return inventory

    def files(self, table: str, content: int = 0) -> list[dict[str, Any]]:
        return [file for file in self.said["files"][table] if file["content"] == content]


def find(table: str) -> TableIdentifier:
    return identify(*table.split("."))


@pytest.fixture(scope="session")
def spark_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkLake]:
    directory = tmp_path_factory.mktemp("spark-lake")
    place = os.environ.get("ICEBERG_JARS") or str(
        Path(sys.prefix) / "share" / "iceberg-maintainer" / "jars"
    )
    jars = ",".join(str(jar) for jar in sorted(Path(place).glob("*.jar")))
    assert jars, f"{place} has no jars of Iceberg"
    log = directory / "spark.log"
    with log.open("wb") as output:
        ended = subprocess.run(
            [sys.executable, "-m", spark_tables.__name__, directory, jars],
            stdout=output,
            stderr=output,
            timeout=SPARK_SECONDS,
            check=False,
        )
    assert ended.returncode == 0, log.read_text()[-3000:]
    catalog = PyIcebergCatalog(
        "lake", {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db"}, StoppedClock()
    )
    yield SparkLake(directory, catalog, json.loads((directory / "said.json").read_text()))
    catalog.close()


def test_its_tables_are_listed_and_its_view_is_not(spark_lake: SparkLake) -> None:
    assert sorted(map(str, spark_lake.catalog.tables())) == [
        f"lake.{table}" for table in sorted(WRITTEN)
    ]
    found = spark_lake.catalog.inventory(find("mor.seen"), small_target, know_nothing)
    assert isinstance(found, TableFault)
    assert found.kind == "view"


@pytest.mark.parametrize("table", WRITTEN)
def test_data_files_are_as_many_and_as_large_as_spark_says(
    spark_lake: SparkLake, table: str
) -> None:
    files = spark_lake.files(table)
    inventory = spark_lake.read(table)
    assert total(inventory) == (
        len(files),
        sum(f["file_size_in_bytes"] for f in files),
        sum(f["record_count"] for f in files),
    )
    assert sum(count for m in inventory.manifests for _, count in m.formats) == len(files)
    assert sorted((m.path, m.length_bytes) for m in inventory.manifests) == sorted(
        (m["path"], m["length"]) for m in spark_lake.said["manifests"][table]
    )


@pytest.mark.parametrize("table", WRITTEN)
def test_partitions_read_as_the_directories_that_spark_wrote_them_to(
    spark_lake: SparkLake, table: str
) -> None:
    directories: dict[str, int] = {}
    for file in spark_lake.files(table):
        directory = file["file_path"].partition("/data/")[2].rpartition("/")[0]
        levels = [unquote_plus(level) for level in directory.split("/")]
        directories["|".join(levels)] = directories.get("|".join(levels), 0) + 1
    found: dict[str, int] = {}
    for (_, text), (files, _, _) in partitions(spark_lake.read(table)).items():
        readable = "|".join(
            level.replace("%2F", "/").replace("%3D", "=") for level in text.split("/")
        )
        found[readable] = found.get(readable, 0) + files
    # Java's name for a dropped (void) field of a v1 table still stands in the path; we leave it
    # out.
    assert found == {
        directory.removesuffix("|id=null"): count for directory, count in directories.items()
    }


def test_every_manifest_is_read_as_fastavro_reads_it(spark_lake: SparkLake) -> None:
    checked = check_every_manifest(spark_lake.directory / "warehouse")
    assert checked.refused == set()
    assert checked.contents == set(Content)
    assert checked.codecs == {"deflate", "zstandard", "snappy"}
    assert {FIRST_ROW_ID, EQUALITY_IDS} <= checked.field_ids


def test_deletes_committed_as_flink_does_count_by_their_kind(spark_lake: SparkLake) -> None:
    inventory = spark_lake.read("mor.upserts")
    equalities = spark_lake.files("mor.upserts", content=2)
    assert {tuple(file["equality_ids"]) for file in equalities} == {(1, 3)}
    assert total(inventory, Content.EQUALITY_DELETES) == (
        6,
        6 * 700,
        sum(file["record_count"] for file in equalities),
    )
    assert total(inventory, Content.POSITION_DELETES)[0] == 6
    assert (
        len([digest for digest in inventory.manifests if digest.content is ManifestContent.DELETES])
        == 3
    )


def test_deletes_committed_as_trino_does_are_bound_to_their_data_files(
    spark_lake: SparkLake,
) -> None:
    data = {path_key(file["file_path"].encode()) for file in spark_lake.files("mor.inserts")}
    (deletes,) = [
        digest
        for digest in spark_lake.read("mor.inserts").manifests
        if digest.content is ManifestContent.DELETES
    ]
    keys = {file.key for file in unpack_files(deletes.files)}
    assert len(keys) == 2
    assert keys < data


def test_a_delete_for_a_file_that_spark_had_replaced_is_found(spark_lake: SparkLake) -> None:
    inventory = spark_lake.read("mor.unchecked")
    health = measure(inventory)
    newest, replaced = inventory.snapshots[-1], inventory.snapshots[-2]
    assert replaced.operation == "replace"
    assert health.lost_deletes == 1
    assert health.lost_delete == LostDelete(
        newest.snapshot_id, "pyspark-shell", replaced.snapshot_id
    )
    for table in spark_tables.TABLES:
        assert not measure(spark_lake.read(table)).lost_deletes


def test_position_delete_files_are_counted_apart(spark_lake: SparkLake) -> None:
    deletes = spark_lake.files("mor.positions", content=1)
    inventory = spark_lake.read("mor.positions")
    assert deletes
    assert total(inventory, Content.POSITION_DELETES) == (
        len(deletes), sum(f["file_size_in_bytes"] for f in deletes),
        sum(f["record_count"] for f in deletes),
    )  # fmt: skip
    assert total(inventory, Content.DELETION_VECTORS) == (0, 0, 0)
    kinds = {m.content for m in inventory.manifests}
    assert kinds == {ManifestContent.DATA, ManifestContent.DELETES}
    assert all(
        s.small_count == s.large_count == 0
        for m in inventory.manifests
        for s in m.partitions
        if s.content is not Content.DATA
    )


def test_deletion_vectors_count_by_their_content_not_by_their_shared_file(
    spark_lake: SparkLake,
) -> None:
    vectors = spark_lake.files("mor.vectors", content=1)
    inventory = spark_lake.read("mor.vectors")
    assert inventory.format_version == 3
    assert len({f["file_path"] for f in vectors}) < len(vectors), (
        "no Puffin file is shared, so this test says nothing"
    )
    assert total(inventory, Content.DELETION_VECTORS) == (
        len(vectors), sum(f["content_size_in_bytes"] for f in vectors),
        sum(f["record_count"] for f in vectors),
    )  # fmt: skip
    assert total(inventory, Content.POSITION_DELETES) == (0, 0, 0)
    assert total(inventory, Content.DELETION_VECTORS)[1] < sum(
        f["file_size_in_bytes"] for f in vectors
    )


@pytest.mark.parametrize("table", spark_tables.TABLES)
def test_live_rows_are_as_many_as_spark_counts(spark_lake: SparkLake, table: str) -> None:
    inventory = spark_lake.read(table)
    assert inventory.current_snapshot_id is not None
    assert (
        spark_lake.catalog.count_rows(find(table), inventory.current_snapshot_id, limit_bytes=10**8)
        == spark_lake.said["rows"][table]
    )


@pytest.mark.parametrize("table", ["mor.positions", "mor.vectors"])
def test_rows_that_would_need_reading_too_much_are_unknown(
    spark_lake: SparkLake, table: str
) -> None:
    inventory = spark_lake.read(table)
    assert inventory.current_snapshot_id is not None
    assert (
        spark_lake.catalog.count_rows(find(table), inventory.current_snapshot_id, limit_bytes=100)
        is None
    )


def test_metadata_that_spark_compressed_reads_alike(spark_lake: SparkLake) -> None:
    assert spark_lake.read("mor.positions").metadata_location.endswith(".gz.metadata.json")


def test_snapshots_carry_sparks_summaries(spark_lake: SparkLake) -> None:
    snapshots = spark_lake.catalog.snapshots(find("mor.vectors"))
    assert isinstance(snapshots, tuple)
    assert [s.operation for s in snapshots] == ["append", "append", "delete"]
    assert snapshots[-1].summary["engine-name"] == "spark"
    assert snapshots[-1].parent_id == snapshots[-2].snapshot_id
