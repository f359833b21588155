"""The runner whose driver is a pod that polls.

How a driver cancels, and what it does without its link, test_http shows: a pod changes nothing there.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.job import FailureReason, JobState
from tests.adapters.spark.behaviour.sites import Pods, Site, open_kubernetes_site
from tests.adapters.spark.behaviour.suite import LauncherSuite, at_work, ended_without_commit

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_kubernetes_site(tmp_path_factory.mktemp("kubernetes")) as site:
        yield site


JOBS = 5


def _pods(site: Site) -> Pods:
    assert isinstance(site.ground, Pods)
    return site.ground


class TestPods:
    def test_jobs_cost_at_most_two_calls_of_the_api_server_each_and_share_a_pod(
        self, site: Site
    ) -> None:
        pods, name = _pods(site), site.driver().name
        jobs = [site.lake.create(f"tiny_{number}", files=3) for number in range(JOBS)]
        before = len(pods.api.calls)
        for table in jobs:
            done = site.workshop.finish(site.workshop.begin(table, RewriteDataFiles()))
            assert done.state is JobState.SUCCEEDED, done.failure_message
        asked = [call for call in pods.api.calls[before:] if call.user == "daemon"]
        assert len(asked) <= 2 * JOBS, asked
        assert pods.api.names("pods") == [name]

    def test_a_container_without_memory_fails_its_job_for_that(self, site: Site) -> None:
        job, _ = at_work(site, "heavy")
        tree = site.tree()
        _pods(site).kubelet.kill(site.driver().name)
        outcome = ended_without_commit(site, job, tree)
        assert outcome.reason is FailureReason.OUT_OF_MEMORY
        assert "out of memory" in outcome.message


class TestOnKubernetes(LauncherSuite):
    pass
