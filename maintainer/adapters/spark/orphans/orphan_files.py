"""The input and the results of orphan scans and removals, as portions in the store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from maintainer.adapters.spark.driver.lists.portions import pack, unpack
from maintainer.adapters.spark.statements.orphans import GivenFiles, places_of
from maintainer.domain.action import Disposal, RemoveOrphanFiles
from maintainer.domain.errors import (
    InvalidValueError,
    RunnerUnavailableError,
    StoreUnavailableError,
)
from maintainer.domain.job import Job, JobState
from maintainer.domain.location import respell
from maintainer.domain.orphan import FoundFile, FoundOrphans, RemovedOrphans
from maintainer.ports.store.portions import Portion, PortionKind, PortionSet, PortionStore

_MICROSECOND = timedelta(microseconds=1)
_MOMENT = timedelta(milliseconds=1)  # the shortest time that Iceberg distinguishes
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_TOLD = 1_000_001  # found files that are read into memory: one more than a list may have
# The number of statements for a part of a listing, and the index of the dry run among them. The
# number of statements of a removal, and of a restore, up to the report of referenced files.
# statements/orphans.py writes the statements in this order.
_OF_A_PART, _CALL_OF_A_PART = 4, 2
_OF_REMOVAL, _OF_RESTORING = 5, 4


class OrphanFiles:
    """The lists, listings and rows of orphan scans and removals."""

    def __init__(self, store: PortionStore, owner: str) -> None:
        """``owner`` is the name under which this process prepares jobs."""
        self._store = store
        self._owner = owner

    def write_list(
        self, job_id: str, action: RemoveOrphanFiles, files: Iterable[FoundFile]
    ) -> None:
        """Store the list of files that the job may remove.

        RunnerUnavailableError if a file is outside the location, or if a bound is exceeded.
        """
        try:
            self._write(
                PortionSet(job_id, PortionKind.LIST, self._owner), list_lines(action, files)
            )
        except (InvalidValueError, ValueError) as error:
            raise RunnerUnavailableError(f"the list of files cannot be stored: {error}") from error

    def write_listing(
        self, job_id: str, action: RemoveOrphanFiles, pages: Iterable[Sequence[FoundFile]]
    ) -> int:
        """Store the listing of the table's location; return the number of files old enough."""
        files = (
            file
            for page in pages
            for file in page
            if file.modified_at is None or file.modified_at < action.older_than
        )
        lines = (_line(file.path, file, action) for file in files)
        return self._write(PortionSet(job_id, PortionKind.LISTING, self._owner), lines)

    def _write(self, portions: PortionSet, lines: Iterable[str]) -> int:
        self._store.forget_portions(portions.job_id, self._owner)
        total = 0
        for number, packed in enumerate(pack(lines)):
            portion = Portion(packed.lines, packed.data, packed.is_last)
            self._store.add_portion(portions, number, portion)
            total += packed.lines
        return total

    def claim(self, job: Job) -> None:
        """Assign the prepared files to the job; RunnerUnavailableError on failure."""
        if isinstance(job.action, RemoveOrphanFiles):
            try:
                self._store.claim_portions(job.job_id, self._owner)
            except StoreUnavailableError as error:
                raise RunnerUnavailableError(
                    f"the files for the job cannot be read: {error}"
                ) from error

    def find_input(self, job: Job) -> GivenFiles | None:
        """Return the job's input: a listing for a scan, a list for a removal.

        None if the input is not in the store, or is incomplete.
        """
        if not isinstance(job.action, RemoveOrphanFiles):
            return None
        kind = PortionKind.LISTING if job.action.approved is None else PortionKind.LIST
        found = (
            self._store.count_lines(PortionSet(job.job_id, kind, preparer))
            for preparer in ("", self._owner)
        )
        return next((GivenFiles(kind, lines) for lines in found if lines is not None), None)

    def read_portion(self, job_id: str, kind: str, number: int) -> bytes:
        """Return a portion of the job's input; InvalidValueError if it is not in the store."""
        if kind in {PortionKind.LIST, PortionKind.LISTING}:
            portion = self._store.portion(PortionSet(job_id, PortionKind(kind)), number)
            if portion is not None:
                return portion.data
        raise InvalidValueError(
            f"portion {number} of the {kind} of job {job_id} is not in the store"
        )

    def store_rows(self, job_id: str, number: int, portion: Portion) -> None:
        """Store a portion of the job's rows, unless it is stored already."""
        self._store.add_portion(PortionSet(job_id, PortionKind.ROWS), number, portion)

    def find_orphans(self, job: Job) -> FoundOrphans | None:
        """Return the result of an orphan scan; None if it is missing or incomplete."""
        rows = PortionSet(job.job_id, PortionKind.ROWS)
        return read_orphans(self._lines(rows)) if self._store.count_lines(rows) else None

    def find_removed(self, job: Job) -> RemovedOrphans | None:
        """Return the input and the result of a removal; None if even the list is missing."""
        listed = PortionSet(job.job_id, PortionKind.LIST)
        if not isinstance(job.action, RemoveOrphanFiles) or not self._store.count_lines(listed):
            return None
        rows = self._lines(PortionSet(job.job_id, PortionKind.ROWS))
        return read_removed(rows, self._lines(listed), job.action)

    def _lines(self, portions: PortionSet) -> Iterator[str]:
        """Read the lines up to the first missing portion."""
        number = 0
        while (portion := self._store.portion(portions, number)) is not None:
            if portion.lines:
                yield from unpack(portion.data).split("\n")
            number += 1

    def remove(self, job: Job) -> None:
        """Delete the portions of a job; before its submission, those that this process prepared."""
        is_pending = job.state is JobState.PENDING
        self._store.forget_portions(job.job_id, self._owner if is_pending else None)


