"""The daemon with its drivers as pods: one job outlives two daemons, and a third one proves it.

The API server is the tests' own; the pods' processes, their tokens, Spark and the table are real.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from maintainer.adapters.spark.jars import default_directory
from maintainer.adapters.spark.java import find_java
from tests.adapters.spark.lakes import Lake
from tests.adapters.spark.launcher.kubernetes.api_server import ApiServer, open_api_server
from tests.adapters.spark.launcher.kubernetes.launcher_suite import IMAGE
from tests.adapters.spark.launcher.kubernetes.process_kubelet import ProcessKubelet
from tests.adapters.spark.launcher.kubernetes.test_launcher import Small
from tests.end_to_end.programs import QUICK_JAVA, serving, wait_for
from tests.end_to_end.test_two_daemons import POLICY, TABLE, find_ended, find_running

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(500)]

CONFIGURATION = """
catalogs:
  lake: {{type: sql, uri: 'sqlite:///{home}/catalog.db', warehouse: 'file://{home}/warehouse'}}
store: 'sqlite:///{home}/store.db'
policies: {home}/policies
scan: {{interval: 1s}}
plan: {{interval: 500ms}}
submit: {{interval: 500ms}}
watch: {{interval: 500ms}}
review: {{interval: 500ms}}
spark:
  runner: kubernetes
  driver_memory: 1g
  max_jobs: 1
  link: {{port: {port}}}
  kubernetes: {{namespace: spark-jobs, image: '{image}', kubeconfig: '{kubeconfig}'}}
"""
SECONDS_TO_LEAVE = 20  # ten on a machine that has nothing else to do


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    made = Lake(tmp_path)
    made.create(TABLE.name, files=800, partitions=400)
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


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def configure(home: Path, cluster: Small) -> None:
    (home / "policies").mkdir()
    (home / "policies" / "all.yaml").write_text(POLICY.format(mode="enforce"))
    (home / "maintainer.yaml").write_text(
        CONFIGURATION.format(home=home, port=free_port(), image=IMAGE, kubeconfig=cluster.daemon)
    )


def pods(api: ApiServer) -> list[str]:
    return api.names("pods")


def test_a_rewrite_in_a_pod_outlives_an_orderly_and_a_violent_end_of_its_daemon(
    lake: Lake, cluster: Small
) -> None:
    home = lake.root
    configure(home, cluster)
    store = f"sqlite:///{home}/store.db"
    rows = lake.rows(TABLE)
    with ExitStack() as stack:
        first = stack.enter_context(serving(home))
        job, _ = wait_for(
            lambda: find_running(store), 180, f"Spark to work on a job; said:\n{first.said()}"
        )
        (driver,) = pods(cluster.api)
        begun = time.monotonic()
        assert first.stop() == 0, first.said()
        assert time.monotonic() - begun < SECONDS_TO_LEAVE, first.said()
        assert pods(cluster.api) == [driver], "nothing was ended with the daemon"
        second = stack.enter_context(serving(home))
        wait_for(
            lambda: "job.adopted" in second.story(job.job_id),
            60,
            f"the second daemon to go on with it; said:\n{second.said()}",
        )
        second.kill()
        third = stack.enter_context(serving(home))
        ended = wait_for(
            lambda: find_ended(third, job.job_id), 200, f"its end; said:\n{third.said()}"
        )
        assert ended["state"] == "succeeded", ended
        story = third.story(job.job_id)
        assert [
            story.count(name) for name in ("job.submitted", "spark.submitted", "spark.finished")
        ] == [1, 1, 1], story
        assert "spark.cancelling" not in story
        jobs = third.get("/api/v1/jobs")["items"]
        assert [each["job_id"] for each in jobs if each["rule"] == "rewrite_data_files"] == [
            job.job_id
        ], "nothing is repeated"
    assert lake.rows(TABLE) == rows
    assert lake.data_files(TABLE) == 400
    assert len(lake.summaries(TABLE)) == 2, "one commit beside the table's first"
    assert_no_secret(cluster.api, home)


def assert_no_secret(api: ApiServer, home: Path) -> None:
    """The catalog's address goes over the link only: no object of the cluster names it."""
    catalog = f"{home}/catalog.db"
    for resource in ("pods", "services", "secrets", "configmaps"):
        for name in api.names(resource):
            assert catalog not in str(api.get(resource, name))
