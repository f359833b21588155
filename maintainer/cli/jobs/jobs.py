"""`maintainer jobs`: the running daemon's jobs, through its API."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import typer
from rich.live import Live
from rich.text import Text

from maintainer.cli.output.console import (
    OutputFormat,
    echo,
    make_console,
    print_json,
    print_list,
    say,
)
from maintainer.cli.output.rows import Facts, Rows
from maintainer.cli.output.show import ROW_PROOFS, STATE_STYLES, effect_table
from maintainer.cli.state import Config, Format, complete_table, load, open_known
from maintainer.domain.effect import Measurement, RowProof
from maintainer.domain.errors import MaintainerError, UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.domain.units import format_duration
from maintainer.ports.store.jobs import JobQuery
from maintainer.settings import Settings

jobs_app = typer.Typer(
    help="Jobs of the running daemon: list, show, log, cancel.", invoke_without_command=True
)

TIMEOUT_SECONDS = 10
WATCH_SECONDS = 1
DEFAULT_SHOWN = 50
MOST_SHOWN = 200  # the largest page of the API
Answer = dict[str, Any]  # JSON of the API
JobId = Annotated[str, typer.Argument(metavar="JOB", help="The job's id.")]
# The addresses are those on which the daemon listens; this command binds none.
_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104


class NoDaemonError(MaintainerError):
    """No daemon answers at the configured address."""


def _ask_daemon(settings: Settings, method: str, path: str) -> Answer:
    import requests  # noqa: PLC0415 - only this command needs it

    host = _WILDCARDS.get(settings.server.host, settings.server.host)
    base = f"http://{f'[{host}]' if ':' in host else host}:{settings.server.port}"
    try:
        with requests.Session() as session:
            session.trust_env = False  # requests to the daemon never use a proxy
            answer = session.request(
                method,
                f"{base}/api/v1{path}",
                headers={"Accept": "application/json"},
                timeout=TIMEOUT_SECONDS,
            )
        body: Answer = answer.json()
    except requests.ConnectionError as error:
        raise NoDaemonError(
            f"no daemon answers at {base}; `maintainer serve` starts one"
        ) from error
    except (requests.RequestException, ValueError) as error:
        raise NoDaemonError(
            f"no daemon answers at {base}: {error}; `maintainer serve` starts one"
        ) from error
    if answer.ok:
        return body
    detail = str(body.get("detail", answer.reason))
    raise (
        UnknownTableError(detail)
        if answer.status_code == HTTPStatus.NOT_FOUND
        else MaintainerError(detail)
    )


@jobs_app.callback()
def jobs(  # noqa: PLR0913, PLR0917 - the options of one command
    context: typer.Context,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            autocompletion=complete_table,
            help="Only this table: catalog.namespace.table.",
        ),
    ] = None,
    state: Annotated[
        list[JobState] | None,
        typer.Option("--state", help="Only jobs in this state; may be repeated."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=MOST_SHOWN, help="Maximum number of jobs.")
    ] = DEFAULT_SHOWN,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep the list up to date until Ctrl-C.")
    ] = False,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """List the newest jobs: those of the running daemon, else those in the store."""
    if context.invoked_subcommand is not None:
        return
    settings = load(config)
    wanted = [("limit", str(limit)), *(("state", one.value) for one in state or [])]
    only = TableIdentifier.parse(table) if table is not None else None
    wanted += [("table", str(only))] if only is not None else []
    ask = partial(_ask_daemon, settings, "GET", f"/jobs?{urlencode(wanted)}")
    try:
        found = ask()["items"]
    except NoDaemonError as error:
        if watch:
            raise
        found = _read_store(settings, JobQuery(tuple(state or ()), only, limit))
        say(f"{error}; these are the jobs of the store")
    if output is OutputFormat.JSON:
        print_json(found)
        return
    if not watch:
        print_list(_jobs_table(found))
        return
    with Live(_jobs_table(found), console=make_console(), refresh_per_second=2) as live:
        while True:
            time.sleep(WATCH_SECONDS)
            live.update(_jobs_table(ask()["items"]))


def _read_store(settings: Settings, query: JobQuery) -> list[Answer]:
    """The jobs as the API would write them."""
    from maintainer.api.wire import write_job  # noqa: PLC0415 - slow to import

    with open_known(settings) as store:
        jobs = store.jobs(query).items if store is not None else ()
    return [write_job(job, {}).model_dump(mode="json") for job in jobs]


@jobs_app.command("show")
def show_job(job: JobId, output: Format = OutputFormat.TABLE, config: Config = None) -> None:
    """Show one job: its state and times, its statement, and what it achieved."""
    found = _ask_daemon(load(config), "GET", f"/jobs/{quote(job, safe='')}")
    if output is OutputFormat.JSON:
        print_json(found)
        return
    print_list(_job_table(found))
    effect = found["effect"]
    if effect is not None:
        print_list("")
        print_list(
            effect_table(
                *(
                    Measurement(**{one.name: effect[when][one.name] for one in fields(Measurement)})
                    for when in ("before", "after")
                )
            )
        )


@jobs_app.command("cancel")
def cancel_job(job: JobId, config: Config = None) -> None:
    """Ask the running daemon to cancel a job. Uncommitted work is discarded."""
    answer = _ask_daemon(load(config), "POST", f"/jobs/{quote(job, safe='')}/cancel")
    wait = f"; {answer['wait']}" if answer["wait"] else ""
    echo(f"job {job}: {answer['state']}, cancel requested{wait}")


@jobs_app.command("log")
def show_log(
    job: JobId,
    follow: Annotated[
        bool, typer.Option("--follow", help="Print new lines until the log is complete.")
    ] = False,
    config: Config = None,
) -> None:
    """Print the log of the job's driver, for the time of the job."""
    settings, since = load(config), 0
    while True:
        path = f"/jobs/{quote(job, safe='')}/log?since={since}"
        log = _ask_daemon(settings, "GET", path)
        for line in log["text"].splitlines():
            echo(line)
        if log["state"] == "none":
            echo(f"no log of job {job} was stored", is_error=True)
        if not follow or log["state"] in {"none", "complete"}:
            return
        since = log["next"]
        time.sleep(WATCH_SECONDS)


