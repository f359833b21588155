"""A process is gone and its Spark is not: the next process goes on with the job."""

from __future__ import annotations

import pytest

from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.requests.run import request_cancel
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.fakes.adapters.spark import FakeRunner
from tests.steps.world import World


@pytest.fixture
def world() -> World:
    made = World()
    made.put("orders")
    for step in (scan, plan, submit):
        step(made.ports)
    (job,) = made.store.unfinished_jobs()
    made.runner.start(job.job_id, 1, 4)
    watch(made.ports)
    return made


def replace_process(world: World, has_spark_survived: bool = True) -> Job:
    """The process is killed; another one starts, looks, and has the job as it is stored then."""
    gone = world.runner
    world.runner = FakeRunner(world.clock, owner="process-2", tables=world)
    if has_spark_survived:
        world.runner.adopt(gone)
    world.ports = world.restarted()
    watch(world.ports)
    return the_job(world)


def the_job(world: World) -> Job:
    found = world.store.job("m-1")
    assert found is not None
    return found


def story(world: World) -> list[str]:
    return [event.name for event in world.store.events("m-1")]


def test_the_job_belongs_to_the_new_process_and_its_activity_says_so_once(world: World) -> None:
    before = the_job(world)
    adopted = replace_process(world)
    assert (adopted.owner, adopted.state, adopted.started_at) == (
        "process-2",
        JobState.RUNNING,
        before.started_at,
    )
    watch(world.ports)
    assert story(world).count("job.adopted") == 1
    reported = next(event for event in world.store.events("m-1") if event.name == "job.adopted")
    assert reported.fields == {"by": "process-2", "from": "process-1"}


def test_an_adopted_job_that_finishes_is_proved_and_not_repeated(world: World) -> None:
    adopted = replace_process(world)
    world.runner.finish("m-1", world.mend(adopted))
    watch(world.ports)
    review(world.ports)
    assert the_job(world).state is JobState.SUCCEEDED
    assert submit(world.ports) == 0
    assert world.runner.submitted == {}


def test_an_adopted_job_can_be_cancelled(world: World) -> None:
    request_cancel(world.ports, replace_process(world), "ada")
    watch(world.ports)
    review(world.ports)
    assert the_job(world).state is JobState.CANCELLED


def test_where_spark_is_gone_too_the_job_is_lost(world: World) -> None:
    lost = replace_process(world, has_spark_survived=False)
    assert (lost.state, lost.owner) == (JobState.UNKNOWN, "process-1")
    assert lost.outcome is not None
    assert lost.outcome.reason is FailureReason.LOST_RUNNER
    assert "job.adopted" not in story(world)
