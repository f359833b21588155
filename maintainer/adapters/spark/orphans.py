"""Orphan files on Spark: the statements of a look and of a removal, the file that carries an approved list there, and what the rows say."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from re import compile as compile_regex

from maintainer.adapters.spark.driver_mover import MOVE
from maintainer.adapters.spark.procedure import call_statement, quote_identifier, quote_text, view_of
from maintainer.domain.action import ApprovedList, Disposal, RemoveOrphanFiles
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import FoundFile, FoundOrphans, RemovedOrphans, quarantine_of
from maintainer.domain.place import respell

MAX_REACHED = 10_000  # files that the table reaches and that are told after a removal: all of a small table's, else a sample

# Of a path without its scheme and its leading slashes: file:/, file:/// and s3a:// are spelt as one.
_WITHOUT_SCHEME = "regexp_replace({}, '^([A-Za-z0-9+.-]+:)?/*', '')"
_GLOB = compile_regex(r"([{}\[\]*?\\])")  # Spark takes any path for a pattern
_MOMENT = timedelta(microseconds=1)
_OF_REMOVAL, _OF_RESTORING = 5, 4  # statements, up to the one that tells what the table reaches


def orphan_statements(table: TableIdentifier, action: RemoveOrphanFiles, listed: Path | None = None) -> list[str]:
    """Of a look: how many of the table's own files lie elsewhere, then the dry run. Of a list: what `listed` holds is what is worked on."""
    if action.approved is None:
        return [_count_foreign(table, action, "count(*) AS foreign_files"), call_statement(table, action)]
    return _disposal_statements(table, action, action.approved, listed)


def disposal_statement(table: TableIdentifier, action: RemoveOrphanFiles) -> str:
    """The one that does the work: Iceberg's procedure, or for the way into the quarantine and back the driver's own."""
    if action.approved is None or action.approved.disposal in {Disposal.DELETE, Disposal.EMPTY}:
        return call_statement(table, action)
    goes_in = action.approved.disposal is Disposal.QUARANTINE
    order = {"table": _name(table), "view": quote_identifier(view_of(action.approved)), "dry_run": call_statement(table, action) if goes_in else None}
    return MOVE + json.dumps({**order, "overwrites": goes_in})  # what is in the quarantine under the list's id is a copy that was not finished


def _count_foreign(table: TableIdentifier, action: RemoveOrphanFiles, result: str) -> str:
    own = _WITHOUT_SCHEME.format(quote_text(action.location.rstrip("/") + "/"))
    path = _WITHOUT_SCHEME.format("file_path")
    return f"SELECT {result} FROM {_name(table)}.all_files WHERE NOT startswith({path}, {own})"  # noqa: S608 - names and text are quoted


def _disposal_statements(table: TableIdentifier, action: RemoveOrphanFiles, approved: ApprovedList, listed: Path | None) -> list[str]:
    if listed is None or not listed.is_file():
        message = f"the files of list {approved.list_id} are not here: nothing is deleted"
        raise InvalidValueError(message)
    with listed.open("rb") as file:
        count = sum(1 for _ in file)
    view = quote_identifier(view_of(approved))
    place = quote_text(_GLOB.sub(r"\\\1", f"file://{listed}"))
    columns = "file_path STRING, last_modified TIMESTAMP, target STRING"
    # Asked again by Spark itself, right before: a table that add_files has just been called on is not looked at as if nothing had happened.
    foreign = f"assert_true(count(*) = 0, {quote_text('files of the table lie outside its location: nothing is deleted')})"
    whole = f"assert_true(count(*) = {count} AND count(DISTINCT file_path) = {count}, {quote_text('the list is not whole: nothing is deleted')})"
    is_back = approved.disposal is Disposal.RESTORE  # takes nothing away
    return [
        *([] if is_back else [_count_foreign(table, action, foreign)]),
        f"CREATE OR REPLACE TEMPORARY VIEW {view} ({columns}) USING json OPTIONS (path {place})",
        f"SELECT {whole} FROM {view}",  # noqa: S608 - the name is quoted
        disposal_statement(table, action),
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
    """The files, told as they were found, as the view reads them: where each is, where it is to go, and when it was written.

    Paths are written from the table's location on; one that the storage does not date is as old as the list wants it.
    """
    held = list(files)
    approved = action.approved
    aside = quarantine_of(action.location, approved.list_id) if approved is not None else ""
    own = action.location.rstrip("/") + "/"
    path.parent.mkdir(exist_ok=True, mode=0o700)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as lines:
        for file, spelt in zip(held, respell(action.location, (file.path for file in held)), strict=True):
            moved = aside + spelt.removeprefix(own)
            modified = (file.modified_at or action.older_than - _MOMENT).astimezone(UTC)
            is_aside = approved is not None and approved.disposal in {Disposal.RESTORE, Disposal.EMPTY}
            place, target = (moved, spelt) if is_aside else (spelt, moved)
            lines.write(json.dumps({"file_path": place, "last_modified": _write_instant(modified), "target": target}) + "\n")
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


def read_removed(path: Path, listed: Path, action: RemoveOrphanFiles) -> RemovedOrphans | None:
    """What a removal was given, and what it has told; None when not even the list is here."""
    try:
        held = [json.loads(line) for line in listed.read_text("utf-8").splitlines()]
        brought, targets = (tuple(str(entry[name]) for entry in held) for name in ("file_path", "target"))
    except (OSError, ValueError, KeyError):
        return None
    tables = _read_tables(path)
    is_back = action.approved is not None and action.approved.disposal is Disposal.RESTORE
    if len(tables) < (_OF_RESTORING if is_back else _OF_REMOVAL):
        return RemovedOrphans(brought, None, targets)
    reached = tables[(_OF_RESTORING if is_back else _OF_REMOVAL) - 1]
    return RemovedOrphans(brought, tuple(respell(action.location, (str(row[0]) for row in reached))), targets)


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
