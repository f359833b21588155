"""`maintainer scan` and `check`: measure tables and print their health."""

from __future__ import annotations

from typing import Annotated

import typer

from maintainer.cli.output import show
from maintainer.cli.output.console import EXIT_FAILED, OutputFormat, print_json, print_list, say
from maintainer.cli.output.policy_warnings import warn_of_policies
from maintainer.cli.state import Config, Format, Tables, load, open_app
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import Band
from maintainer.domain.inventory import TableFault
from maintainer.domain.units import format_count

# PLC0415 below: the imports of catalogs, Spark and the server take seconds. The help and the
# shell's completion should not wait for them.


def scan(
    tables: Tables = None,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Read every table and every manifest again, even if unchanged."
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Print the cost of measuring each table instead of its health."
        ),
    ] = False,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Measure the tables that changed, or those named, and print their health."""
    from maintainer.cli.tables.measure import cost_json, cost_table, measure_tables  # noqa: PLC0415

    with open_app(load(config)) as app:
        scanned, is_whole = measure_tables(app, tables, is_deep=deep)
        if output is OutputFormat.JSON:
            print_json(
                [show.scanned_json(one) | (cost_json(one) if explain else {}) for one in scanned]
            )
        else:
            print_list(cost_table(scanned) if explain else show.health_table(scanned))
        warn_of_policies(app.ports)
        if not is_whole or any(isinstance(one, TableFault) for one in scanned):
            raise typer.Exit(EXIT_FAILED)


def check(
    tables: Tables = None,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on", metavar="warning|critical", help="The lowest severity that fails."
        ),
    ] = "critical",
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """For CI and cron: measure; exit 1 if a table is at or above --fail-on, or unreadable."""
    from maintainer.cli.tables.measure import measure_tables  # noqa: PLC0415

    bounds = {"warning": (Band.WATCH, Band.DEGRADED, Band.CRITICAL), "critical": (Band.CRITICAL,)}
    if fail_on not in bounds:
        raise InvalidValueError(f"--fail-on {fail_on!r} is neither warning nor critical")
    with open_app(load(config)) as app:
        scanned, is_whole = measure_tables(app, tables)
        warn_of_policies(app.ports)
    bad = [
        one for one in scanned if isinstance(one, TableFault) or one.grade.band in bounds[fail_on]
    ]
    if output is OutputFormat.JSON:
        print_json([show.scanned_json(one) for one in bad])
    elif bad:
        print_list(show.health_table(bad))
    say(f"{format_count(len(scanned), 'table')} measured, {len(bad)} at {fail_on} or worse")
    if bad or not is_whole:
        raise typer.Exit(EXIT_FAILED)
