"""The trouble of one table, job or catalog, and everything else that must go on beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.steps.each import each
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.steps.world import World

R = TypeVar("R")


class UnforeseenError(Exception):
    """A bug that one table brings out."""


def breaking_for(name: str, call: Callable[..., R]) -> Callable[..., R]:
    """The call, but for one table, where it raises."""

    def broken(first: TableIdentifier | Job, *rest: object) -> R:
        table = first if isinstance(first, TableIdentifier) else first.table
        if table.name == name:
            raise UnforeseenError(name)
        return call(first, *rest)

    return broken


def two_tables() -> World:
    world = World()
    world.put("broken")
    world.put("orders")
    return world


def state_of(world: World, name: str) -> JobState | None:
    return next((job.state for job in world.store.unfinished_jobs() if job.table.name == name), None)


def test_each_has_its_turn_and_the_first_error_is_told_with_the_number_of_the_others() -> None:
    done: list[int] = []

    def halve(number: int) -> None:
        if number % 2:
            raise UnforeseenError(str(number))
        done.append(number // 2)

    with pytest.raises(UnforeseenError, match="1") as raised:
        each([1, 2, 3, 4], halve)
    assert done == [1, 2]
    assert raised.value.__notes__ == ["and 1 more of 4 went wrong"]


def test_without_a_store_nothing_goes_on() -> None:
    asked: list[int] = []

    def fail(number: int) -> None:
        asked.append(number)
        message = "disk full"
        raise StoreUnavailableError(message)

    with pytest.raises(StoreUnavailableError):
        each([1, 2], fail)
    assert asked == [1]


def test_a_table_that_breaks_its_measurement_leaves_the_others_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    world = two_tables()
    gone = world.put("gone")
    scan(world.ports)
    world.catalog.drop(gone)
    monkeypatch.setattr(world.catalog, "inventory", breaking_for("broken", world.catalog.inventory))
    with pytest.raises(UnforeseenError):
        scan(world.ports)
    assert world.telemetry.measured[-1][0].table.name == "orders"
    assert world.telemetry.gone == [gone], "the listing was whole"
    assert len(world.telemetry.scans) == 2


def test_a_table_that_breaks_its_decision_leaves_the_others_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    world = two_tables()
    scan(world.ports)
    monkeypatch.setattr(world.store, "table", breaking_for("broken", world.store.table))
    with pytest.raises(UnforeseenError):
        plan(world.ports)
    assert [made.table.name for made in world.store.plans()] == ["orders"]


def test_a_job_that_cannot_be_started_leaves_the_others_started(monkeypatch: pytest.MonkeyPatch) -> None:
    world = two_tables()
    scan(world.ports)
    plan(world.ports)
    monkeypatch.setattr(world.catalog, "inventory", breaking_for("broken", world.catalog.inventory))
    with pytest.raises(UnforeseenError):
        submit(world.ports)
    assert state_of(world, "orders") is JobState.SUBMITTED


def test_a_job_that_cannot_be_watched_or_reviewed_leaves_the_others_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    world = two_tables()
    scan(world.ports)
    plan(world.ports)
    submit(world.ports)
    for job in world.store.unfinished_jobs():
        world.runner.finish(job.job_id, world.mend(job))
    with monkeypatch.context() as patch:
        patch.setattr(world.runner, "report", breaking_for("broken", world.runner.report))
        with pytest.raises(UnforeseenError):
            watch(world.ports)
    watch(world.ports)
    monkeypatch.setattr(world.catalog, "inventory", breaking_for("broken", world.catalog.inventory))
    with pytest.raises(UnforeseenError):
        review(world.ports)
    assert state_of(world, "orders") is None
    assert state_of(world, "broken") is JobState.RUNNING
