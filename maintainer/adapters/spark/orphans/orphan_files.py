"""The input and the results of orphan scans and removals: their portions, sent and stored."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from queue import SimpleQueue

from maintainer.adapters.spark.driver.link.outbox import ROWS
from maintainer.adapters.spark.driver.lists.portions import pack, read_text, unpack, write_text
from maintainer.adapters.spark.link import Driver
from maintainer.adapters.spark.statements.orphans import GivenFiles, places_of
from maintainer.domain.action import Disposal, RemoveOrphanFiles, orphans_of
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
WANTED = "files.wanted"
CARRIED = frozenset({ROWS, WANTED})  # the events that a courier answers
_RETRY_SECONDS = 1.0
_MAX_AT_ONCE = 100  # portions in one request
_LOG = logging.getLogger(__name__)


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
        if orphans_of(job.action) is not None:
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
        action = orphans_of(job.action)
        if action is None:
            return None
        kind = PortionKind.LISTING if action.approved is None else PortionKind.LIST
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
        action = orphans_of(job.action)
        if action is None or not self._store.count_lines(listed):
            return None
        rows = self._lines(PortionSet(job.job_id, PortionKind.ROWS))
        return read_removed(rows, self._lines(listed), action)

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


class Courier:
    """Answers the messages about files and rows, in their order."""

    def __init__(self, files: OrphanFiles) -> None:
        self._files = files
        self._queue: SimpleQueue[tuple[Driver, Mapping[str, object]] | None] = SimpleQueue()
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._work, name="spark-courier", daemon=True)
        self._thread.start()

    def take(self, driver: Driver, message: Mapping[str, object]) -> None:
        """Take a message of one of the CARRIED events."""
        self._queue.put((driver, message))

    def close(self) -> None:
        """Transfer nothing more, and end the thread."""
        self._is_closed.set()
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (taken := self._queue.get()) is not None:
            self._answer(*taken)

    def _answer(self, driver: Driver, message: Mapping[str, object]) -> None:
        while not driver.is_ended.is_set() and not self._is_closed.is_set():
            try:
                for order in self._orders(message):
                    driver.send(order)
            except StoreUnavailableError as error:
                _LOG.warning("spark.portions_wait", extra={"error": str(error)})
                self._is_closed.wait(_RETRY_SECONDS)
                continue
            number = message.get("number")
            if isinstance(number, int):
                driver.acknowledge([number])
            return

    def _orders(self, message: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
        match message:
            case {"job": str(job_id), "event": str(event), "portion": int(number)} if event == ROWS:
                stored = {"id": job_id, "portion": number}
                try:
                    self._files.store_rows(job_id, number, _read_rows(message))
                except (InvalidValueError, ValueError) as error:
                    yield {"stored": stored | {"error": str(error)}}
                else:
                    yield {"stored": stored}
            case {"job": str(job_id), "kind": str(kind), "first": int(first), "count": int(count)}:
                for number in range(first, first + min(count, _MAX_AT_ONCE)):
                    brought = {"id": job_id, "kind": kind, "portion": number}
                    try:
                        data = self._files.read_portion(job_id, kind, number)
                    except InvalidValueError as error:
                        yield {"bring": brought | {"error": str(error)}}
                    else:
                        yield {"bring": brought | {"data": write_text(data)}}
            case _:
                _LOG.warning("spark.message_not_understood", extra={"fields": sorted(message)})


def _read_rows(message: Mapping[str, object]) -> Portion:
    match message:
        case {"lines": int(lines), "is_last": bool(is_last), "data": str(data)}:
            return Portion(lines, read_text(data), is_last)
        case _:
            raise InvalidValueError("the portion of rows has no lines or no data")
