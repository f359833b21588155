"""`maintainer audit`: who asked for jobs, what ran, and with what result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from maintainer.cli.output.console import print_json, print_list, write_json
from maintainer.cli.output.rows import Rows
from maintainer.cli.state import Config, load, open_app
from maintainer.domain.audit import AuditEntry, AuditQuery
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.units import parse_duration

if TYPE_CHECKING:
    from maintainer.ports.store import Store

PAGE = 1000
DEFAULT_SHOWN = 100


class AuditFormat(StrEnum):
    """Output formats; jsonl prints one entry in each line, oldest first, for an archive."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


def audit(  # noqa: PLR0913, PLR0917 - options are arguments, given by name
    table: Annotated[str | None, typer.Option(help="catalog.namespace.table")] = None,
    job: Annotated[str, typer.Option(help="A job's id.")] = "",
    actor: Annotated[str, typer.Option(help="As in the log, such as 'person ada'.")] = "",
    within: Annotated[
        str | None, typer.Option(help="Only entries not older than this, such as 30d.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, help="Maximum number of entries (default: 100 in table format, otherwise all)."
        ),
    ] = None,
    output: Annotated[
        AuditFormat, typer.Option("--format", help="How to print the log.")
    ] = AuditFormat.TABLE,
    config: Config = None,
) -> None:
    """Print the audit log, or export it."""
    with open_app(load(config)) as app:
        now = app.ports.clock.now()
        query = AuditQuery(
            table=TableIdentifier.parse(table) if table is not None else None,
            job_id=job,
            actor=actor,
            since=None if within is None else now - parse_duration(within),
        )
        most = (
            limit if limit is not None else DEFAULT_SHOWN if output is AuditFormat.TABLE else None
        )
        query = replace(query, limit=min(PAGE, most or PAGE))
        found = list(islice(_read(app.ports.store, query), most))
    entries = [_write(entry) for entry in reversed(found)]
    match output:
        case AuditFormat.JSON:
            print_json(entries)
        case AuditFormat.JSONL:
            for entry in entries:
                typer.echo(write_json(entry))
        case AuditFormat.TABLE:
            shown = Rows(
                ("at", "actor", "deed", "job", "table", "what"), below="what", alone="table"
            )
            for entry in entries:
                shown.add_row(
                    *(str(entry[key] or "") for key in ("at", "actor", "deed", "job_id", "table")),
                    _describe(entry["fields"]),
                )
            print_list(shown)


def _read(store: Store, query: AuditQuery) -> Iterator[AuditEntry]:
    """Read the entries page by page, newest first."""
    while True:
        page = store.audit(query)
        yield from page.items
        if page.next_cursor is None:
            return
        query = replace(query, cursor=page.next_cursor)


def _write(entry: AuditEntry) -> dict[str, object]:
    return {
        "sequence": entry.sequence,
        "at": f"{entry.at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
        "actor": entry.actor,
        "deed": entry.deed.value,
        "table": str(entry.table) if entry.table is not None else None,
        "table_uuid": entry.table_uuid,
        "job_id": entry.job_id,
        "fields": dict(entry.fields),
    }


def _describe(fields: object) -> str:
    said = ("statement", "message", "reason", "state", "by")
    return (
        next((str(fields[key]) for key in said if fields.get(key)), "")
        if isinstance(fields, dict)
        else ""
    )
