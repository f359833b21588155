"""Jobs whose tasks run in the executors of a standalone cluster: as large as the size says, gone
with the driver, and replaced when they die.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import pytest

from maintainer.adapters.spark.launcher.process import DriverProcess
from maintainer.adapters.spark.local import LocalRunner
from maintainer.adapters.spark.options import DriverSize, Executors
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.job import FailureReason, JobState
from maintainer.domain.job_size import JobSize
from tests.adapters.spark.lakes import (
    APPLICATION,
    QUICK_OPTIONS,
    Lake,
    one_by_one,
    runner_on,
    wait_for_tasks,
    wait_until,
)
from tests.adapters.spark.standalone import Cluster, open_cluster
from tests.adapters.spark.workshop import Workshop, open_workshop

pytestmark = [pytest.mark.spark, pytest.mark.slow]

AT_ONCE = RewriteDataFiles(
    options=(("min-input-files", "2"), ("partial-progress.enabled", "false"))
)


@dataclass
class Site:
    cluster: Cluster
    runner: LocalRunner
    workshop: Workshop


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    root = tmp_path_factory.mktemp("cluster")
    lake = Lake(root)
    with open_cluster(root, cores=2, memory="2g") as cluster:
        drivers = {JobSize.MEDIUM: DriverSize("640m", 1, Executors(1, "700m", 2))}
        options = replace(
            QUICK_OPTIONS, master=cluster.master, driver_memory="600m", drivers=drivers
        )
        with (
            closing(runner_on([lake], root / "run", "cluster-1", options)) as runner,
            open_workshop(lake, runner) as workshop,
        ):
            yield Site(cluster, runner, workshop)
        wait_until(lambda: cluster.applications == [])


def test_a_medium_job_runs_in_executors_of_its_size_and_is_proved(site: Site) -> None:
    table = site.workshop.lake.create("sized", files=6)
    done = site.workshop.finish(site.workshop.begin(table, AT_ONCE, size=JobSize.MEDIUM))
    assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
    assert (site.workshop.lake.data_files(table), site.workshop.lake.rows(table)) == (1, 6000)
    assert site.cluster.applications == [(APPLICATION, 700, 2)]
    assert site.workshop.lake.summaries(table)[-1]["app-id"].startswith("app-"), (
        "the master's name for it"
    )


def test_a_job_outlives_an_executor_that_dies(site: Site) -> None:
    table = site.workshop.lake.create("orphaned", files=40, partitions=20)
    job = site.workshop.begin(table, one_by_one(), size=JobSize.MEDIUM)
    wait_for_tasks(site.runner, job, 2)
    executors = site.cluster.executor_pids()
    assert executors
    for executor in executors:
        os.kill(executor, signal.SIGKILL)
    done = site.workshop.finish(job)
    assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
    assert not set(executors) & set(site.cluster.executor_pids())
    assert (site.workshop.lake.data_files(table), site.workshop.lake.rows(table)) == (20, 40_000)


def test_executors_end_with_a_driver_that_is_killed_and_nothing_is_committed(site: Site) -> None:
    table = site.workshop.lake.create("beheaded", files=60, partitions=30)
    job = site.workshop.begin(table, one_by_one(), size=JobSize.MEDIUM)
    wait_for_tasks(site.runner, job, 2)
    driver = site.runner.warm(JobSize.MEDIUM)
    assert isinstance(driver, DriverProcess)
    os.kill(driver.pid, signal.SIGKILL)
    assert site.workshop.await_end_of_work(job).kind == "lost"
    wait_until(lambda: (site.cluster.applications, site.cluster.executor_pids()) == ([], []))
    ended = site.workshop.settle(job)
    assert (ended.state, ended.failure_reason) == (JobState.FAILED, FailureReason.OTHER)
    assert len(site.workshop.lake.load(table).snapshots()) == 1
