"""The runner whose driver is a child of the daemon that talks over a Unix socket."""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway

from maintainer.adapters.spark.launcher.process import DriverProcess
from tests.adapters.spark.behaviour.cancelling import CancellingSuite
from tests.adapters.spark.behaviour.sites import Site, open_socket_site
from tests.adapters.spark.behaviour.suite import (
    DriverSuite,
    LauncherSuite,
    at_work,
    ended_without_commit,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_socket_site(tmp_path_factory.mktemp("socket")) as site:
        yield site


class TestCancellingOnSocket(CancellingSuite):
    pass


class TestDriverOnSocket(DriverSuite):
    pass


class TestOnSocket(LauncherSuite):
    pass


def test_a_job_is_left_to_its_table_when_its_application_is_stopped_under_it(site: Site) -> None:
    """Spark says so in many ways, so the driver asks Spark whether it was stopped."""
    job, _ = at_work(site, "stopped")
    driver, tree = site.driver(), site.tree()
    assert isinstance(driver, DriverProcess)
    stop_application(driver)
    outcome = ended_without_commit(site, job, tree)
    assert outcome.kind == "lost"
    assert outcome.message.startswith("Spark was stopped during the job: ")


def stop_application(driver: DriverProcess) -> None:
    """Stop the Spark application from outside; its JVM goes on."""
    (information,) = driver.directory.glob("*/gateway")
    content = information.read_bytes()
    port, length = unpack_from("!ii", content)
    gateway = JavaGateway(
        gateway_parameters=GatewayParameters(port=port, auth_token=content[8 : 8 + length].decode())
    )
    try:
        gateway.jvm.org.apache.spark.SparkContext.getOrCreate().stop()
    finally:
        gateway.close()
