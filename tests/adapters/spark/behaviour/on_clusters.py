"""What test_http shows for every driver that polls, on each cluster too. Run by `make test-runners`,
before a release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.adapters.spark.behaviour.cancelling import CancellingSuite
from tests.adapters.spark.behaviour.link_suite import LinkSuite
from tests.adapters.spark.behaviour.sites import (
    Site,
    open_kubernetes_site,
    open_standalone_site,
    open_yarn_site,
)
from tests.adapters.spark.behaviour.suite import DriverSuite
from tests.yarn import serve_yarn

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]


@contextmanager
def open_yarn(root: Path) -> Iterator[Site]:
    place = root / "site"
    place.mkdir()
    with serve_yarn(root / "cluster") as cluster, open_yarn_site(place, cluster) as site:
        yield site


CLUSTERS = {
    "standalone": open_standalone_site,
    "kubernetes": open_kubernetes_site,
    "yarn": open_yarn,
}


@pytest.fixture(scope="module", params=list(CLUSTERS.values()), ids=list(CLUSTERS))
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    opened: Callable[[Path], AbstractContextManager[Site]] = request.param
    with opened(tmp_path_factory.mktemp("cluster")) as site:
        yield site


class TestCancelling(CancellingSuite):
    pass


class TestDriver(DriverSuite):
    pass


class TestLink(LinkSuite):
    pass
