"""The configuration that the commands share: --config may stand before the command or after it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from maintainer.settings import FILE_VARIABLE, Settings, load_settings

Config = Annotated[Path | None, typer.Option("--config", help="The configuration file; else MAINTAINER_CONFIG, else ./maintainer.yaml.")]


def remember(path: Path | None) -> None:
    """A --config before the command stands in for the environment's."""
    if path is not None:
        os.environ[FILE_VARIABLE] = str(path)


def load(path: Path | None) -> Settings:
    """The settings of this file, else of the environment's, else of ./maintainer.yaml."""
    return load_settings(path, os.environ)
