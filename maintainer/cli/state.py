"""The configuration that all commands share, before or after the command; shell completion."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maintainer.cli.output.console import OutputFormat
from maintainer.domain.errors import InvalidValueError, MaintainerError

if TYPE_CHECKING:
    from maintainer.app import App
    from maintainer.ports.store import Store
    from maintainer.settings import Settings


MOST_OFFERED = 200
Format = Annotated[OutputFormat, typer.Option("--format", help="How to print the result.")]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config", help="Configuration file (default: MAINTAINER_CONFIG, or ./maintainer.yaml)."
    ),
]


@contextmanager
def open_known(settings: Settings) -> Iterator[Store | None]:
    """Open the store of earlier scans; None if there is none yet."""
    from maintainer.adapters.store import open_store  # noqa: PLC0415 - slow to import
    from maintainer.settings.paths import is_missing_sqlite  # noqa: PLC0415 - as above

    if is_missing_sqlite(settings.store):
        yield None
        return
    with closing(open_store(settings.store)) as store:
        yield store


def complete_table(context: typer.Context, incomplete: str) -> list[str]:
    """Return the known tables that begin with the typed text; none if the store cannot be read."""
    from maintainer.settings import load_settings  # noqa: PLC0415 - as above

    try:
        settings = load_settings(_find_configuration(context), os.environ)
        with open_known(settings) as store:
            known = () if store is None else store.table_names()
    except MaintainerError:
        return []
    return sorted(name for table in known if (name := str(table)).startswith(incomplete))[
        :MOST_OFFERED
    ]


def _find_configuration(context: typer.Context) -> Path | None:
    """Return the --config that was typed already, before or after the command."""
    current: typer.Context | None = context
    while current is not None:
        given = current.params.get("config")
        if given is not None:
            return Path(str(given))
        # Typer's contexts have Typer's parents.
        current = current.parent  # type: ignore[assignment]
    return None


Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        help="The port to listen on, not server.port; 0 takes any free one.",
    ),
]

# PLC0415 below: a command imports the modules that it needs, so that the help starts fast.

Tables = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TABLE]...",
        autocompletion=complete_table,
        help="catalog.namespace.table, or a glob; all tables by default.",
    ),
]
TableName = Annotated[
    str,
    typer.Argument(metavar="TABLE", autocompletion=complete_table, help="catalog.namespace.table"),
]


def remember(path: Path | None) -> None:
    """Remember a --config before the command; it replaces MAINTAINER_CONFIG."""
    if path is not None:
        from maintainer.settings import FILE_VARIABLE  # noqa: PLC0415

        os.environ[FILE_VARIABLE] = str(path)


def load(path: Path | None) -> Settings:
    """Read the settings of this file, else of MAINTAINER_CONFIG, else of ./maintainer.yaml."""
    from maintainer.settings import load_settings  # noqa: PLC0415

    return load_settings(path, os.environ)


def listen_at(settings: Settings, host: str | None, port: int | None) -> Settings:
    """Return the settings with the address of the options, where they are given."""
    if host == "":
        raise InvalidValueError("--host is empty; give an address or a name, such as 127.0.0.1")
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return settings.model_copy(update={"server": settings.server.model_copy(update=given)})


def open_app(settings: Settings, *, runs_jobs: bool = False) -> AbstractContextManager[App]:
    """Open the application; a command that runs jobs also serves the link to their drivers."""
    from maintainer.app import LinkUse  # noqa: PLC0415
    from maintainer.app import open_app as open_world  # noqa: PLC0415

    return open_world(settings, LinkUse.SHARED if runs_jobs else LinkUse.NONE)
