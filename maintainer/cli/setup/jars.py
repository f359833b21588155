"""`maintainer jars`: the jars that Spark needs on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maintainer.adapters.spark.pins import SETS, Jar
from maintainer.cli.output.console import echo
from maintainer.cli.state import Config, load
from maintainer.domain.errors import InvalidValueError

if TYPE_CHECKING:
    from maintainer.settings import Settings

_HELP = "Spark's jars on this machine: fetch those that are missing."
jars_app = typer.Typer(name="jars", help=_HELP, no_args_is_help=True)


@jars_app.callback()
def jars() -> None:
    """Spark's jars on this machine: fetch those that are missing."""


@jars_app.command()
def fetch(
    sets: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="SET", help=f"Also for a storage: {', '.join(SETS)}."),
    ] = None,
    config: Config = None,
) -> None:
    """Fetch Iceberg's runtime, what the configured catalogs need, and the coordinates of
    spark.jars; each is checked by its SHA-256. No job fetches anything.
    """
    from maintainer.adapters.spark.jars import default_directory  # noqa: PLC0415 - slow imports
    from maintainer.adapters.spark.jars import fetch as fetch_jars  # noqa: PLC0415

    named = frozenset(sets or ())
    for name in named - SETS.keys():
        raise InvalidValueError(f"--with is {name!r}, but must be one of {', '.join(SETS)}")
    wanted: dict[Path, list[Jar]] = {default_directory(): []}
    if config is not None or _is_configured():
        settings = load(config)
        named |= _needed(settings)
        wanted = {}
        for pool in settings.spark.every_pool.values():
            pins = map(Jar.parse, pool.jars)
            wanted.setdefault(pool.jars_dir or default_directory(), []).extend(
                jar for jar in pins if jar is not None
            )
    for directory, given in wanted.items():
        for path in fetch_jars(directory, named, list(dict.fromkeys(given))):
            echo(str(path))


def _is_configured() -> bool:
    from maintainer.settings import FILE_VARIABLE  # noqa: PLC0415 - as above

    return Path(os.environ.get(FILE_VARIABLE) or "maintainer.yaml").exists()


def _needed(settings: Settings) -> frozenset[str]:
    from maintainer.adapters.spark.catalogs import needed_jars  # noqa: PLC0415 - as above
    from maintainer.app import spark_catalogs  # noqa: PLC0415

    return frozenset().union(*map(needed_jars, spark_catalogs(settings)[0].values()))
