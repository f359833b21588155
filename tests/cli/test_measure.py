from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from types import SimpleNamespace
from typing import cast

import pytest
from rich.console import Console
from rich.progress import Progress, Task, TaskID

from maintainer.adapters.catalog.reader import ReadCount
from maintainer.app import App
from maintainer.cli.output import console
from maintainer.cli.tables import measure
from maintainer.cli.tables.measure import (
    ReadingColumn,
    cost_json,
    cost_table,
    measure_tables,
    scan_sentence,
)
from maintainer.domain.errors import UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault, TableInventory
from maintainer.domain.units import MIB, format_size
from maintainer.ports.catalog import KnownDigests, TargetOf
from maintainer.settings import ScanSettings
from maintainer.steps.scan import ScannedTable, ScanResult
from tests.samples import NOW
from tests.steps.world import World


def named(name: str) -> TableIdentifier:
    return TableIdentifier("lake", ("sales",), name)


def app_of(world: World, read: ReadCount | None = None) -> App:
    return cast(
        "App",
        SimpleNamespace(
            ports=world.ports,
            settings=SimpleNamespace(scan=ScanSettings(rechecks=0)),
            read=read or ReadCount(),
        ),
    )


def write_table(scanned: Sequence[ScannedTable]) -> list[list[str]]:
    """The rows of the table of costs as words, its heading first."""
    screen = Console(file=StringIO(), width=200)
    screen.print(cost_table(scanned))
    return [line.split() for line in cast("StringIO", screen.file).getvalue().splitlines()]


