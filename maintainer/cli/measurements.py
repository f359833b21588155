"""`maintainer measurement`: query timings, which replace the estimated cost of small files."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer
from rich.text import Text

from maintainer.cli.console import OutputFormat, command, print_json, print_list, say
from maintainer.cli.rows import Rows
from maintainer.cli.show import write_count, write_size, write_time
from maintainer.cli.state import Config, Format, TableName, load, open_app
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.timing import QueryTiming
from maintainer.steps.timing import note_timing

measurement_app = typer.Typer(
    help="Your own query times: they replace the estimate of what small files cost.",
    no_args_is_help=True,
)

MOST_LISTED = 200


@measurement_app.command("add")
@command
def add_measurement(  # noqa: PLR0913, PLR0917 - options are arguments, given by name
    table: TableName,
    name: Annotated[
        str,
        typer.Option(
            "--name", help="What you call the query; its runs are compared with each other."
        ),
    ],
    seconds: Annotated[float, typer.Option("--seconds", help="How long it took.")],
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="TIME", help="When it ran, RFC 3339 with a zone; now when left out."
        ),
    ] = None,
    cost: Annotated[
        float | None, typer.Option("--cost", help="What it cost, in your own currency.")
    ] = None,
    config: Config = None,
) -> None:
    """Keep how long a query on the table took, beside how the table's files were at that time."""
    identifier = TableIdentifier.parse(table)
    with open_app(load(config)) as app:
        now = app.ports.clock.now()
        noted = note_timing(
            app.ports.store,
            identifier,
            QueryTiming(name, seconds, now if at is None else _parse_time(at), cost=cost),
            now,
        )
    average = noted.average_file_size_bytes
    files = (
        "no history of the table reaches there"
        if average is None
        else f"files of {write_size(average)} on average"
    )
    say(f"{noted.name} took {noted.seconds:g} s at {write_time(noted.at)}: {files}")


def _parse_time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        message = f"--at {text!r} is no time; write it as 2026-03-04T12:00:00Z"
        raise InvalidValueError(message) from error
    if moment.tzinfo is None:
        message = f"--at {text!r} has no zone; write it as 2026-03-04T12:00:00Z"
        raise InvalidValueError(message)
    return moment


@measurement_app.command("list")
@command
def list_measurements(
    table: TableName, output: Format = OutputFormat.TABLE, config: Config = None
) -> None:
    """List what was measured on a table, newest first."""
    with open_app(load(config)) as app:
        page = app.ports.store.timings(TableIdentifier.parse(table), MOST_LISTED)
    if output is OutputFormat.JSON:
        names = ("name", "seconds", "data_files", "average_file_size_bytes", "cost")
        print_json(
            [
                {**{name: getattr(timing, name) for name in names}, "at": write_time(timing.at)}
                for timing in page.items
            ]
        )
        return
    shown = Rows(
        ("at", "query", "seconds", "files", "avg file", "cost"),
        right=("seconds", "files", "avg file", "cost"),
    )
    for timing in page.items:
        cost = "-" if timing.cost is None else f"{timing.cost:g}"
        figures = (
            f"{timing.seconds:g}",
            write_count(timing.data_files),
            write_size(timing.average_file_size_bytes),
            cost,
        )
        shown.add_row(write_time(timing.at), Text(timing.name), *figures)
    print_list(shown)
    if page.next_cursor is not None:
        say(f"the newest {MOST_LISTED} of {page.total}")
