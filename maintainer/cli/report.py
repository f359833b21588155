"""`maintainer report`: what small files cost, by namespace, and what to compact first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maintainer.cli.console import OutputFormat, command, print_json, print_list, say
from maintainer.cli.rows import Rows
from maintainer.cli.state import Config, Format, load, open_app
from maintainer.domain.health import TableHealth
from maintainer.domain.units import format_count, format_duration, format_size
from maintainer.measure.impact import StorageProfile
from maintainer.measure.report import (
    PARALLEL,
    SMALL_BOUNDS_BYTES,
    Report,
    ReportLine,
    build_report,
)
from maintainer.ports.store.pages import MAX_PAGE
from maintainer.ports.store.tables import TableQuery

if TYPE_CHECKING:
    from maintainer.ports.store import Store

_COLUMNS = (
    "name", "tables", "files", "average",
    *(f"<{format_size(bound).replace(' ', '')}" for bound in SMALL_BOUNDS_BYTES),
    "slower", "requests", "avoidable",
)  # fmt: skip


@command
def report(
    to: Annotated[
        StorageProfile | None,
        typer.Option(
            help="Estimate as if all tables were on this kind of storage (default: the setting "
            "impact.profile, else each table's location)."
        ),
    ] = None,
    scans_per_day: Annotated[
        float, typer.Option(help="How often a day each table is read as a whole.")
    ] = 1.0,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Report what small files cost by namespace, and which tables to compact first."""
    from maintainer.app.options import make_impact_model  # noqa: PLC0415 - as in scan

    with open_app(load(config)) as app:
        model = make_impact_model(app.settings.impact)
        if to is not None:
            model = replace(model, profile=to)
        found = build_report(_read(app.ports.store), model, scans_per_day)
    if output is OutputFormat.JSON:
        print_json(report_json(found))
        return
    _print(found)


def _read(store: Store) -> Iterator[TableHealth]:
    """Read the latest health of all tables, page by page."""
    query = TableQuery(limit=MAX_PAGE)
    while True:
        page = store.tables(query)
        yield from (record.health for record in page.items if record.health is not None)
        if page.next_cursor is None:
            return
        query = replace(query, cursor=page.next_cursor)


def _print(found: Report) -> None:
    if found.total is None:
        say("No measured table has data files. `maintainer scan` measures the tables.")
        return
    for title, lines in (
        ("By namespace", (*found.namespaces, found.total)),
        ("Compact first", found.first),
    ):
        if not lines:
            continue
        typer.echo(f"{title}:")
        rows = Rows(_COLUMNS, right=_COLUMNS[1:], alone="name", optional=("tables",))
        for line in lines:
            rows.add_row(*_cells(line))
        print_list(rows)
        typer.echo()
    for sentence in describe(found):
        typer.echo(sentence)


def _cells(line: ReportLine) -> tuple[str, ...]:
    return (
        line.name,
        f"{line.tables:,}",
        f"{line.files:,}",
        format_size(line.average_file_size_bytes),
        *(f"{share:.0%}" for share in line.shares_under),
        f"{line.slowdown_low:.1f}-{line.slowdown_high:.1f}x",
        f"{line.requests:,}",
        f"{line.requests_saved:,}",
    )


def describe(found: Report) -> Iterator[str]:
    """The sentences below the lists: requests and money a day, round trips, sources."""
    total = found.total
    if total is None:
        return
    money = found.cost_per_day(total.requests)
    saved = found.cost_per_day(total.requests_saved)
    yield (
        f"Requests a day (scans of each table a day: {found.scans_per_day:g}): "
        f"{found.requests_per_day(total.requests):,.0f}, of which files of the target size would "
        f"avoid {found.requests_per_day(total.requests_saved):,.0f}."
    )
    if money is not None and saved is not None:
        yield f"Cost of these requests a day: {money:,.3g}, of which {saved:,.3g} is avoidable."
    waits = " and ".join(
        f"{_write_seconds(found.wait_seconds(total.requests, parallel))} with {parallel} in "
        f"parallel"
        for parallel in PARALLEL
    )
    milliseconds = found.round_trip.total_seconds() * 1000
    yield f"Round trips of one scan of each table, {milliseconds:g} ms each: {waits}."
    if found.left_out:
        yield f"{format_count(found.left_out, 'table')} without readable data files left out."
    yield f"Slower: estimated query time against files of about 130 MB on {_name(found)}."
    yield from found.sources


def _name(found: Report) -> str:
    return " and ".join(found.profiles).replace("_", " ")


def _write_seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 1 else format_duration(timedelta(seconds=seconds))


def report_json(found: Report) -> dict[str, Any]:
    """The report with all derived figures, in bytes, seconds and requests."""
    return {
        "total": None if found.total is None else _line_json(found, found.total),
        "namespaces": [_line_json(found, line) for line in found.namespaces],
        "first": [_line_json(found, line) for line in found.first],
        "left_out": found.left_out,
        "profiles": list(found.profiles),
        "sources": list(found.sources),
        "scans_per_day": found.scans_per_day,
    }


def _line_json(found: Report, line: ReportLine) -> dict[str, Any]:
    return asdict(line) | {
        "files_under": dict(zip(map(str, SMALL_BOUNDS_BYTES), line.files_under, strict=True)),
        "average_file_size_bytes": line.average_file_size_bytes,
        "requests_saved": line.requests_saved,
        "requests_per_day": found.requests_per_day(line.requests),
        "cost_per_day": found.cost_per_day(line.requests),
        "round_trip_seconds": {
            str(parallel): found.wait_seconds(line.requests, parallel) for parallel in PARALLEL
        },
    }
