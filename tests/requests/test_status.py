"""The status of each table and of a place, from the store alone."""

from __future__ import annotations

from collections import Counter
from functools import partial

from maintainer.domain.status import TableState
from maintainer.requests.status import assess_tables, count_states, renew_plan
from maintainer.steps.admission import read_queue
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.steps.world import World


def by_daemon(world: World) -> dict[str, TableState]:
    """The states by the stored plans, as the API and the metric have them."""
    found = assess_tables(world.ports, read_queue(world.ports))
    assert count_states(world.ports) == Counter(one.state for one in found)
    return {one.table.name: one.state for one in found}


def by_command(world: World) -> dict[str, TableState]:
    """The states by the plans that the command renews."""
    found = assess_tables(world.ports, read_queue(world.ports), partial(renew_plan, world.ports))
    return {one.table.name: one.state for one in found}


def test_daemon_and_command_give_each_table_the_same_state_over_a_whole_run() -> None:
    world = World()
    for name in ("first", "second", "third"):
        world.put(name)
    world.put("one", small_files=1)
    scan(world.ports)
    plan(world.ports)
    seen = [by_daemon(world)]
    assert by_command(world) == seen[-1]
    submit(world.ports)
    for job in world.store.unfinished_jobs():
        world.runner.start(job.job_id)
    watch(world.ports)
    seen.append(by_daemon(world))
    assert by_command(world) == seen[-1]
    for job in world.store.unfinished_jobs():
        world.runner.finish(job.job_id, world.mend(job))
    watch(world.ports)
    review(world.ports)
    assert not world.store.unfinished_jobs()
    plan(world.ports)
    seen.append(by_daemon(world))
    assert by_command(world) == seen[-1]
    assert [found["first"] for found in seen] == [
        TableState.DUE,
        TableState.BEING_MAINTAINED,
        TableState.SMALL_BY_NATURE,
    ]
    assert {found["one"] for found in seen} == {TableState.SMALL_BY_NATURE}
