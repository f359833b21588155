"""A run that changed nothing is not repeated until somebody changes the table."""

from __future__ import annotations

from datetime import timedelta

from maintainer.domain.job import JobState
from maintainer.domain.plan import SkipCode
from maintainer.ports.store.jobs import JobQuery
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from tests.steps.test_loop import code_of, settle, submitted
from tests.steps.world import World, layer

OFTEN = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {when: {average_file_size_below: 32MiB}, cooldown: 1m}
"""


def test_a_run_that_changes_nothing_is_not_repeated_on_the_same_table() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    world.runner.finish(job.job_id, {"rewritten_data_files_count": 0})
    settle(world)
    assert world.stored(job).state is JobState.SUCCEEDED
    world.clock.advance(timedelta(days=30))
    plan(world.ports)
    assert code_of(world, table) is SkipCode.NOTHING_TO_GAIN
    world.commit(table)
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 1


def test_empty_runs_leave_one_tag_on_a_table_that_nobody_touches() -> None:
    world = World()
    world.policies.layers = (layer(OFTEN),)
    table = world.put("orders")
    for _ in range(6):
        scan(world.ports)
        plan(world.ports)
        submit(world.ports)
        for job in world.store.unfinished_jobs():
            world.runner.finish(job.job_id, {"rewritten_data_files_count": 0})
            settle(world)
        world.clock.advance(timedelta(minutes=1, seconds=30))
    (only,) = world.store.jobs(JobQuery()).items
    assert [ref.name for ref in world.look(table).refs] == [
        "main",
        f"maintainer-before-{only.job_id}",
    ]
