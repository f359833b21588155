"""The table list as CSV, for spreadsheets and scripts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Response
from starlette.responses import StreamingResponse

from maintainer.api import wire
from maintainer.api.access import on_any
from maintainer.api.deps import ContextIn, PersonIn, PortsIn
from maintainer.api.tables import FilteredIn, find_statuses
from maintainer.domain.access import Role
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.status import TableStatus
from maintainer.ports.store import Store
from maintainer.ports.store.pages import MAX_PAGE, Page
from maintainer.ports.store.tables import TableQuery, TableRecord

CSV = "text/csv"
# Fields of TableSummary; `state` is that of its status, and `fault` its reason only. A snapshot id
# is left out, because spreadsheets read it as a number and lose digits.
COLUMNS = (
    "table",
    "catalog",
    "namespace",
    "name",
    "state",
    "band",
    "band_since",
    "average_file_size_bytes",
    "target_file_size_bytes",
    "data_files",
    "data_bytes",
    "small_files",
    "small_file_ratio",
    "records",
    "position_delete_files",
    "equality_delete_files",
    "deletion_vectors",
    "manifests",
    "manifest_bytes",
    "snapshots",
    "format_version",
    "measured_at",
    "reason",
    "fault",
)
_STARTS_OF_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")

Statuses = Mapping[TableIdentifier, TableStatus]

router = APIRouter(tags=["tables"])

_CSV: dict[int | str, dict[str, Any]] = {
    HTTPStatus.OK.value: {
        "description": "A head with the names of the columns, then a line for each table.",
        "content": {CSV: {"schema": {"type": "string"}}},
    }
}


@router.get(
    "/tables.csv",
    summary="The whole table list as CSV",
    responses=_CSV,
    response_class=Response,
    dependencies=[on_any(Role.VIEWER)],
)
def get_tables_csv(
    ports: PortsIn, context: ContextIn, person: PersonIn, filtered: FilteredIn
) -> Response:
    """All tables of the filter in the order of the sort, in UTF-8; an unknown figure is empty.

    A text that a spreadsheet would take for a formula begins with `'`. The list is read in pages:
    a table that changes its place meanwhile may be missing or there twice.
    """
    query = replace(filtered, limit=MAX_PAGE)
    statuses = find_statuses(context, person)
    lines = _write_lines(ports.store, query, ports.store.tables(query), statuses)
    headers = {"Content-Disposition": 'attachment; filename="tables.csv"'}
    return StreamingResponse(lines, media_type=CSV, headers=headers)


def _write_lines(
    store: Store, query: TableQuery, page: Page[TableRecord], statuses: Statuses
) -> Iterator[str]:
    """Yield the head with the first page, then page by page."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    while True:
        writer.writerows(_write_row(record, statuses) for record in page.items)
        yield text.getvalue()
        if page.next_cursor is None:
            return
        text.seek(0)
        text.truncate()
        page = store.tables(replace(query, cursor=page.next_cursor))


def _write_row(record: TableRecord, statuses: Statuses) -> list[object]:
    row = wire.write_summary(record, statuses.get(record.table)).model_dump(mode="json")
    fault, status = row["fault"], row["status"]
    row["fault"] = fault["reason"] if fault else None
    row["state"] = status["state"] if status else None
    return [make_harmless(row[name]) for name in COLUMNS]


def make_harmless(value: object) -> object:
    """Keep a spreadsheet from running a text as a formula; names come from anybody's catalog."""
    if isinstance(value, str) and value.startswith(_STARTS_OF_FORMULAS):
        return f"'{value}"
    return value
