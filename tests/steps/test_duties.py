"""Scans and plans of a replica that has no duty, or loses it while it works or is frozen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.catalog import Taken
from maintainer.steps.plan import plan
from maintainer.steps.scan import ScannedTable, scan
from tests.steps.world import World


@pytest.fixture
def world() -> World:
    made = World()
    made.put("a")
    return made


def test_a_catalog_of_another_replica_is_not_asked(world: World) -> None:
    result = scan(world.ports, is_ours=lambda _catalog: False)
    assert (result.measured, result.is_complete) == (0, True)
    assert (world.catalog.polled, world.telemetry.scans) == ({}, [])


def test_a_replica_that_has_lost_the_catalog_forgets_nothing_by_its_old_listing(
    world: World,
) -> None:
    seen: list[ScannedTable] = []

    def go_on(scanned: ScannedTable) -> None:
        """The other replica has the catalog now, and finds a new table."""
        world.put("b")
        scan(world.ports)
        seen.append(scanned)

    result = scan(world.ports, go_on, is_ours=lambda _catalog: not seen)
    assert not result.is_complete
    assert [table.name for table in world.store.table_names()] == ["a", "b"]


def test_what_a_frozen_replica_stores_late_is_measured_again_by_the_next_scan(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (table,) = world.catalog.tables()
    assert isinstance(table, TableIdentifier)
    inventories = world.catalog.inventories
    old = world.look(table)
    new = replace(old, metadata_location="a/2.json", manifests=())

    def freeze(*arguments: Any, **named: Any) -> Iterator[Taken]:
        """Between the reading of the table and its record the other replica does both."""
        for taken in inventories(*arguments, **named):
            monkeypatch.undo()
            world.replace(new)
            scan(world.ports)
            assert measured_files(world, table) == 0
            yield taken

    monkeypatch.setattr(world.catalog, "inventories", freeze)
    scan(world.ports)
    assert measured_files(world, table) == 60, "by the old metadata"
    assert scan(world.ports).measured == 1
    assert measured_files(world, table) == 0


def measured_files(world: World, table: TableIdentifier) -> int | None:
    record = world.store.table(table)
    assert record is not None
    assert record.health is not None
    return record.health.data_files


def test_only_tables_of_our_catalogs_are_planned(world: World) -> None:
    scan(world.ports)
    assert plan(world.ports, lambda _catalog: False) == 0
    assert (world.store.plans(), world.store.policy_versions(1).items) == ((), ())
    assert plan(world.ports) == 1


def test_a_replica_that_has_lost_the_catalog_plans_no_further_table(world: World) -> None:
    world.put("b")
    scan(world.ports)
    assert plan(world.ports, lambda _catalog: not world.store.plans()) == 1
    assert plan(world.ports) == 1
