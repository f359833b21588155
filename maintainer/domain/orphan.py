"""Orphan files: the results of an orphan scan, and the list that somebody may approve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

from maintainer.domain.action import ApprovedList
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.location import TableLocation


@dataclass(frozen=True, slots=True)
class FoundOrphans:
    """The result of Iceberg's dry run: paths that the table's metadata does not reference."""

    paths: tuple[str, ...]
    counted: int  # the reported number; if the number of paths differs, the list is incomplete
    foreign_files: int | None  # the table's files outside its location; None: unknown


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that the table's metadata does not reference. None: the storage did not say."""

    path: str
    size_bytes: int | None = None
    modified_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StoredFile:
    """The storage's entry for an existing file; modified_at None: not given."""

    size_bytes: int
    modified_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RemovedOrphans:
    """The basis for the proof of a removal. Paths are relative to the table's location."""

    brought: tuple[str, ...]  # the files that Spark got for removal
    reached: (
        tuple[str, ...] | None
        # files that the metadata references now: all such files of `brought`, then a sample;
        # None: Spark did not report them
    )
    targets: tuple[str, ...] = ()  # the destination of each of these files, if files are moved


class OrphanListState(StrEnum):
    """The state of an orphan list."""

    REFUSED = "refused"  # the assessment forbids any removal
    WAITING = "waiting"  # for approval
    APPROVED = "approved"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"  # replaced by the list of a later scan
    REMOVED = "removed"  # files deleted, except files that are now referenced
    QUARANTINED = "quarantined"  # files in quarantine, except files that are now referenced
    RESTORING = "restoring"  # somebody requested a restore
    RESTORED = "restored"
    EMPTIED = "emptied"  # the files were deleted after the time in quarantine

    @property
    def is_undecided(self) -> bool:
        """True while it can be approved, and a later scan can replace it."""
        return self in {OrphanListState.WAITING, OrphanListState.APPROVED}

    @property
    def is_final(self) -> bool:
        return not self.is_undecided and self not in {
            OrphanListState.QUARANTINED,
            OrphanListState.RESTORING,
        }


@dataclass(frozen=True, slots=True)
class OrphanList:
    """The orphan files of one orphan scan of one table.

    Its files never change, and the hash identifies them.
    """

    list_id: str  # the id of the scan's job
    table: TableIdentifier
    table_uuid: str
    location: str  # the table's location at the time of the scan
    older_than: datetime
    made_at: datetime
    files: int
    bytes: int
    sha256: str  # of the list's files, by hash_files()
    state: OrphanListState
    # the end of the time to approve, to remove, or to restore from quarantine
    expires_at: datetime
    # The time in quarantine that the list shows to its approver: no policy shortens it later.
    # Zero: the files are deleted at once. None: a list of a version that did not record it.
    quarantine: timedelta | None = None
    kept_files: int = 0  # files that were found but must be kept
    refusal: str | None = None
    warning: str | None = None
    decided_by: str = ""
    decided_at: datetime | None = None
    removed_by: str = ""  # the id of the removal job
    removed_at: datetime | None = None
    removed_files: int = 0
    removed_bytes: int = 0


# The underscore hides the directory from Iceberg's orphan scan, and from programs that read
# directories as tables.
QUARANTINE = "_maintainer_quarantine"


def quarantine_of(location: str, list_id: str) -> str:
    """The quarantine directory of a list.

    Each file keeps its path relative to the table's location.
    """
    return f"{location.rstrip('/')}/{QUARANTINE}/{list_id}/"


LISTING_VIEW = "maintainer_listing"  # the temporary view of the files in a table's location


def view_of(approved: ApprovedList) -> str:
    """Return the name of the temporary view that contains exactly the approved files."""
    return f"maintainer_{sha256(approved.list_id.encode()).hexdigest()[:16]}"


def hash_files(files: Iterable[FoundFile]) -> str:
    """A hash of these files with their sizes and times, in this order."""
    contents = sha256()
    for file in files:
        modified = "" if file.modified_at is None else file.modified_at.isoformat()
        contents.update(repr((file.path, file.size_bytes, modified)).encode())
    return contents.hexdigest()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The facts that an orphan scan needs besides the table itself."""

    first_seen_at: datetime | None  # when the daemon first saw the table
    neighbours: tuple[TableLocation, ...]  # locations that may overlap with the table's own
    is_complete: bool  # every catalog has been listed, and every table measured
    lists: tuple[OrphanList, ...] = ()  # the table's orphan lists that are not final
