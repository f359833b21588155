"""Guard 1 right before: what has come to lie where orphans of a table are looked for, since the
last scan or of no kind that a scan sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import FailureReason, JobState
from maintainer.domain.plan import SkipCode
from maintainer.ports.store.jobs import JobQuery
from maintainer.requests.approval import restore_list
from maintainer.steps.kinds import location_check
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from tests.samples import NOW
from tests.steps.kinds.test_orphan_removal import (
    PLACE,
    REQUIRED,
    TABLE,
    approved,
    code_of,
    refused,
    settle,
    the_list,
)
from tests.steps.kinds.test_quarantine import approved as approved_with_quarantine
from tests.steps.kinds.test_quarantine import move
from tests.steps.world import World, layer

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
RAW = "lake.sales.raw"


def old_enough() -> World:
    """A world whose table is about to be looked at."""
    world = World()
    world.policies.layers = (layer(REQUIRED),)
    world.put("orders", small_files=600)
    scan(world.ports)
    world.clock.advance(10 * DAY)
    return world


def with_neighbour(
    location: str = "file:///warehouse/sales/neighbour",
) -> tuple[World, TableIdentifier]:
    """A removal is approved, and another table is known that lies elsewhere."""
    world = approved()
    neighbour = world.put("neighbour")
    settle_at(world, neighbour, location)
    scan(world.ports)
    world.clock.advance(HOUR)
    return world, neighbour


def settle_at(
    world: World, table: TableIdentifier, location: str, metadata: str = "metadata/1.json"
) -> None:
    world.replace(
        replace(world.look(table), location=location, metadata_location=f"{location}/{metadata}")
    )


def measured_at(world: World, table: TableIdentifier) -> datetime:
    record = world.store.table(table)
    assert record is not None
    assert record.health is not None
    return record.health.measured_at


def cancelled(world: World) -> str:
    """Why the job that was planned is no longer needed."""
    plan(world.ports)
    assert submit(world.ports) == 0
    job = world.store.jobs(JobQuery()).items[0]
    assert job.state is JobState.CANCELLED
    assert world.runner.brought == {}
    return job.failure_message


@pytest.mark.parametrize("location", [f"{PLACE}/raw", PLACE, "file:/warehouse/sales/"])
def test_guard_1_a_table_that_is_none_of_icebergs_is_seen_before_a_look_and_stands_in_the_plan(
    location: str,
) -> None:
    world = old_enough()
    world.catalog.put_foreign(RAW, location)
    message = cancelled(world)
    assert f"of table {RAW}, which is not an Iceberg table, seen at 2026-" in message
    assert code_of(world) is SkipCode.UNSAFE


def test_a_table_that_is_none_of_icebergs_and_lies_beside_keeps_nobody_from_looking() -> None:
    world = old_enough()
    world.catalog.put_foreign(RAW, f"{PLACE}_raw")
    assert world.begin().state is JobState.RUNNING


def test_what_moved_away_is_looked_for_again_after_a_week() -> None:
    world = old_enough()
    world.catalog.put_foreign(RAW, f"{PLACE}/raw")
    cancelled(world)
    world.catalog.put_foreign(RAW, "file:///warehouse/sales/raw")
    world.clock.advance(6 * DAY)
    assert submit(world.ports) == 0
    plan(world.ports)
    assert code_of(world) is SkipCode.UNSAFE
    world.clock.advance(DAY)
    assert world.begin().state is JobState.RUNNING


def test_guard_1_a_table_that_is_none_of_icebergs_is_seen_right_before_a_removal() -> None:
    world = approved()
    world.catalog.put_foreign(RAW, f"{PLACE}/data/raw")
    assert f"of table {RAW}" in cancelled(world)


def test_files_in_quarantine_come_back_beside_any_other_table() -> None:
    world = approved_with_quarantine()
    job = world.begin()
    move(world, job)
    assert settle(world, job).state is JobState.SUCCEEDED
    world.catalog.put_foreign(RAW, f"{PLACE}/data/raw")
    restore_list(world.ports, TABLE, the_list(world).list_id, "ada")
    assert world.begin().state is JobState.RUNNING


def test_guard_1_where_it_is_not_known_what_else_there_is_nothing_is_looked_for() -> None:
    world = old_enough()
    plan(world.ports)
    world.catalog.fail_namespace(("broken",), "no listing today")
    assert submit(world.ports) == 0
    job = world.store.jobs(JobQuery()).items[0]
    assert (job.state, job.failure_reason) == (JobState.FAILED, FailureReason.TABLE_CHANGED)
    assert job.failure_message == "the other files in the location are unknown: no listing today"


def test_guard_1_a_table_that_moved_since_the_last_scan_is_seen_right_before_a_removal() -> None:
    world, neighbour = with_neighbour()
    settle_at(world, neighbour, f"{PLACE}/data/inner", "metadata/2.json")
    where = "/warehouse/sales/orders/data/inner/"
    assert refused(world) == (
        f"table {neighbour} has moved to {where} since it was measured: locations are "
        f"checked again first"
    )
    world.clock.advance(2 * HOUR)
    plan(world.ports)
    assert code_of(world) is SkipCode.UNSAFE, "it is known now"


def test_a_table_that_changed_and_stayed_where_it_was_is_not_read_for_a_removal() -> None:
    world, neighbour = with_neighbour()
    settle_at(world, neighbour, "file:///warehouse/sales/neighbour", "metadata/2.json")
    before = measured_at(world, neighbour)
    assert world.begin().state is JobState.RUNNING
    assert measured_at(world, neighbour) == before


def test_a_table_whose_metadata_lies_elsewhere_than_the_table_is_read_and_found_where_it_was() -> (
    None
):
    world, neighbour = with_neighbour()
    world.replace(replace(world.look(neighbour), metadata_location="file:///elsewhere/2.json"))
    before = measured_at(world, neighbour)
    assert world.begin().state is JobState.RUNNING
    assert measured_at(world, neighbour) > before


def test_no_more_tables_are_read_for_a_removal_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(location_check, "MAX_MEASURED", 1)
    world, neighbour = with_neighbour()
    for name in (neighbour.name, "other"):
        if name == "other":
            settle_at(world, world.put(name), "file:///warehouse/sales/other")
            scan(world.ports)
    for name in (neighbour.name, "other"):
        world.replace(
            replace(
                world.look(replace(TABLE, name=name)), metadata_location="file:///elsewhere/2.json"
            )
        )
    world.clock.advance(location_check.ANSWER_VALID_FOR)
    assert (
        refused(world)
        == "more than 1 tables are new or may have moved: locations are checked again first"
    )


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (FaultKind.ACCESS_DENIED, "the other files in the location are unknown: 403"),
        (FaultKind.DROPPED, None),
    ],
)
def test_guard_1_a_table_that_does_not_say_where_it_lies_stops_a_removal(
    kind: FaultKind, message: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = approved()

    def answer(*_: object, **__: object) -> Iterator[TableFault]:
        yield TableFault(replace(TABLE, name="shy"), kind, "403", NOW)

    monkeypatch.setattr(world.catalog, "poll", answer)
    if message is None:
        assert world.begin().state is JobState.RUNNING
    else:
        assert refused(world) == message


def test_a_new_table_that_cannot_be_read_stops_a_removal() -> None:
    world = approved()
    world.catalog.put(TableFault(replace(TABLE, name="shy"), FaultKind.ACCESS_DENIED, "403", NOW))
    assert refused(world) == (
        "the location of table lake.sales.shy is unknown: 403: locations are checked again first"
    )
