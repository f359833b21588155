"""Several runners as one: each call goes to its pool, and a pool that is gone loses its jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.adapters.spark.pools.runner import PooledRunner
from maintainer.adapters.spark.remote.driver import FENCE_MARGIN
from maintainer.domain.driver import SparkFacts
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.job import Job
from maintainer.ports.store.drivers import DriverPoll, DriverRecord, DriverTokens
from tests.adapters.store.values import make_job
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.spark import FakeRunner
from tests.fakes.adapters.store import FakeStore
from tests.samples import NOW

MINUTE = timedelta(minutes=1)
BROKEN = {"broken": "its directory cannot be written"}


@dataclass
class Site:
    clock: FakeClock
    store: FakeStore
    near: FakeRunner
    far: FakeRunner
    pooled: PooledRunner

    def job(self, pool: str, job_id: str = "job-1", owner: str = "one") -> Job:
        return replace(make_job(), job_id=job_id, pool=pool, owner=owner)

    def add_driver(self, *jobs: str) -> None:
        """A driver of a former pool, which works on these jobs for a minute."""
        tokens = DriverTokens("digest", NOW + MINUTE)
        self.store.add_driver(DriverRecord("spark-1", "dead", tokens, NOW, pool="gone"), {})
        for number, job_id in enumerate(jobs, 2):
            until = (job_id, NOW + MINUTE)
            assert self.store.order("spark-1", "dead", number, {"run": {"id": job_id}}, until)

    def poll(self, number: int) -> bool:
        """Whether the driver's poll is answered."""
        poll = DriverPoll("process", number, 0, {}, ())
        return self.store.take_poll("spark-1", poll) is not None


@pytest.fixture
def site() -> Site:
    clock, store = FakeClock(NOW), FakeStore()
    near, far = FakeRunner(clock, owner="one"), FakeRunner(clock, capacity=7, owner="one")
    far.is_lasting = True
    pooled = PooledRunner(
        {"default": near, "far": _renamed(far)},
        BROKEN,
        "one",
        "maintainer-test",
        OrphanFiles(store, "one"),
        store,
        clock,
    )
    return Site(clock, store, near, far, pooled)


def _renamed(runner: FakeRunner) -> FakeRunner:
    """The runner as that of the pool `far`."""
    runner.others = {"far": runner.capacity}
    return runner


def test_a_job_goes_to_its_pool_and_every_other_call_finds_it_there(site: Site) -> None:
    near, far = site.job("default", "near-1"), site.job("far", "far-1")
    for job in (near, far):
        site.pooled.renew(job.job_id, MINUTE)
        assert site.pooled.statements(job)
        site.pooled.submit(job)
    assert (list(site.near.submitted), list(site.far.submitted)) == (["near-1"], ["far-1"])
    site.pooled.cancel("far-1")
    reports = [site.pooled.report(job) for job in (near, far)]
    assert [report and report.outcome and report.outcome.kind for report in reports] == [
        None,
        "cancelled",
    ]


def test_capacities_facts_and_lives_are_of_each_pool(site: Site) -> None:
    assert site.pooled.capacities["far"] == 7
    assert site.pooled.capacities["broken"] == 0
    reported = SparkFacts(NOW, site.far.settings, pool="far")
    site.pooled.recall(reported)
    assert site.pooled.facts == {"far": reported}
    site.pooled.recall(replace(reported, pool="gone"))
    assert site.pooled.facts == {"far": reported}
    site.far.distant_owners = {"two"}
    site.near.living_owners |= {"two"}
    found = [site.pooled.lives("two", pool) for pool in ("default", "far", "broken", "gone")]
    assert found == [True, None, None, None]


def test_a_pool_that_cannot_be_used_takes_no_job_and_stops_no_other(site: Site) -> None:
    with pytest.raises(RunnerUnavailableError, match="pool broken cannot be used: its directory"):
        site.pooled.submit(site.job("broken"))
    assert ("pool broken", False, BROKEN["broken"]) in site.pooled.describe()
    assert {what for what, _, _ in site.pooled.describe("far")} == {"Spark (pool far)"}
    site.pooled.submit(site.job("far"))


def test_leaving_ends_only_what_ends_with_the_daemon(site: Site) -> None:
    site.pooled.submit(site.job("default", "near-1"))
    site.pooled.submit(site.job("far", "far-1"))
    assert not site.pooled.outlives_daemon("default")
    assert site.pooled.outlives_daemon("far")
    site.pooled.leave()
    kinds = {
        job_id: site.pooled.report(site.job(pool, job_id))
        for pool, job_id in (("default", "near-1"), ("far", "far-1"))
    }
    assert [report and report.outcome and report.outcome.kind for report in kinds.values()] == [
        "cancelled",
        None,
    ]


def test_a_job_of_a_removed_pool_is_lost_once_its_drivers_fence_has_passed(site: Site) -> None:
    site.add_driver("job-1")
    assert site.poll(1), "it works until a minute from now"
    job = site.job("gone", owner="dead")
    assert site.pooled.report(job) is None
    site.clock.advance(MINUTE + FENCE_MARGIN)
    assert site.pooled.report(job) is None
    site.clock.advance(timedelta(seconds=1))
    report = site.pooled.report(job)
    assert report is not None
    assert report.outcome is not None
    assert report.outcome.kind == "lost"
    assert "its pool gone is no longer configured" in report.outcome.message
    assert not site.poll(2), "from then on its driver is refused, and ends"


def test_a_driver_of_a_removed_pool_that_works_for_others_is_left_to_them(site: Site) -> None:
    site.add_driver("job-2")
    assert site.poll(1)
    report = site.pooled.report(site.job("gone", owner="dead"))
    assert report is not None
    assert report.outcome is not None
    assert site.poll(2)