def _jobs_table(found: Sequence[Answer]) -> Rows:
    rows = Rows(
        ("table", "rule", "state", "created (UTC)", "took", "job", "result"),
        right=("took",),
        below="result",
        optional=("took",),
    )
    for job in found:
        state = Text(job["state"], style=STATE_STYLES.get(JobState(job["state"]), ""))
        rows.add_row(
            job["table"],
            job["rule"],
            state,
            _write_time(job["created_at"]),
            _write_duration(job),
            job["job_id"],
            _sum_up(job),
        )
    return rows


def _sum_up(job: Answer) -> str:
    """Return the first that is known: why the job failed, its effect, its progress, its reason."""
    progress = ": ".join(filter(None, (job["progress"]["phase"], job["progress"]["sentence"])))
    return str(
        job["failure_message"] or (job["effect"] or {}).get("sentence") or progress or job["reason"]
    )


def _job_table(job: Answer) -> Facts:
    """Return one line for each known fact."""
    effect = job["effect"] or {}
    cancelled_by = job["cancel_requested_by"]
    driver = job["driver"] or {}
    facts = {
        "job": job["job_id"],
        "table": job["table"],
        "rule": job["rule"],
        "state": job["state"],
        "progress": ": ".join(filter(None, (job["progress"]["phase"], job["progress"]["sentence"])))
        if job["finished_at"] is None
        else "",
        "requested by": job["requested_by"],
        "cancelled by": cancelled_by,
        "reason": job["reason"],
        "created": _write_time(job["created_at"]),
        "started": _write_time(job["started_at"]),
        "ended": _write_time(job["ended_at"]),
        "took": _write_duration(job),
        "failure": ": ".join(filter(None, (job["failure_reason"], job["failure_message"]))),
        "result": effect.get("sentence", ""),
        "rows": ROW_PROOFS[RowProof(effect["rows"])] if effect else "",
        "difference": effect.get("difference", ""),
        "driver": driver.get("name", ""),
        "runs on": driver.get("host", ""),
        "application": driver.get("application_id", ""),
        "statement": job["action"],
    }
    return Facts(
        [(Text(name, style="bold"), Text(str(fact))) for name, fact in facts.items() if fact]
    )


def _write_time(text: str | None) -> str:
    return (
        "" if text is None else f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    )


def _write_duration(job: Answer) -> str:
    if job["started_at"] is None or job["ended_at"] is None:
        return ""
    return format_duration(
        datetime.fromisoformat(job["ended_at"]) - datetime.fromisoformat(job["started_at"])
    )
