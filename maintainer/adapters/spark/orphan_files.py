"""The files of orphan scans: listings and lists for Spark to read, and the rows it writes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from shutil import rmtree
from typing import TextIO

from maintainer.domain.action import Disposal, RemoveOrphanFiles
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.job import Job
from maintainer.domain.location import respell
from maintainer.domain.orphan import FoundFile, FoundOrphans, RemovedOrphans, quarantine_of

_MOMENT = timedelta(microseconds=1)
MAX_TOLD = 1_000_001  # found files that are read into memory: one more than any list may have
PART_FILES = 1_000_000  # listed files that Spark compares with the table at a time
# Of a listed part: its statements, and the index of its dry run. Of a removal: its statements up to
# the report of referenced files. statements/orphans.py writes them in this order.
_OF_A_PART, _CALL_OF_A_PART = 4, 2
_OF_REMOVAL, _OF_RESTORING = 5, 4


class OrphanFiles:
    """The files of orphan scans and removals, outside the drivers' own directories."""

    def __init__(self, run_dir: Path) -> None:
        self._directory = run_dir / "findings"

    def open_rows(self, job: Job) -> str | None:
        """Return the path for the rows of an orphan scan or a removal; None for another job."""
        if not isinstance(job.action, RemoveOrphanFiles):
            return None
        self._directory.mkdir(exist_ok=True, mode=0o700)
        return str(self._rows(job.job_id))

    def find_input(self, job: Job) -> Path:
        """Return the path of the job's input: a listing for a scan, a list for a removal."""
        is_scan = isinstance(job.action, RemoveOrphanFiles) and job.action.approved is None
        return self._listing(job.job_id) if is_scan else self._list(job.job_id)

    def find_orphans(self, job: Job) -> FoundOrphans | None:
        """Return the result of an orphan scan; None if it is not here or incomplete."""
        path = self._rows(job.job_id)
        return read_orphans(path) if path.is_file() else None

    def find_removed(self, job: Job) -> RemovedOrphans | None:
        """Return the input and the result of a removal; None if not even the list is here."""
        if not isinstance(job.action, RemoveOrphanFiles):
            return None
        return read_removed(self._rows(job.job_id), self._list(job.job_id), job.action)

    def write_list(
        self, job_id: str, action: RemoveOrphanFiles, files: Iterable[FoundFile]
    ) -> None:
        """Write the list of files that the job may remove."""
        write_list(self._list(job_id), action, files)

    def write_listing(
        self, job_id: str, action: RemoveOrphanFiles, pages: Iterable[Sequence[FoundFile]]
    ) -> int:
        """Write the listing of the table's location; return how many files are old enough."""
        return write_listing(self._listing(job_id), action, pages)

    def remove(self, job_id: str) -> None:
        """Remove the job's files."""
        self._rows(job_id).unlink(missing_ok=True)
        self._list(job_id).unlink(missing_ok=True)
        rmtree(self._listing(job_id), ignore_errors=True)

    def _rows(self, job_id: str) -> Path:
        return self._directory / f"{job_id}.jsonl.gz"

    def _listing(self, job_id: str) -> Path:
        return self._directory / f"{job_id}.listing"

    def _list(self, job_id: str) -> Path:
        return self._directory / f"{job_id}.list.json"


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
