"""The runner whose driver is a process that polls, with its tasks on a standalone cluster.

What is the driver's and not the cluster's, such as cancelling and the link, test_http shows.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from maintainer.domain.job import FailureReason, JobState
from tests.adapters.spark.behaviour.sites import OnStandalone, Site, open_standalone_site
from tests.adapters.spark.behaviour.suite import TOO_MUCH, LauncherSuite
from tests.adapters.spark.lakes import APPLICATION, one_by_one, wait_for_tasks, wait_until
from tests.adapters.spark.standalone import Cluster
from tests.adapters.spark.workshop import try_sql

FIRST_WITHOUT_MEMORY = """
SELECT raise_error(IF(reflect('java.lang.System', 'setProperty', 'is_tried', 'yes') = 'null',
                      'java.lang.OutOfMemoryError: Java heap space', 'rejected from a pool'))
FROM range(1)
"""  # the first attempt in each executor says the reason, the others say what came of it

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_standalone_site(tmp_path_factory.mktemp("standalone")) as site:
        yield site


def _cluster(site: Site) -> Cluster:
    assert isinstance(site.ground, OnStandalone)
    return site.ground.cluster


class TestExecutors:
    def test_a_task_without_memory_fails_its_job_for_that(self, site: Site) -> None:
        tree = site.tree()
        outcome = try_sql(site.runner, TOO_MUCH)
        assert (outcome.kind, outcome.reason) == ("failed", FailureReason.OUT_OF_MEMORY), outcome
        assert site.tree().java_pid == tree.java_pid, "the driver goes on, with other executors"

    def test_the_reason_is_found_in_any_attempt_of_a_task(self, site: Site) -> None:
        outcome = try_sql(site.runner, FIRST_WITHOUT_MEMORY)
        assert (outcome.kind, outcome.reason) == ("failed", FailureReason.OUT_OF_MEMORY), outcome
        assert "Java heap space" in outcome.message

    def test_executors_are_as_large_as_the_size_says(self, site: Site) -> None:
        site.driver()
        wait_until(lambda: _cluster(site).applications == [(APPLICATION, 700, 2)])

    def test_a_job_outlives_an_executor_that_dies(self, site: Site) -> None:
        table = site.lake.create("orphaned", files=40, partitions=20)
        job = site.workshop.begin(table, one_by_one())
        wait_for_tasks(site.runner, job, 2)
        executors = site.ground.executor_pids()
        assert executors
        for executor in executors:
            os.kill(executor, signal.SIGKILL)
        done = site.workshop.finish(job)
        assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
        assert not set(executors) & set(site.ground.executor_pids())
        assert (site.lake.data_files(table), site.lake.rows(table)) == (20, 40_000)


class TestOnStandalone(LauncherSuite):
    pass
