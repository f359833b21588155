"""The daemon with its drivers as applications of Hadoop's own resource and node manager."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.spark.lakes import Lake
from tests.end_to_end.outliving import configure, end_two_daemons
from tests.yarn import PLAIN_PYTHON, QUEUE, Yarn, serve_yarn, spark_on

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster, pytest.mark.timeout(900)]

SPARK = """\
  runner: yarn
  driver_memory: 640m
  executors: {{count: 1, memory: 640m, cores: 2}}
  yarn:
    resource_manager: {url}
    hadoop_conf_dir: {configuration}
    queue: {queue}
    python: {python}
  conf: {conf}
"""
SECONDS_TO_START = 400  # three JVMs in a row on a busy machine; alone they take forty


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Yarn]:
    with serve_yarn(tmp_path / "yarn") as cluster:
        yield cluster


def test_a_rewrite_on_yarn_outlives_an_orderly_and_a_violent_end_of_its_daemon(
    lake: Lake, cluster: Yarn
) -> None:
    configure(
        lake,
        SPARK.format(
            url=cluster.url,
            configuration=cluster.configuration,
            queue=QUEUE,
            python=PLAIN_PYTHON,
            conf=json.dumps(spark_on(cluster.root)),
        ),
    )
    end_two_daemons(lake, cluster.living, SECONDS_TO_START)
    [application] = cluster.applications()
    assert (application["state"], application["finalStatus"]) == ("FINISHED", "SUCCEEDED")
    assert application["queue"] == "root.maintenance"
    kept = [
        path
        for directory in ("staging", "local")
        for path in (cluster.root / directory).rglob("*")
        if path.is_file() and b"catalog.db" in path.read_bytes()
    ]
    assert not kept, "catalog settings go over the link only"
    assert not list((cluster.root / "staging").rglob("token")), (
        "the start token goes with the application"
    )
