"""Duties under any interleaving of replicas that freeze, die, stop, join and set their clocks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from maintainer.app.turns import Turns
from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.replica import Duty, DutyKind
from tests.examples import examples
from tests.fakes.adapters.store import FakeStore

SPAN = timedelta(minutes=2)
SECOND = timedelta(seconds=1)
CATALOGS = ("a", "b", "c", "d")
MOST_REPLICAS = 4


class Replica:
    """One worker. Its monotonic clock has a start of its own, and the pace of the store's."""

    def __init__(self, store: FakeStore, name: str, dead: Collection[str] = ()) -> None:
        self.store = store
        self.name = name
        start = sum(map(ord, name))
        self.turns = Turns(
            store,
            name,
            CATALOGS,
            SPAN,
            is_gone=lambda holder: holder in dead,
            monotonic=lambda: start + store.duty_clock.total_seconds(),
        )

    @property
    def duties(self) -> set[Duty]:
        """What it may do now."""
        return {duty for duty in self.turns.wanted if self.turns.has(duty)}

    @property
    def catalogs(self) -> list[str]:
        """The catalogs that it scans."""
        return [name for name in CATALOGS if self.turns.holds(DutyKind.SCAN, name)]


def test_a_worker_alone_has_all_duties_when_it_is_first_asked() -> None:
    store = FakeStore()
    alone = Replica(store, "one")
    assert store.duties() == (), "a command takes none"
    assert alone.turns.holds(DutyKind.PRUNE)
    assert alone.duties == alone.turns.wanted


def test_catalogs_are_spread_when_workers_join() -> None:
    store = FakeStore()
    one, two, three = (Replica(store, name) for name in ("one", "two", "three"))
    assert one.catalogs == list(CATALOGS)
    for replica in (two, three, one, two, three):
        replica.turns.take()
    assert [len(replica.catalogs) for replica in (one, two, three)] == [2, 2, 0]
    four = Replica(store, "four")
    for replica in (four, one, two, three, four):
        replica.turns.take()
    assert [len(replica.catalogs) for replica in (one, two, three, four)] == [1, 1, 1, 1]
    assert sorted(name for replica in (one, two, three, four) for name in replica.catalogs) == list(
        CATALOGS
    )


def test_the_plan_of_a_catalog_is_made_where_it_is_scanned() -> None:
    store = FakeStore()
    one, two = Replica(store, "one"), Replica(store, "two")
    for replica in (one, two, one, two):
        replica.turns.take()
    for replica in (one, two):
        for name in replica.catalogs:
            assert replica.turns.holds(DutyKind.PLAN, name)


def test_a_killed_worker_is_replaced_within_its_span_and_one_interval() -> None:
    store = FakeStore()
    killed, heir = Replica(store, "one"), Replica(store, "two")
    assert killed.catalogs == list(CATALOGS)
    assert heir.turns.take() == 1, "its own row"
    store.duty_clock += SPAN - SECOND
    assert heir.turns.take() == 0
    store.duty_clock += heir.turns.interval
    assert heir.turns.take() == len(heir.turns.wanted) - 1


def test_a_worker_that_is_known_to_be_dead_is_replaced_at_once() -> None:
    store = FakeStore()
    assert Replica(store, "one").catalogs == list(CATALOGS)
    assert Replica(store, "two", dead={"one"}).catalogs == list(CATALOGS)


def test_a_worker_that_ends_in_order_gives_its_duties_back_at_once() -> None:
    store = FakeStore()
    one, two = Replica(store, "one"), Replica(store, "two")
    assert one.catalogs == list(CATALOGS)
    one.turns.stop()
    assert two.catalogs == list(CATALOGS)
    assert one.turns.take() == 0
    assert not one.duties, "it takes none again"


def test_a_worker_that_thaws_has_lost_its_duties_before_it_asks() -> None:
    store = FakeStore()
    frozen, heir = Replica(store, "one"), Replica(store, "two")
    assert frozen.catalogs == list(CATALOGS)
    store.duty_clock += SPAN
    assert heir.catalogs == list(CATALOGS)
    assert not frozen.duties
    assert frozen.turns.take() == 1, "its own row"
    assert frozen.catalogs == []


