"""`maintainer status`: is all well, and what needs a person."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import typer
from rich.text import Text

from maintainer.cli.output.console import (
    EXIT_FAILED,
    OutputFormat,
    echo,
    print_json,
    print_list,
    say,
)
from maintainer.cli.output.policy_warnings import warn_of_policies
from maintainer.cli.output.rows import Rows
from maintainer.cli.state import Config, Format, complete_table, load, open_app
from maintainer.cli.tables.choose import suggest_names
from maintainer.domain.access import read_prefix
from maintainer.domain.admission import EVERYTHING
from maintainer.domain.errors import UnknownTableError
from maintainer.domain.status import FleetStatus, TableStatus
from maintainer.domain.units import format_instant
from maintainer.ports import Ports
from maintainer.requests.status import assess_tables, find_place_status, renew_plan
from maintainer.steps.admission import read_queue

Place = Annotated[
    str,
    typer.Argument(
        metavar="[PLACE]",
        autocompletion=complete_table,
        help="A table, a namespace or a catalog (default: everything).",
    ),
]


def status(
    place: Place = EVERYTHING,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Say whether all is well, and what needs a person; exit 1 if something does."""
    prefix = read_prefix(place)
    with open_app(load(config)) as app:
        ports = app.ports
        renew = partial(renew_plan, ports)
        statuses = assess_tables(ports, read_queue(ports), renew, prefix)
        if not statuses and prefix:
            _refuse_unknown(ports, place)
        found = find_place_status(ports, statuses, prefix, None)
        warn_of_policies(ports)
    if output is OutputFormat.JSON:
        print_json(_status_json(found, statuses))
    else:
        _print_status(found)
    if found.last_scan_at is None:
        say("`maintainer scan` measures the tables.")
    if not found.is_well:
        raise typer.Exit(EXIT_FAILED)


def _refuse_unknown(ports: Ports, place: str) -> None:
    """Refuse a place without tables, unless it is a configured catalog."""
    if place in ports.catalogs:
        return
    known = ports.store.table_names()
    namespaces = {f"{table.catalog}.{table.namespace_text}" for table in known}
    near = suggest_names(place, [*ports.catalogs, *sorted(namespaces), *map(str, known)])
    raise UnknownTableError(f"no known table is in {place}{near}")


def _print_status(found: FleetStatus) -> None:
    echo(found.sentence)
    counted = [
        f"{number:,} {state.value.replace('_', ' ')}"
        for state, number in found.states.items()
        if number
    ]
    if counted:
        echo(", ".join(counted))
    if not found.needs:
        return
    rows = Rows(("what needs a person", "problem", "since", "why"), below="why")
    for need in found.needs:
        entry = need.entry
        why = Text(f"{entry.sentence.rstrip('.')}.")
        why.append(f"\n{need.command}", style="bold")
        since = "" if entry.since is None else format_instant(entry.since)
        rows.add_row(entry.subject, entry.kind.value, since, why)
    echo("")
    print_list(rows)


def _status_json(found: FleetStatus, statuses: Sequence[TableStatus]) -> dict[str, Any]:
    # as in commands
    from maintainer.api.status_schemas import write_fleet_status  # noqa: PLC0415

    return write_fleet_status(found, statuses).model_dump(mode="json")
