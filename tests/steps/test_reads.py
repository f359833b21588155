"""How often a table is read, from the store to the order of the queue."""

from __future__ import annotations

from datetime import timedelta

import pytest

from maintainer.domain.policy import day_of
from maintainer.steps.admission import read_queue
from maintainer.steps.plan import plan
from maintainer.steps.prune import KEEP_READS, prune
from maintainer.steps.scan import scan
from tests.steps.world import World


@pytest.fixture
def world() -> World:
    return World()


def test_old_counts_of_reads_are_pruned(world: World) -> None:
    table = world.put("orders")
    world.store.add_reads(day_of(world.clock.now()), {table: 3})
    for days, gone in ((KEEP_READS.days, 0), (1, 1)):
        world.clock.advance(timedelta(days=days))
        assert prune(world.ports, timedelta(days=730), timedelta(days=365))["reads"] == gone


def test_of_two_equal_tables_the_one_that_is_read_starts_first(world: World) -> None:
    first, second = world.put("a"), world.put("b")
    scan(world.ports)
    plan(world.ports)
    assert [decision.candidate.table for decision in read_queue(world.ports)] == [first, second]
    world.store.add_reads(day_of(world.clock.now() - timedelta(days=8)), {first: 10**6})
    world.store.add_reads(day_of(world.clock.now()), {second: 480})
    best, other = read_queue(world.ports)
    assert (best.candidate.table, best.candidate.reads_per_day) == (second, 480.0)
    assert best.score.sentence.endswith("x 21 reads (reads a day: 480)")
    assert other.candidate.reads_per_day is None, "what is older than a week does not count"


def test_all_tables_are_read_with_one_query(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        world.put(name)
    scan(world.ports)
    plan(world.ports)
    asked: list[tuple[str, str]] = []
    reads = world.store.reads

    def count(first_day: str, last_day: str) -> object:
        asked.append((first_day, last_day))
        return reads(first_day, last_day)

    monkeypatch.setattr(world.store, "reads", count)
    assert len(read_queue(world.ports)) == 3
    assert len(asked) == 1
