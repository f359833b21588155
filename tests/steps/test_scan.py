from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.errors import InvalidValueError, StoreUnavailableError, UnknownTableError
from maintainer.domain.health import Band, Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault, Unreadable
from maintainer.domain.notice import NoticeKind
from maintainer.domain.units import MIB
from maintainer.steps.prune import KEEP_READINGS, prune
from maintainer.steps.scan import ScannedTable, scan, scan_tables
from maintainer.steps.table import Measured, measure_table
from tests.samples import NOW
from tests.steps.world import World, layer


def test_every_table_is_measured_graded_and_recorded() -> None:
    world = World()
    world.put("orders")
    world.put("events", small_files=3)
    result = scan(world.ports)
    assert (result.measured, result.faults) == (2, [])
    bands = {
        str(name): record.grade.band
        for name in world.store.table_names()
        if (record := world.store.table(name)) and record.grade
    }
    assert bands == {"lake.sales.orders": Band.CRITICAL, "lake.sales.events": Band.HEALTHY}
    overview = world.store.overview()
    assert (overview.data_files, overview.data_bytes) == (63, 63000)


def test_a_scan_adds_the_sums_of_the_fleet_to_its_history() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    scan(world.ports)
    now = world.ports.clock.now()
    (sample,) = world.store.fleet_history("lake", None, now - timedelta(hours=1), now)
    assert sample.counters == world.store.counters("lake")


def test_each_scan_leaves_its_cost_with_its_catalog() -> None:
    world = World()
    world.put("orders", small_files=60, manifests=3)
    world.put("events", small_files=3)
    began = world.ports.clock.now()
    scan(world.ports)
    scan(world.ports)
    world.catalog.fail("connection refused")
    scan(world.ports)
    failed, second, first = world.store.scan_costs()["lake"]
    assert (first.started_at, first.seconds) == (began, 0.0)
    assert (first.measured, first.unchanged, first.faults) == (2, 0, 0)
    assert (first.manifests_read, first.manifests_reused) == (4, 0)
    assert first.bytes_read > 0
    assert (second.measured, second.unchanged, second.bytes_read) == (0, 2, 0)
    assert (failed.measured, failed.unchanged, failed.faults) == (0, 0, 1)
    assert [cost.is_complete for cost in (first, second, failed)] == [True, True, True]


def test_a_manifest_is_read_once_in_its_life() -> None:
    world = World()
    table = world.put("orders", small_files=60, manifests=3)
    assert scan(world.ports).entries_read == 60
    again = measure_table(world.ports, table)
    assert isinstance(again, Measured)
    assert [manifest.entries_read for manifest in again.inventory.manifests] == [0, 0, 0]
    world.commit(
        table,
        manifests=(
            *world.look(table).manifests,
            replace(world.look(table).manifests[0], path="new"),
        ),
    )
    more = scan(world.ports)
    assert (more.entries_read, more.manifests_read, more.manifests_reused) == (20, 1, 3)
    assert (more.bytes_read, more.bytes_reused) == (8000, 24000)


def test_of_a_table_that_is_rolled_back_only_the_manifests_that_come_back_are_read_again() -> None:
    world = World()
    table = world.put("orders", small_files=60, manifests=3)
    before = world.look(table).manifests
    scan(world.ports)
    world.commit(table, manifests=(before[0], replace(before[1], path="rewritten")))
    assert scan(world.ports).manifests_read == 1
    world.commit(table, manifests=before)
    back = scan(world.ports)
    assert (back.manifests_read, back.manifests_reused, back.entries_read) == (2, 1, 40)
    assert world.store.overview().data_files == 60


class KilledError(BaseException):
    """Ends a program wherever it is, as SIGKILL does."""


def test_a_scan_that_is_killed_in_the_middle_of_a_table_is_continued_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    table = world.put("orders", small_files=60, manifests=6)
    monkeypatch.setattr(
        type(world.store), "add_digests", kill_after(2, type(world.store).add_digests)
    )
    with pytest.raises(KilledError):
        scan(world.ports)
    assert (world.store.table_names(), world.store.overview().data_files) == ((), 0), (
        "half a table counts for nothing"
    )
    monkeypatch.undo()
    prune(world.ports, timedelta(days=730), timedelta(days=365))
    result = scan(world.ports)
    assert (
        result.measured,
        result.manifests_read,
        result.manifests_reused,
        result.entries_read,
    ) == (1, 4, 2, 40)
    record = world.store.table(table)
    assert record is not None
    assert record.health is not None
    assert (record.health.data_files, world.store.overview().data_files) == (60, 60)


