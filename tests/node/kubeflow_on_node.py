"""Drivers that Kubeflow's real operator starts on a real node: make test-node.

KUBEFLOW_OPERATOR names the operator's directory, as tests/node/kubeflow.py says; the other
variables are those of tests/node/on_node.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maintainer.adapters.spark.launcher.kubernetes.options import Operator
from maintainer.adapters.spark.launcher.kubernetes.pods import DRIVER_CONTAINER, EXECUTOR_CONTAINER
from tests.end_to_end.outliving import FILES, PARTITIONS, TABLE, configure, end_two_daemons
from tests.end_to_end.programs import run, serving, wait_for
from tests.node.cluster import NodeCluster, open_cluster
from tests.node.kubeflow import list_applications, running_operator
from tests.node.lake import PLANTED_SECRET, BucketLake
from tests.node.on_node import JOB_SECONDS, OWN_USER, POLICIES, SPARK, find_succeeded, lake, link

__all__ = ["lake", "link"]  # fixtures

pytestmark = pytest.mark.timeout(1500)

SETTINGS = f"{SPARK}    operator: kubeflow\n"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[NodeCluster]:
    with open_cluster(tmp_path, Operator.KUBEFLOW) as cluster:
        yield cluster


@pytest.fixture
def operator(cluster: NodeCluster, tmp_path: Path) -> Iterator[Path]:
    administrator = cluster.administrator
    with running_operator(
        administrator.client, administrator.kubeconfig, cluster.namespace, tmp_path
    ) as log:
        yield log


def find_left(cluster: NodeCluster) -> list[str]:
    applications: list[dict[str, Any]] = list_applications(cluster.administrator.client)
    return [*cluster.leftovers(), *(each["metadata"]["name"] for each in applications)]


def wait_until_nothing_is_left(cluster: NodeCluster) -> None:
    wait_for(lambda: not find_left(cluster), 120, "the end of the driver and of all it owns")


def test_jobs_run_in_an_application_of_the_operator(
    cluster: NodeCluster, lake: BucketLake, link: dict[str, str], operator: Path
) -> None:
    table = lake.create("files", files=30, commits=10)
    before = lake.contents(table)
    configure(
        lake, SETTINGS.format(cluster=cluster, user=OWN_USER), link, {"files": POLICIES["files"]}
    )
    checked = run("doctor", cwd=lake.root)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with serving(lake.root) as daemon:
        wanted = {(str(table), rule, 1) for rule in ("rewrite_data_files", "expire_snapshots")}
        found = wait_for(
            lambda: find_succeeded(daemon, wanted),
            JOB_SECONDS,
            f"all jobs; the daemon said:\n{daemon.said()}\nthe operator:\n{operator.read_text()}",
        )
        jobs = [daemon.get(f"/api/v1/jobs/{job['job_id']}") for job in found]
        wait_until_nothing_is_left(cluster)
        assert daemon.stop() == 0, daemon.said()
    for job in jobs:
        assert job["driver"]["application_id"].startswith("spark-"), job
    assert lake.contents(table) == before
    assert lake.data_files(table) == 1
    assert cluster.incidents() == []
    drivers = cluster.count_starts(DRIVER_CONTAINER)
    assert operator.read_text().count("Running spark-submit") == drivers
    assert cluster.count_starts(EXECUTOR_CONTAINER) == 2 * drivers, "none was lost"
    for text in (cluster.everything(), daemon.said(), operator.read_text()):
        assert PLANTED_SECRET not in text


def test_a_rewrite_in_an_application_outlives_two_daemons(
    cluster: NodeCluster, lake: BucketLake, link: dict[str, str], operator: Path
) -> None:
    table = lake.create(TABLE.name, files=FILES, partitions=PARTITIONS)
    before = lake.contents(table)
    configure(lake, SETTINGS.format(cluster=cluster, user=OWN_USER), link)
    end_two_daemons(lake, cluster.drivers)
    assert lake.contents(table) == before
    wait_until_nothing_is_left(cluster)
    assert cluster.incidents() == []
    assert operator.read_text().count("Running spark-submit") == 1
    assert cluster.count_starts(EXECUTOR_CONTAINER) == 2
