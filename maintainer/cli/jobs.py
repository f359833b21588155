"""`maintainer jobs`: what the running daemon does, through its API."""

from __future__ import annotations

import time
from typing import Annotated
from urllib.parse import quote

import typer
from rich.live import Live
from rich.table import Table
from rich.text import Text

from maintainer.cli.console import OutputFormat, command, make_console, print_json
from maintainer.cli.show import make_table
from maintainer.cli.state import Config, load
from maintainer.domain.errors import MaintainerError, UnknownTableError
from maintainer.settings import Settings

jobs_app = typer.Typer(help="Jobs of the running daemon.", invoke_without_command=True)

TIMEOUT_SECONDS = 10
WATCH_SECONDS = 1
MOST_SHOWN = 50
_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where the daemon listens, not where this connects


def _ask_daemon(settings: Settings, method: str, path: str) -> dict[str, object]:
    import httpx  # noqa: PLC0415 - only this command needs it

    host = _WILDCARDS.get(settings.server.host, settings.server.host)
    base = f"http://{f'[{host}]' if ':' in host else host}:{settings.server.port}"
    try:
        answer = httpx.request(method, f"{base}/api/v1{path}", timeout=TIMEOUT_SECONDS, trust_env=False)
        body: dict[str, object] = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        message = f"no daemon answers at {base}: {error}; `maintainer serve` starts one"
        raise MaintainerError(message) from error
    if answer.is_success:
        return body
    detail = str(body.get("detail", answer.reason_phrase))
    raise UnknownTableError(detail) if answer.status_code == httpx.codes.NOT_FOUND else MaintainerError(detail)


def _rows(settings: Settings) -> list[dict[str, object]]:
    items = _ask_daemon(settings, "GET", f"/jobs?limit={MOST_SHOWN}")["items"]
    return items if isinstance(items, list) else []


def _table(rows: list[dict[str, object]]) -> Table:
    table = make_table("job", "table", "rule", "state", "result")
    for row in rows:
        effect, progress = row.get("effect"), row.get("progress")
        phase = ": ".join(str(progress[part]) for part in ("phase", "sentence") if progress.get(part)) if isinstance(progress, dict) else ""
        sentence = effect.get("sentence") if isinstance(effect, dict) else ""
        result = str(row.get("failure_message") or sentence or phase or row.get("reason") or "")
        table.add_row(str(row["job_id"]), str(row["table"]), str(row["rule"]), str(row["state"]), Text(result))
    return table


@jobs_app.callback()
@command
def jobs(
    context: typer.Context,
    watch: Annotated[bool, typer.Option("--watch", help="Keep the list up to date until Ctrl-C.")] = False,
    output: Annotated[OutputFormat, typer.Option("--format", help="How to print the list.")] = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """List the newest jobs of the running daemon."""
    if context.invoked_subcommand is not None:
        return
    settings = load(config)
    if output is OutputFormat.JSON:
        print_json(_rows(settings))
        return
    console = make_console()
    if not watch:
        console.print(_table(_rows(settings)))
        return
    with Live(_table(_rows(settings)), console=console, refresh_per_second=2) as live:
        while True:
            time.sleep(WATCH_SECONDS)
            live.update(_table(_rows(settings)))


@jobs_app.command("cancel")
@command
def cancel_job(
    job: Annotated[str, typer.Argument(help="The job's id.")],
    config: Config = None,
) -> None:
    """Ask the running daemon to end a job; nothing of it is committed any more."""
    answer = _ask_daemon(load(config), "POST", f"/jobs/{quote(job, safe='')}/cancel")
    typer.echo(f"job {job}: {answer['state']}, cancel requested")
