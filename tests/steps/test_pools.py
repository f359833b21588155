"""Tables run in the pool that their policy names, and a pool's trouble is its tables' alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.adapters.spark.pools.runner import PooledRunner
from maintainer.domain.admission import AdmissionRules, WaitCode
from maintainer.domain.driver import SparkFacts
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, JobState
from maintainer.domain.plan import Plan, SkipCode
from maintainer.domain.pool import JobSize, Pool, SizeProfile
from maintainer.ports import Ports
from maintainer.steps.admission import read_queue
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.fakes.adapters.policies import FakePolicies
from tests.fakes.adapters.spark import FakeRunner
from tests.steps.world import ENFORCE, World, layer

ON_BIG = "tables: lake.sales.big_*\nruns_on: big\n"
POOLS = {
    "default": Pool(1.0, 2, (SizeProfile(JobSize.SMALL, 1.0),)),
    "big": Pool(8.0, 16, (SizeProfile(JobSize.SMALL, 8.0),)),
}


def world_with(text: str = ON_BIG) -> tuple[World, Ports]:
    """A world with two pools, of which `big` takes one job."""
    world = World(policies=FakePolicies(layer(ENFORCE), layer(text, "big.yaml")))
    world.runner.others = {"big": 1}
    return world, replace(world.ports, admission=AdmissionRules(pools=POOLS))


def plan_of(world: World, table: TableIdentifier) -> Plan:
    record = world.store.table(table)
    assert record is not None
    assert record.plan is not None
    return record.plan


def reasons(made: Plan) -> set[tuple[SkipCode, str]]:
    return {(one.code, one.reason) for one in made.skipped if one.code is SkipCode.NO_RUNNER}


def test_a_job_has_the_memory_of_its_pool_and_takes_a_slot_of_it() -> None:
    world, ports = world_with()
    tables = [world.put(name) for name in ("big_1", "big_2", "small_1", "small_2")]
    scan(ports)
    plan(ports)
    assert submit(ports) == 3, "two in the default pool, one in big"
    jobs = {job.table.name: job for job in world.store.unfinished_jobs()}
    assert {job.pool: job.memory_gb for job in jobs.values()} == {"default": 1.0, "big": 8.0}
    (waiting,) = {"big_1", "big_2"} - jobs.keys()
    waits = {
        one.candidate.table.name: one.wait
        for one in read_queue(ports)
        if one.wait is not None and one.wait.code is WaitCode.QUEUED
    }
    assert waits.keys() == {waiting}
    assert waits[waiting] is not None
    assert waits[waiting].reason == "no free slot in pool big; next in line"
    assert {plan_of(world, table).pool for table in tables} == {"default", "big"}


def test_a_policy_with_an_unknown_pool_stops_its_own_tables_only() -> None:
    world, ports = world_with("tables: lake.sales.big_*\nruns_on: huge\n")
    lost, other = world.put("big_1"), world.put("small_1")
    scan(ports)
    plan(ports)
    why = (
        "big.yaml:2: runs_on is 'huge', but spark.pools has no such pool (there is big, "
        "default); no job runs on these tables until then"
    )
    assert reasons(plan_of(world, lost)) == {(SkipCode.NO_RUNNER, why)}
    assert not plan_of(world, lost).planned
    assert plan_of(world, other).planned
    world.policies.layers = (layer(ENFORCE), layer(ON_BIG, "big.yaml"))
    plan(ports)
    assert plan_of(world, lost).planned


def test_a_pool_that_cannot_be_used_says_why_until_it_can() -> None:
    world, ports = world_with()
    table, other = world.put("big_1"), world.put("small_1")
    world.runner.broken = {"big": "its directory cannot be written"}
    scan(ports)
    plan(ports)
    assert reasons(plan_of(world, table)) == {
        (SkipCode.NO_RUNNER, "pool big cannot be used: its directory cannot be written")
    }
    assert plan_of(world, other).planned
    world.runner.broken = {}
    plan(ports)
    assert plan_of(world, table).planned


def test_what_one_pools_spark_cannot_do_says_nothing_of_another() -> None:
    world, ports = world_with()
    table, other = world.put("big_1"), world.put("small_1")
    scan(ports)
    reported = SparkFacts(
        world.clock.now(), world.runner.settings, catalogs={"lake": "refused"}, pool="big"
    )
    world.runner.report_facts(reported)
    watch(ports)
    assert world.store.spark_facts() == {"big": reported}
    plan(ports)
    assert {code for code, _ in reasons(plan_of(world, table))} == {SkipCode.NO_RUNNER}
    assert plan_of(world, other).planned


def test_a_job_that_waits_moves_with_its_policy() -> None:
    world, ports = world_with("tables: lake.sales.big_*\nruns_on: default\n")
    table = world.put("big_1")
    scan(ports)
    plan(ports)
    made = plan_of(world, table)
    assert made.pool == "default"
    world.policies.layers = (layer(ENFORCE), layer(ON_BIG, "big.yaml"))
    assert submit(ports) == 1
    (job,) = world.store.unfinished_jobs()
    assert (job.pool, job.memory_gb) == ("big", 8.0)


@pytest.mark.parametrize("has_committed", [True, False])
def test_a_job_of_a_pool_that_was_removed_is_judged_by_its_table(has_committed: bool) -> None:
    world, ports = world_with()
    table = world.put("big_1")
    scan(ports)
    plan(ports)
    assert submit(ports) == 1
    (job,) = world.store.unfinished_jobs()
    world.runner.start(job.job_id)
    watch(ports)
    if has_committed:
        world.mend(world.stored(job))
    near = FakeRunner(world.clock, owner="process-2", tables=world)
    files = OrphanFiles(world.store, near.owner)
    runner = PooledRunner(
        {"default": near}, {}, near.owner, near.application, files, world.store, world.clock
    )
    pools = AdmissionRules(pools={"default": POOLS["default"]})
    restarted = replace(ports, runner=runner, admission=pools)
    watch(restarted)
    assert world.stored(job).state is JobState.RUNNING, "its former daemon may live"
    world.clock.advance(ports.lease_terms.duration + 2 * ports.lease_terms.clock_margin)
    watch(restarted)
    assert world.stored(job).state is JobState.UNKNOWN
    review(restarted)
    done = world.stored(job)
    assert done.state is (JobState.SUCCEEDED if has_committed else JobState.FAILED)
    assert done.failure_reason is (None if has_committed else FailureReason.LOST_RUNNER)
    assert {code for code, _ in reasons(plan_of(world, table))} == {SkipCode.NO_RUNNER}
