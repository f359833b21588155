"""Duties: each has one holder at any time of the store's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event

import pytest
from sqlalchemy import Connection, event, text

from maintainer.adapters.store import leases, open_store
from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.replica import LONGEST_DUTY, Duty, DutyKind, HeldDuty
from maintainer.ports.store import Store
from tests.end_to_end.programs import wait_for
from tests.fakes.adapters.store import FakeStore
from tests.postgres import PostgresServer

SCAN, PLAN = Duty(DutyKind.SCAN, "lake"), Duty(DutyKind.PLAN, "lake")
PRUNE = Duty(DutyKind.PRUNE)
SPAN = timedelta(minutes=2)


@pytest.fixture
def pass_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Moves the store's clock, also back."""
    real, passed = leases.read_clock, [timedelta(0)]
    monkeypatch.setattr(
        leases, "read_clock", lambda database: real(database) + passed[0] // timedelta.resolution
    )

    def move(span: timedelta) -> None:
        passed[0] += span
        if isinstance(store, FakeStore):
            store.duty_clock += span

    return move


def test_a_duty_is_held_by_one_until_it_expires(
    store: Store, pass_time: Callable[[timedelta], None]
) -> None:
    assert store.hold_duties("one", [SCAN, PRUNE], SPAN) == {SCAN, PRUNE}
    pass_time(SPAN / 2)
    assert store.hold_duties("two", [SCAN, PLAN], SPAN) == {PLAN}
    assert store.duties() == (HeldDuty(PLAN, "two"), HeldDuty(PRUNE, "one"), HeldDuty(SCAN, "one"))
    pass_time(SPAN / 2)
    assert store.duties() == (HeldDuty(PLAN, "two"),)
    assert store.hold_duties("two", [SCAN], SPAN) == {SCAN}
    assert store.hold_duties("one", [SCAN, PRUNE], SPAN) == {PRUNE}


def test_the_holder_renews(store: Store, pass_time: Callable[[timedelta], None]) -> None:
    for _ in range(3):
        assert store.hold_duties("one", [SCAN], SPAN) == {SCAN}
        pass_time(SPAN * 2 / 3)
        assert store.hold_duties("two", [SCAN], SPAN) == frozenset()


def test_what_is_given_back_is_free_at_once(store: Store) -> None:
    store.hold_duties("one", [SCAN, PLAN], SPAN)
    store.give_back_duties("two", [SCAN, PLAN])
    assert store.hold_duties("two", [SCAN, PLAN], SPAN) == frozenset()
    store.give_back_duties("one", [SCAN, PRUNE])
    assert store.hold_duties("two", [SCAN, PLAN], SPAN) == {SCAN}


def test_a_holder_that_is_known_to_be_dead_is_replaced_at_once(store: Store) -> None:
    store.hold_duties("one", [SCAN], SPAN)
    store.hold_duties("two", [PLAN], SPAN)
    assert store.hold_duties("three", [SCAN, PLAN], SPAN, {"one"}) == {SCAN}


def test_a_clock_that_is_set_back_keeps_no_duty_for_longer_than_any_may_last(
    store: Store, pass_time: Callable[[timedelta], None]
) -> None:
    store.hold_duties("one", [SCAN], SPAN)
    pass_time(timedelta(minutes=-1))
    assert store.hold_duties("two", [SCAN], SPAN) == frozenset()
    pass_time(-LONGEST_DUTY)
    assert store.duties() == ()
    assert store.hold_duties("two", [SCAN], SPAN) == {SCAN}


def test_time_passes_by_the_databases_own_clock(store_url: str) -> None:
    one, two = open_store(store_url), open_store(store_url)
    assert one.hold_duties("one", [SCAN], timedelta(milliseconds=200)) == {SCAN}
    assert two.hold_duties("two", [SCAN], SPAN) == frozenset()
    wait_for(lambda: two.hold_duties("two", [SCAN], SPAN), 60, "the end of the duty")
    assert one.hold_duties("one", [SCAN], SPAN) == frozenset()
    one.close()
    two.close()


def test_a_row_of_a_dead_worker_does_not_stay(store_url: str) -> None:
    store = open_store(store_url)
    store.hold_duties("one", [Duty(DutyKind.WORK, "one")], timedelta(0))
    store.hold_duties("two", [SCAN], SPAN)
    with store._database.read() as connection:
        rows = connection.execute(text("SELECT holder FROM duties")).scalars().all()
    store.close()
    assert rows == ["two"]


@pytest.fixture
def stores(store_url: str) -> Iterator[list[Store]]:
    """Four processes on one database, as far as connections go."""
    opened = [open_store(store_url) for _ in range(4)]
    yield list(opened)
    for one in opened:
        one.close()


def test_of_many_that_take_duties_at_once_each_goes_to_one(stores: list[Store]) -> None:
    wanted = [Duty(DutyKind.SCAN, f"catalog-{number}") for number in range(20)]
    together = Barrier(len(stores))

    def take(number: int) -> frozenset[Duty]:
        together.wait(timeout=60)
        return stores[number].hold_duties(f"process-{number}", wanted, SPAN)

    with ThreadPoolExecutor(len(stores)) as pool:
        taken = [duty for found in pool.map(take, range(len(stores))) for duty in found]
    assert sorted(taken) == sorted(wanted)
    assert sorted(held.duty for held in stores[0].duties()) == sorted(wanted)


@pytest.mark.postgres
def test_a_replica_that_freezes_within_the_transaction_does_not_stop_the_others(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen, thawed, url = Event(), Event(), postgres_server.create_schema()
    one, two = open_store(url), open_store(url)
    monkeypatch.setattr(
        leases,
        "_LONGEST_TRANSACTION",
        text("SET LOCAL idle_in_transaction_session_timeout = '300ms'"),
    )

    @event.listens_for(one._database.engine, "commit")
    def freeze(_connection: Connection) -> None:
        frozen.set()
        thawed.wait(60)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(one.hold_duties, "one", [SCAN], SPAN)
        try:
            assert frozen.wait(60)
            assert two.hold_duties("two", [SCAN], SPAN) == {SCAN}
        finally:
            thawed.set()
        with pytest.raises(StoreUnavailableError):
            first.result(60)
    assert two.duties() == (HeldDuty(SCAN, "two"),)
    one.close()
    two.close()
