"""Iceberg's classes for three clouds, on one Spark with the jars of all sets: a table is written,
rewritten and read. Missing or unfit classes of a library fail here.

Google's server checks what a client asks for; those of Azure and Alibaba are this project's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pyiceberg.catalog import load_catalog

from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.adapters.spark.local import LocalRunner
from tests.adapters.spark.lakes import ALL_JARS, APPLICATION, QUICK_OPTIONS, WallClock
from tests.adapters.spark.workshop import run_sql
from tests.fakes.adapters.store import FakeStore
from tests.gcs import reach, serve_gcs
from tests.small_clouds import SmallCloud, serve_small_cloud

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster]

AZURE = "lake@account.dfs.core.windows.net"
COMMITS = 3


@dataclass(frozen=True)
class Clouds:
    """A Spark with a catalog in each cloud, and what was written there."""

    runner: LocalRunner
    small: SmallCloud
    google: Path

    def data_files(self, catalog: str) -> list[str]:
        found = [path.name for path in self.google.rglob("*.parquet")]
        if catalog != "google":
            container = {"azure": "/account/lake/", "alibaba": "/lake/"}[catalog]
            paths = [path for path in self.small.objects if path.startswith(container)]
            found = [path for path in paths if path.endswith(".parquet")]
        return found


@pytest.fixture(scope="module")
def clouds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clouds]:
    root = tmp_path_factory.mktemp("clouds")
    with serve_gcs(root / "gcs") as google, serve_small_cloud() as small:
        (root / "gcs" / "objects" / "lake").mkdir()
        address = f"http://127.0.0.1:{small.server_port}"
        azure = {"adls.account-name": "account", "adls.account-key": "a2V5"}
        alibaba = {"s3.endpoint": address, "s3.access-key-id": "a", "s3.secret-access-key": "b"}
        host = AZURE.partition("@")[2]
        wanted = {
            "google": ("gs://lake/warehouse", reach(google), {}),
            "azure": (
                f"abfss://{AZURE}/warehouse",
                azure,
                {f"adls.connection-string.{host}": f"{address}/account"},
            ),
            "alibaba": ("oss://lake/warehouse", alibaba, {}),
        }
        catalogs = {}
        for name, (warehouse, access, spark) in wanted.items():
            uri = f"sqlite:///{root}/{name}.db"
            properties = {"type": "sql", "uri": uri, "warehouse": warehouse, **access}
            load_catalog(name, type="sql", uri=uri).close()  # makes the catalog's own tables
            catalogs[name] = spark_configuration(name, properties, spark)
        options = replace(QUICK_OPTIONS, jars_dir=ALL_JARS)
        runner = LocalRunner(
            options, catalogs, "clouds-1", APPLICATION, root / "run", FakeStore(), WallClock()
        )
        with closing(runner):
            yield Clouds(runner, small, root / "gcs" / "objects")


@pytest.mark.parametrize(
    ("catalog", "library", "signer"),
    [
        ("google", "", ""),
        ("azure", "azsdk-java-azure-storage-blob", "SharedKey account"),
        ("alibaba", "aliyun-sdk-java", "OSS a"),
    ],
)
def test_spark_rewrites_a_table_with_the_jars_of_a_cloud(
    catalog: str, library: str, signer: str, clouds: Clouds
) -> None:
    table = f"{catalog}.db.t"
    run_sql(
        clouds.runner,
        f"CREATE NAMESPACE {catalog}.db",
        f"CREATE TABLE {table} (id bigint) USING iceberg",
        *(f"INSERT INTO {table} VALUES ({number})" for number in range(COMMITS)),
        f"SELECT assert_true(count(*) = {COMMITS}) FROM {table}.files",
        f"CALL {catalog}.system.rewrite_data_files(table => 'db.t', "
        "options => map('min-input-files', '2'))",
        f"SELECT assert_true(count(*) = 1) FROM {table}.files",
        f"SELECT assert_true(sum(id) = 3 AND count(*) = {COMMITS}) FROM {table}",
        f"CALL {catalog}.system.expire_snapshots(table => 'db.t', retain_last => 1, "
        "older_than => now())",
    )
    assert len(clouds.data_files(catalog)) == 1, "expiry deletes the files that were replaced"
    if catalog != "google":
        assert library in clouds.small.clients
        assert signer in clouds.small.signers
