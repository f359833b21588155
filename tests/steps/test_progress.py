from __future__ import annotations

from maintainer.domain.driver import Stage
from maintainer.domain.job import JobState
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.steps.world import World


def test_a_jobs_bar_never_restarts_while_each_spark_job_brings_tasks_of_its_own() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    job = world.begin()
    shares, tasks = [], []
    for done, total in ((2, 2), (2, 77), (77, 77), (0, 78), (78, 78)):
        world.runner.start(job.job_id, done, total)
        watch(world.ports)
        progress = world.stored(job).progress
        shares.append(progress.share)
        tasks.append(progress.tasks_done)
    world.runner.finish(job.job_id, world.mend(job))
    watch(world.ports)
    proving = world.stored(job).progress
    assert table == job.table
    assert tasks == [2, 2, 77, 77, 78]
    assert (shares, proving.stage) == ([0.1] * 5, Stage.PROVING)
    assert shares[-1] < proving.share < 1


def test_a_pending_job_has_an_empty_bar() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    plan(world.ports)
    submit(world.ports)
    watch(world.ports)
    (job,) = world.store.unfinished_jobs()
    assert job.state is JobState.SUBMITTED
    assert (world.stored(job).progress.share, world.stored(job).progress.stage) == (
        0.0,
        Stage.WAITING,
    )