@pytest.fixture
def world() -> World:
    made = World()
    made.put("orders", small_files=60, manifests=3)
    made.put("events", small_files=10)
    return made


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What a terminal would have been sent."""
    stream = StringIO()

    def make_console(*, is_error: bool = False) -> Console:
        assert is_error, "results go to standard output, and nothing else does"
        return Console(file=stream, force_terminal=True, width=200, highlight=False)

    for module in (measure, console):
        monkeypatch.setattr(module, "make_console", make_console)
    return stream


def test_the_sentence_tells_what_was_read_and_what_was_not_with_the_rates() -> None:
    result = ScanResult(
        measured=1_200,
        unchanged=98_800,
        entries_read=5_000_000,
        manifests_read=400,
        manifests_reused=3_600,
    )
    result.bytes_read, result.bytes_reused = 40 * MIB, 360 * MIB
    assert scan_sentence(result, 50.0) == (
        "1,200 tables measured, 98,800 unchanged in 50.0 s (2,000 tables/s, 100,000 entries/s); "
        "read 400 manifests (40 MiB, 5,000,000 entries), reused 3,600 (360 MiB)"
    )


def test_a_scan_that_took_no_time_has_a_sentence_too() -> None:
    assert scan_sentence(ScanResult(), 0.0) == (
        "0 tables measured in 0.0 s (0 tables/s, 0 entries/s); 0 manifests known from earlier "
        "scans, none read"
    )


def test_each_table_says_what_it_cost(world: World) -> None:
    first, _ = measure_tables(app_of(world), None)
    events, orders = (cast("dict[str, object]", cost_json(one)["cost"]) for one in first)
    assert (
        orders["is_unchanged"],
        orders["manifests_read"],
        orders["entries_read"],
        orders["manifests_reused"],
    ) == (False, 3, 60, 0)
    assert (events["manifests_read"], events["entries_read"], events["manifest_bytes_read"]) == (
        1,
        10,
        8000,
    )


def test_the_table_of_costs_has_a_row_for_each_table_read_reused_unchanged_or_broken(
    world: World,
) -> None:
    measure_tables(app_of(world), None)
    world.commit(named("orders"))
    world.put("broken")
    world.catalog.put(TableFault(named("broken"), FaultKind.METADATA_CORRUPT, "not JSON", NOW))
    scanned, _ = measure_tables(app_of(world), None)
    heading, broken, events, orders = write_table(scanned)
    assert heading == [
        "table",
        "state",
        "ms",
        "metadata",
        "manifests",
        "read",
        "bytes",
        "entries",
        "manifests",
        "reused",
    ]
    assert broken == ["lake.sales.broken", "metadata_corrupt", *["-"] * 6]
    assert events == ["lake.sales.events", "unchanged", *["-"] * 6]
    assert orders[:2] == ["lake.sales.orders", "measured"]
    assert orders[-5:] == ["0", "0", "B", "0", "3"], "its manifests were all known"
    deep, _ = measure_tables(app_of(world), None, is_deep=True)
    assert write_table(deep)[3][-5:] == ["3", *format_size(3 * 8000).split(), "60", "0"]


def test_tables_are_returned_by_name_and_a_view_is_none(world: World, screen: StringIO) -> None:
    world.catalog.put(
        TableFault(named("a_view"), FaultKind.VIEW, "the catalog lists it as a view", NOW)
    )
    scanned, is_whole = measure_tables(
        app_of(world), ["lake.sales.orders", "lake.sales.a_view", "lake.sales.events"]
    )
    assert [measure._name(one).name for one in scanned] == ["events", "orders"]
    assert is_whole
    assert "2 tables measured in" in screen.getvalue()


def test_a_namespace_that_cannot_be_listed_is_said_and_the_rest_is_measured(
    world: World, screen: StringIO
) -> None:
    world.catalog.fail_namespace(("other",), "not for you")
    scanned, is_whole = measure_tables(app_of(world), None)
    assert (len(scanned), is_whole) == (2, False)
    assert "warning: lake.other could not be listed: not for you" in screen.getvalue()


def test_a_table_that_is_not_there_is_refused(world: World) -> None:
    with pytest.raises(UnknownTableError, match=r"table lake\.sales\.ordres does not exist"):
        measure_tables(app_of(world), ["lake.sales.ordres"])


def test_progress_names_tables_as_they_come_with_their_rate(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[str] = []
    original = Progress.update

    def update(self: Progress, task: int, **changes: object) -> None:
        reported.append(str(changes["description"]))
        original(self, task, **changes)  # type: ignore[arg-type]  # rich's own names

    monkeypatch.setattr(Progress, "update", update)
    measure_tables(app_of(world), None)
    measure_tables(app_of(world), None)
    assert [words.partition(" tables/s, ")[2] for words in reported] == [
        (
            "measured "
            "lake.sales.events"
        ), (
            "measured "
            "lake.sales.orders"
        ), (
            "seen "
            "lake.sales.events"
        ), (
            "seen "
            "lake.sales.orders"
        ),
    ]  # fmt: skip
    assert all(words.partition(" ")[0].replace(",", "").isdigit() for words in reported)


def test_entries_move_while_one_huge_table_is_measured(
    screen: StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, read, seen = World(), ReadCount(), list[str]()
    world.put("huge")
    shown: list[Progress] = []
    start, read_table = Progress.start, world.catalog.inventory

    def note(progress: Progress) -> None:
        shown.append(progress)
        start(progress)

    def read_slowly(
        table: TableIdentifier, target_of: TargetOf, known: KnownDigests
    ) -> TableInventory | TableFault:
        for _ in range(2):
            read.manifests += 1_500
            read.entries += 2_000_000
            screen.truncate(0)
            shown[0].refresh()
            seen.append(screen.getvalue())
        return read_table(table, target_of, known)

    monkeypatch.setattr(Progress, "start", note)
    monkeypatch.setattr(world.catalog, "inventory", read_slowly)
    measure_tables(app_of(world, read), None)
    assert len(seen) == 2
    assert "1,500 manifests, 2,000,000 entries read" in seen[0]
    assert "3,000 manifests, 4,000,000 entries read" in seen[1]


def test_nothing_is_said_of_manifests_before_there_is_one_and_then_with_a_rate() -> None:
    read = ReadCount()
    task = Task(TaskID(0), "", None, 0, _get_time=lambda: 12.0)
    task.start_time = 10.0
    column = ReadingColumn(read)
    assert column.render(task).plain == ""
    read.manifests, read.entries = 40, 90_000
    assert column.render(task).plain == "40 manifests, 90,000 entries read (45,000/s)"