def kill_after(calls: int, work: Callable[..., None]) -> Callable[..., None]:
    left = [calls]

    def call(*arguments: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError
        work(*arguments)

    return call


def test_what_a_store_cannot_keep_of_half_a_table_is_no_trouble_of_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.put("orders", small_files=60, manifests=6)

    def refuse(*_: object) -> None:
        message = "other writers held it"
        raise StoreUnavailableError(message)

    monkeypatch.setattr(type(world.store), "add_digests", refuse)
    result = scan(world.ports)
    assert (result.measured, result.manifests_read, result.faults) == (1, 6, [])


def test_half_a_table_is_forgotten_when_it_is_not_read_whole_in_a_week(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.put("orders", small_files=60, manifests=6)
    monkeypatch.setattr(
        type(world.store), "add_digests", kill_after(2, type(world.store).add_digests)
    )
    with pytest.raises(KilledError):
        scan(world.ports)
    monkeypatch.undo()
    world.clock.advance(KEEP_READINGS + timedelta(seconds=1))
    assert prune(world.ports, timedelta(days=730), timedelta(days=365))["digests"] == 2
    assert scan(world.ports).manifests_reused == 0


def test_a_broken_table_does_not_stop_the_others() -> None:
    world = World()
    broken = world.put("broken")
    world.put("orders")
    world.catalog.put(TableFault(broken, FaultKind.METADATA_CORRUPT, "not JSON", NOW))
    result = scan(world.ports)
    assert result.measured == 1
    assert [fault.reason for fault in result.faults] == ["not JSON"]
    record = world.store.table(broken)
    assert record is not None
    assert record.fault is not None


def test_an_unreachable_catalog_forgets_nothing() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    world.catalog.fail("connection refused")
    result = scan(world.ports)
    assert [fault.reason for fault in result.faults] == ["connection refused"]
    assert world.store.table(table) is not None
    assert [fault.reason for fault in world.store.catalog_faults()] == ["connection refused"]
    world.catalog.recover()
    scan(world.ports)
    assert world.telemetry.polls[-2:] == [("lake", 1), ("lake", 0)]
    assert list(world.store.catalog_faults()) == []


def test_a_dropped_table_is_forgotten_by_the_next_complete_listing() -> None:
    world = World()
    table = world.put("orders")
    world.put("kept")
    scan(world.ports)
    world.catalog.drop(table)
    scan(world.ports)
    assert world.store.table(table) is None
    assert world.telemetry.gone == [table]
    assert len(world.store.table_names()) == 1


def test_a_table_that_vanishes_between_listing_and_reading_is_no_error() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    world.catalog.drop(table)
    assert isinstance(measure_table(world.ports, table), TableFault)
    assert world.store.table(table) is None


def test_a_scan_that_is_asked_to_stop_forgets_nothing() -> None:
    world = World()
    world.put("a")
    world.put("b")
    scan(world.ports)
    seen: list[ScannedTable] = []
    result = scan(world.ports, seen.append, should_stop=lambda: bool(seen))
    assert (result.unchanged, result.is_complete) == (1, False)
    assert len(world.store.table_names()) == 2


def test_what_was_being_read_when_it_stopped_is_left_for_the_next_scan() -> None:
    world = World()
    world.put("a")
    world.put("b")
    seen: list[ScannedTable] = []
    result = scan(world.ports, seen.append, should_stop=lambda: bool(seen))
    assert (result.measured, result.is_complete) == (1, False)
    assert [table.name for table in world.store.table_names()] == ["a"]
    assert scan(world.ports).measured == 1


def test_named_tables_are_measured_alone() -> None:
    world = World()
    world.put("a")
    table = world.put("b")
    seen: list[ScannedTable] = []
    assert scan_tables(world.ports, [table], seen.append).measured == 1
    assert [one.health.table for one in seen if isinstance(one, Measured)] == [table]


def test_the_policys_target_decides_what_is_small() -> None:
    world = World()
    world.policies.layers = (
        layer("tables: '*'\ntarget_file_size: 1MiB\nrules: {rewrite_data_files: {}}"),
    )
    measured = measure_table(world.ports, world.put("orders"))
    assert isinstance(measured, Measured)
    assert measured.health.target_file_size_bytes == MIB


def test_a_catalog_that_is_not_configured_is_named() -> None:
    with pytest.raises(
        UnknownTableError, match=r"catalog 'pond' is not configured \(configured: lake\)"
    ):
        measure_table(World().ports, TableIdentifier("pond", ("a",), "b"))


def test_a_table_with_an_unreadable_manifest_is_measured_as_far_as_it_goes() -> None:
    world = World()
    table = world.put("orders")
    world.catalog.put(replace(world.look(table), unreadable=(Unreadable("m2", "truncated"),)))
    measured = measure_table(world.ports, table)
    assert isinstance(measured, Measured)
    assert measured.grade.band is Band.CRITICAL


def test_a_table_that_the_store_cannot_hold_is_a_fault_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.put("absurd")
    world.put("orders")
    keep = world.store.record_health

    def refuse(health: TableHealth, graded: Grade) -> None:
        if health.table.name == "absurd":
            message = "data_bytes 10**40 does not fit"
            raise InvalidValueError(message)
        keep(health, graded)

    monkeypatch.setattr(world.store, "record_health", refuse)
    result = scan(world.ports)
    assert result.measured == 1
    assert [fault.reason for fault in result.faults] == ["data_bytes 10**40 does not fit"]


def test_people_are_notified_a_table_when_it_becomes_critical_and_not_again() -> None:
    world = World()
    table = world.put("orders", small_files=2)
    scan(world.ports)
    assert world.notifier.notices == []
    for _ in range(2):
        world.clock.advance(timedelta(hours=7))
        world.put("orders", small_files=500)
        scan(world.ports)
    [reported] = world.notifier.notices
    assert (reported.kind, reported.subject) == (NoticeKind.TABLE_CRITICAL, str(table))
