"""python -m tests.labs.simulation: policies, scorers and budgets over weeks of virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.app.options import admission_rules
from maintainer.cli.output.console import (
    OutputFormat,
    explained_errors,
    make_console,
    print_json,
    print_list,
    say,
)
from maintainer.cli.output.rows import Rows
from maintainer.cli.state import Config, load, open_app
from maintainer.domain.admission import AdmissionRules, Scorer
from maintainer.domain.errors import ConfigurationError, InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.domain.policy import PolicySet
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.domain.units import format_duration, format_size, parse_duration
from maintainer.ports.store import Store
from maintainer.ports.store.jobs import JobQuery
from maintainer.settings import Settings
from tests.labs.simulation.daemon import Daemon
from tests.labs.simulation.fleet import Traits, draw_fleet
from tests.labs.simulation.history import LOOKS_BACK, METRICS, MOST_JOBS, TableHistory, recall_table
from tests.labs.simulation.peers import AutoComp, Cron
from tests.labs.simulation.trial import Conditions, Contender, Result, run_trial

MOST_TABLES = 100_000
MOST_WEEKS = 104
SHORTEST_CYCLE = timedelta(minutes=5)


def simulate(  # noqa: PLR0917 - options are arguments, given by name
    tables: Annotated[
        int,
        typer.Option(
            min=1, max=MOST_TABLES, help="Number of random tables, with the published file sizes."
        ),
    ] = 1000,
    from_store: Annotated[
        bool,
        typer.Option(
            "--from-store",
            help="Use tables like those in the store instead: their commit rates, sizes and "
            "partitioning.",
        ),
    ] = False,
    weeks: Annotated[int, typer.Option(min=1, max=MOST_WEEKS, help="Virtual weeks.")] = 2,
    cycle: Annotated[
        str, typer.Option(help="Decision interval, such as 6h; from 5m to the whole length.")
    ] = "6h",
    budget: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="GB-hours a day (default: the fleet's budget in the given configuration, "
            "otherwise no limit).",
        ),
    ] = None,
    max_jobs: Annotated[int, typer.Option(min=1, max=1000, help="Jobs at the same time.")] = 8,
    sla: Annotated[
        str | None,
        typer.Option(
            help="Tables that need maintenance for longer than this count as starved (default 7d)."
        ),
    ] = None,
    policies: Annotated[
        list[Path] | None,
        typer.Option(
            "--policies",
            help="A policy directory to simulate; several are compared. Without it, the built-in "
            "default.",
        ),
    ] = None,
    scorers: Annotated[
        list[Scorer] | None,
        typer.Option("--scorer", help="The scorer of the admission; several are compared."),
    ] = None,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers/--no-peers", help="Compare with cron-everything and the published model."
        ),
    ] = True,
    seed: Annotated[
        int, typer.Option(min=0, help="The same seed gives the same fleet and the same writers.")
    ] = 1,
    output: Annotated[
        OutputFormat, typer.Option("--format", help="How to print the comparison.")
    ] = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Simulate a fleet and its maintenance in virtual time, with the production decision code;
    nothing real is touched.

    With --from-store or --config, admission uses that configuration: budgets of catalogs, reserved
    shares, blackouts, scorer and job sizes.
    """
    with explained_errors():
        settings = load(config) if from_store or config is not None else None
        rules = admission_rules(settings) if settings is not None else None
        conditions = Conditions(
            length=timedelta(weeks=weeks),
            cycle=_read_cycle(cycle, timedelta(weeks=weeks)),
            gb_hours_per_day=rules.fleet.gb_hours_per_day
            if budget is None and rules is not None
            else budget,
            max_jobs=max_jobs,
            memory_gb=rules.pools[DEFAULT_POOL].memory_gb
            if rules is not None
            else Conditions().memory_gb,
            sla=parse_duration(sla) if sla is not None else Conditions().sla,
            seed=seed,
        )
        fleet = (
            _read_fleet(settings)
            if from_store and settings is not None
            else draw_fleet(tables, seed)
        )
        contenders: list[Contender] = [
            *_make_daemons(policies or [], scorers or [], conditions, rules),
            *((AutoComp(), Cron()) if peers else ()),
        ]
        files = sum(traits.files_at_start + traits.fitting_files_at_start for traits in fleet)
        budget = conditions.gb_hours_per_day
        limit = "none" if budget is None else f"{budget:g} GB-hours a day"
        say(f"{len(fleet):,} tables, {files:,} files at the start, {weeks} weeks, budget {limit}")
        results = _run_all(fleet, contenders, conditions)
        if output is OutputFormat.JSON:
            print_json([_write_result(result) for result in results])
            return
        print_list(_compare(results))


