"""What a killed process leaves undone, and who does it then."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.cli.jobs.once import START_GRACE, settle_left_jobs
from maintainer.domain.admission import ScopePause
from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import Job, JobState
from maintainer.domain.policy import RuleName
from maintainer.ports.store.jobs import JobQuery
from maintainer.requests.run import RESUME_WITHIN, continue_interrupted, request_run
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import start_pending
from maintainer.steps.watch import watch
from tests.steps.world import World

ASKED = (RuleName.REWRITE_MANIFESTS, RuleName.EXPIRE_SNAPSHOTS)


def ended_between_two_jobs(world: World, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A person asked for two rules; the process ends right after the first one's job has."""
    table = world.put("orders", manifests=30)
    for _ in range(150):
        world.commit(table)
    world.clock.advance(timedelta(days=9))
    world.commit(table)
    scan(world.ports)
    _, job = request_run(world.ports, table, ASKED, "ada")
    assert job is not None
    assert job.then == (RuleName.EXPIRE_SNAPSHOTS,)
    start_pending(world.ports)
    world.runner.finish(job.job_id, world.mend(world.stored(job)))
    watch(world.ports)
    with monkeypatch.context() as patch:

        def die(*_: object) -> None:
            message = "the process has ended"
            raise StoreUnavailableError(message)

        patch.setattr("maintainer.steps.review.continue_request", die)
        with pytest.raises(StoreUnavailableError):
            review(world.ports)
    assert world.stored(job).state is JobState.SUCCEEDED
    return world.stored(job)


def test_what_was_asked_for_beyond_a_job_is_gone_on_with_at_the_next_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    first = ended_between_two_jobs(world, monkeypatch)
    world.ports = world.restarted()
    world.clock.advance(timedelta(minutes=5))
    assert continue_interrupted(world.ports) == 1
    (following,) = world.store.unfinished_jobs()
    assert (following.rule, following.requested_by, following.table) == (
        RuleName.EXPIRE_SNAPSHOTS,
        "ada",
        first.table,
    )
    assert continue_interrupted(world.ports) == 0, "it is on its way"


def test_a_request_of_the_day_before_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    ended_between_two_jobs(world, monkeypatch)
    world.clock.advance(RESUME_WITHIN + timedelta(minutes=1))
    assert continue_interrupted(world.ports) == 0


def test_a_request_that_was_gone_on_with_is_not_repeated() -> None:
    world = World()
    table = world.put("orders", small_files=600, manifests=300)
    scan(world.ports)
    _, job = request_run(world.ports, table, (), "ada")
    assert job is not None
    start_pending(world.ports)
    world.runner.finish(job.job_id, world.mend(world.stored(job)))
    watch(world.ports)
    review(world.ports)
    assert continue_interrupted(world.ports) == 0


def pending(world: World) -> Job:
    table = world.put("orders")
    scan(world.ports)
    _, job = request_run(world.ports, table, (), "ada")
    assert job is not None
    return job


def test_a_pending_job_that_nobody_starts_does_not_keep_its_table_for_ever() -> None:
    world = World()
    job = pending(world)
    settle_left_jobs(world.ports, job.table)
    assert world.stored(job).state is JobState.PENDING, "a daemon may be about to start it"
    world.clock.advance(START_GRACE + timedelta(seconds=1))
    settle_left_jobs(world.ports, job.table)
    assert (world.stored(job).state, world.stored(job).cancel_requested_by) == (
        JobState.CANCELLED,
        "no daemon started it",
    )
    assert request_run(world.ports, job.table, (), "ada")[1] is not None


def test_a_pending_job_waits_as_long_as_the_daemon_drains() -> None:
    world = World()
    job = pending(world)
    world.store.set_scope_pause(ScopePause("*", "ann", world.clock.now(), is_drain=True))
    world.clock.advance(START_GRACE * 2)
    settle_left_jobs(world.ports, job.table)
    assert world.stored(job).state is JobState.PENDING


def test_the_tables_of_a_catalog_that_is_gone_are_marked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    marked: list[TableFault] = []
    real = world.store.record_fault

    def mark(fault: TableFault) -> None:
        marked.append(fault)
        real(fault)

    monkeypatch.setattr(world.store, "record_fault", mark)
    world.ports = replace(world.ports, catalogs={})
    for _ in range(3):
        scan(world.ports)
    assert len(marked) == 1
    record = world.store.table(table)
    assert record is not None
    assert record.fault is not None
    assert len(world.store.jobs(JobQuery()).items) == 0
