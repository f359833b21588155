"""What a person asks for by name is done; without names the policy's thresholds decide, for each
job of the request.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.job import Job, JobState
from maintainer.domain.policy import RuleName
from maintainer.requests.run import request_run
from maintainer.steps.submit import start_pending
from tests.steps.test_loop import settle
from tests.steps.world import World

FILES, EXPIRY = RuleName.REWRITE_DATA_FILES, RuleName.EXPIRE_SNAPSHOTS


def asked(world: World, *rules: RuleName) -> Job:
    """A person's request for a table of many small files and 151 snapshots: the policy expires
    above 100.
    """
    table = world.put("orders")
    for _ in range(150):
        world.commit(table)
    world.clock.advance(timedelta(days=9))
    _, job = request_run(world.ports, table, rules, "ada")
    assert job is not None
    assert (job.rule, job.then) == (FILES, (EXPIRY,))
    return job


def expire_elsewhere(world: World, job: Job, left: int) -> None:
    """Somebody else expires snapshots: as many are left, most of them old enough for the policy."""
    entry = world.look(job.table)
    kept = entry.snapshots[-left:]
    world.replace(
        replace(entry, snapshots=kept, metadata_location=f"{entry.metadata_location}-expired")
    )


def finish_first(world: World, job: Job) -> list[Job]:
    """The first job succeeds; what is left to do then."""
    start_pending(world.ports)
    world.runner.finish(job.job_id, world.mend(world.stored(job)))
    settle(world)
    assert world.stored(job).state is JobState.SUCCEEDED
    return list(world.store.unfinished_jobs())


@pytest.mark.parametrize(("rules", "follows"), [((), False), ((FILES, EXPIRY), True)])
def test_a_later_rule_of_a_request_without_names_still_needs_its_threshold(
    rules: tuple[RuleName, ...], follows: bool
) -> None:
    world = World()
    job = asked(world, *rules)
    expire_elsewhere(world, job, 60)
    assert [left.rule for left in finish_first(world, job)] == ([EXPIRY] if follows else [])


def test_a_later_rule_of_a_request_without_names_runs_above_its_threshold() -> None:
    world = World()
    (following,) = finish_first(world, asked(world))
    assert (following.rule, following.requested_by, following.keeps_thresholds) == (
        EXPIRY,
        "ada",
        True,
    )


@pytest.mark.parametrize(
    ("rules", "state"), [((), JobState.CANCELLED), ((FILES, EXPIRY), JobState.SUBMITTED)]
)
def test_thresholds_are_asked_again_right_before_the_start(
    rules: tuple[RuleName, ...], state: JobState
) -> None:
    world = World()
    (following,) = finish_first(world, asked(world, *rules))
    expire_elsewhere(world, following, 60)
    start_pending(world.ports)
    assert world.stored(following).state is state


def test_a_later_rule_that_the_policy_has_no_more_is_dropped() -> None:
    world = World()
    job = asked(world)
    (layer,) = world.policies.layers
    without = {path: setting for path, setting in layer.settings.items() if EXPIRY not in path}
    off = {f"rules.{EXPIRY}.enabled": replace(layer.settings["mode"], value=False)}
    world.policies.layers = (replace(layer, settings=without | off),)
    assert finish_first(world, job) == []
