"""A scan beside tables that break or never end, and beside catalogs that hang."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest

from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault, TableInventory
from maintainer.measure.health import measure
from maintainer.ports.catalog import Polled
from maintainer.steps import table as table_step
from maintainer.steps.isolation import in_parallel
from maintainer.steps.scan import ScannedTable, scan
from maintainer.steps.table import Measured
from tests.fakes.adapters.catalog import FakeCatalog
from tests.samples import inventory
from tests.steps.world import World

DEADLINE = 30.0


class UnforeseenError(Exception):
    """A bug that one table brings out."""


def two_tables() -> World:
    world = World()
    world.put("broken")
    world.put("orders")
    return world


def test_a_table_whose_figures_break_the_grading_is_a_fault_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = two_tables()

    def breaks(found: TableInventory) -> TableHealth:
        if found.table.name == "broken":
            raise UnforeseenError(found.table.name)
        return measure(found)

    monkeypatch.setattr(table_step, "measure", breaks)
    reported: list[ScannedTable] = []
    scan(world.ports, reported.append)
    scanned = {
        one.table.name if isinstance(one, TableFault) else one.health.table.name: one
        for one in reported
    }
    assert isinstance(scanned["orders"], Measured)
    fault = scanned["broken"]
    assert isinstance(fault, TableFault)
    assert fault.kind is FaultKind.FAILED


def test_a_stop_ends_the_grading_of_a_table_which_is_measured_by_the_next_scan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = two_tables()
    stopping, released = threading.Event(), threading.Event()

    def never_ends(found: TableInventory) -> TableHealth:
        stopping.set()
        while not released.is_set():
            pass
        return measure(found)

    try:
        with monkeypatch.context() as patch:
            patch.setattr(table_step, "measure", never_ends)
            result = scan(world.ports, should_stop=stopping.is_set)
    finally:
        released.set()
    assert (result.is_complete, result.faults, result.measured) == (False, [], 0)
    assert scan(world.ports).measured == 2


def test_a_catalog_that_hangs_delays_no_other() -> None:
    world = two_tables()
    pond, others_are_done = FakeCatalog("pond", world.clock), threading.Event()
    answers = world.catalog.poll

    def wait_for_the_others(
        known: Mapping[TableIdentifier, str], should_stop: Callable[[], bool]
    ) -> Iterator[Polled | TableFault | CatalogFault]:
        assert others_are_done.wait(DEADLINE), "the catalog behind the hanging one was not scanned"
        yield from answers(known, should_stop)

    world.catalog.poll = wait_for_the_others  # type: ignore[method-assign, assignment]
    table = TableIdentifier("pond", ("sales",), "frogs")
    pond.put(replace(inventory(), table=table))

    def note(one: ScannedTable) -> None:
        if isinstance(one, Measured) and one.health.table == table:
            others_are_done.set()

    result = scan(replace(world.ports, catalogs={"lake": world.catalog, "pond": pond}), note)
    assert (result.measured, result.is_complete) == (3, True)


def test_of_several_at_once_the_stores_error_comes_first_and_results_keep_their_order() -> None:
    assert in_parallel([3, 1, 2], lambda number: number * 2) == [6, 2, 4]

    def fail(number: int) -> None:
        message = f"number {number}"
        if number == 3:
            raise StoreUnavailableError(message)
        raise UnforeseenError(message)

    with pytest.raises(StoreUnavailableError, match="number 3"):
        in_parallel([1, 2, 3], fail)
    with pytest.raises(UnforeseenError, match="number 1") as raised:
        in_parallel([1, 2], fail)
    assert raised.value.__notes__ == ["and 1 more of 2 failed"]
