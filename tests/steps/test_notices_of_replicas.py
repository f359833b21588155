"""Two daemons on one store report once what both see; each reports what the other could not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from threading import Barrier
from typing import cast

import pytest

from maintainer.adapters.notifier import AppriseNotifier, NotifierOptions
from maintainer.adapters.store import open_store
from maintainer.domain.job import Job, JobState
from maintainer.domain.notice import NoticeKind, NoticeLimits
from maintainer.domain.orphan import FoundOrphans
from maintainer.ports import Ports
from maintainer.ports.notifier import Notifier
from maintainer.ports.store import Store
from maintainer.steps.notices import DELIVERED, record_delivery, resend_notices
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.watch import watch
from tests.adapters.store.conftest import open_at, postgres_server
from tests.adapters.test_notifier import Receiver, wait_until
from tests.fakes.adapters.store import FakeStore
from tests.samples import NOW
from tests.steps.kinds.test_orphan_removal import PLACE, REQUIRED, TABLE
from tests.steps.world import World, layer

__all__ = ["postgres_server"]

DAY = timedelta(days=1)
HOLD = timedelta(minutes=2)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def stores(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Store]]:
    """The store as each of two processes has opened it."""
    url = open_at(request.param, tmp_path_factory.mktemp("stores"), request)
    opened: list[Store] = [open_store(url), open_store(url)]
    yield opened
    for store in opened:
        store.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@contextmanager
def telling(
    world: World,
    store: Store,
    receiver: Receiver,
    limits: NoticeLimits = NoticeLimits(),  # noqa: B008 - frozen
) -> Iterator[Ports]:
    """A daemon's ports, and its way to people."""
    options = NotifierOptions({"one": receiver.url}, limits=limits, hold=HOLD)
    notifier = AppriseNotifier(
        options, store, world.clock, partial(record_delivery, store, world.clock)
    )
    yield replace(world.ports, store=store, notifier=notifier)
    notifier.close()


def together(*steps: Callable[[], object]) -> None:
    """All at the same moment."""
    barrier = Barrier(len(steps))

    def run(step: Callable[[], object]) -> None:
        barrier.wait(timeout=60)
        step()

    with ThreadPoolExecutor(len(steps)) as pool:
        for future in [pool.submit(run, step) for step in steps]:
            future.result(timeout=60)


def subjects(receiver: Receiver) -> list[str]:
    return sorted(message["title"].rpartition(": ")[2] for message in receiver.received)


class Deaf:
    """The process ends in this very moment."""

    def notify(self, notice: object) -> None:
        """Too late."""

    def close(self) -> None:
        """It is over already."""


def listed(stores: list[Store], notifier: Notifier) -> tuple[World, Job]:
    """One daemon has found orphans, and a list of them waits."""
    world = World(store=cast("FakeStore", stores[0]), notifier=notifier)  # type: ignore[arg-type]
    world.policies.layers = (layer(REQUIRED),)
    world.put("orders", small_files=600)
    stray = f"{PLACE}/data/stray.parquet"
    world.catalog.put_file(stray, 70, NOW - 30 * DAY)
    scan(world.ports)
    world.clock.advance(10 * DAY)
    job = world.begin()
    world.runner.orphans[job.job_id] = FoundOrphans((stray,), 1, 0)
    world.runner.finish(job.job_id, {"rows": 1})
    watch(world.ports)
    review(world.ports)
    assert world.stored(job).state is JobState.SUCCEEDED
    return world, job


def test_what_two_daemons_see_in_the_same_moment_is_reported_once(
    stores: list[Store], receiver: Receiver
) -> None:
    world = World(store=cast("FakeStore", stores[0]))
    tables = [str(world.put(f"t{number}")) for number in range(4)]
    with (
        telling(world, stores[0], receiver) as first,
        telling(world, stores[1], receiver) as second,
    ):
        for _ in range(3):
            together(partial(scan, first), partial(scan, second))
    assert subjects(receiver) == tables


def test_the_limit_of_an_hour_holds_for_both_and_a_restart_begins_no_new_one(
    stores: list[Store], receiver: Receiver
) -> None:
    world = World(store=cast("FakeStore", stores[0]))
    for number in range(4):
        world.put(f"t{number}")
    limits = NoticeLimits(max_per_hour=2)
    with (
        telling(world, stores[0], receiver, limits) as first,
        telling(world, stores[1], receiver, limits) as second,
    ):
        together(partial(scan, first), partial(scan, second))
    world.put("t9")
    with telling(world, stores[1], receiver, limits) as restarted:
        scan(restarted)
    assert len(receiver.received) == 2


def test_a_list_that_a_crash_kept_from_people_is_reported_once_by_whichever_daemon_looks(
    stores: list[Store], receiver: Receiver
) -> None:
    world, job = listed(stores, Deaf())
    with (
        telling(world, stores[0], receiver) as restarted,
        telling(world, stores[1], receiver) as other,
    ):
        together(partial(resend_notices, restarted), partial(resend_notices, other))
        wait_until(lambda: any(event.name == DELIVERED for event in stores[0].events(job.job_id)))
        assert (resend_notices(restarted), resend_notices(other)) == (0, 0)
    (message,) = receiver.received
    assert (message["title"], job.job_id in message["message"]) == (
        f"Approval needed: {TABLE}",
        True,
    )


def test_a_notice_whose_daemon_died_on_the_way_is_delivered_by_the_other(
    stores: list[Store], receiver: Receiver
) -> None:
    dead = AppriseNotifier(NotifierOptions({"one": receiver.url}), stores[0], World().clock)
    dead.close()  # its thread is gone: what comes now stays where it is
    world, job = listed(stores, dead)
    assert [
        posted.notice.kind
        for posted in stores[1].take_notices(world.clock.now() + HOLD, world.clock.now())
    ] == [NoticeKind.APPROVAL_NEEDED]
    with telling(world, stores[1], receiver) as heir:
        wait_until(lambda: any(event.name == DELIVERED for event in stores[1].events(job.job_id)))
        assert resend_notices(heir) == 0
    assert subjects(receiver) == [str(TABLE)]
