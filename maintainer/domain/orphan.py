"""Files that no table's metadata knows: what a look has found, and the list of them that somebody
may approve.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from maintainer.domain.identifier import TableIdentifier


@dataclass(frozen=True, slots=True)
class FoundOrphans:
    """Iceberg's dry run: the paths that it does not find in the table's metadata."""

    paths: tuple[str, ...]
    counted: (
        int  # how many it reported; another number than that of the paths: the list was cut short
    )
    foreign_files: int | None  # files of the table that lie outside its location; None: not known


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that Iceberg does not find in the table's metadata; None: the storage did not say."""

    path: str
    size_bytes: int | None = None
    modified_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StoredFile:
    """What a storage says of one file that is there; modified_at None: it does not tell."""

    size_bytes: int
    modified_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RemovedOrphans:
    """What the proof of a removal rests on; paths are written from the table's location on."""

    brought: tuple[str, ...]  # what Spark was given to take away
    reached: (
        tuple[str, ...] | None
        # files that the table's metadata names since: of those brought all, else a sample; None:
        # Spark did not come so far
    )
    targets: tuple[str, ...] = ()  # where each of those that were brought goes, where it is moved


class OrphanListState(StrEnum):
    """What has become of a list."""

    REFUSED = "refused"  # the judgement forbids to remove anything of it
    WAITING = "waiting"  # for somebody's word
    APPROVED = "approved"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"  # a later look took its place
    REMOVED = "removed"  # its files are deleted, as far as they were still nobody's
    QUARANTINED = "quarantined"  # its files are moved aside, as far as they were still nobody's
    RESTORING = "restoring"  # somebody wants them back
    RESTORED = "restored"
    EMPTIED = "emptied"  # their time in the quarantine was over: they are deleted

    @property
    def is_undecided(self) -> bool:
        """True while somebody's word counts, and a later look takes its place."""
        return self in {OrphanListState.WAITING, OrphanListState.APPROVED}

    @property
    def is_final(self) -> bool:
        """True when nothing more becomes of it."""
        return not self.is_undecided and self not in {
            OrphanListState.QUARANTINED,
            OrphanListState.RESTORING,
        }


@dataclass(frozen=True, slots=True)
class OrphanList:
    """The orphan files that one look has found on one table; its files never change, and the digest
    stands for them.
    """

    list_id: str  # the id of the job that looked
    table: TableIdentifier
    table_uuid: str
    location: str  # the table's own when it was looked around
    older_than: datetime
    made_at: datetime
    files: int
    bytes: int
    digest: str
    state: OrphanListState
    # the end of the time to approve a waiting list, to carry out an approved one, and to bring back
    # files from quarantine
    expires_at: datetime
    kept_files: int = 0  # found too, and none to touch
    refusal: str | None = None
    warning: str | None = None
    decided_by: str = ""
    decided_at: datetime | None = None
    removed_by: str = ""  # the id of the job that carried it out
    removed_at: datetime | None = None
    removed_files: int = 0
    removed_bytes: int = 0


# hidden from Iceberg's own look for orphans, and from whoever reads directories as tables
QUARANTINE = "_maintainer_quarantine"


def quarantine_of(location: str, list_id: str) -> str:
    """The directory that holds a list's files while they are in quarantine, each under its path
    within the table's location.
    """
    return f"{location.rstrip('/')}/{QUARANTINE}/{list_id}/"


def digest_files(files: Iterable[FoundFile]) -> str:
    """Stands for exactly these files, with their sizes and times, in this order."""
    digest = sha256()
    for file in files:
        modified = "" if file.modified_at is None else file.modified_at.isoformat()
        digest.update(repr((file.path, file.size_bytes, modified)).encode())
    return digest.hexdigest()
