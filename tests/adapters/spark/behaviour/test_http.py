"""The runner whose driver is a process of this machine that polls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.spark.behaviour.cancelling import CancellingSuite
from tests.adapters.spark.behaviour.link_suite import LinkSuite
from tests.adapters.spark.behaviour.sites import Site, open_http_site
from tests.adapters.spark.behaviour.suite import DriverSuite, LauncherSuite

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_http_site(tmp_path_factory.mktemp("http")) as site:
        yield site


class TestCancellingOnHttp(CancellingSuite):
    pass


class TestDriverOnHttp(DriverSuite):
    pass


class TestOnHttp(LauncherSuite):
    pass


class TestLinkOnHttp(LinkSuite):
    pass
