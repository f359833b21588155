"""The configuration that the commands share: --config may stand before the command or after it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import click
import typer

from maintainer.settings import Settings, load_settings

Config = Annotated[Path | None, typer.Option("--config", help="The configuration file; else MAINTAINER_CONFIG, else ./maintainer.yaml.")]


def load(path: Path | None) -> Settings:
    """The settings of this file, else of the one named before the command, else of the environment's or the default one."""
    before_command = click.get_current_context().find_root().obj
    return load_settings(path or before_command, os.environ)
