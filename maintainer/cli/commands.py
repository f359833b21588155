"""All commands, in the groups in which the help shows them."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

import maintainer
from maintainer.cli.output.console import explained_errors
from maintainer.cli.state import Config, remember


class Entry(NamedTuple):
    """A command as the help lists it. Its module is imported only when the command is used."""

    place: str  # module and name in this package
    help: str  # the beginning of its docstring; a test compares them


PANELS: Final = {
    "Look": {
        "status": Entry(
            "tables.status:status",
            "Say whether all is well, and what needs a person; exit 1 if something does.",
        ),
        "scan": Entry(
            "tables.scan:scan",
            "Measure the tables that changed, or those named, and print their health.",
        ),
        "check": Entry(
            "tables.scan:check",
            "For CI and cron: measure; exit 1 if a table is at or above --fail-on, or unreadable.",
        ),
        "plan": Entry(
            "tables.plan:plan", "Dry run: what would run, what would not, and why. Changes nothing."
        ),
        "why": Entry(
            "tables.why:why",
            "Explain one table: its health, each rule's decision and reason, recent jobs, earlier "
            "decisions.",
        ),
        "report": Entry(
            "tables.report:report",
            "Report what small files cost by namespace, and which tables to compact first.",
        ),
        "suggest": Entry(
            "tables.suggest:suggest",
            "Write a policy for one table from its own history, with the figure behind each value.",
        ),
        "jobs": Entry("jobs.jobs:jobs_app", "Jobs of the running daemon: list, show, log, cancel."),
        "audit": Entry("jobs.audit:audit", "Print the audit log, or export it."),
        "pauses": Entry(
            "jobs.pauses:pauses",
            "List what is paused, by whom and why, and the jobs that are running there.",
        ),
    },
    "Act": {
        "run": Entry(
            "jobs.run:run",
            "Run the plan of a table, or the named actions, now; print the table before and after.",
        ),
        "pause": Entry(
            "jobs.pauses:pause",
            "Start no new job on a table, a namespace, a catalog or everything, until it is "
            "resumed.",
        ),
        "resume": Entry("jobs.pauses:resume", "End a pause or a drain."),
        "drain": Entry(
            "jobs.pauses:drain",
            "Start no new job at all, not even on request; running jobs finish. `maintainer "
            "resume` ends it.",
        ),
        "rollback": Entry(
            "jobs.run:rollback",
            "Undo a job's commits; refused if that would undo commits of others. Pauses the table.",
        ),
        "orphans": Entry(
            "jobs.orphans:orphans_app",
            "Orphan files, which no table references: list, show, approve or reject their "
            "deletion.",
        ),
        "pin": Entry(
            "jobs.pins:pin",
            "Protect a snapshot and newer ones from expiry; without --snapshot, list the pins.",
        ),
        "unpin": Entry("jobs.pins:unpin", "Remove a pin."),
    },
    "Set up": {
        "init": Entry(
            "setup.init:init",
            "Write maintainer.yaml and a first policy; asks for everything that no option sets.",
        ),
        "demo": Entry(
            "setup.demo:demo",
            "Build a local lake with small-file problems, and run the daemon on it.",
        ),
        "doctor": Entry(
            "setup.daemon:doctor",
            "Check Java, Spark and its jars, catalogs, store, policies and page: what works, and "
            "what to do.",
        ),
        "jars": Entry(
            "setup.jars:jars_app", "Spark's jars on this machine: fetch those that are missing."
        ),
        "store": Entry(
            "setup.store:store_app", "The store's schema: migrate it, or wait until it is migrated."
        ),
        "policies": Entry(
            "setup.policies:policies_app",
            "Policies: validate them, explain them, compare their versions, print their schema.",
        ),
        "serve": Entry("setup.daemon:serve", "Run the daemon: scheduler, REST API and web page."),
        "openapi": Entry("setup.daemon:openapi", "Print the OpenAPI document of the REST API."),
    },
}


def load_command(name: str, place: str) -> Any:  # noqa: ANN401 - Typer comes with its own Click
    """Import a command or a group of commands."""
    module, _, attribute = place.partition(":")
    found = getattr(import_module(f"maintainer.cli.{module}"), attribute)
    holder = typer.Typer(add_completion=False)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name)
    else:
        holder.command(name)(found)
    return get_group(holder).commands[name]


class _Listed(TyperCommand):
    """Stands for a command in the help, and loads the command when it is used."""

    def __init__(self, name: str, entry: Entry, panel: str) -> None:
        super().__init__(name, help=entry.help, rich_help_panel=panel)
        self._place = entry.place

    # As in load_command.
    def make_context(self, info_name: str | None, *args: Any, **extra: Any) -> Any:  # noqa: ANN401
        return load_command(self.name or "", self._place).make_context(info_name, *args, **extra)


class _Listing(TyperGroup):
    """Lists the commands in the order of their panels."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - as in load_command
        super().__init__(**attributes)
        for panel, entries in PANELS.items():
            for name, entry in entries.items():
                self.add_command(_Listed(name, entry, panel))

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as in load_command
        """Run the command that was typed, with its errors explained."""
        with explained_errors():
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - as in load_command
        return list(self.commands)


application = typer.Typer(
    name="maintainer",
    cls=_Listing,
    help="A maintenance daemon for Apache Iceberg tables: it measures tables, decides by policy, "
    "runs maintenance on Spark, and proves the results.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"iceberg-maintainer {maintainer.__version__}")
        raise typer.Exit


@application.callback()
def root(
    config: Config = None,
    version: Annotated[  # noqa: ARG001 - its callback acts
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """A maintenance daemon for Apache Iceberg tables."""
    remember(config)


def main() -> None:
    application()
