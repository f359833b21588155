"""The configuration that all commands share; --config may be before or after the command."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maintainer.cli.complete import complete_table
from maintainer.cli.console import OutputFormat

if TYPE_CHECKING:
    from maintainer.app import App
    from maintainer.settings import Settings

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
Format = Annotated[OutputFormat, typer.Option("--format", help="How to print the result.")]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config", help="Configuration file (default: MAINTAINER_CONFIG, or ./maintainer.yaml)."
    ),
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


def open_app(settings: Settings, *, runs_jobs: bool = False) -> AbstractContextManager[App]:
    """Open the application; a command that runs jobs also serves the link to their drivers."""
    from maintainer.app import LinkUse  # noqa: PLC0415
    from maintainer.app import open_app as open_world  # noqa: PLC0415

    return open_world(settings, LinkUse.SHARED if runs_jobs else LinkUse.NONE)
