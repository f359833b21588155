"""Iceberg's maintenance procedures, named and fielded as Spark names them.

A policy holds ages, an action holds instants: an action means the same whenever it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal


class Procedure(StrEnum):
    """The procedures this version carries out, in the order in which each prepares the next."""

    REWRITE_DATA_FILES = "rewrite_data_files"
    REWRITE_POSITION_DELETE_FILES = "rewrite_position_delete_files"
    REWRITE_MANIFESTS = "rewrite_manifests"
    COMPUTE_TABLE_STATS = "compute_table_stats"
    COMPUTE_PARTITION_STATS = "compute_partition_stats"
    EXPIRE_SNAPSHOTS = "expire_snapshots"
    REMOVE_ORPHAN_FILES = "remove_orphan_files"

    @property
    def rewrites_content(self) -> bool:
        """True when the procedure must leave every row as it is and writes a snapshot of its
        own.
        """
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
    """CALL rewrite_data_files; options are Iceberg's names with text values, already
    allow-listed.
    """

    strategy: str = "binpack"  # binpack | sort
    sort_order: str | None = None
    where: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    procedure: Literal[Procedure.REWRITE_DATA_FILES] = Procedure.REWRITE_DATA_FILES


@dataclass(frozen=True, slots=True)
class RewritePositionDeleteFiles:
    """CALL rewrite_position_delete_files; in format version 3 it turns position delete files into
    deletion vectors.
    """

    where: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    procedure: Literal[Procedure.REWRITE_POSITION_DELETE_FILES] = (
        Procedure.REWRITE_POSITION_DELETE_FILES
    )


@dataclass(frozen=True, slots=True)
class RewriteManifests:
    """CALL rewrite_manifests on the manifests of one partition spec; options are the procedure's
    further arguments.
    """

    spec_id: int
    options: tuple[tuple[str, str], ...] = ()
    procedure: Literal[Procedure.REWRITE_MANIFESTS] = Procedure.REWRITE_MANIFESTS


@dataclass(frozen=True, slots=True)
class ComputeTableStats:
    """CALL compute_table_stats: distinct values of each column (none named: of all) at one
    snapshot, in a Puffin file.
    """

    snapshot_id: int
    columns: tuple[str, ...] = ()
    procedure: Literal[Procedure.COMPUTE_TABLE_STATS] = Procedure.COMPUTE_TABLE_STATS


@dataclass(frozen=True, slots=True)
class ComputePartitionStats:
    """CALL compute_partition_stats: files, bytes and rows of each partition at one snapshot; from
    the last such file on.
    """

    snapshot_id: int
    procedure: Literal[Procedure.COMPUTE_PARTITION_STATS] = Procedure.COMPUTE_PARTITION_STATS


@dataclass(frozen=True, slots=True)
class ExpireSnapshots:
    """CALL expire_snapshots; both bounds are always given, never snapshot_ids. Options are the
    procedure's further arguments.
    """

    older_than: datetime
    retain_last: int
    options: tuple[tuple[str, str], ...] = ()
    procedure: Literal[Procedure.EXPIRE_SNAPSHOTS] = Procedure.EXPIRE_SNAPSHOTS


class Disposal(StrEnum):
    """What a job does with a list of orphan files."""

    DELETE = "delete"
    QUARANTINE = "quarantine"  # moved aside, so that they can be brought back
    RESTORE = "restore"  # out of the quarantine, to where they were
    EMPTY = "empty"  # the quarantine's files of this list are deleted


@dataclass(frozen=True, slots=True)
class ApprovedList:
    """Which list of files is worked on, and nothing else."""

    list_id: str
    digest: str  # of its files
    disposal: Disposal = Disposal.DELETE


@dataclass(frozen=True, slots=True)
class RemoveOrphanFiles:
    """CALL remove_orphan_files: without an approved list a dry run, whose findings are judged and
    stored; with one exactly that list goes.
    """

    older_than: datetime
    location: str  # the table's own
    options: tuple[tuple[str, str], ...] = ()
    approved: ApprovedList | None = None
    is_listed: bool = False  # what lies there has been listed already, and is brought to Spark
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
