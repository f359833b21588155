"""Orphan files on Spark.

It writes the statements of an orphan scan and of a removal, the file with an approved list, and
reads the resulting rows.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from re import compile as compile_regex
from shutil import rmtree
from typing import TextIO

from maintainer.adapters.spark.driver.mover import MOVE
from maintainer.adapters.spark.statements.procedure import (
    LISTING_VIEW,
    call_statement,
    quote_identifier,
    quote_text,
    view_of,
)
from maintainer.domain.action import ApprovedList, Disposal, RemoveOrphanFiles
from maintainer.domain.errors import InvalidValueError, RunnerUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.location import respell
from maintainer.domain.orphan import FoundFile, FoundOrphans, RemovedOrphans, quarantine_of

# referenced files that are reported after a removal: all of a small table, else a sample
MAX_REACHED = 10_000

# Matches a path's scheme and leading slashes, to spell file:/, file:/// and s3a:// alike.
_WITHOUT_SCHEME = "regexp_replace({}, '^([A-Za-z0-9+.-]+:)?/*', '')"
_GLOB = compile_regex(r"([{}\[\]*?\\])")  # Spark takes any path for a glob pattern
_MOMENT = timedelta(microseconds=1)
MAX_TOLD = 1_000_001  # found files that are read into memory: one more than any list may have
PART_FILES = 1_000_000  # listed files that Spark compares with the table at a time
_PARTS = "*.json"
_OF_A_PART, _CALL_OF_A_PART = (
    4,
    2,
)  # statements, and the index of the dry run
_OF_REMOVAL, _OF_RESTORING = (
    5,
    4,
)  # statements up to the report of referenced files


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
        message = f"what lies in {action.location} is not listed here"
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
        f"{quote_text('files of the table lie outside its location: nothing is deleted')})"
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


def write_list(path: Path, action: RemoveOrphanFiles, files: Iterable[FoundFile]) -> None:
    """Write the files as the view reads them: location, target and time of writing.

    Paths begin like the table's location. A file without a date in the storage gets the age that
    the list requires.
    """
    held = list(files)
    approved = action.approved
    aside = quarantine_of(action.location, approved.list_id) if approved is not None else ""
    own = action.location.rstrip("/") + "/"
    with _written(path) as lines:
        for file, spelt in zip(
            held, respell(action.location, (file.path for file in held)), strict=True
        ):
            moved = aside + spelt.removeprefix(own)
            modified = (file.modified_at or action.older_than - _MOMENT).astimezone(UTC)
            is_aside = approved is not None and approved.disposal in {
                Disposal.RESTORE,
                Disposal.EMPTY,
            }
            place, target = (moved, spelt) if is_aside else (spelt, moved)
            lines.write(
                json.dumps(
                    {
                        "file_path": place,
                        "last_modified": _write_instant(modified),
                        "target": target,
                    }
                )
                + "\n"
            )


@contextmanager
def _written(path: Path) -> Iterator[TextIO]:
    """Open a file that appears only when it is complete; RunnerUnavailableError if that fails."""
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with part.open("w", encoding="utf-8") as lines:
            yield lines
        part.replace(path)
    except OSError as error:
        message = f"the list of files cannot be kept: {error}"
        raise RunnerUnavailableError(message) from error


def write_listing(
    directory: Path, action: RemoveOrphanFiles, pages: Iterable[Sequence[FoundFile]]
) -> int:
    """Write a storage's listing in parts of at most PART_FILES, at least one part.

    Files written since older_than are left out. Returns the number of files written.
    """
    rmtree(directory, ignore_errors=True)
    files = (
        file
        for page in pages
        for file in page
        if file.modified_at is None or file.modified_at < action.older_than
    )
    total = 0
    while True:
        with _written(directory / f"{total:012}.json") as lines:
            written = 0
            for file in islice(files, PART_FILES):
                modified = (file.modified_at or action.older_than - _MOMENT).astimezone(UTC)
                lines.write(
                    json.dumps({"file_path": file.path, "last_modified": _write_instant(modified)})
                    + "\n"
                )
                written += 1
        total += written
        if written < PART_FILES:
            return total


def _write_instant(instant: datetime) -> str:
    return instant.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def read_orphans(path: Path) -> FoundOrphans | None:
    """Read the result of an orphan scan; None if it is incomplete.

    Files beyond MAX_TOLD are only counted.
    """
    match _read_tables(path):
        case [_Rows([[int(foreign)]]), *looks] if len(looks) == 1 or (
            looks and not len(looks) % _OF_A_PART
        ):
            # One CALL, or the four statements of each part of a listing.
            calls = looks if len(looks) == 1 else looks[_CALL_OF_A_PART::_OF_A_PART]
            paths = (str(row[0]) for call in calls for row in call.kept)
            return FoundOrphans(
                tuple(islice(paths, MAX_TOLD)), sum(call.counted for call in calls), foreign
            )
        case _:
            return None


def read_removed(path: Path, listed: Path, action: RemoveOrphanFiles) -> RemovedOrphans | None:
    """Read the input and the result of a removal; None if not even the list is here."""
    try:
        held = [json.loads(line) for line in listed.read_text("utf-8").splitlines()]
        brought, targets = (
            tuple(str(entry[name]) for entry in held) for name in ("file_path", "target")
        )
    except (OSError, ValueError, KeyError):
        return None
    tables = _read_tables(path)
    is_back = action.approved is not None and action.approved.disposal is Disposal.RESTORE
    if len(tables) < (_OF_RESTORING if is_back else _OF_REMOVAL):
        return RemovedOrphans(brought, None, targets)
    reached = tables[(_OF_RESTORING if is_back else _OF_REMOVAL) - 1]
    return RemovedOrphans(
        brought, tuple(respell(action.location, (str(row[0]) for row in reached.kept))), targets
    )


@dataclass(slots=True)
class _Rows:
    """The first MAX_TOLD rows of one statement, and the number of all its rows."""

    kept: list[list[object]]
    counted: int = 0

    def add(self, row: list[object]) -> None:
        self.counted += 1
        if self.counted <= MAX_TOLD:
            self.kept.append(row)


def _read_tables(path: Path) -> list[_Rows]:
    """Read the rows of each complete statement; none if the file is corrupt."""
    tables: list[_Rows] = []
    is_open = False
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                match json.loads(line):
                    case {"schema": _} if not is_open:
                        tables.append(_Rows([]))
                        is_open = True
                    case {"rows": int(count)} if is_open and count == tables[-1].counted:
                        is_open = False
                    case list(row) if is_open:
                        tables[-1].add(row)
                    case _:
                        return []
    except (OSError, EOFError, ValueError):
        return []
    return [] if is_open else tables
