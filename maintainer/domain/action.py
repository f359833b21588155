"""Iceberg's maintenance procedures, with the names and fields that Spark uses.

A policy has ages, an action has instants, so that an action has the same effect at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

ROLLBACK_TAG = "maintainer-before-"


class Canary(StrEnum):
    """Whether some of the new files and rows are read again."""

    OFF = "off"
    SAMPLE = "sample"


class Checksum(StrEnum):
    """Whether the contents of rows before and after a rewrite are compared."""

    OFF = "off"
    SAMPLE = "sample"  # rows of a few rewritten partitions
    FULL = "full"  # all rows that the rewrite may have touched


@dataclass(frozen=True, slots=True)
class Safeguards:
    """The safeguards of a table's rewrites."""

    rollback_for: timedelta = timedelta(0)  # zero: no tag
    canary: Canary = Canary.OFF
    checksum: Checksum = Checksum.OFF
    checksum_where: str | None = (
        # for a job: the compared rows, as Spark SQL; None: the rows in the job's own scope
        None
    )


def rollback_tag(job_id: str) -> str:
    """The name of the tag on the snapshot before the job."""
    return f"{ROLLBACK_TAG}{job_id}"


def is_rollback_tag(name: str) -> bool:
    """True for a rollback tag, which expires by its own age and from which nobody reads."""
    return name.startswith(ROLLBACK_TAG)


class Procedure(StrEnum):
    """The procedures of this version. Each prepares the next in execution order."""

    REWRITE_DATA_FILES = "rewrite_data_files"
    REWRITE_POSITION_DELETE_FILES = "rewrite_position_delete_files"
    REWRITE_MANIFESTS = "rewrite_manifests"
    COMPUTE_TABLE_STATS = "compute_table_stats"
    COMPUTE_PARTITION_STATS = "compute_partition_stats"
    EXPIRE_SNAPSHOTS = "expire_snapshots"
    REMOVE_ORPHAN_FILES = "remove_orphan_files"

    @property
    def rewrites_content(self) -> bool:
        """True if the procedure must keep every row, and writes its own snapshot."""
        return self in _REWRITES


_REWRITES = frozenset(
    {
        Procedure.REWRITE_DATA_FILES,
        Procedure.REWRITE_POSITION_DELETE_FILES,
        Procedure.REWRITE_MANIFESTS,
    }
)


@dataclass(frozen=True, slots=True)
class RewriteDataFiles:
    """CALL rewrite_data_files.

    Options have Iceberg's names and text values, checked by an allow-list.
    """

    strategy: str = "binpack"  # binpack | sort
    sort_order: str | None = None
    where: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    procedure: Literal[Procedure.REWRITE_DATA_FILES] = Procedure.REWRITE_DATA_FILES


@dataclass(frozen=True, slots=True)
class RewritePositionDeleteFiles:
    """CALL rewrite_position_delete_files.

    In format version 3 it turns position delete files into deletion vectors.
    """

    where: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    procedure: Literal[Procedure.REWRITE_POSITION_DELETE_FILES] = (
        Procedure.REWRITE_POSITION_DELETE_FILES
    )


@dataclass(frozen=True, slots=True)
class RewriteManifests:
    """CALL rewrite_manifests on one partition spec.

    Options are the procedure's further arguments.
    """

    spec_id: int
    options: tuple[tuple[str, str], ...] = ()
    procedure: Literal[Procedure.REWRITE_MANIFESTS] = Procedure.REWRITE_MANIFESTS


@dataclass(frozen=True, slots=True)
class ComputeTableStats:
    """CALL compute_table_stats: the number of distinct values per column at one snapshot.

    The result is a Puffin file. No columns named: all columns.
    """

    snapshot_id: int
    columns: tuple[str, ...] = ()
    procedure: Literal[Procedure.COMPUTE_TABLE_STATS] = Procedure.COMPUTE_TABLE_STATS


@dataclass(frozen=True, slots=True)
class ComputePartitionStats:
    """CALL compute_partition_stats: files, bytes and rows of each partition at one snapshot.

    It continues from the last such file.
    """

    snapshot_id: int
    procedure: Literal[Procedure.COMPUTE_PARTITION_STATS] = Procedure.COMPUTE_PARTITION_STATS


@dataclass(frozen=True, slots=True)
class ExpireSnapshots:
    """CALL expire_snapshots with both bounds, never with snapshot_ids.

    Options are the procedure's further arguments.
    """

    older_than: datetime
    retain_last: int
    options: tuple[tuple[str, str], ...] = ()
    procedure: Literal[Procedure.EXPIRE_SNAPSHOTS] = Procedure.EXPIRE_SNAPSHOTS


class Disposal(StrEnum):
    """What a job does with a list of orphan files."""

    DELETE = "delete"
    QUARANTINE = "quarantine"  # move the files aside; they can be restored
    RESTORE = "restore"  # move the files from quarantine back to their paths
    EMPTY = "empty"  # delete the list's files from quarantine


@dataclass(frozen=True, slots=True)
class ApprovedList:
    """The list of files that a job may move or delete, and no other file."""

    list_id: str
    sha256: str  # hash of the list's files
    disposal: Disposal = Disposal.DELETE


@dataclass(frozen=True, slots=True)
class RemoveOrphanFiles:
    """CALL remove_orphan_files.

    Without an approved list it is a dry run: its findings are assessed and stored. With one it
    removes exactly the files of that list.
    """

    older_than: datetime
    location: str  # the table's own location
    options: tuple[tuple[str, str], ...] = ()
    approved: ApprovedList | None = None
    is_listed: bool = False  # the daemon lists the files itself and gives the listing to Spark
    procedure: Literal[Procedure.REMOVE_ORPHAN_FILES] = Procedure.REMOVE_ORPHAN_FILES


Action = (
    RewriteDataFiles
    | RewritePositionDeleteFiles
    | RewriteManifests
    | ComputeTableStats
    | ComputePartitionStats
    | ExpireSnapshots
    | RemoveOrphanFiles
)


class Repair(StrEnum):
    """What a job may do only because a person asked for it: no policy rule does it."""

    ROLL_BACK = "roll_back"


@dataclass(frozen=True, slots=True)
class RollBack:
    """CALL rollback_to_snapshot on main. Other branches do not change."""

    snapshot_id: int  # the new head of main
    of_job: str  # the job to undo
    expected_snapshot_id: int  # main's head at the request; it must not have changed
    procedure: Literal[Repair.ROLL_BACK] = Repair.ROLL_BACK


JobAction = Action | RollBack


def where_of(action: JobAction) -> str | None:
    """The condition for the rows that the action rewrites; None: all rows, or it has no such."""
    if isinstance(action, RewriteDataFiles | RewritePositionDeleteFiles):
        return action.where
    return None


def orphans_of(action: JobAction) -> RemoveOrphanFiles | None:
    """The action if it is about orphan files."""
    return action if isinstance(action, RemoveOrphanFiles) else None
