"""`maintainer serve`, `doctor` and `openapi`: the daemon, its requirements and its API."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from maintainer.cli.output import show
from maintainer.cli.output.console import EXIT_FAILED, OutputFormat, print_json, print_list
from maintainer.cli.setup.roles import Role
from maintainer.cli.state import Config, Format, Port, listen_at, load
from maintainer.domain.units import parse_duration

# PLC0415 below: the imports of catalogs, Spark and the server take seconds. The help and the
# shell's completion should not wait for them.


def serve(
    role: Annotated[
        Role,
        typer.Option(
            "--role",
            help="What this replica does: all; only the API and the page; only scans, plans and "
            "jobs; only the link of drivers that are pods. All but `all` need a migrated store.",
        ),
    ] = Role.ALL,
    host: Annotated[
        str | None, typer.Option("--host", help="The address to listen on, not server.host.")
    ] = None,
    port: Port = None,
    config: Config = None,
) -> None:
    """Run the daemon: scheduler, REST API and web page."""
    from maintainer.cli.setup.serve import serve as serve_daemon  # noqa: PLC0415

    serve_daemon(listen_at(load(config), host, port), role)


def doctor(
    deadline: Annotated[
        str, typer.Option("--deadline", help="How long the checks may take, such as 10s.")
    ] = "10s",
    spark: Annotated[
        bool,
        typer.Option("--spark", help="Also start Spark in each pool as a job would, and end it."),
    ] = False,
    scratch: Annotated[
        list[str] | None,
        typer.Option(
            "--scratch",
            metavar="CATALOG.NAMESPACE",
            help="As --spark; also create a table in this namespace, rewrite it and drop it.",
        ),
    ] = None,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Check Java, Spark and its jars, catalogs, store, policies and page: what works, and what to
    do.
    """
    from maintainer.cli.setup.diagnose import diagnose  # noqa: PLC0415

    findings: list[tuple[str, bool, str]] = []

    def note(finding: tuple[str, bool, str]) -> None:
        findings.append(finding)
        if output is OutputFormat.TABLE:
            print_list(show.finding_line(*finding))

    tried = (scratch or []) if spark or scratch else None
    diagnose(partial(load, config), parse_duration(deadline).total_seconds(), note, tried)
    if output is OutputFormat.JSON:
        print_json(
            [
                {"what": what, "is_fine": is_fine, "finding": sentence}
                for what, is_fine, sentence in findings
            ]
        )
    if not all(is_fine for _, is_fine, _ in findings):
        raise typer.Exit(EXIT_FAILED)


def openapi() -> None:
    """Print the OpenAPI document of the REST API."""
    from maintainer.api.application import write_openapi  # noqa: PLC0415

    typer.echo(write_openapi(), nl=False)
