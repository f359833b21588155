"""`maintainer report`: what small files cost, and the jobs until a table is healthy."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from maintainer.cli.output.console import OutputFormat, print_json, print_list, say
from maintainer.cli.output.policy_warnings import warn_of_policies
from maintainer.cli.output.rows import Rows
from maintainer.cli.state import Config, Format, load, open_app
from maintainer.cli.tables.choose import measure_named
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.units import format_instant, format_number, format_size
from maintainer.measure.impact import StorageProfile
from maintainer.measure.name_node import NameService
from maintainer.measure.report import (
    PARALLEL,
    SMALL_BOUNDS_BYTES,
    Report,
    ReportLine,
    describe,
)
from maintainer.ports.store.tables import TableRecord
from maintainer.requests import preview as rescue_requests
from maintainer.requests.preview import ReportQuestion, report_small_files

_COLUMNS = (
    "name", "tables", "files", "average",
    *(f"<{format_size(bound).replace(' ', '')}" for bound in SMALL_BOUNDS_BYTES),
    "slower", "requests", "avoidable",
)  # fmt: skip
_STEP_COLUMNS = ("rule", "ends", "GB-hours", "band", "files", "average", "manifests", "snapshots")


def report(
    to: Annotated[
        StorageProfile | None,
        typer.Option(
            help="Estimate as if all tables were on this kind of storage (default: the setting "
            "storage.profile of its catalog or impact.profile, else each table's location)."
        ),
    ] = None,
    scans_per_day: Annotated[float, typer.Option(help="Full reads of each table in a day.")] = 1.0,
    rescue: Annotated[
        str | None,
        typer.Option(
            help="Print the jobs, days and GB-hours until this table is healthy instead.",
            metavar="TABLE",
        ),
    ] = None,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Report what small files cost by namespace, and which tables to compact first."""
    if rescue is not None:
        _report_rescue(rescue, output, config)
        return
    from maintainer.app.options import make_impact_models  # noqa: PLC0415 - as in scan

    with open_app(load(config)) as app:
        models = make_impact_models(app.settings)
        asked = ReportQuestion(storage=to, scans_per_day=scans_per_day)
        found = report_small_files(app.ports.store, models, asked)
        warn_of_policies(app.ports)
    if output is OutputFormat.JSON:
        print_json(report_json(found))
        return
    _print(found)


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


def report_json(found: Report) -> dict[str, Any]:
    """Return the report with all derived figures, in bytes, seconds and requests."""
    return {
        "total": None if found.total is None else _line_json(found, found.total),
        "namespaces": [_line_json(found, line) for line in found.namespaces],
        "first": [_line_json(found, line) for line in found.first],
        "left_out": found.left_out,
        "profiles": list(found.profiles),
        "sources": list(found.sources),
        "scans_per_day": found.scans_per_day,
        "name_services": [_service_json(service) for service in found.name_services],
    }


def _service_json(service: NameService) -> dict[str, Any]:
    load = service.load
    return asdict(service) | {
        "load": asdict(load)
        | {
            "objects": load.objects,
            "heap_bytes": load.heap_bytes,
            "heap_bytes_with_snapshots": load.heap_bytes_with_snapshots,
        }
    }


def _line_json(found: Report, line: ReportLine) -> dict[str, Any]:
    return asdict(line) | {
        "files_under": dict(zip(map(str, SMALL_BOUNDS_BYTES), line.files_under, strict=True)),
        "average_file_size_bytes": line.average_file_size_bytes,
        "requests_saved": line.requests_saved,
        "requests_saved_by_layout": line.requests_saved_by_layout,
        "requests_per_day": found.requests_per_day(line.requests),
        "cost_per_day": found.cost_per_day(line),
        "round_trip_seconds": {
            str(parallel): line.wait_seconds / parallel for parallel in PARALLEL
        },
    }


def _report_rescue(table: str, output: OutputFormat, config: Path | None) -> None:
    """Measure a table now and print its rescue plan."""
    with open_app(load(config)) as app:
        name = TableIdentifier.parse(table)
        health = measure_named(app.ports, name).health
        record = app.ports.store.table(name) or TableRecord(name, health.measured_at)
        found = rescue_requests.rescue(app.ports, record, health)
    if output is OutputFormat.JSON:
        from maintainer.api.rescue import RescuePlanOut  # noqa: PLC0415 - imports the server

        print_json(RescuePlanOut.model_validate(found).model_dump(mode="json"))
        return
    if found.steps:
        rows = Rows(_STEP_COLUMNS, right=_STEP_COLUMNS[4:])
        for step in found.steps:
            average = step.average_file_size_bytes
            rows.add_row(
                step.rule.value,
                format_instant(step.ends_at),
                f"{step.gb_hours:.3g}",
                step.band.value,
                format_number(step.data_files),
                "" if average is None else format_size(average),
                format_number(step.manifests),
                f"{step.snapshots:,}",
            )
        print_list(rows)
    typer.echo(found.sentence)
