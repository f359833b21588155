"""The loop on tables of several partitions: what is hot or gains nothing is left alone."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.plan import SkipCode
from maintainer.domain.units import MIB
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from tests.steps.test_loop import code_of, settle
from tests.steps.world import SMALL_FILE, World, layer

OFTEN = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {when: {average_file_size_below: 380MiB}, cooldown: 1m}
"""
NEARLY_FULL = [300 * MIB] * 2  # two files that Iceberg would rewrite, and that stay two


def run_once(world: World) -> Job | None:
    """One turn of the loop, with the job done by Spark; the job as it ended."""
    scan(world.ports)
    plan(world.ports)
    submit(world.ports)
    jobs = world.store.unfinished_jobs()
    for job in jobs:
        world.runner.finish(job.job_id, effect=world.mend)
        settle(world)
    return world.stored(jobs[0]) if jobs else None


def files_by_day(world: World, table: TableIdentifier) -> dict[str, int]:
    found: Counter[str] = Counter()
    for digest in world.look(table).manifests:
        for part in digest.partitions:
            found[part.partition] += part.file_count
    return dict(found)


def where_of(job: Job | None) -> str | None:
    assert job is not None
    assert isinstance(job.action, RewriteDataFiles)
    return job.action.where


def make_world() -> World:
    world = World()
    world.policies.layers = (layer(OFTEN),)
    return world


def test_guard_14_a_partition_is_rewritten_after_its_writers_have_left_it() -> None:
    world = make_world()
    table = world.put("orders", small_files=60)
    world.write(table, {2: [SMALL_FILE] * 8})
    assert where_of(run_once(world)) == "(`day` = 1)"
    assert files_by_day(world, table) == {"day=1": 1, "day=2": 8}
    assert run_once(world) is None
    assert code_of(world, table) is SkipCode.HOT_PARTITION
    world.clock.advance(timedelta(minutes=16))
    job = run_once(world)
    assert job is not None
    assert job.state is JobState.SUCCEEDED
    assert files_by_day(world, table) == {"day=1": 1, "day=2": 1}


def test_a_partition_where_nothing_is_gained_is_never_rewritten() -> None:
    world = make_world()
    days = dict.fromkeys(range(2, 40), NEARLY_FULL) | {1: [SMALL_FILE] * 60}
    table = world.put_files("orders", (world.list_files("orders-m1", days, 1),))
    job = run_once(world)
    assert where_of(job) == "(`day` = 1)"
    assert job is not None
    assert job.effect is not None
    assert (job.effect.files_removed, job.effect.bytes_rewritten) == (59, 60 * SMALL_FILE)
    for _ in range(3):
        world.clock.advance(timedelta(minutes=20))
        world.write(table, {1: [SMALL_FILE] * 9})
        world.clock.advance(timedelta(minutes=20))
        assert where_of(run_once(world)) == "(`day` = 1)"
    assert files_by_day(world, table) == {f"day={day}": 2 for day in range(2, 40)} | {"day=1": 1}
