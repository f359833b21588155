"""The daemon with a driver on its machine that polls it, and executors on a standalone cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.spark.lakes import Lake
from tests.adapters.spark.standalone import Cluster, open_cluster
from tests.end_to_end.outliving import FILES, PARTITIONS, configure, end_two_daemons
from tests.end_to_end.test_two_daemons import TABLE

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(500)]

SPARK = """\
  master: '{master}'
  driver_memory: 640m
  executors: {{count: 1, memory: 700m, cores: 2}}
"""


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    made = Lake(tmp_path)
    made.create(TABLE.name, files=FILES, partitions=PARTITIONS)
    yield made
    made.catalog.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with open_cluster(tmp_path, cores=2, memory="2g") as cluster:
        yield cluster


def test_a_rewrite_on_a_cluster_outlives_an_orderly_and_a_violent_end_of_its_daemon(
    lake: Lake, cluster: Cluster
) -> None:
    configure(lake, SPARK.format(master=cluster.master))
    end_two_daemons(lake, lambda: [name for name, *_ in cluster.applications])