def _read_cycle(text: str, length: timedelta) -> timedelta:
    cycle = parse_duration(text)
    if not SHORTEST_CYCLE <= cycle <= length:
        raise InvalidValueError(
            f"--cycle is {text}, but must be from {format_duration(SHORTEST_CYCLE)} to "
            f"{format_duration(length)}"
        )
    return cycle


def _read_fleet(settings: Settings) -> tuple[Traits, ...]:
    with open_app(settings) as app:
        now = app.ports.clock.now()
        recalled = (_recall(app.ports.store, table, now) for table in app.ports.store.table_names())
        fleet = tuple(traits for traits in recalled if traits is not None)
    if not fleet:
        raise ConfigurationError(
            "the store has no measured table with files; `maintainer scan` measures them"
        )
    return fleet


def _recall(store: Store, table: TableIdentifier, now: datetime) -> Traits | None:
    record = store.table(table)
    if record is None or record.health is None:
        return None
    samples = {metric: store.history(table, metric, now - LOOKS_BACK, now) for metric in METRICS}
    jobs = store.jobs(JobQuery((JobState.SUCCEEDED, JobState.FAILED), table, MOST_JOBS)).items
    own = [job for job in jobs if job.table_uuid == record.health.table_uuid]
    return recall_table(
        TableHistory(
            record.health, samples, own, store.calibration(record.health.table_uuid, table.catalog)
        )
    )


def _make_daemons(
    directories: Sequence[Path],
    scorers: Sequence[Scorer],
    conditions: Conditions,
    rules: AdmissionRules | None,
) -> list[Contender]:
    tried = [(str(directory), _read_policies(directory)) for directory in directories] or [
        ("", PolicySet(()))
    ]
    named = scorers or [rules.scorer if rules is not None else Scorer.MAINTAINER]
    return [
        Daemon(
            policies,
            conditions,
            scorer,
            " ".join(filter(None, (f"daemon ({scorer})", name))),
            rules,
        )
        for name, policies in tried
        for scorer in named
    ]


def _read_policies(directory: Path) -> PolicySet:
    found = PolicyDirectory(directory).current()
    if found.problems:
        raise ConfigurationError(
            "\n".join(f"{problem.source}: {problem.message}" for problem in found.problems)
        )
    if not found.layers:
        raise ConfigurationError(f"--policies {directory} has no policy file")
    return found


def _run_all(
    fleet: Sequence[Traits], contenders: Sequence[Contender], conditions: Conditions
) -> list[Result]:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=make_console(is_error=True), transient=True) as progress:
        results = []
        for contender in contenders:
            task = progress.add_task(contender.name, total=1.0)
            results.append(
                run_trial(fleet, contender, conditions, partial(_show_progress, progress, task))
            )
    return results


def _show_progress(progress: Progress, task: TaskID, share: float) -> None:
    progress.update(task, completed=share)


def _compare(results: Sequence[Result]) -> Rows:
    right = (
        "jobs",
        "idle",
        "conflicts",
        "files removed",
        "GB-hours",
        "files/GB-hour",
        "average file",
        "in need",
        "starved",
        "longest need",
        "cost off by",
    )
    table = Rows(
        ("contender", *right),
        right=right,
        optional=("idle", "conflicts", "cost off by", "files removed", "longest need"),
    )
    for result in results:
        table.add_row(
            result.contender,
            f"{result.jobs:,}",
            f"{result.idle_jobs:,}",
            f"{result.conflicts:,}",
            f"{result.files_removed:,}",
            f"{result.gb_hours:,.1f}",
            f"{result.files_removed_per_gb_hour:,.0f}",
            format_size(result.average_file_size_bytes),
            f"{result.days[-1].tables_in_need:,}",
            f"{result.starved_tables:,}",
            format_duration(result.longest_need),
            "-" if result.cost_error is None else f"{result.cost_error:.0%}",
        )
    return table


def _write_result(result: Result) -> dict[str, object]:
    figures = asdict(result) | {
        "longest_need": result.longest_need.total_seconds(),
        "files_removed_per_gb_hour": result.files_removed_per_gb_hour,
        "average_file_size_bytes": result.average_file_size_bytes,
    }
    figures["longest_need_seconds"] = figures.pop("longest_need")
    return figures


application = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
application.command()(simulate)

if __name__ == "__main__":
    application()
