"""Two daemons on one store: no job twice, one job per table, and a dead one's jobs are taken
over.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.replica import LeaseTerms
from maintainer.ports import Ports
from maintainer.ports.store import Store
from maintainer.ports.store.jobs import JobQuery
from maintainer.steps.jobs import held_jobs
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.adapters.store.conftest import new_sqlite_file, postgres_server, store, store_url
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.spark import FakeRunner
from tests.samples import NOW
from tests.steps.world import World

__all__ = ["new_sqlite_file", "postgres_server", "store", "store_url"]

TERMS = LeaseTerms()
MINUTE = timedelta(minutes=1)


class Replica:
    """One daemon with a clock of its own, on another machine than the others."""

    def __init__(self, world: World, name: str, clock_is_ahead: timedelta = timedelta(0)) -> None:
        self.clock = FakeClock(world.clock.now() + clock_is_ahead)
        self.runner = FakeRunner(self.clock, capacity=2, owner=name, tables=world)
        self.ports: Ports = replace(world.ports, runner=self.runner, clock=self.clock)

    def knows(self, *others: Replica) -> None:
        self.runner.distant_owners = {other.runner.owner for other in others}

    def cycle(self) -> int:
        scan(self.ports)
        plan(self.ports)
        started = submit(self.ports)
        self.settle()
        return started

    def settle(self) -> None:
        watch(self.ports)
        review(self.ports)


def pair(world: World, apart: timedelta = timedelta(0)) -> tuple[Replica, Replica]:
    one, two = Replica(world, "host-a-1"), Replica(world, "host-b-1", apart)
    one.knows(two)
    two.knows(one)
    return one, two


def pass_time(time: timedelta, *replicas: Replica) -> None:
    for replica in replicas:
        replica.clock.advance(time)


def job_of(world: World) -> Job:
    (job,) = world.store.jobs(JobQuery()).items
    return job


def test_two_daemons_share_the_tables_and_submit_no_job_twice() -> None:
    world = World()
    for name in ("orders", "events", "users"):
        world.put(name)
    one, two = pair(world)
    assert (one.cycle(), two.cycle()) == (2, 1)
    assert not one.runner.submitted.keys() & two.runner.submitted.keys()
    tables = [
        job.table_uuid for runner in (one.runner, two.runner) for job in runner.submitted.values()
    ]
    assert len(set(tables)) == len(tables) == 3
    assert {job.job_id for job in held_jobs(two.ports)} == two.runner.submitted.keys()


def test_a_job_of_another_machine_is_left_alone_as_long_as_its_lease_is_renewed() -> None:
    world = World()
    world.put("orders")
    one, two = pair(world)
    one.cycle()
    job = job_of(world)
    for _ in range(30):
        pass_time(MINUTE / 2, one, two)
        one.settle()
        two.settle()
        assert job_of(world).state is JobState.SUBMITTED
    one.runner.finish(job.job_id, world.mend(job))
    two.settle()
    assert job_of(world).state is JobState.SUBMITTED, "only the holder moves it"
    one.settle()
    assert job_of(world).state is JobState.SUCCEEDED


@pytest.mark.parametrize("apart", [timedelta(0), TERMS.clock_margin, -TERMS.clock_margin])
def test_a_dead_machines_job_is_taken_over_when_its_lease_is_out_and_not_before_its_work_has_ended(
    apart: timedelta,
) -> None:
    world = World()
    world.put("orders")
    one, two = pair(world, apart)
    one.cycle()
    job = job_of(world)
    while not held_jobs(two.ports):
        assert not two.runner.submitted
        pass_time(timedelta(seconds=1), one, two)
        watch(two.ports)
        assert one.clock.now() < NOW + TERMS.duration + 2 * TERMS.clock_margin + MINUTE
    one.runner.end_overdue()
    assert one.runner._outcomes[job.job_id].kind == "lost", "its runner ended the work before"
    two.settle()
    assert (job_of(world).state, job_of(world).failure_reason) == (
        JobState.FAILED,
        FailureReason.LOST_RUNNER,
    )
    reported = [
        event.fields for event in world.store.events(job.job_id) if event.name == "job.taken_over"
    ]
    assert reported == [{"by": "host-b-1", "from": "host-a-1", "token": 2}]


def test_what_the_dead_one_had_committed_is_found_and_not_repeated() -> None:
    world = World()
    world.put("orders")
    one, two = pair(world)
    one.cycle()
    world.mend(job_of(world))
    pass_time(TERMS.duration + TERMS.clock_margin + MINUTE, two)
    two.settle()
    assert job_of(world).state is JobState.SUCCEEDED
    assert two.cycle() == 0


def test_a_process_that_is_dead_on_this_machine_is_followed_at_once() -> None:
    world = World()
    world.put("orders")
    one, two = pair(world)
    one.cycle()
    two.runner.distant_owners = set()
    two.settle()
    assert job_of(world).failure_reason is FailureReason.LOST_RUNNER


def test_a_holder_that_wakes_up_after_a_takeover_moves_nothing_and_ends_its_work() -> None:
    world = World()
    world.put("orders")
    one, two = pair(world)
    one.cycle()
    job = job_of(world)
    pass_time(TERMS.duration + TERMS.clock_margin + MINUTE, two)
    watch(two.ports)
    assert job_of(world).state is JobState.UNKNOWN
    one.runner._outcomes.clear()
    one.runner.finish(job.job_id, {"rewritten_data_files_count": 60})
    one.settle()
    assert job_of(world).state is JobState.UNKNOWN
    assert held_jobs(one.ports) == []
    two.settle()
    assert job_of(world).failure_reason is FailureReason.LOST_RUNNER


def test_a_holder_whose_work_goes_on_when_it_lost_its_lease_ends_it() -> None:
    world = World()
    world.put("orders")
    one, two = pair(world)
    one.cycle()
    job = job_of(world)
    (lease,) = world.store.leases()
    assert world.store.take_lease(job, lease, two.runner.owner, NOW + MINUTE) is not None
    one.settle()
    assert one.runner.cancelled == [job.job_id]


def test_while_the_store_is_away_the_work_ends_itself_before_anybody_takes_it_over() -> None:
    world = World()
    world.put("orders")
    one, _ = pair(world)
    one.cycle()
    job = job_of(world)
    one.clock.advance(TERMS.duration + timedelta(seconds=1))  # no watch could renew
    one.runner.end_overdue()
    assert one.runner._outcomes[job.job_id].kind == "lost"
    one.settle()
    assert job_of(world).failure_reason is FailureReason.LOST_RUNNER


def test_leases_that_are_laid_down_are_taken_over_at_once() -> None:
    world = World()
    world.put("orders")
    one, two = pair(world)
    one.cycle()
    world.store.lay_down_leases(one.runner.owner, one.clock.now() - 2 * TERMS.clock_margin)
    two.settle()
    assert job_of(world).failure_reason is FailureReason.LOST_RUNNER


def test_a_submission_that_took_longer_than_its_lease_is_not_handed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.put("orders")
    one, _ = pair(world)
    real = world.store.submit_job

    def stall(job: Job, *rest: object) -> object:
        given = real(job, *rest)  # type: ignore[arg-type]
        one.clock.advance(TERMS.duration)
        return given

    monkeypatch.setattr(world.store, "submit_job", stall)
    assert one.cycle() == 0
    assert one.runner.submitted == {}
    one.clock.advance(MINUTE)
    one.settle()
    assert job_of(world).failure_reason is FailureReason.LOST_RUNNER


def test_two_loops_on_one_database_share_the_work(store: Store) -> None:
    world = World()
    for name in ("orders", "events", "users", "visits"):
        world.put(name)
    world.ports = replace(world.ports, store=store)
    one, two = pair(world)
    assert (one.cycle(), two.cycle()) == (2, 2)
    for replica in (one, two):
        for job in list(replica.runner.submitted.values()):
            replica.runner.finish(job.job_id, world.mend(job))
    two.settle()
    assert len(store.unfinished_jobs()) == 2, "the other's jobs are the other's"
    pass_time(TERMS.duration + TERMS.clock_margin + MINUTE, two)
    two.settle()
    assert list(store.unfinished_jobs()) == []
    assert {job.state for job in store.jobs(JobQuery()).items} == {JobState.SUCCEEDED}
    assert not one.runner.submitted.keys() & two.runner.submitted.keys()
    assert list(store.leases()) == []
