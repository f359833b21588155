"""Every command; what each does is a call or two into the composition root and the steps."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live

from maintainer import __version__
from maintainer.adapters.spark.procedure import call_statement
from maintainer.cli import pauses, pins, rollback, show
from maintainer.cli.audit import audit
from maintainer.cli.choose import choose_tables, find_known, measure_named, refuse_unknown
from maintainer.cli.console import EXIT_FAILED, OutputFormat, command, make_console, print_json, say
from maintainer.cli.follow import follow, print_job
from maintainer.cli.jobs import jobs_app
from maintainer.cli.measurements import measurement_app
from maintainer.cli.once import run_until_rest, settle_left_jobs
from maintainer.cli.orphans import orphans_app
from maintainer.cli.policies import policies_app
from maintainer.cli.simulate import simulate
from maintainer.cli.state import Config, load, open_app, remember
from maintainer.cli.why import why
from maintainer.domain.errors import ConfigurationError, InvalidValueError
from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import JobState
from maintainer.domain.plan import Plan, SkipCode
from maintainer.domain.policy import RuleName
from maintainer.domain.units import format_count
from maintainer.policy.decide import on_request
from maintainer.settings import load_settings
from maintainer.steps.admission import read_queue
from maintainer.steps.plan import make_plan, measured_record, policy_of, preview
from maintainer.steps.submit import request_run

if TYPE_CHECKING:
    from maintainer.app import App

# PLC0415 below: catalogs, Spark and the server take seconds to import; --help and the commands that need none of them do not wait for them.

application = typer.Typer(
    name="maintainer",
    help="A maintenance daemon for Apache Iceberg tables: it measures, decides by policy, runs Spark, and proves what it achieved.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
application.add_typer(policies_app, name="policies")
application.add_typer(jobs_app, name="jobs")
application.add_typer(measurement_app, name="measurement")
application.add_typer(orphans_app, name="orphans")
application.command()(simulate)
application.command()(audit)
pins.register(application)
pauses.register(application)
rollback.register(application)

Tables = Annotated[list[str] | None, typer.Argument(metavar="[TABLE]...", help="catalog.namespace.table, or a glob; all tables when none is named.")]
Format = Annotated[OutputFormat, typer.Option("--format", help="How to print the list.")]
DEFAULT_DEMO_DIRECTORY = Path("demo-lake")


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"iceberg-maintainer {__version__}")
        raise typer.Exit


@application.callback()
def root(
    config: Config = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)] = False,  # noqa: ARG001 - its callback acts
) -> None:
    """A maintenance daemon for Apache Iceberg tables."""
    remember(config)


@application.command()
@command
def serve(config: Config = None) -> None:
    """Run the daemon: scheduler, REST API and web page."""
    from maintainer.cli.serve import serve as serve_daemon  # noqa: PLC0415

    serve_daemon(load(config))


@application.command()
@command
def scan(  # noqa: PLR0913, PLR0917 - each is an option of the command
    tables: Tables = None,
    deep: Annotated[bool, typer.Option("--deep", help="Trust nothing: read every table and every manifest again.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print what each table cost to measure instead of its health.")] = False,
    with_spark: Annotated[bool, typer.Option("--with-spark", help="Have the unread manifests of the tables named read by a job on Spark first.")] = False,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Measure the tables that have changed, or those named, and print the health of all."""
    if with_spark and (deep or not tables):
        message = "--with-spark and --deep exclude each other" if deep else "--with-spark takes the tables that Spark is to read; name at least one"
        raise InvalidValueError(message)
    from maintainer.cli.measure import cost_json, cost_table, measure_tables  # noqa: PLC0415

    with open_app(load(config)) as app:
        scanned, is_whole = measure_tables(app, tables, is_deep=deep, with_spark=with_spark)
        if output is OutputFormat.JSON:
            print_json([show.scanned_json(one) | (cost_json(one) if explain else {}) for one in scanned])
        else:
            make_console().print(cost_table(scanned) if explain else show.health_table(scanned))
        if not is_whole or any(isinstance(one, TableFault) for one in scanned):
            raise typer.Exit(EXIT_FAILED)


