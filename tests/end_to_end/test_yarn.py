"""The daemon with its drivers as applications of Hadoop's own resource and node manager."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from maintainer.adapters.spark.jars import spark_home
from tests.adapters.spark.lakes import Lake
from tests.end_to_end.outliving import FILES, PARTITIONS, configure, end_two_daemons
from tests.end_to_end.test_two_daemons import TABLE
from tests.yarn import Yarn, serve_yarn

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]

SPARK = """\
  runner: yarn
  driver_memory: 640m
  executors: {{count: 1, memory: 640m, cores: 2}}
  yarn:
    resource_manager: {url}
    hadoop_conf_dir: {configuration}
    queue: maintenance
    python: {python}
  conf:
    spark.yarn.jars: 'local:{jars}/*'
    spark.yarn.stagingDir: 'file://{staging}'
    spark.yarn.appMasterEnv.SPARK_LOCAL_IP: 127.0.0.1
    spark.executorEnv.SPARK_LOCAL_IP: 127.0.0.1
    spark.driver.extraJavaOptions: -XX:TieredStopAtLevel=1
    spark.executor.extraJavaOptions: -XX:+UseSerialGC -XX:TieredStopAtLevel=1
"""
SECONDS_TO_START = 400  # three JVMs in a row on a busy machine; alone they take forty
# The nodes need a Python and none of our packages.
PLAIN_PYTHON = Path(sys.base_prefix) / "bin" / "python3"


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    made = Lake(tmp_path)
    made.create(TABLE.name, files=FILES, partitions=PARTITIONS)
    yield made
    made.catalog.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Yarn]:
    with serve_yarn(tmp_path / "yarn") as cluster:
        yield cluster


def test_a_rewrite_on_yarn_outlives_an_orderly_and_a_violent_end_of_its_daemon(
    lake: Lake, cluster: Yarn
) -> None:
    staging = lake.root / "staging"
    configure(
        lake,
        SPARK.format(
            url=cluster.url,
            configuration=cluster.configuration,
            python=PLAIN_PYTHON,
            jars=spark_home() / "jars",
            staging=staging,
        ),
    )
    end_two_daemons(lake, cluster.living, SECONDS_TO_START)
    [application] = cluster.applications()
    assert (application["state"], application["finalStatus"]) == ("FINISHED", "SUCCEEDED")
    assert application["queue"] == "root.maintenance"
    assert not list(staging.rglob("token")), "the start token goes with the application"
