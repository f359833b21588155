"""Orphan files on Spark: the statements of a look and of a removal, the file that carries an approved list there, and what the rows say."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from re import compile as compile_regex

from maintainer.adapters.spark.procedure import call_statement, quote_identifier, quote_text, view_of
from maintainer.domain.action import ApprovedList, RemoveOrphanFiles
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import FoundFile, FoundOrphans, RemovedOrphans
from maintainer.domain.place import respell

MAX_REACHED = 10_000  # files that the table reaches and that are told after a removal: all of a small table's, else a sample

# Of a path without its scheme and its leading slashes: file:/, file:/// and s3a:// are spelt as one.
_WITHOUT_SCHEME = "regexp_replace({}, '^([A-Za-z0-9+.-]+:)?/*', '')"
_GLOB = compile_regex(r"([{}\[\]*?\\])")  # Spark takes any path for a pattern
_MOMENT = timedelta(microseconds=1)


def orphan_statements(table: TableIdentifier, action: RemoveOrphanFiles, listed: Path | None = None) -> list[str]:
    """Of a look: how many of the table's own files lie elsewhere, then the dry run. Of a removal: what `listed` holds becomes the list, and goes."""
    if action.approved is None:
        return [_count_foreign(table, action, "count(*) AS foreign_files"), call_statement(table, action)]
    return _removal_statements(table, action, action.approved, listed)


def _count_foreign(table: TableIdentifier, action: RemoveOrphanFiles, result: str) -> str:
    own = _WITHOUT_SCHEME.format(quote_text(action.location.rstrip("/") + "/"))
    path = _WITHOUT_SCHEME.format("file_path")
    return f"SELECT {result} FROM {_name(table)}.all_files WHERE NOT startswith({path}, {own})"  # noqa: S608 - names and text are quoted


def _removal_statements(table: TableIdentifier, action: RemoveOrphanFiles, approved: ApprovedList, listed: Path | None) -> list[str]:
    if listed is None or not listed.is_file():
        message = f"the files of list {approved.list_id} are not here: nothing is deleted"
        raise InvalidValueError(message)
    with listed.open("rb") as file:
        count = sum(1 for _ in file)
    view = quote_identifier(view_of(approved))
    place = quote_text(_GLOB.sub(r"\\\1", f"file://{listed}"))
    # Asked again by Spark itself, right before: a table that add_files has just been called on is not looked at as if nothing had happened.
    foreign = f"assert_true(count(*) = 0, {quote_text('files of the table lie outside its location: nothing is deleted')})"
    whole = f"assert_true(count(*) = {count} AND count(DISTINCT file_path) = {count}, {quote_text('the list is not whole: nothing is deleted')})"
    return [
        _count_foreign(table, action, foreign),
        f"CREATE OR REPLACE TEMPORARY VIEW {view} (file_path STRING, last_modified TIMESTAMP) USING json OPTIONS (path {place})",
        f"SELECT {whole} FROM {view}",  # noqa: S608 - the name is quoted
        call_statement(table, action),
        _tell_reached(table, view),
        f"DROP VIEW {view}",
    ]


def _tell_reached(table: TableIdentifier, view: str) -> str:
    """What any kept snapshot reaches, and the metadata itself: first what is on the list, then a sample."""
    sources = {"all_files": "file_path", "all_manifests": "path", "snapshots": "manifest_list", "metadata_log_entries": "file"}
    reached = " UNION ".join(f"SELECT {column} AS path FROM {_name(table)}.{source}" for source, column in sources.items())  # noqa: S608 - quoted
    same = f"{_WITHOUT_SCHEME.format('reached.path')} = {_WITHOUT_SCHEME.format('listed.file_path')}"
    order = f"ORDER BY listed.file_path IS NULL, xxhash64(reached.path) LIMIT {MAX_REACHED}"
    return f"SELECT reached.path FROM ({reached}) AS reached LEFT JOIN {view} AS listed ON {same} WHERE reached.path IS NOT NULL {order}"  # noqa: S608 - quoted


def _name(table: TableIdentifier) -> str:
    return ".".join(quote_identifier(level) for level in (table.catalog, *table.namespace, table.name))


def write_list(path: Path, action: RemoveOrphanFiles, files: Iterable[FoundFile]) -> None:
    """The approved files as the removal's view reads them, from the table's location on; one that the storage does not date is as old as the list wants it."""
    held = list(files)
    path.parent.mkdir(exist_ok=True, mode=0o700)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as lines:
        for file, spelt in zip(held, respell(action.location, (file.path for file in held)), strict=True):
            modified = (file.modified_at or action.older_than - _MOMENT).astimezone(UTC)
            lines.write(json.dumps({"file_path": spelt, "last_modified": _write_instant(modified)}) + "\n")
    part.replace(path)


def _write_instant(instant: datetime) -> str:
    return instant.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def read_orphans(path: Path) -> FoundOrphans | None:
    """What a look has found; None when it is not whole."""
    match _read_tables(path):
        case [[[int(foreign)]], rows]:
            return FoundOrphans(tuple(str(row[0]) for row in rows), len(rows), foreign)
        case _:
            return None


def read_removed(path: Path, listed: Path, location: str) -> RemovedOrphans | None:
    """What a removal was given, and what it has told; None when not even the list is here."""
    try:
        brought = tuple(str(json.loads(line)["file_path"]) for line in listed.read_text("utf-8").splitlines())
    except (OSError, ValueError):
        return None
    match _read_tables(path):
        case [_, _, _, _, reached, *_]:
            return RemovedOrphans(brought, tuple(respell(location, (str(row[0]) for row in reached))))
        case _:
            return RemovedOrphans(brought, None)


def _read_tables(path: Path) -> list[list[list[object]]]:
    """The rows of each statement of which the driver has written all; none when the file is torn."""
    tables: list[list[list[object]]] = []
    is_open = False
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                match json.loads(line):
                    case {"schema": _} if not is_open:
                        tables.append([])
                        is_open = True
                    case {"rows": int(count)} if is_open and count == len(tables[-1]):
                        is_open = False
                    case list(row) if is_open:
                        tables[-1].append(row)
                    case _:
                        return []
    except (OSError, EOFError, ValueError):
        return []
    return [] if is_open else tables
