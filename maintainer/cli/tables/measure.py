"""Measures tables in the foreground, and reports what was read and reused, with rates and costs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from rich.markup import escape
from rich.progress import (
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from maintainer.adapters.catalog.reader import ReadCount
from maintainer.app import App
from maintainer.app.options import scan_options
from maintainer.cli.output import show
from maintainer.cli.output.console import make_console, say
from maintainer.cli.output.rows import Rows
from maintainer.cli.tables.choose import choose_tables, find_known, refuse_unknown
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.units import format_count, format_size
from maintainer.steps.scan import ScannedTable, ScanResult, scan, scan_tables
from maintainer.steps.table import Measured

LEAST_SECONDS: Final = 0.001  # the shortest time from which a rate is computed


def measure_tables(
    app: App, names: list[str] | None, *, is_deep: bool = False
) -> tuple[list[ScannedTable], bool]:
    """Measure the named tables, or else the changed tables, and print rates on standard error.

    The bool is False if a catalog or namespace could not be listed.
    """
    scanned: list[ScannedTable] = []
    choice = choose_tables(app.ports, names) if names else None
    started = time.monotonic()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        ReadingColumn(app.read),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=make_console(is_error=True), transient=True) as progress:
        task = progress.add_task("measuring", total=None)

        def note(one: ScannedTable) -> None:
            if not (isinstance(one, TableFault) and one.kind is FaultKind.VIEW):
                scanned.append(one)
            rate = len(scanned) / max(time.monotonic() - started, LEAST_SECONDS)
            verb = "measured" if isinstance(one, Measured) else "seen"
            progress.update(
                task,
                advance=1,
                description=f"{rate:,.0f} tables/s, {verb} {escape(str(_name(one)))}",
            )

        if choice is not None:
            known = find_known(app.ports, choice.tables)
            result = scan_tables(
                app.ports, choice.tables, note, scan_options(app.settings, is_deep=is_deep)
            )
            refuse_unknown(app.ports, names or [], scanned, known)
            is_whole = choice.is_whole
        else:
            result = scan(app.ports, note, options=scan_options(app.settings, is_deep=is_deep))
            is_whole = _say_unlisted(result)
    scanned.sort(key=_name)  # the results arrive in any order
    say(scan_sentence(result, time.monotonic() - started))
    return scanned, is_whole


class ReadingColumn(ProgressColumn):
    """Shows how much was read so far; the number also grows while one huge table is measured."""

    def __init__(self, read: ReadCount) -> None:
        super().__init__()
        self._read = read

    def render(self, task: Task) -> Text:
        """Return the amount and the rate since the task began; empty before the first manifest."""
        if self._read.manifests == 0:
            return Text("")
        rate = self._read.entries / max(task.elapsed or 0.0, LEAST_SECONDS)
        return Text(
            f"{self._read.manifests:,} manifests, {self._read.entries:,} entries read "
            f"({rate:,.0f}/s)"
        )


def _name(one: ScannedTable) -> TableIdentifier:
    return one.table if isinstance(one, TableFault) else one.health.table


def _say_unlisted(result: ScanResult) -> bool:
    unlisted = [fault for fault in result.faults if not isinstance(fault, TableFault)]
    for fault in unlisted:
        where = ".".join((fault.catalog, *fault.namespace))
        say(f"warning: {where} could not be listed: {fault.reason}")
    return not unlisted


def cost_json(scanned: ScannedTable) -> dict[str, object]:
    """Return the cost of measuring a table; for an unchanged table only that it is unchanged."""
    if not isinstance(scanned, Measured):
        return {"cost": None if isinstance(scanned, TableFault) else {"is_unchanged": True}}
    read = [manifest for manifest in scanned.inventory.manifests if manifest.entries_read > 0]
    return {
        "cost": {
            "is_unchanged": False,
            "seconds": scanned.seconds,
            "metadata_bytes": scanned.inventory.metadata_bytes,
            "manifests_read": len(read),
            "manifest_bytes_read": sum(manifest.length_bytes for manifest in read),
            "entries_read": sum(manifest.entries_read for manifest in read),
            "manifests_reused": len(scanned.inventory.manifests) - len(read),
        }
    }


def cost_table(scanned: Sequence[ScannedTable]) -> Rows:
    """Return a row for each table: what was read, what was known, and how long measuring took."""
    numbers = ("ms", "metadata", "manifests read", "bytes", "entries", "manifests reused")
    table = Rows(("table", "state", *numbers), right=numbers)
    for one in scanned:
        if not isinstance(one, Measured):
            name, state = (
                (one.table, one.kind.value)
                if isinstance(one, TableFault)
                else (one.health.table, "unchanged")
            )
            table.add_row(str(name), state, *["-"] * len(numbers))
            continue
        read = [manifest for manifest in one.inventory.manifests if manifest.entries_read > 0]
        table.add_row(
            str(one.health.table), "measured", show.write_count(one.seconds * 1000),
            show.write_size(one.inventory.metadata_bytes), show.write_count(len(read)),
            show.write_size(sum(manifest.length_bytes for manifest in read)),
            show.write_count(sum(manifest.entries_read for manifest in read)),
            show.write_count(len(one.inventory.manifests) - len(read)),
        )  # fmt: skip
    return table


def scan_sentence(result: ScanResult, seconds: float) -> str:
    """Describe what was read and what was reused, with rates."""
    tables = result.measured + result.unchanged
    seconds = max(seconds, LEAST_SECONDS)
    unchanged = f", {result.unchanged:,} unchanged" if result.unchanged else ""
    measured = (
        f"{format_count(result.measured, 'table')} measured{unchanged} in {seconds:.1f} s "
        f"({tables / seconds:,.0f} tables/s, {result.entries_read / seconds:,.0f} entries/s)"
    )
    if not result.manifests_read:
        reused = format_count(result.manifests_reused, "manifest")
        return f"{measured}; {reused} known from earlier scans, none read"
    return (
        f"{measured}; read {format_count(result.manifests_read, 'manifest')} "
        f"({format_size(result.bytes_read)}, {result.entries_read:,} entries), "
        f"reused {result.manifests_reused:,} ({format_size(result.bytes_reused)})"
    )
