"""`maintainer run` and `maintainer rollback`: start a requested job, and wait for its end."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from maintainer.adapters.spark.prerequisites import refuse_missing
from maintainer.cli.jobs.once import follow_job, settle_left_jobs
from maintainer.cli.output import show
from maintainer.cli.output.console import EXIT_FAILED, make_console, say
from maintainer.cli.output.policy_warnings import warn_of_policies
from maintainer.cli.state import Config, TableName, load, open_app
from maintainer.cli.tables.choose import measure_named
from maintainer.cli.tables.plan import plan_details
from maintainer.decide.plan import on_request
from maintainer.domain.errors import InvalidValueError, UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.plan import Plan, SkipCode
from maintainer.domain.policy import RuleName
from maintainer.policy.effective import effective
from maintainer.requests.pause import request_rollback
from maintainer.requests.run import request_run
from maintainer.steps.table import measured_record
from maintainer.steps.table_plan import make_plan, policy_of

if TYPE_CHECKING:
    from maintainer.app import App  # this import takes seconds


def follow(app: App, job: Job) -> list[Job]:
    """Run the job and the other jobs of its request, until all have ended.

    Their progress is printed on standard error.
    """
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=make_console(is_error=True), transient=True) as progress:
        tasks = {job.job_id: progress.add_task(str(job.rule), total=1)}

        def note(current: Job) -> None:
            task = tasks.get(current.job_id)
            if task is None:
                task = tasks[current.job_id] = progress.add_task(str(current.rule), total=1)
            phase = current.progress.phase or current.state
            now = current.progress
            words = f"{current.rule}: {phase}{f', {now.sentence}' if now.sentence else ''}"
            progress.update(task, description=words, completed=now.share)

        return follow_job(app.ports, job, note)


def print_job(job: Job) -> None:
    console = make_console()
    took = f" in {job.duration.total_seconds():.1f} s" if job.duration is not None else ""
    console.print(f"[bold]{job.rule}[/bold] on {escape(str(job.table))}: {job.state}{took}")
    if job.effect is not None:
        console.print(show.effect_table(job.effect.before, job.effect.after), crop=False)
        console.print(f"{escape(job.effect.sentence)} {show.ROW_PROOFS[job.effect.rows]}.")
        if job.effect.difference:
            console.print(escape(job.effect.difference))
    if job.estimate_errors:
        console.print(
            f"Estimate and actual: "
            f"{'; '.join(show.describe_error(error) for error in job.estimate_errors)}."
        )
    if job.failure_message:
        console.print(escape(job.failure_message))


Actions = Annotated[
    list[RuleName] | None,
    typer.Option(
        "--action",
        metavar="RULE",
        help=f"Run this rule and ignore its thresholds; may be repeated. One of "
        f"{', '.join(RuleName)}.",
    ),
]


def run(
    table: TableName,
    action: Actions = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: Config = None,
) -> None:
    """Run the plan of a table, or the named actions, now; print the table before and after."""
    identifier = TableIdentifier.parse(table)
    rules = tuple(dict.fromkeys(action or []))
    with open_app(load(config), runs_jobs=True) as app:
        policy = effective(app.ports.policies.current(), identifier, {})
        refuse_missing(app.ports.runner.describe(policy.runs_on))
        measure_named(app.ports, identifier)
        warn_of_policies(app.ports)
        settle_left_jobs(app.ports, identifier)
        if not yes:
            _show_and_ask(app, identifier, rules)
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


def _show_and_ask(app: App, table: TableIdentifier, rules: tuple[RuleName, ...]) -> None:
    """Show the statements and ask for consent; without a terminal, --yes is necessary."""
    record, health = measured_record(app.ports, table)
    made = make_plan(
        app.ports,
        record,
        health,
        on_request(policy_of(app.ports, health), rules),
        is_requested=True,
    )
    if not made.planned:
        return
    make_console(is_error=True).print(plan_details([replace(made, skipped=())]), crop=False)
    _ask("Carry this out now?")


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
    unfinished = next(
        (job for job in app.ports.store.unfinished_jobs() if job.table_uuid == made.table_uuid),
        None,
    )
    say(
        f"not started: job {unfinished.job_id if unfinished else 'of another process'} is "
        f"working on {made.table}, and a table has one job at a time"
    )
    raise typer.Exit(EXIT_FAILED)


def rollback(
    job: Annotated[str, typer.Argument(metavar="JOB", help="The id of the job to undo.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: Config = None,
) -> None:
    """Undo a job's commits; refused if that would undo commits of others. Pauses the table."""
    with open_app(load(config), runs_jobs=True) as app:
        undone = app.ports.store.job(job)
        if undone is None:
            raise UnknownTableError(
                f"no job {job!r} is known; finished jobs are deleted after the time in prune.jobs"
            )
        refuse_missing(app.ports.runner.describe(undone.pool))
        settle_left_jobs(app.ports, undone.table)
        if not yes:
            _ask(
                f"Set {undone.table} back to its state before job {job} ({undone.rule}), and "
                f"pause it?"
            )
        undoing = request_rollback(app.ports, undone, "person")
        say(
            f"{undone.table} is paused; `maintainer resume {undone.table}` lets the policies act "
            f"again"
        )
        for one in follow(app, undoing):
            print_job(one)
            if one.state is not JobState.SUCCEEDED:
                raise typer.Exit(EXIT_FAILED)


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise InvalidValueError("there is no terminal for questions; give --yes to carry this out")
    typer.confirm(question, abort=True, err=True)
