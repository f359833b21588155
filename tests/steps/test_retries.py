"""What failed is tried again by its cause, and nothing whose commit is not known."""

from __future__ import annotations

from datetime import timedelta

import pytest

from maintainer.compare.conclusion import LONGEST_WAIT
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.plan import SkipCode
from maintainer.ports.store.jobs import JobQuery
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.samples import NOW
from tests.steps.test_loop import code_of, settle, submitted
from tests.steps.world import World

DAY, WEEK = timedelta(days=1), timedelta(days=7)


def tries(world: World) -> int:
    """How many jobs start within a day, looked at every ten minutes; each fails as the last one
    did.
    """
    before = len(world.store.jobs(JobQuery(limit=1000)).items)
    for _ in range(144):
        world.clock.advance(timedelta(minutes=10))
        plan(world.ports)
        submit(world.ports)
        for job in world.store.unfinished_jobs():
            fail(world, job, last(world).failure_reason or FailureReason.OTHER)
    return len(world.store.jobs(JobQuery(limit=1000)).items) - before


def fail(world: World, job: Job, reason: FailureReason) -> None:
    world.runner.fail(job.job_id, reason, "no")
    settle(world)


def last(world: World) -> Job:
    return next(job for job in world.store.jobs(JobQuery()).items if job.state.is_final)


def test_nothing_is_tried_again_while_it_is_not_known_whether_it_committed() -> None:
    world = World()
    world.put("orders")
    job = submitted(world)
    world.mend(job)
    world.runner.lose(job.job_id)
    world.catalog.fail("connection refused")
    for _ in range(5):
        world.clock.advance(LONGEST_WAIT / 6)
        for step in (scan, plan, submit, watch, review):
            step(world.ports)
        assert world.stored(job).state is JobState.UNKNOWN
    assert len(world.store.jobs(JobQuery()).items) == 1
    world.catalog.recover()
    settle(world)
    assert world.stored(job).state is JobState.SUCCEEDED
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 0


@pytest.mark.parametrize(
    ("reason", "least", "most"),
    [
        (FailureReason.CONFLICT, 4, 6),  # 1, 2, 4, 8, 16 h
        (FailureReason.INVALID_REQUEST, 0, 1),
        (FailureReason.RUNNER_UNAVAILABLE, 25, 35),  # a minute at first, an hour in the end
    ],
)
def test_how_often_it_is_tried_in_a_day_depends_on_the_cause(
    reason: FailureReason, least: int, most: int
) -> None:
    world = World()
    world.put("orders")
    fail(world, submitted(world), reason)
    assert least <= tries(world) <= most
    assert tries(world) <= (31 if reason is FailureReason.RUNNER_UNAVAILABLE else 2), (
        "and on the second day less"
    )


def test_a_request_that_was_refused_is_tried_again_when_somebody_changes_the_table() -> None:
    world = World()
    table = world.put("orders")
    fail(world, submitted(world), FailureReason.INVALID_REQUEST)
    world.clock.advance(timedelta(hours=2))
    plan(world.ports)
    assert submit(world.ports) == 0
    assert code_of(world, table) is SkipCode.COOLING_DOWN
    world.commit(table)
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 1


def test_what_ran_out_of_memory_takes_on_less_the_next_time() -> None:
    world = World()
    world.put("orders")
    fail(world, submitted(world), FailureReason.OUT_OF_MEMORY)
    world.clock.advance(timedelta(hours=1))
    plan(world.ports)
    submit(world.ports)
    (again,) = world.store.unfinished_jobs()
    assert isinstance(again.action, RewriteDataFiles)
    assert dict(again.action.options)["partial-progress.enabled"] == "true"


def test_a_catalog_that_was_away_for_a_moment_costs_minutes_not_hours() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    plan(world.ports)
    healthy = world.look(table)
    world.catalog.put(TableFault(table, FaultKind.CATALOG_UNAVAILABLE, "no", NOW))
    assert submit(world.ports) == 0
    assert last(world).failure_reason is FailureReason.CATALOG_UNREACHABLE
    world.catalog.put(healthy)
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 0
    world.clock.advance(timedelta(minutes=1))
    plan(world.ports)
    assert submit(world.ports) == 1
