"""A daemon that is asked to end leaves the rest of what it has begun."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from maintainer.domain.job import JobState
from maintainer.ports import Ports
from maintainer.requests.run import continue_interrupted, request_run
from maintainer.steps import admission
from maintainer.steps.admission import record_waits
from maintainer.steps.isolation import each
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import start_pending, submit
from tests.steps.world import World


@pytest.fixture
def world() -> World:
    made = World()
    for name in "abc":
        made.put(name)
    scan(made.ports)
    return made


def stopping_when(world: World, has_begun: Callable[[], object]) -> Ports:
    """The ports of a daemon that is asked to end once something has begun."""
    return replace(world.ports, is_stopping=lambda: bool(has_begun()))


def test_what_should_stop_stops_before_the_next() -> None:
    done: list[int] = []
    each([1, 2, 3], done.append, lambda: len(done) == 2)
    assert done == [1, 2]


def test_planning_stops_between_two_tables_and_goes_on_at_the_next_start(world: World) -> None:
    plan(stopping_when(world, world.store.plans))
    assert len(world.store.plans()) == 1
    plan(world.ports)
    assert len(world.store.plans()) == 3


def test_submitting_stops_between_two_jobs(world: World) -> None:
    plan(world.ports)
    assert submit(stopping_when(world, world.store.unfinished_jobs)) == 0
    assert [job.state for job in world.store.unfinished_jobs()] == [JobState.PENDING]
    assert start_pending(world.ports) == 1


def test_telling_what_waits_stops_between_two_batches(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan(world.ports)
    asked: list[object] = []
    monkeypatch.setattr(admission, "find_wait_changes", lambda *_: [None])
    monkeypatch.setattr(admission, "_write_change", lambda *_: asked.append(1))
    assert record_waits(stopping_when(world, lambda: True)) == 0
    assert asked == []
    record_waits(world.ports)
    assert asked == [1]


def test_what_people_asked_for_is_not_resumed_by_a_daemon_that_ends(world: World) -> None:
    (table, *_) = world.store.table_names()
    _, job = request_run(world.ports, table, (), "ada")
    assert job is not None
    started = replace(job, then=(job.policy_rule,))
    assert world.store.update_job(started, job)
    start_pending(world.ports)
    (started,) = world.store.unfinished_jobs()
    finished = started.advance(JobState.RUNNING).advance(
        JobState.SUCCEEDED, finished_at=world.clock.now()
    )
    (lease,) = world.store.leases()
    assert world.store.update_job(finished, started, lease.token)
    world.replace(replace(world.look(table), metadata_location="later.json"))
    assert continue_interrupted(stopping_when(world, lambda: True)) == 0
    assert continue_interrupted(world.ports) == 1