def test_a_worker_without_the_store_has_its_duties_until_they_expire() -> None:
    store = FakeStore()
    one = Replica(store, "one")
    assert one.catalogs == list(CATALOGS)
    store.broken = "the disk is full"
    store.duty_clock += SPAN - SECOND
    with pytest.raises(StoreUnavailableError):
        one.turns.take()
    assert one.catalogs == list(CATALOGS)
    store.duty_clock += SECOND
    assert one.catalogs == []
    one.turns.stop()


class SlowStore(FakeStore):
    """A store before and after whose calls others act, as while a process is frozen."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: list[Callable[[], None]] = []  # one for each call, the last one first

    def _act(self) -> None:
        if self.meanwhile:
            self.meanwhile.pop()()

    def hold_duties(
        self, holder: str, duties: Collection[Duty], span: timedelta, gone: Collection[str] = ()
    ) -> frozenset[Duty]:
        self._act()
        taken = super().hold_duties(holder, duties, span, gone)
        self._act()
        return taken

    def give_back_duties(self, holder: str, duties: Collection[Duty]) -> None:
        self._act()
        super().give_back_duties(holder, duties)
        self._act()


REPLICAS = st.integers(0, MOST_REPLICAS - 1)
# Around the interval and the span, where a duty is renewed and ends.
SPANS = st.sampled_from([1, 39, 40, 41, 119, 120, 121]).map(lambda seconds: seconds * SECOND)


class Duties(RuleBasedStateMachine):
    """Replicas that take turns, whatever happens between two calls of any of them."""

    def __init__(self) -> None:
        super().__init__()
        self.store = SlowStore()
        self.dead: set[str] = set()  # and known to be so
        self.joined = 0
        self.replicas = [self._join() for _ in range(MOST_REPLICAS)]

    def _join(self) -> Replica:
        self.joined += 1
        return Replica(self.store, f"replica-{self.joined}", self.dead)

    def _check(self) -> None:
        held = [duty for replica in self.replicas for duty in replica.duties]
        assert len(held) == len(set(held)), "two have one duty"

    @rule(span=SPANS)
    def pass_time(self, span: timedelta) -> None:
        self.store.duty_clock += span

    @rule(number=REPLICAS)
    def take(self, number: int) -> None:
        self.replicas[number].turns.take()

    @rule(
        number=REPLICAS,
        acts=st.lists(st.tuples(REPLICAS, SPANS, st.booleans()), min_size=1, max_size=4),
    )
    def take_slowly(self, number: int, acts: list[tuple[int, timedelta, bool]]) -> None:
        """Between its calls of the store time passes, and others take or stop."""

        def act(other: int, span: timedelta, stops: bool) -> None:
            self.store.duty_clock += span
            waiting, self.store.meanwhile = self.store.meanwhile, []
            if other != number:
                self._leave(other) if stops else self.replicas[other].turns.take()
            self.store.meanwhile = waiting
            self._check()

        self.store.meanwhile = [
            lambda other=other, span=span, stops=stops: act(other, span, stops)  # type: ignore[misc]
            for other, span, stops in acts
        ]
        self.replicas[number].turns.take()
        self.store.meanwhile = []

    @rule(number=REPLICAS)
    def stop(self, number: int) -> None:
        self._leave(number)

    def _leave(self, number: int) -> None:
        self.replicas[number].turns.stop()
        self.replicas[number] = self._join()

    @rule(number=REPLICAS, is_seen=st.booleans())
    def kill(self, number: int, is_seen: bool) -> None:
        if is_seen:
            self.dead.add(self.replicas[number].name)
        self.replicas[number] = self._join()

    @precondition(lambda self: not self.store.broken)
    @rule(number=REPLICAS)
    def lose_the_store(self, number: int) -> None:
        self.store.broken = "it is away"
        with suppress(StoreUnavailableError):
            self.replicas[number].turns.take()
        self.store.broken = ""

    @invariant()
    def no_duty_has_two_holders(self) -> None:
        self._check()

    def teardown(self) -> None:
        """In the end the living share all duties, however it came to this."""
        self.store.duty_clock += SPAN
        for _ in range(2):
            for replica in self.replicas:
                replica.turns.take()
        wanted = {duty for replica in self.replicas for duty in replica.turns.wanted}
        assert {duty for replica in self.replicas for duty in replica.duties} == wanted
        assert [len(replica.catalogs) for replica in self.replicas] == [1] * MOST_REPLICAS


TestDuties = Duties.TestCase
TestDuties.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)
