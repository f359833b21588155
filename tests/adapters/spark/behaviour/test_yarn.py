"""The runner whose driver is an application of YARN, on Hadoop's own daemons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.job import JobState
from tests.adapters.spark.behaviour.sites import (
    OnYarn,
    Site,
    open_yarn_client_site,
    open_yarn_site,
)
from tests.adapters.spark.behaviour.suite import TOO_MUCH, RunnerSuite
from tests.adapters.spark.workshop import try_sql

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_yarn_site(tmp_path_factory.mktemp("yarn")) as site:
        yield site


class TestOnYarn(RunnerSuite):
    def test_a_task_without_memory_fails_its_job_for_that(self, site: Site) -> None:
        """Of executors Spark does not always say why they ended."""
        tree = site.tree()
        outcome = try_sql(site.runner, TOO_MUCH)
        assert outcome.kind == "failed"
        assert outcome.message
        assert site.tree().java_pid == tree.java_pid, "the driver goes on, with other executors"

    def test_the_log_of_a_driver_is_read_while_it_runs(self, site: Site) -> None:
        driver = site.driver()
        assert isinstance(site.ground, OnYarn)
        assert driver.read_log(0).text
        assert "SparkContext: Running Spark version" in site.ground.read_log(driver)


def test_a_driver_of_this_machine_has_its_executors_on_yarn(tmp_path: Path) -> None:
    with open_yarn_client_site(tmp_path) as site:
        table = site.lake.create("sixty")
        done = site.workshop.finish(site.workshop.begin(table, RewriteDataFiles()))
        assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
        assert (site.lake.data_files(table), site.lake.rows(table)) == (1, 60_000)
