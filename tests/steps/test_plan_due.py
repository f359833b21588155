from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from threading import Event
from typing import Any

import pytest

from maintainer.decide import plan as decision
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.store.plans import LONGEST_TRUST
from maintainer.ports.store.tables import Pause
from maintainer.steps import table_plan
from maintainer.steps.isolation import ABANDONED, TimeLimit
from maintainer.steps.plan import plan
from maintainer.steps.prune import prune
from maintainer.steps.scan import scan
from tests.api.listening import wait_for
from tests.fakes.adapters.policies import FakePolicies
from tests.steps.world import ENFORCE, World, layer

ALWAYS_OPEN = 'window: {cron: "0 0 * * *", duration: 24h}\n'
NEVER_SHUT = 'blackouts: [{cron: "0 0 1 1 *", duration: 1m}]\n'


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables that a plan was made for, one after the other."""
    made: list[str] = []
    original = table_plan.make_plan

    def note(ports: Any, record: Any, health: Any, policy: Any) -> Any:
        made.append(record.table.name)
        return original(ports, record, health, policy)

    monkeypatch.setattr(table_plan, "make_plan", note)
    return made


@pytest.fixture
def released() -> Iterator[Event]:
    """Set at the end, so that no thread of the test outlives it."""
    event = Event()
    yield event
    event.set()
    wait_for(lambda: not ABANDONED.names())


def idle_world() -> tuple[World, TableIdentifier]:
    world = World()
    table = world.put("orders", small_files=0)
    scan(world.ports)
    plan(world.ports)
    return world, table


def test_a_table_to_which_nothing_happened_is_not_planned_again(planned: list[str]) -> None:
    world, _table = idle_world()
    assert planned == ["orders"]
    plan(world.ports)
    assert planned == ["orders"]


def test_a_pause_makes_a_new_plan(planned: list[str]) -> None:
    world, table = idle_world()
    world.store.set_pause(table, Pause("me", world.clock.now()))
    plan(world.ports)
    assert planned == ["orders", "orders"]


def test_no_plan_is_trusted_for_longer_than_its_bound(planned: list[str]) -> None:
    world, _table = idle_world()
    world.clock.advance(LONGEST_TRUST)
    plan(world.ports)
    assert planned == ["orders", "orders"]


def test_a_table_whose_plan_takes_too_long_gets_a_fault_and_delays_no_other_plan(
    monkeypatch: pytest.MonkeyPatch, released: Event
) -> None:
    world = World()
    endless, other = world.put("endless"), world.put("other")
    scan(world.ports)
    decided: list[TableIdentifier] = []
    original = decision.decide

    def decide(health: Any, policy: Any, circumstances: Any) -> Any:
        decided.append(health.table)
        while health.table == endless and not released.is_set():
            pass
        return original(health, policy, circumstances)

    monkeypatch.setattr(table_plan, "decide", decide)
    limit = partial(TimeLimit, timedelta(milliseconds=200))
    monkeypatch.setattr(table_plan, "TimeLimit", limit)
    plan(world.ports)
    plan(world.ports)
    assert [made.table for made in world.store.plans()] == [other]
    assert sorted(decided) == [endless, other], "not again at the next step"
    record = world.store.table(endless)
    assert record is not None
    assert record.fault is not None
    assert record.fault.reason.startswith("planning was stopped: it took longer than")


@pytest.mark.parametrize(
    ("policy", "looks"), [(ENFORCE, 1), (ENFORCE + ALWAYS_OPEN, 3), (ENFORCE + NEVER_SHUT, 3)]
)
def test_a_plan_that_wants_work_is_looked_at_each_time_where_a_window_can_close(
    planned: list[str], policy: str, looks: int
) -> None:
    world = World(policies=FakePolicies(layer(policy)))
    world.put("orders")
    scan(world.ports)
    for _ in range(3):
        plan(world.ports)
    (made,) = world.store.plans()
    assert made.planned
    assert planned == ["orders"] * looks


def test_a_plan_that_wants_work_is_looked_at_again_at_the_full_hour(planned: list[str]) -> None:
    world = World()
    world.clock.advance(timedelta(minutes=20))
    world.put("orders")
    scan(world.ports)
    for minutes in (0, 39, 1):
        world.clock.advance(timedelta(minutes=minutes))
        plan(world.ports)
    assert planned == ["orders"] * 2


def test_pruning_thins_by_the_ages_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    world, _table = idle_world()
    asked: list[tuple[datetime | None, ...]] = []

    def note(_store: object, *ages: datetime | None) -> dict[str, int]:
        asked.append(ages)
        return {}

    monkeypatch.setattr(type(world.store), "prune", note)
    prune(
        world.ports, timedelta(days=730), timedelta(days=365), timedelta(days=7), timedelta(days=90)
    )
    now = world.clock.now()
    assert asked == [tuple(now - timedelta(days=days) for days in (730, 365, 7, 90))]
