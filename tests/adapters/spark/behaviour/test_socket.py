"""The runner whose driver is a child of the daemon that talks over a Unix socket."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.spark.behaviour.cancelling import CancellingSuite
from tests.adapters.spark.behaviour.sites import Site, open_socket_site
from tests.adapters.spark.behaviour.suite import DriverSuite, LauncherSuite

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
