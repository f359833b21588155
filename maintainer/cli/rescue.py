"""`maintainer report --rescue`: the jobs until a neglected table is healthy."""

from __future__ import annotations

from pathlib import Path

import typer

from maintainer.cli.choose import measure_named
from maintainer.cli.console import OutputFormat, print_json, print_list
from maintainer.cli.rows import Rows
from maintainer.cli.state import load, open_app
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.units import format_instant, format_number, format_size
from maintainer.ports.store.tables import TableRecord
from maintainer.requests.rescue import rescue

_COLUMNS = ("rule", "ends", "GB-hours", "band", "files", "average", "manifests", "snapshots")


def report_rescue(table: str, output: OutputFormat, config: Path | None) -> None:
    """Measure a table now and print its way back to health."""
    with open_app(load(config)) as app:
        name = TableIdentifier.parse(table)
        health = measure_named(app.ports, name).health
        record = app.ports.store.table(name) or TableRecord(name, health.measured_at)
        found = rescue(app.ports, record, health)
    if output is OutputFormat.JSON:
        from maintainer.api.rescue import RescuePlanOut  # noqa: PLC0415 - imports the server

        print_json(RescuePlanOut.model_validate(found).model_dump(mode="json"))
        return
    if found.steps:
        rows = Rows(_COLUMNS, right=_COLUMNS[4:])
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
