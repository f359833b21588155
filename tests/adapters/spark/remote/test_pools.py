"""Drivers of several pools in one store: each pool adopts and ends its own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import count

import pytest

from maintainer.adapters.spark.remote import drivers as source
from maintainer.adapters.spark.remote import strays as remote_strays
from maintainer.adapters.spark.remote.strays import Strays
from tests.adapters.spark.lakes import wait_until
from tests.adapters.spark.remote.sites import SMALL, Heard, Site, open_quick_site

RUN = {"id": "j", "statements": ["SELECT 1"]}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(source, "_SWEEP_AFTER_SECONDS", 0.0)
    with open_quick_site(monkeypatch) as opened:
        yield opened


def test_a_pool_adopts_only_the_drivers_that_are_its_own(site: Site) -> None:
    near, far = site.open("one"), site.open("one", pool="far")
    names = {pool.start(SMALL, Heard()).name: pool for pool in (near, far)}
    assert {driver.pool for driver in site.store.drivers()} == {"default", "far"}
    near.release()
    far.release()
    for pool, owner in (("default", near), ("far", far)):
        successor = site.open("two", dead_after=timedelta(days=1), pool=pool)
        wait_until(lambda successor=successor: successor.lives("one") is False)  # type: ignore[misc]
        (left,) = successor.left_behind("one") or ()
        assert names[left] is owner
        assert successor.orphaned_owners() == ["one"]


def test_drivers_of_two_pools_hear_each_their_own_messages(site: Site) -> None:
    heard, other = Heard(), Heard()
    site.open("one").start(SMALL, heard)
    site.open("one", pool="far").start(SMALL, other)
    application = site.application()
    application.say("application.started", application_id="a")
    application.poll()
    wait_until(lambda: bool(other.events))
    assert (heard.events, other.events) == ([], ["application.started"])


def test_an_idle_driver_of_a_pool_that_nobody_has_is_refused_after_a_while(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = site.open("one", pool="gone")
    idle, busy = (gone.start(SMALL, Heard()) for _ in range(2))
    application = site.application()
    busy.run(RUN, timedelta(minutes=1))
    application.poll_until(lambda: application.kinds == ["start", "run"])
    gone.release()
    site.open("two")
    record = site.store.driver(idle.name)
    assert record is not None
    assert record.ended_at is None, "a daemon with the pool may come back"
    monkeypatch.setattr(source, "_REFUSE_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(remote_strays, "_EVERY_SECONDS", 0.0)
    wait_until(lambda: [driver.name for driver in site.store.drivers()] == [busy.name])
    record = site.store.driver(idle.name)
    assert record is not None
    assert record.reason == "no daemon still has its pool gone"
    assert site.launcher.ended == [], "no launcher here knows it"
    site.open("three", strays=Strays(site.launcher, timedelta(0), count().__next__))
    wait_until(lambda: site.launcher.ended == [f"app-{idle.name}"])
    assert application.poll() == "", "who works is answered until its fence"
