"""`maintainer pause`, `resume`, `drain` and `pauses`, in the daemon's store."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer

from maintainer.cli.output.console import (
    EXIT_FAILED,
    OutputFormat,
    echo,
    print_json,
    print_list,
    say,
)
from maintainer.cli.output.rows import Rows
from maintainer.cli.output.show import write_time
from maintainer.cli.state import Config, Format, load, open_app
from maintainer.cli.tables.choose import suggest_names
from maintainer.domain.admission import EVERYTHING, PausesInForce, ScopePause, read_scope
from maintainer.domain.errors import UnknownTableError
from maintainer.domain.units import format_count, format_duration, format_instant, parse_duration
from maintainer.ports import Ports
from maintainer.requests.pause import cancel_scope, pause_scope, read_pauses_in_force, resume_scope

DEFAULT_BY = "person"
LOOK_SECONDS = 1.0
Scope = Annotated[
    str,
    typer.Argument(
        metavar="[SCOPE]",
        help="A table, a namespace, a catalog or a glob (default: everything).",
    ),
]
Reason = Annotated[
    str, typer.Option("--reason", help="The reason, for people who ask why nothing starts.")
]
By = Annotated[str, typer.Option("--by", help="The person who asks, for the audit log.")]


def pause(
    scope: Scope = EVERYTHING,
    reason: Reason = "",
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Also cancel the jobs that run there (kill switch).")
    ] = False,
    by: By = DEFAULT_BY,
    config: Config = None,
) -> None:
    """Start no new job on a table, a namespace, a catalog or everything, until it is resumed."""
    with open_app(load(config)) as app:
        ports = app.ports
        pause = ScopePause(read_scope(scope), by, ports.clock.now(), reason)
        try:
            running = pause_scope(ports, pause)
        except UnknownTableError as error:
            near = suggest_names(pause.scope, map(str, ports.store.table_names()))
            raise UnknownTableError(f"{error}{near}") from error
        cancelled = cancel_scope(ports, pause.scope, by) if cancel else 0
    if cancel:
        rest = f"; {format_count(cancelled, 'job')} cancelled"
    else:
        rest = f"; still running there: {format_count(running, 'job')}" if running else ""
    echo(f"paused {_name(pause.scope)}{rest}")


def resume(scope: Scope = EVERYTHING, by: By = DEFAULT_BY, config: Config = None) -> None:
    """End a pause or a drain."""
    wanted = read_scope(scope)
    with open_app(load(config)) as app:
        if not resume_scope(app.ports, wanted, by):
            raise UnknownTableError(
                f"there is no pause of {wanted}; `maintainer pauses` lists all pauses"
            )
    echo(f"resumed {_name(wanted)}")


def _name(scope: str) -> str:
    return "everything" if scope == EVERYTHING else scope


def drain(
    reason: Reason = "",
    wait: Annotated[
        str | None,
        typer.Option(
            "--wait",
            help="Wait at most this long, such as 30m, until no job runs; exit 1 if a job still "
            "runs.",
        ),
    ] = None,
    by: By = DEFAULT_BY,
    config: Config = None,
) -> None:
    """Start no new job at all, not even on request; running jobs finish. `maintainer resume` ends
    it.
    """
    longest = parse_duration(wait) if wait is not None else None
    with open_app(load(config)) as app:
        ports = app.ports
        pause_scope(ports, ScopePause(EVERYTHING, by, ports.clock.now(), reason, is_drain=True))
        found = (
            read_pauses_in_force(ports)
            if longest is None
            else _wait_until_drained(ports, longest.total_seconds())
        )
    if found.is_drained:
        echo("drained: nothing runs")
        return
    echo(f"draining: {format_count(len(found.running), 'running job')} left")
    if longest is not None:
        say(f"not drained within {format_duration(longest)}")
        raise typer.Exit(EXIT_FAILED)


def _wait_until_drained(ports: Ports, seconds: float) -> PausesInForce:
    deadline = time.monotonic() + seconds
    while not (found := read_pauses_in_force(ports)).is_drained and time.monotonic() < deadline:
        time.sleep(min(LOOK_SECONDS, max(0.0, deadline - time.monotonic())))
    return found


def pauses(output: Format = OutputFormat.TABLE, config: Config = None) -> None:
    """List what is paused, by whom and why, and the jobs that are running there."""
    with open_app(load(config)) as app:
        found = read_pauses_in_force(app.ports)
    if output is OutputFormat.JSON:
        items = [asdict(one) | {"at": write_time(one.at)} for one in found.pauses]
        jobs = [
            {"job_id": job.job_id, "table": str(job.table), "rule": job.rule.value}
            for job in found.running
        ]
        print_json(
            {
                "items": items,
                "is_draining": found.is_draining,
                "is_drained": found.is_drained,
                "running_jobs": jobs,
            }
        )
        return
    if not found.pauses:
        echo("nothing is paused")
        return
    shown = Rows(("scope", "since", "by", "reason"), below="reason")
    for one in found.pauses:
        kind = "drain" if one.is_drain else one.scope
        shown.add_row(kind, format_instant(one.at), one.by, one.reason)
    print_list(shown)
    for job in found.running:
        echo(f"still running: {job.rule} on {job.table} ({job.job_id})")
