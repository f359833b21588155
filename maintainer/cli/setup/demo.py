"""`maintainer demo`: a local lake with small-file problems, and the daemon on it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live

from maintainer.adapters.demo import LakeReport, SparkLaunch, build_lake, lake_is_complete
from maintainer.adapters.spark.jars import default_directory, find_jars
from maintainer.adapters.spark.java import find_java, prepare_home
from maintainer.adapters.spark.prerequisites import find_prerequisites, refuse_missing
from maintainer.cli.jobs.once import run_until_rest
from maintainer.cli.output import show
from maintainer.cli.output.console import EXIT_FAILED, make_console, print_list, say
from maintainer.cli.state import Port, listen_at, open_app
from maintainer.cli.tables.plan import plan_summary
from maintainer.domain.errors import ConfigurationError, InvalidValueError
from maintainer.domain.job import JobState
from maintainer.settings import load_settings

if TYPE_CHECKING:
    from maintainer.app import App

DEFAULT_DEMO_DIRECTORY = Path("demo-lake")


def build_demo(directory: Path, say: Callable[[str], None]) -> LakeReport:
    """Build the demo lake, unless it exists already."""
    if lake_is_complete(directory):  # this needs no Spark
        return build_lake(directory, say, SparkLaunch(sys.executable, "", ()), datetime.now(UTC))
    refuse_missing(find_prerequisites(None, default_directory()))
    with TemporaryDirectory(prefix="iceberg-maintainer-") as scratch:
        java_home = prepare_home(find_java(None, os.environ), Path(scratch))
        jars = tuple(str(jar) for jar in find_jars(default_directory()))
        return build_lake(
            directory, say, SparkLaunch(sys.executable, str(java_home), jars), datetime.now(UTC)
        )


def demo(
    directory: Annotated[
        Path,
        typer.Option(
            "--dir", help="The directory of the lake. It is built there if it does not exist."
        ),
    ] = DEFAULT_DEMO_DIRECTORY,
    build_only: Annotated[
        bool, typer.Option("--build-only", help="Build the lake and stop.")
    ] = False,
    once: Annotated[
        bool,
        typer.Option(
            "--once",
            help="Run full cycles until nothing is left to do, print before and after, and stop.",
        ),
    ] = False,
    port: Port = None,
) -> None:
    """Build a local lake with small-file problems, and run the daemon on it."""
    if build_only and once:
        raise InvalidValueError("--build-only and --once exclude each other")
    from maintainer.cli.setup.demo import build_demo  # noqa: PLC0415
    from maintainer.cli.setup.serve import serve as serve_daemon  # noqa: PLC0415

    started = time.monotonic()
    report = build_demo(directory, say)
    if report.was_built:
        say(f"lake built in {time.monotonic() - started:.0f} s: {report.directory}")
    say(f"configuration: {report.configuration}")
    if build_only:
        return
    environ = {name: value for name, value in os.environ.items() if name != "MAINTAINER_CONFIG"}
    settings = listen_at(load_settings(report.configuration, environ), None, port)
    if not once:
        serve_daemon(settings)
        return
    with open_app(settings) as app:
        refuse_missing(app.ports.runner.describe())
        _demo_once(app)


def _demo_once(app: App) -> None:
    console = make_console(is_error=True)
    with Live(console=console, transient=True, refresh_per_second=4) as live:
        report = run_until_rest(
            app.ports,
            lambda text: live.console.print(text, markup=False),
            lambda jobs: live.update(show.jobs_table(jobs)),
        )
    print_list(show.jobs_table(report.jobs) if report.jobs else "No job was needed.")
    print_list("")
    print_list(show.fleet_table(report.before, report.after))
    print_list("\nWhy no more jobs are needed:")
    print_list(plan_summary([report.plans[table] for table in sorted(report.plans)]))
    if not report.is_at_rest:
        raise ConfigurationError(f"the lake still needs maintenance after {report.cycles} cycles")
    if any(job.state is not JobState.SUCCEEDED for job in report.jobs):
        raise typer.Exit(EXIT_FAILED)
