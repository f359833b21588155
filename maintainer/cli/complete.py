"""Shell completion."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from maintainer.domain.errors import MaintainerError
from maintainer.domain.identifier import TableIdentifier

if TYPE_CHECKING:
    from maintainer.settings import Settings

MOST_OFFERED = 200


def known_tables(settings: Settings) -> Sequence[TableIdentifier]:
    """Return the tables that earlier scans found; none if there is no store yet."""
    from maintainer.adapters.store import open_store  # noqa: PLC0415 - slow to import
    from maintainer.settings.paths import is_missing_sqlite  # noqa: PLC0415 - as above

    if is_missing_sqlite(settings.store):
        return ()
    with closing(open_store(settings.store)) as store:
        return store.table_names()


def complete_table(context: typer.Context, incomplete: str) -> list[str]:
    """Return the known tables that begin with the typed text; none if the store cannot be read."""
    from maintainer.settings import load_settings  # noqa: PLC0415 - as above

    try:
        known = known_tables(load_settings(_find_configuration(context), os.environ))
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
