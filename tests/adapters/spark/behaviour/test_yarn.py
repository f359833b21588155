"""The runner whose driver is an application of YARN, on Hadoop's own daemons.

What is the driver's and not the cluster's, such as cancelling and the link, test_http shows; how
executors without memory end, test_standalone.
"""

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
from tests.adapters.spark.behaviour.suite import LauncherSuite
from tests.yarn import Yarn, serve_yarn

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yarn]:
    with serve_yarn(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def site(cluster: Yarn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_yarn_site(tmp_path_factory.mktemp("yarn"), cluster) as site:
        yield site


def test_a_driver_of_this_machine_has_its_executors_on_yarn(cluster: Yarn, tmp_path: Path) -> None:
    with open_yarn_client_site(tmp_path, cluster) as site:
        table = site.lake.create("sixty")
        done = site.workshop.finish(site.workshop.begin(table, RewriteDataFiles()))
        assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
        assert (site.lake.data_files(table), site.lake.rows(table)) == (1, 60_000)


def test_the_log_of_a_driver_is_read_while_it_runs(site: Site) -> None:
    driver = site.driver()
    assert isinstance(site.ground, OnYarn)
    assert driver.read_log(0).text
    logs = site.ground.read_logs(driver).values()
    assert any("Starting the user application" in log for log in logs)


class TestOnYarn(LauncherSuite):
    pass
