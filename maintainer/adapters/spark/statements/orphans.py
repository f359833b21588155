"""The statements of an orphan scan and of a removal."""

from __future__ import annotations

import json
from pathlib import Path
from re import compile as compile_regex

from maintainer.adapters.spark.driver.mover import MOVE
from maintainer.adapters.spark.statements.procedure import (
    LISTING_VIEW,
    call_statement,
    quote_identifier,
    quote_text,
    view_of,
)
from maintainer.domain.action import ApprovedList, Disposal, RemoveOrphanFiles
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier

# referenced files that are reported after a removal: all of a small table, else a sample
MAX_REACHED = 10_000

# Matches a path's scheme and leading slashes, to spell file:/, file:/// and s3a:// alike.
_WITHOUT_SCHEME = "regexp_replace({}, '^([A-Za-z0-9+.-]+:)?/*', '')"
_GLOB = compile_regex(r"([{}\[\]*?\\])")  # Spark takes any path for a glob pattern
_PARTS = "*.json"


def orphan_statements(
    table: TableIdentifier, action: RemoveOrphanFiles, listed: Path | None = None
) -> list[str]:
    """Return the statements of an orphan scan or of a removal.

    A scan counts the table's own files that lie elsewhere, then does the dry run. A removal works
    on the files in `listed`.
    """
    if action.approved is None:
        look = (
            _look_at(table, action, listed) if action.is_listed else [call_statement(table, action)]
        )
        return [_count_foreign(table, action, "count(*) AS foreign_files"), *look]
    return _disposal_statements(table, action, action.approved, listed)


def disposal_statement(table: TableIdentifier, action: RemoveOrphanFiles) -> str:
    """Write the main statement: Iceberg's procedure, or the driver's for the quarantine."""
    if action.approved is None or action.approved.disposal in {Disposal.DELETE, Disposal.EMPTY}:
        return call_statement(table, action)
    goes_in = action.approved.disposal is Disposal.QUARANTINE
    order = {
        "table": _name(table),
        "view": quote_identifier(view_of(action.approved)),
        "dry_run": call_statement(table, action) if goes_in else None,
    }
    return MOVE + json.dumps(
        {**order, "overwrites": goes_in}
    )  # a file in the quarantine under the list's id is an unfinished copy


def _count_foreign(table: TableIdentifier, action: RemoveOrphanFiles, result: str) -> str:
    own = _WITHOUT_SCHEME.format(quote_text(action.location.rstrip("/") + "/"))
    path = _WITHOUT_SCHEME.format("file_path")
    return f"SELECT {result} FROM {_name(table)}.all_files WHERE NOT startswith({path}, {own})"


def _look_at(table: TableIdentifier, action: RemoveOrphanFiles, listing: Path | None) -> list[str]:
    """Write statements for each part: neither listing nor result has to fit in memory."""
    parts = sorted(listing.glob(_PARTS)) if listing is not None else []
    if not parts:
        message = f"the contents of {action.location} are not listed here"
        raise InvalidValueError(message)
    view = quote_identifier(LISTING_VIEW)
    return [
        statement
        for part in parts
        for statement in (
            *_show(view, part, "the listing is not whole"),
            call_statement(table, action),
            f"DROP VIEW {view}",
        )
    ]


def _show(view: str, part: Path, complaint: str) -> list[str]:
    """Show a file's lines as a temporary view, and assert that all of them are there."""
    with part.open("rb") as file:
        lines = sum(1 for _ in file)
    place = quote_text(_GLOB.sub(r"\\\1", f"file://{part}"))
    columns = "file_path STRING, last_modified TIMESTAMP, target STRING"
    whole = (
        f"assert_true(count(*) = {lines} AND count(DISTINCT file_path) = {lines}, "
        f"{quote_text(complaint)})"
    )
    return [
        f"CREATE OR REPLACE TEMPORARY VIEW {view} ({columns}) USING json OPTIONS (path {place})",
        f"SELECT {whole} FROM {view}",
    ]


def _disposal_statements(
    table: TableIdentifier, action: RemoveOrphanFiles, approved: ApprovedList, listed: Path | None
) -> list[str]:
    if listed is None or not listed.is_file():
        message = f"the files of list {approved.list_id} are not here: nothing is deleted"
        raise InvalidValueError(message)
    view = quote_identifier(view_of(approved))
    # Spark checks this again right before the removal, because add_files may just have been called
    # on the table.
    foreign = (
        f"assert_true(count(*) = 0, "
        f"{quote_text('files of the table are outside its location: nothing is deleted')})"
    )
    is_back = approved.disposal is Disposal.RESTORE  # removes nothing
    return [
        *([] if is_back else [_count_foreign(table, action, foreign)]),
        *_show(view, listed, "the list is not whole: nothing is deleted"),
        disposal_statement(table, action),
        _tell_reached(table, view),
        f"DROP VIEW {view}",
    ]


def _tell_reached(table: TableIdentifier, view: str) -> str:
    """Report referenced files, metadata included: first those on the list, then a sample."""
    sources = {
        "all_files": "file_path",
        "all_manifests": "path",
        "snapshots": "manifest_list",
        "metadata_log_entries": "file",
    }
    reached = " UNION ".join(
        f"SELECT {column} AS path FROM {_name(table)}.{source}"
        for source, column in sources.items()
    )
    same = (
        f"{_WITHOUT_SCHEME.format('reached.path')} = {_WITHOUT_SCHEME.format('listed.file_path')}"
    )
    order = f"ORDER BY listed.file_path IS NULL, xxhash64(reached.path) LIMIT {MAX_REACHED}"
    return (
        f"SELECT reached.path FROM ({reached}) AS reached LEFT JOIN {view} AS listed ON {same} "
        f"WHERE reached.path IS NOT NULL {order}"
    )


def _name(table: TableIdentifier) -> str:
    return ".".join(
        quote_identifier(level) for level in (table.catalog, *table.namespace, table.name)
    )
