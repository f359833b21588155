"""All commands, in the groups in which the help shows them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from maintainer import __version__
from maintainer.cli import pauses, pins, show
from maintainer.cli.audit import audit
from maintainer.cli.console import EXIT_FAILED, OutputFormat, command, print_json, print_list, say
from maintainer.cli.demo import demo
from maintainer.cli.init import init
from maintainer.cli.jobs import jobs_app
from maintainer.cli.measurements import measurement_app
from maintainer.cli.orphans import orphans_app
from maintainer.cli.plan import plan
from maintainer.cli.policies import policies_app
from maintainer.cli.rollback import rollback
from maintainer.cli.run import run
from maintainer.cli.simulate import simulate
from maintainer.cli.state import Config, Format, Tables, load, open_app, remember
from maintainer.cli.why import why
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import Band
from maintainer.domain.inventory import TableFault
from maintainer.domain.units import format_count, parse_duration

# PLC0415 below: catalogs, Spark and the server take seconds to import. --help and the commands that
# need none of them should not wait for these imports.

PANELS = {
    "Look": ("scan", "check", "plan", "why", "jobs", "audit", "pauses"),
    "Act": (
        "run",
        "pause",
        "resume",
        "drain",
        "rollback",
        "orphans",
        "pin",
        "unpin",
        "measurement",
    ),
    "Set up": ("init", "demo", "doctor", "policies", "simulate", "serve", "openapi"),
}
_PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names}


class _Grouped(TyperGroup):
    """Lists the commands in the order of their panels."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer comes with its own Click
        """All of them."""
        return sorted(super().list_commands(ctx), key=list(_PANEL_OF).index)


application = typer.Typer(
    name="maintainer",
    cls=_Grouped,
    help="A maintenance daemon for Apache Iceberg tables: it measures, decides by policy, runs "
    "Spark, and proves what it achieved.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"iceberg-maintainer {__version__}")
        raise typer.Exit


@application.callback()
def root(
    config: Config = None,
    version: Annotated[  # noqa: ARG001 - its callback acts
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """A maintenance daemon for Apache Iceberg tables."""
    remember(config)


@command
def serve(config: Config = None) -> None:
    """Run the daemon: scheduler, REST API and web page."""
    from maintainer.cli.serve import serve as serve_daemon  # noqa: PLC0415

    serve_daemon(load(config))


@command
def scan(
    tables: Tables = None,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Trust nothing: read every table and every manifest again."),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Print what each table cost to measure instead of its health."
        ),
    ] = False,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Measure the tables that changed, or those named, and print their health."""
    from maintainer.cli.measure import cost_json, cost_table, measure_tables  # noqa: PLC0415

    with open_app(load(config)) as app:
        scanned, is_whole = measure_tables(app, tables, is_deep=deep)
        if output is OutputFormat.JSON:
            print_json(
                [show.scanned_json(one) | (cost_json(one) if explain else {}) for one in scanned]
            )
        else:
            print_list(cost_table(scanned) if explain else show.health_table(scanned))
        if not is_whole or any(isinstance(one, TableFault) for one in scanned):
            raise typer.Exit(EXIT_FAILED)


@command
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
    from maintainer.cli.measure import measure_tables  # noqa: PLC0415

    bounds = {"warning": (Band.WATCH, Band.DEGRADED, Band.CRITICAL), "critical": (Band.CRITICAL,)}
    if fail_on not in bounds:
        message = f"--fail-on {fail_on!r} is neither warning nor critical"
        raise InvalidValueError(message)
    with open_app(load(config)) as app:
        scanned, is_whole = measure_tables(app, tables)
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


@command
def doctor(
    deadline: Annotated[
        str, typer.Option("--deadline", help="How long the checks may take, such as 10s.")
    ] = "10s",
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Check Java, Spark and its jars, catalogs, store, policies and page: what works, and what to
    do.
    """
    from maintainer.cli.diagnose import diagnose  # noqa: PLC0415

    findings: list[tuple[str, bool, str]] = []

    def note(finding: tuple[str, bool, str]) -> None:
        findings.append(finding)
        if output is OutputFormat.TABLE:
            print_list(show.finding_line(*finding))

    diagnose(partial(load, config), parse_duration(deadline).total_seconds(), note)
    if output is OutputFormat.JSON:
        print_json(
            [
                {"what": what, "is_fine": is_fine, "finding": sentence}
                for what, is_fine, sentence in findings
            ]
        )
    if not all(is_fine for _, is_fine, _ in findings):
        raise typer.Exit(EXIT_FAILED)


@command
def openapi() -> None:
    """Print the OpenAPI document of the REST API."""
    from maintainer.api.application import write_openapi  # noqa: PLC0415

    typer.echo(write_openapi(), nl=False)


_COMMANDS: tuple[Callable[..., None], ...] = (
    *(scan, check, plan, why, audit, pauses.pauses),
    *(run, pauses.pause, pauses.resume, pauses.drain, rollback, pins.pin, pins.unpin),
    *(init, demo, doctor, simulate, serve, openapi),
)
for _command in _COMMANDS:
    application.command(_command.__name__, rich_help_panel=_PANEL_OF[_command.__name__])(_command)
for _name, _group in (
    ("jobs", jobs_app),
    ("orphans", orphans_app),
    ("measurement", measurement_app),
    ("policies", policies_app),
):
    application.add_typer(_group, name=_name, rich_help_panel=_PANEL_OF[_name])


def main() -> None:
    """Run the command line."""
    application()
