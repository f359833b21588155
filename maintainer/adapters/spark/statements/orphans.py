"""The statements of an orphan scan and of a removal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from maintainer.adapters.spark.driver.lists.files import SHOW
from maintainer.adapters.spark.driver.mover import MOVE
from maintainer.domain.action import ApprovedList, Disposal, RemoveOrphanFiles
from maintainer.domain.condition_tokens import quote_identifier, quote_text
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import LISTING_VIEW, quarantine_of, view_of
from maintainer.procedures.call import name_table
from maintainer.procedures.registry import call_statement

PART_FILES = 250_000  # listed files that one dry run compares with the table
# Referenced files that are reported after a removal: all files of a small table, else a sample.
MAX_REACHED = 10_000

# Removes a path's scheme and leading slashes, so that file:/, file:/// and s3a:// compare equal.
_WITHOUT_SCHEME = "regexp_replace({}, '^([A-Za-z0-9+.-]+:)?/*', '')"


@dataclass(frozen=True, slots=True)
class GivenFiles:
    """The files that a job gets: their kind (`list` or `listing`), and the lines of portions."""

    kind: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """Some consecutive portions."""

    kind: str
    first: int
    portions: int
    files: int


def orphan_statements(
    table: TableIdentifier, action: RemoveOrphanFiles, given: GivenFiles | None = None
) -> list[str]:
    """Return the statements of an orphan scan or of a removal.

    A scan counts the table's own files outside the location, then does the dry run. A removal
    removes only given files.
    """
    if action.approved is None:
        look = (
            _scan_statements(table, action, given)
            if action.is_listed
            else [call_statement(table, action)]
        )
        return [_count_foreign(table, action, "count(*) AS foreign_files"), *look]
    return _disposal_statements(table, action, action.approved, given)


def disposal_statement(table: TableIdentifier, action: RemoveOrphanFiles) -> str:
    """Write the main statement: Iceberg's procedure, or the driver's statement that moves files."""
    if action.approved is None or action.approved.disposal in {Disposal.DELETE, Disposal.EMPTY}:
        return call_statement(table, action)
    goes_in = action.approved.disposal is Disposal.QUARANTINE
    order = {
        "table": name_table(table),
        "view": quote_identifier(view_of(action.approved)),
        "dry_run": call_statement(table, action) if goes_in else None,
    }
    # A file that is already in the list's quarantine is an unfinished copy.
    return MOVE + json.dumps({**order, "overwrites": goes_in})


def _count_foreign(table: TableIdentifier, action: RemoveOrphanFiles, result: str) -> str:
    own = _WITHOUT_SCHEME.format(quote_text(action.location.rstrip("/") + "/"))
    path = _WITHOUT_SCHEME.format("file_path")
    return f"SELECT {result} FROM {name_table(table)}.all_files WHERE NOT startswith({path}, {own})"


def _scan_statements(
    table: TableIdentifier, action: RemoveOrphanFiles, given: GivenFiles | None
) -> list[str]:
    """Write statements for each part, so that neither listing nor result must fit into memory."""
    if given is None:
        raise InvalidValueError(f"the contents of {action.location} are not listed here")
    view = quote_identifier(LISTING_VIEW)
    return [
        statement
        for part in _parts(given)
        for statement in (
            *_show(LISTING_VIEW, part, "", None, "the listing is incomplete"),
            call_statement(table, action),
            f"DROP VIEW {view}",
        )
    ]


def _parts(given: GivenFiles) -> Iterator[_Part]:
    """Divide a listing into parts of whole portions with at most PART_FILES files."""
    first = files = 0
    for number, lines in enumerate(given.lines):
        if files and lines and files + lines > PART_FILES:
            yield _Part(given.kind, first, number - first, files)
            first, files = number, 0
        files += lines
    yield _Part(given.kind, first, len(given.lines) - first, files)


def _show(view: str, part: _Part, start: str, target: str | None, complaint: str) -> list[str]:
    """Show portions as a temporary view, and assert that the view has all their files."""
    order = {
        "view": view,
        "kind": part.kind,
        "first": part.first,
        "portions": part.portions,
        "from": start,
        "to": target,
    }
    whole = (
        f"assert_true(count(*) = {part.files} AND count(DISTINCT file_path) = {part.files}, "
        f"{quote_text(complaint)})"
    )
    return [SHOW + json.dumps(order), f"SELECT {whole} FROM {quote_identifier(view)}"]


def places_of(action: RemoveOrphanFiles) -> tuple[str, str]:
    """Return the directories that listed files are moved from and to, with a slash at the end."""
    own = action.location.rstrip("/") + "/"
    approved = action.approved
    if approved is None:
        return own, own
    aside = quarantine_of(action.location, approved.list_id)
    is_aside = approved.disposal in {Disposal.RESTORE, Disposal.EMPTY}
    return (aside, own) if is_aside else (own, aside)


def _disposal_statements(
    table: TableIdentifier,
    action: RemoveOrphanFiles,
    approved: ApprovedList,
    given: GivenFiles | None,
) -> list[str]:
    if given is None:
        raise InvalidValueError(
            f"the files of list {approved.list_id} are not here: nothing is deleted"
        )
    view = quote_identifier(view_of(approved))
    whole_list = _Part(given.kind, 0, len(given.lines), sum(given.lines))
    # Spark checks this again right before the removal, because somebody may just have called
    # add_files on the table.
    foreign = (
        f"assert_true(count(*) = 0, "
        f"{quote_text('files of the table are outside its location: nothing is deleted')})"
    )
    is_back = approved.disposal is Disposal.RESTORE  # a restore removes nothing
    return [
        *([] if is_back else [_count_foreign(table, action, foreign)]),
        *_show(
            view_of(approved),
            whole_list,
            *places_of(action),
            "the list is incomplete: nothing is deleted",
        ),
        disposal_statement(table, action),
        _select_referenced(table, view),
        f"DROP VIEW {view}",
    ]


def _select_referenced(table: TableIdentifier, view: str) -> str:
    """Report referenced files, including metadata: first the files on the list, then a sample."""
    sources = {
        "all_files": "file_path",
        "all_manifests": "path",
        "snapshots": "manifest_list",
        "metadata_log_entries": "file",
    }
    reached = " UNION ".join(
        f"SELECT {column} AS path FROM {name_table(table)}.{source}"
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
