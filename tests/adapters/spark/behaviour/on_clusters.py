"""Cancelling and the link, which test_http shows for every driver that polls, on clusters too. It is
run by its name, before a release: `pytest tests/adapters/spark/behaviour/on_clusters.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.adapters.spark.behaviour.cancelling import CancellingSuite
from tests.adapters.spark.behaviour.link_suite import LinkSuite
from tests.adapters.spark.behaviour.sites import (
    Site,
    open_kubernetes_site,
    open_standalone_site,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CLUSTERS = {"standalone": open_standalone_site, "kubernetes": open_kubernetes_site}


@pytest.fixture(scope="module", params=list(CLUSTERS.values()), ids=list(CLUSTERS))
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    opened: Callable[[Path], AbstractContextManager[Site]] = request.param
    with opened(tmp_path_factory.mktemp("cluster")) as site:
        yield site


class TestCancelling(CancellingSuite):
    pass


class TestLink(LinkSuite):
    pass
