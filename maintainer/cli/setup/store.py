"""`maintainer store`: migrate the store's schema as a separate step of an installation."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Annotated

import typer

from maintainer.adapters.store import SqlStore, open_store
from maintainer.cli.output.console import echo
from maintainer.cli.state import Config, load
from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.units import parse_duration

store_app = typer.Typer(
    name="store",
    help="The store's schema: migrate it, or wait until it is migrated.",
    no_args_is_help=True,
)

_INTERVAL_SECONDS = 1.0


@store_app.command()
def migrate(config: Config = None) -> None:
    """Migrate the store to this version's schema. Other processes that migrate it wait."""
    with closing(open_store(load(config).store)) as store:
        echo(store.describe())


@store_app.command()
def wait(
    timeout: Annotated[str, typer.Option("--timeout", help="How long to wait, such as 5m.")] = "5m",
    config: Config = None,
) -> None:
    """Wait until the store can be reached and another process has migrated it."""
    deadline = time.monotonic() + parse_duration(timeout).total_seconds()
    with closing(_wait_for_schema(load(config).store, deadline)) as store:
        echo(store.describe())


def _wait_for_schema(url: str, deadline: float) -> SqlStore:
    """Open the store as soon as it is migrated; StoreUnavailableError at the deadline."""
    while True:
        try:
            return open_store(url, migrates=False)
        except StoreUnavailableError:
            left = deadline - time.monotonic()
            if left <= 0:
                raise
        time.sleep(min(left, _INTERVAL_SECONDS))
