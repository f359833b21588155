"""`maintainer rollback`: set a table back to its state before a job."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from maintainer.adapters.spark.prerequisites import refuse_missing
from maintainer.cli.console import EXIT_FAILED, command, say
from maintainer.cli.follow import follow, print_job
from maintainer.cli.once import settle_left_jobs
from maintainer.cli.state import Config, load, open_app
from maintainer.domain.errors import InvalidValueError, UnknownTableError
from maintainer.domain.job import JobState


@command
def rollback(
    job: Annotated[
        str, typer.Argument(metavar="JOB", help="The id of the job that is to be undone.")
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: Config = None,
) -> None:
    """Undo a job's commits; refused if that would undo commits of others. Pauses the table."""
    # As in the other commands.
    from maintainer.requests.rollback import request_rollback  # noqa: PLC0415

    with open_app(load(config), runs_jobs=True) as app:
        undone = app.ports.store.job(job)
        if undone is None:
            message = f"no job {job!r} is known; finished jobs are forgotten after their retention"
            raise UnknownTableError(message)
        refuse_missing(app.ports.runner.describe(undone.pool))
        settle_left_jobs(app.ports, undone.table)
        if not yes:
            _ask(
                f"Set {undone.table} back to what it was before job {job} ({undone.rule}), and "
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
        message = "there is no terminal to ask on; give --yes to carry this out"
        raise InvalidValueError(message)
    typer.confirm(question, abort=True, err=True)
