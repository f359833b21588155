"""Which jars `maintainer doctor` misses for the tables of a catalog."""

from __future__ import annotations

from pathlib import Path

import pytest

from maintainer.adapters.spark.pins import SETS
from maintainer.cli.setup.diagnose import find_missing_jars
from maintainer.settings.loading import load_settings

REST = "type: rest, uri: 'http://127.0.0.1:1'"


def find(home: Path, catalog: str, *locations: str, spark: str = "") -> list[str]:
    (home / "maintainer.yaml").write_text(
        f"catalogs: {{lake: {{{catalog}}}}}\nspark: {{jars_dir: jars{spark}}}\n"
    )
    return list(find_missing_jars(load_settings(home / "maintainer.yaml", {}), "lake", locations))


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("s3://lake/t", "aws"),
        ("s3a://lake/t", "aws"),
        ("gs://lake/t", "gcp"),
        ("abfss://lake@account.dfs.core.windows.net/t", "azure"),
        ("oss://lake/t", "aliyun"),
    ],
)
def test_a_rest_catalog_needs_the_jars_of_the_storage_that_its_tables_name(
    tmp_path: Path, location: str, name: str
) -> None:
    jars = ", ".join(jar.file_name for jar in SETS[name])
    assert find(tmp_path, REST, location) == [
        (
            f"cannot run jobs in pool default: jar {jars} is missing in {tmp_path}/jars. To fix: "
            f"maintainer jars fetch --with {name}"
        )
    ]
    (tmp_path / "jars").mkdir()
    for jar in SETS[name]:
        (tmp_path / "jars" / jar.file_name).write_bytes(b"a jar")
    assert find(tmp_path, REST, location) == []


def test_spark_reads_local_files_and_hdfs_with_jars_of_its_own(tmp_path: Path) -> None:
    assert find(tmp_path, REST, "file:///lake/t", "hdfs://namenode:8020/t", "/lake/t") == []


def test_jars_are_not_asked_for_where_the_settings_choose_a_file_io(tmp_path: Path) -> None:
    own = REST + ", spark: {io-impl: org.apache.iceberg.hadoop.HadoopFileIO}"
    assert find(tmp_path, own, "s3a://lake/t") == []


def test_a_warehouse_names_its_storage_without_a_table(tmp_path: Path) -> None:
    sql = "type: sql, uri: 'sqlite:////lake/c.db', warehouse: 'gs://lake/w'"
    assert [sentence[-4:] for sentence in find(tmp_path, sql)] == [" gcp"]


def test_pods_bring_their_own_jars(tmp_path: Path) -> None:
    pods = ", runner: kubernetes, link: {port: 8090}, kubernetes: {namespace: jobs, image: i}"
    assert find(tmp_path, REST, "s3://lake/t", spark=pods) == []
