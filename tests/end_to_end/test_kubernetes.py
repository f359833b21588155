"""The daemon with its drivers as pods.

The API server is the tests' own; the pods' processes, their tokens, Spark and the table are real.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from maintainer.adapters.spark.jars import default_directory
from maintainer.adapters.spark.java import find_java
from maintainer.adapters.spark.launcher.kubernetes.options import Operator
from tests.adapters.spark.lakes import Lake
from tests.adapters.spark.launcher.kubernetes.api_server import ApiServer, open_api_server
from tests.adapters.spark.launcher.kubernetes.launcher_suite import IMAGE
from tests.adapters.spark.launcher.kubernetes.process_kubelet import ProcessKubelet
from tests.adapters.spark.launcher.kubernetes.test_launcher import Small
from tests.end_to_end.outliving import FILES, PARTITIONS, configure, end_two_daemons
from tests.end_to_end.programs import QUICK_JAVA
from tests.end_to_end.test_two_daemons import TABLE

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(500)]

SPARK = """\
  runner: kubernetes
  driver_memory: 1g
  kubernetes: {{namespace: spark-jobs, image: '{image}', kubeconfig: '{kubeconfig}'}}
"""


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    made = Lake(tmp_path)
    made.create(TABLE.name, files=FILES, partitions=PARTITIONS)
    yield made
    made.catalog.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Small]:
    """An API server whose pods are processes with this machine's Java and jars."""
    (tmp_path / "kube").mkdir()
    java = find_java(None, os.environ)
    image = {
        **QUICK_JAVA,
        "JAVA_HOME": str(java.home),
        "MAINTAINER_JARS_DIR": str(default_directory()),
    }
    with open_api_server() as api:
        kubelet = ProcessKubelet(api, tmp_path / "node", IMAGE, image)
        yield Small(api, tmp_path / "kube")
        kubelet.close()


def test_a_rewrite_in_a_pod_outlives_an_orderly_and_a_violent_end_of_its_daemon(
    lake: Lake, cluster: Small
) -> None:
    configure(lake, SPARK.format(image=IMAGE, kubeconfig=cluster.daemon(Operator.NONE)))
    end_two_daemons(lake, lambda: cluster.api.names("pods"))
    assert_no_secret(cluster.api, lake.root)


def assert_no_secret(api: ApiServer, home: Path) -> None:
    """The catalog's address goes over the link only: no object of the cluster names it."""
    for resource in ("pods", "services", "secrets", "configmaps"):
        for name in api.names(resource):
            assert f"{home}/catalog.db" not in str(api.get(resource, name))
