"""A scan measures what has changed, and knows when that is not all."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    CatalogFault,
    FaultKind,
    TableFault,
    TableInventory,
    Unreadable,
)
from maintainer.ports.catalog import KnownDigests, Polled, TargetOf
from maintainer.ports.store.tables import ScanMark
from maintainer.steps.scan import (
    DEFAULT_REMEASURE,
    Recalled,
    ScannedTable,
    ScanOptions,
    scan,
)
from maintainer.steps.table import Measured, measure_table
from tests.samples import NOW
from tests.steps.world import ENFORCE, World, layer


def measured(world: World, options: ScanOptions | None = None) -> list[str]:
    """The names of the tables that a scan measures."""
    seen: list[ScannedTable] = []
    result = scan(world.ports, seen.append, options=options or ScanOptions())
    names = [one.health.table.name for one in seen if isinstance(one, Measured)]
    assert result.measured == len(names)
    assert result.unchanged == sum(isinstance(one, Recalled) for one in seen)
    return names


@pytest.fixture
def world() -> World:
    made = World()
    for name in ("events", "orders"):
        made.put(name)
    assert measured(made) == ["events", "orders"]
    return made


def test_an_unchanged_table_is_not_read_and_keeps_its_health(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.catalog, "inventory", None)
    world.clock.advance(timedelta(minutes=5))
    seen: list[ScannedTable] = []
    result = scan(world.ports, seen.append)
    assert (result.measured, result.unchanged, result.is_complete, result.faults) == (
        0,
        2,
        True,
        [],
    )
    assert [one.health.measured_at for one in seen if isinstance(one, Recalled)] == [NOW, NOW]
    assert len(world.store.table_names()) == 2


def test_only_the_changed_table_is_measured_again(world: World) -> None:
    world.commit(TableIdentifier("lake", ("sales",), "orders"))
    assert measured(world) == ["orders"]
    assert measured(world) == []


def test_the_longest_unmeasured_are_looked_at_all_the_same(world: World) -> None:
    """An unchanged pointer does not tell that the file it points to was deleted."""
    world.put("third")
    assert measured(world) == ["third"]
    world.clock.advance(timedelta(minutes=5))
    one = ScanOptions(rechecks=1)
    rounds = []
    for _ in range(4):
        world.clock.advance(timedelta(minutes=5))
        rounds += measured(world, one)
    assert sorted(rounds[:3]) == ["events", "orders", "third"], "each has its turn"
    assert rounds[3] == rounds[0]
    assert measured(world, ScanOptions(rechecks=100)) == ["events", "orders", "third"]


@pytest.mark.parametrize(("share", "most"), [(0.0, 0), (0.01, 1), (0.5, 1), (0.51, 2), (1.0, 2)])
def test_no_more_than_a_share_of_a_catalog_is_looked_at_all_the_same(
    world: World, share: float, most: int
) -> None:
    assert len(measured(world, ScanOptions(rechecks=100, recheck_share=share))) == most


def test_a_table_is_left_alone_for_a_time_before_it_is_looked_at_all_the_same(world: World) -> None:
    options = ScanOptions(rechecks=100, recheck_after=timedelta(hours=1))
    world.clock.advance(timedelta(minutes=59))
    assert measured(world, options) == []
    world.clock.advance(timedelta(minutes=1))
    assert measured(world, options) == ["events", "orders"]
    assert measured(world, options) == []


@pytest.mark.parametrize("wait", [timedelta(0), DEFAULT_REMEASURE])
def test_the_catalog_is_asked_with_what_is_known_also_about_a_table_that_is_measured_again(
    world: World, wait: timedelta
) -> None:
    world.clock.advance(wait)
    assert measured(world, ScanOptions(rechecks=100)) == ["events", "orders"]
    assert {table.name: token for table, token in world.catalog.polled.items()} == {
        "events": "events/1.json",
        "orders": "orders/1.json",
    }


def test_a_restarted_process_does_not_begin_again(world: World) -> None:
    world.ports = world.restarted()
    assert measured(world) == []


def test_a_deep_scan_reads_every_manifest_of_every_table(world: World) -> None:
    result = scan(world.ports, options=ScanOptions(is_deep=True))
    assert (result.measured, result.entries_read, result.manifests_reused) == (2, 120, 0)
    assert measured(world) == []


def test_a_changed_policy_measures_the_tables_that_it_is_for(world: World) -> None:
    world.policies.layers = (
        layer(ENFORCE),
        layer("tables: lake.sales.orders\ntarget_file_size: 1MiB", "orders.yaml"),
    )
    assert measured(world) == ["orders"]
    assert measured(world) == []


def test_an_unchanged_table_is_measured_again_before_its_time_is_over(world: World) -> None:
    world.clock.advance(DEFAULT_REMEASURE / 2)
    assert measured(world) == []
    world.clock.advance(DEFAULT_REMEASURE / 2)
    assert measured(world) == ["events", "orders"]


def test_a_table_with_a_fault_is_tried_each_time(world: World) -> None:
    table = TableIdentifier("lake", ("sales",), "orders")
    good = world.look(table)
    world.commit(table)
    world.catalog.put(TableFault(table, FaultKind.METADATA_CORRUPT, "not JSON", NOW))
    for _ in range(2):
        assert len(scan(world.ports).faults) == 1
    world.catalog.put(good)
    assert measured(world) == ["orders"]


def test_a_table_that_could_be_read_only_in_part_is_tried_each_time(world: World) -> None:
    table = TableIdentifier("lake", ("sales",), "orders")
    world.commit(table)
    world.catalog.put(replace(world.look(table), unreadable=(Unreadable("m2", "truncated"),)))
    assert measured(world) == ["orders"]
    assert measured(world) == ["orders"]
    world.catalog.put(world.look(table))
    assert measured(world) == ["orders"]
    assert measured(world) == []


def test_a_table_measured_by_another_step_counts_as_changed_once(world: World) -> None:
    table = TableIdentifier("lake", ("sales",), "orders")
    world.commit(table)
    measure_table(world.ports, table)
    assert measured(world) == ["orders"]
    assert measured(world) == []


def test_a_replaced_token_of_the_same_state_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = world.store.table_names()
    monkeypatch.setattr(
        world.catalog,
        "poll",
        lambda _known, _should_stop: iter(
            [Polled(table, "another", is_changed=False) for table in tables]
        ),
    )
    assert measured(world) == []
    assert {mark.token for mark in world.store.marks("lake").values()} == {"another"}


def test_a_listing_with_holes_forgets_nothing_and_measures_the_rest(world: World) -> None:
    world.commit(TableIdentifier("lake", ("sales",), "orders"))
    world.catalog.fail_namespace(("other",), "not for you")
    result = scan(world.ports)
    assert (result.measured, result.unchanged, len(result.faults)) == (1, 1, 1)
    world.catalog.fail_namespace(("sales",), "not for you")
    scan(world.ports)
    assert len(world.store.table_names()) == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "it can be loaded"),
        ("too many requests", "too many requests"),
    ],
)
def test_a_namespace_that_is_listed_empty_by_mistake_is_a_fault_and_forgets_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, answer: str | None, reason: str
) -> None:
    emptied = TableIdentifier("lake", ("other",), "lines")
    copied = world.catalog.inventory(world.put("lines"), lambda *_: 1, lambda *_: {})
    assert isinstance(copied, TableInventory)
    world.catalog.put(replace(copied, table=emptied, table_uuid="another"))
    scan(world.ports)
    before = world.store.table_names()
    every = world.catalog.poll
    monkeypatch.setattr(
        world.catalog,
        "poll",
        lambda *asked: (
            one for one in every(*asked) if isinstance(one, CatalogFault) or one.table != emptied
        ),
    )
    if answer is not None:
        outage = TableFault(emptied, FaultKind.CATALOG_UNAVAILABLE, answer, NOW)
        monkeypatch.setattr(world.catalog, "snapshots", lambda _: outage)
    world.commit(TableIdentifier("lake", ("sales",), "orders"))
    result = scan(world.ports)
    (fault,) = world.store.catalog_faults()
    assert fault.namespace == ("other",)
    assert fault.reason == f"no table of other is listed, but {emptied} is not gone: {reason}"
    assert (result.measured, world.store.table_names()) == (1, before)

    monkeypatch.undo()
    scan(world.ports)
    assert list(world.store.catalog_faults()) == []
    world.catalog.drop(emptied)
    scan(world.ports)
    assert emptied not in world.store.table_names(), "an empty namespace is believed then"


def test_a_table_dropped_between_poll_and_reading_is_forgotten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = TableIdentifier("lake", ("sales",), "orders")
    world.commit(table)
    read = world.catalog.inventory

    def drop_first(
        asked: TableIdentifier, target_of: TargetOf, known: KnownDigests
    ) -> TableInventory | TableFault:
        world.catalog.drop(asked)
        return read(asked, target_of, known)

    monkeypatch.setattr(world.catalog, "inventory", drop_first)
    result = scan(world.ports)
    assert [fault.kind for fault in result.faults if isinstance(fault, TableFault)] == [
        FaultKind.DROPPED
    ]
    assert [name.name for name in world.store.table_names()] == ["events"]


@pytest.mark.parametrize("call", ["record_health", "record_digests", "record_mark"])
def test_a_scan_that_ends_in_the_middle_is_taken_up_by_the_next(
    call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World()
    for name in ("events", "orders"):
        world.put(name)

    def end(*_arguments: object) -> None:
        message = "the process ends here"
        raise StoreUnavailableError(message)

    with monkeypatch.context() as patch:
        patch.setattr(world.store, call, end)
        with pytest.raises(StoreUnavailableError):
            scan(world.ports)
    assert measured(world) == ["events", "orders"]
    assert world.store.overview().data_files == 120
    assert measured(world) == []


def test_a_mark_is_kept_only_of_what_the_measurement_rested_on(world: World) -> None:
    marks = world.store.marks("lake")
    assert {table.name: mark.token for table, mark in marks.items()} == {
        "events": "events/1.json",
        "orders": "orders/1.json",
    }
    assert len({mark.basis for mark in marks.values()}) == 1
    assert all(mark == ScanMark(mark.token, mark.basis, NOW) for mark in marks.values())


def test_a_table_that_was_measured_in_the_future_is_measured_again(world: World) -> None:
    world.clock.advance(-timedelta(minutes=1))
    assert measured(world) == []
    world.clock.advance(-timedelta(hours=2))
    assert measured(world) == ["events", "orders"]
    assert measured(world) == []