def list_lines(action: RemoveOrphanFiles, files: Iterable[FoundFile]) -> Iterator[str]:
    """Write a line for each file, for the view: the path below the location, and the time.

    A file without a date in the storage gets the age that the list requires. InvalidValueError for
    a file outside the location.
    """
    held, own = list(files), action.location.rstrip("/") + "/"
    for file, spelt in zip(
        held, respell(action.location, (file.path for file in held)), strict=True
    ):
        if not spelt.startswith(own):
            raise InvalidValueError(f"{file.path} is not in {own}: nothing is deleted")
        yield _line(spelt.removeprefix(own), file, action)


def _line(path: str, file: FoundFile, action: RemoveOrphanFiles) -> str:
    modified = file.modified_at or action.older_than - _MOMENT
    return json.dumps([path, (modified - _EPOCH) // _MICROSECOND])


def read_orphans(lines: Iterable[str]) -> FoundOrphans | None:
    """Read the result of an orphan scan; None if it is incomplete.

    Files after the first MAX_TOLD are only counted.
    """
    match _read_tables(lines):
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


def read_removed(
    rows: Iterable[str], listed: Iterable[str], action: RemoveOrphanFiles
) -> RemovedOrphans:
    """Read the input and the result of a removal."""
    place, target = places_of(action)
    names = [str(json.loads(line)[0]) for line in listed]
    brought, targets = (tuple(start + name for name in names) for start in (place, target))
    tables = _read_tables(rows)
    is_back = action.approved is not None and action.approved.disposal is Disposal.RESTORE
    needed = _OF_RESTORING if is_back else _OF_REMOVAL
    if len(tables) < needed:
        return RemovedOrphans(brought, None, targets)
    reached = tables[needed - 1]
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


def _read_tables(lines: Iterable[str]) -> list[_Rows]:
    """Read the rows of each statement; no rows if the lines are corrupt or incomplete."""
    tables: list[_Rows] = []
    is_open = False
    try:
        for line in lines:
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
    except ValueError:
        return []
    return [] if is_open else tables
