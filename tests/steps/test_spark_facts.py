"""A driver's report on its Spark is stored, survives a restart and has tables planned anew."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.domain.driver import SparkFacts
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import SkipCode
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.watch import watch
from tests.fakes.adapters.spark import FakeRunner
from tests.steps.world import World


def facts(world: World, **changes: object) -> SparkFacts:
    reported = SparkFacts(world.clock.now(), world.runner.settings, "4.1.4", iceberg="1.12.0")
    return replace(reported, **changes)  # type: ignore[arg-type]


def codes(world: World, table: TableIdentifier) -> set[SkipCode]:
    record = world.store.table(table)
    assert record is not None
    assert record.plan is not None
    return {one.code for one in record.plan.skipped}


def test_what_a_driver_reports_is_stored_and_known_after_a_restart() -> None:
    world = World()
    watch(world.ports)
    assert world.store.spark_facts() == {}
    reported = facts(world)
    world.runner.report_facts(reported)
    watch(world.ports)
    assert world.store.spark_facts() == {"default": reported}
    restarted = FakeRunner(world.clock)
    watch(replace(world.ports, runner=restarted))
    assert restarted.facts == {"default": reported}
    assert world.store.spark_facts() == {"default": reported}


def test_facts_under_other_settings_are_neither_taken_nor_overwritten() -> None:
    world = World()
    older = facts(world)
    newer = facts(world, at=world.clock.now() + timedelta(seconds=1), settings="others")
    world.runner.report_facts(older)
    world.store.record_spark_facts(newer)
    watch(world.ports)
    assert world.runner.facts == {"default": older}
    assert world.store.spark_facts() == {"default": newer}


def test_a_catalog_that_spark_cannot_load_runs_nothing_until_it_is_tried_again() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    plan(world.ports)
    assert SkipCode.NO_RUNNER not in codes(world, table)
    world.runner.report_facts(facts(world, catalogs={"lake": "Connection refused"}))
    assert plan(world.ports) == 1, "planned again although nothing happened to the table"
    assert SkipCode.NO_RUNNER in codes(world, table)
    world.clock.advance(timedelta(hours=1))
    assert plan(world.ports) == 1
    assert SkipCode.NO_RUNNER not in codes(world, table)


def test_facts_that_forbid_nothing_have_no_table_planned_anew() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    plan(world.ports)
    before = world.store.tables_to_plan(world.clock.now(), "", ())
    world.runner.report_facts(facts(world, catalogs={"lake": ""}))
    assert plan(world.ports) == 0
    assert world.store.tables_to_plan(world.clock.now(), "", ()) == before