@application.command()
@command
def plan(
    tables: Tables = None,
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="FILE|DIR|-", help="Show instead which verdicts this policy would change, from what was measured last.")
    ] = None,
    measure: Annotated[bool, typer.Option("--measure", help="With --policy: measure the tables concerned first.")] = False,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Show what would be done and why, what that waits for, and what not and why not; changes nothing."""
    with open_app(load(config)) as app:
        if policy is not None:
            from maintainer.cli.candidate import preview_policy  # noqa: PLC0415

            preview_policy(app, policy, tables or [], output, is_fresh=measure)
            return
        choice = choose_tables(app.ports, tables or [])
        plans, faults = _preview_all(app, choice.tables, tables or [])
        waits = {(verdict.candidate.table, verdict.candidate.rule): verdict for verdict in read_queue(app.ports)}
        if output is OutputFormat.JSON:
            print_json([show.plan_json(made, call_statement, waits) for made in plans])
        else:
            make_console().print(show.plan_table(plans, call_statement, waits))
        for fault in faults:
            say(f"warning: {fault.table} cannot be measured ({fault.kind}): {fault.reason}")
        if faults or not choice.is_whole:
            raise typer.Exit(EXIT_FAILED)


application.command()(why)


def _preview_all(app: App, tables: list[TableIdentifier], names: list[str]) -> tuple[list[Plan], list[TableFault]]:
    known = find_known(app.ports, tables)
    made = [preview(app.ports, table) for table in tables]
    faults = [one for one in made if isinstance(one, TableFault) and one.kind is not FaultKind.VIEW]
    refuse_unknown(app.ports, names, faults, known)
    return [one for one in made if isinstance(one, Plan)], faults


@application.command()
@command
def run(
    table: Annotated[str, typer.Argument(help="catalog.namespace.table")],
    action: Annotated[list[RuleName] | None, typer.Option("--action", help="A rule to carry out whatever its thresholds say; may be repeated.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: Config = None,
) -> None:
    """Do what the plan says, or the named actions, now; print before and after."""
    identifier = TableIdentifier.parse(table)
    rules = tuple(dict.fromkeys(action or []))
    with open_app(load(config)) as app:
        measure_named(app.ports, identifier)
        settle_left_jobs(app.ports, identifier)
        if not yes:
            _ask(app, identifier, rules)
        made, job = request_run(app.ports, identifier, rules, "person")
        _say_skipped(made)
        if job is None:
            _explain_no_job(app, made)
            return
        done = follow(app, job)
        for one in done:
            print_job(one)
        if any(one.state is not JobState.SUCCEEDED for one in done):
            raise typer.Exit(EXIT_FAILED)


def _ask(app: App, table: TableIdentifier, rules: tuple[RuleName, ...]) -> None:
    """Show the statements and ask; without a terminal to ask on, --yes is needed."""
    record, health = measured_record(app.ports, table)
    made = make_plan(app.ports, record, health, on_request(policy_of(app.ports, health), rules), is_requested=True)
    if not made.planned:
        return
    make_console(is_error=True).print(show.plan_table([replace(made, skipped=())], call_statement))
    if not sys.stdin.isatty():
        message = "there is no terminal to ask on; give --yes to carry this out"
        raise InvalidValueError(message)
    typer.confirm("Carry this out now?", abort=True, err=True)


def _say_skipped(made: Plan) -> None:
    for skipped in made.skipped:
        say(f"{skipped.rule}: {skipped.code}: {skipped.reason}")


def _explain_no_job(app: App, made: Plan) -> None:
    codes = {skipped.code for skipped in made.skipped}
    if SkipCode.PAUSED in codes:
        say(f"not started: {made.table} is paused; resume it first")
        raise typer.Exit(EXIT_FAILED)
    if not made.planned and SkipCode.IN_FLIGHT not in codes:
        say(f"nothing to do for {made.table}")
        return
    unfinished = next((job for job in app.ports.store.unfinished_jobs() if job.table_uuid == made.table_uuid), None)
    say(f"not started: job {unfinished.job_id if unfinished else 'of another process'} is working on {made.table}; one at a time")
    raise typer.Exit(EXIT_FAILED)


@application.command()
@command
def check(
    tables: Tables = None,
    fail_on: Annotated[str, typer.Option("--fail-on", metavar="warning|critical", help="The least severity that fails.")] = "critical",
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """For CI and cron: measure, and exit 1 when a table is that bad (or cannot be measured)."""
    from maintainer.cli.measure import measure_tables  # noqa: PLC0415

    bounds = {"warning": (Band.WATCH, Band.DEGRADED, Band.CRITICAL), "critical": (Band.CRITICAL,)}
    if fail_on not in bounds:
        message = f"--fail-on {fail_on!r} is neither warning nor critical"
        raise InvalidValueError(message)
    with open_app(load(config)) as app:
        scanned, is_whole = measure_tables(app, tables)
    bad = [one for one in scanned if isinstance(one, TableFault) or one.grade.band in bounds[fail_on]]
    if output is OutputFormat.JSON:
        print_json([show.scanned_json(one) for one in bad])
    elif bad:
        make_console().print(show.health_table(bad))
    say(f"{format_count(len(scanned), 'table')} measured, {len(bad)} at {fail_on} or worse")
    if bad or not is_whole:
        raise typer.Exit(EXIT_FAILED)


@application.command()
@command
def doctor(config: Config = None) -> None:
    """Check Java, Spark and its jars, catalogs, store, policies and page: what works, what does not, what to do."""
    from maintainer.cli.diagnose import diagnose  # noqa: PLC0415

    if not diagnose(load(config), make_console()):
        raise typer.Exit(EXIT_FAILED)


@application.command()
@command
def openapi() -> None:
    """Print the OpenAPI document of the REST API."""
    from maintainer.api.application import write_openapi  # noqa: PLC0415

    typer.echo(write_openapi(), nl=False)


@application.command()
@command
def demo(
    directory: Annotated[Path, typer.Option("--dir", help="Where the lake is, or is to be built.")] = DEFAULT_DEMO_DIRECTORY,
    build_only: Annotated[bool, typer.Option("--build-only", help="Build the lake and stop.")] = False,
    once: Annotated[bool, typer.Option("--once", help="Run full cycles until nothing is left to do, print before and after, and stop.")] = False,
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, help="The page's port.")] = None,
) -> None:
    """Build a local lake with real small-file troubles, and run the daemon on it."""
    if build_only and once:
        message = "--build-only and --once exclude each other"
        raise InvalidValueError(message)
    from maintainer.app import build_demo  # noqa: PLC0415
    from maintainer.cli.serve import serve as serve_daemon  # noqa: PLC0415

    started = time.monotonic()
    report = build_demo(directory, say)
    if report.was_built:
        say(f"lake built in {time.monotonic() - started:.0f} s: {report.directory}")
    say(f"configuration: {report.configuration}")
    if build_only:
        return
    environ = {name: value for name, value in os.environ.items() if name != "MAINTAINER_CONFIG"}
    settings = load_settings(report.configuration, environ)
    if port is not None:
        settings = settings.model_copy(update={"server": settings.server.model_copy(update={"port": port})})
    if not once:
        serve_daemon(settings)
        return
    with open_app(settings) as app:
        _demo_once(app)


def _demo_once(app: App) -> None:
    console = make_console(is_error=True)
    with Live(console=console, transient=True, refresh_per_second=4) as live:
        report = run_until_rest(app.ports, lambda text: live.console.print(text, markup=False), lambda jobs: live.update(show.jobs_table(jobs)))
    out = make_console()
    out.print(show.jobs_table(report.jobs) if report.jobs else "No job was needed.")
    out.print()
    out.print(show.fleet_table(report.before, report.after))
    out.print()
    out.print("Why nothing more is done:")
    out.print(show.plan_table([report.plans[table] for table in sorted(report.plans)], call_statement))
    if not report.is_at_rest:
        message = f"the lake is not at rest after {report.cycles} cycles"
        raise ConfigurationError(message)
    if any(job.state is not JobState.SUCCEEDED for job in report.jobs):
        raise typer.Exit(EXIT_FAILED)


def main() -> None:
    """Run the command line."""
    application()
