"""Versions of the policies that were in force, and their differences, in a simulated world."""

from __future__ import annotations

from datetime import timedelta

import pytest

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.policy import PolicyProblem
from maintainer.requests.policy_status import compare_versions
from maintainer.steps.plan import keep_policy_version, plan
from tests.steps.world import ENFORCE, World, layer


def test_each_plan_keeps_the_version_in_force_when_it_is_a_new_one() -> None:
    world = World()
    plan(world.ports)
    plan(world.ports)
    first = world.policies.current().version
    world.clock.advance(timedelta(minutes=1))
    world.policies.layers = (layer(ENFORCE.replace("keep: 10", "keep: 11")),)
    plan(world.ports)
    page = world.store.policy_versions()
    assert [one.version for one in page.items] == [world.policies.current().version, first]
    world.policies.problems = (PolicyProblem("b.yaml:1", "tables is missing"),)
    assert keep_policy_version(world.ports)
    assert not keep_policy_version(world.ports)


def test_versions_are_compared_with_each_other_and_with_what_is_in_force() -> None:
    world = World()
    keep_policy_version(world.ports)
    first = world.policies.current().version
    world.policies.layers = (layer(ENFORCE.replace("keep: 10", "keep: 11")),)
    (change,) = compare_versions(world.ports, first)
    assert (change.path, change.before, change.after) == ("rules.expire_snapshots.keep", "10", "11")
    keep_policy_version(world.ports)
    assert compare_versions(world.ports, world.policies.current().version, "current") == ()
    with pytest.raises(InvalidValueError, match="no policy version 'nonsense' is kept"):
        compare_versions(world.ports, "nonsense")
