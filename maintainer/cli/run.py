"""`maintainer run`: run the plan of one table, or the named rules, now."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from maintainer.adapters.spark.prerequisites import refuse_missing
from maintainer.cli.choose import measure_named
from maintainer.cli.console import EXIT_FAILED, command, make_console, say
from maintainer.cli.follow import follow, print_job
from maintainer.cli.once import settle_left_jobs
from maintainer.cli.plan import plan_details
from maintainer.cli.state import Config, TableName, load, open_app
from maintainer.decide.plan import on_request
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.domain.plan import Plan, SkipCode
from maintainer.domain.policy import RuleName
from maintainer.policy.effective import effective
from maintainer.requests.run import request_run
from maintainer.steps.table import measured_record
from maintainer.steps.table_plan import make_plan, policy_of

if TYPE_CHECKING:
    from maintainer.app import App


Actions = Annotated[
    list[RuleName] | None,
    typer.Option(
        "--action",
        metavar="RULE",
        help=f"Run this rule without regard to its thresholds; may be repeated. One of "
        f"{', '.join(RuleName)}.",
    ),
]


@command
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
    """Show the statements and ask for consent; without a terminal, --yes is needed."""
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
    unfinished = next(
        (job for job in app.ports.store.unfinished_jobs() if job.table_uuid == made.table_uuid),
        None,
    )
    say(
        f"not started: job {unfinished.job_id if unfinished else 'of another process'} is "
        f"working on {made.table}; one at a time"
    )
    raise typer.Exit(EXIT_FAILED)
