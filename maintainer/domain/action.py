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
    REWRITE_MANIFESTS = "rewrite_manifests"
    EXPIRE_SNAPSHOTS = "expire_snapshots"

    @property
    def rewrites_content(self) -> bool:
        """True when the procedure must leave every row as it is and writes a snapshot of its own."""
        return self is not Procedure.EXPIRE_SNAPSHOTS


@dataclass(frozen=True, slots=True)
class RewriteDataFiles:
    """CALL rewrite_data_files; options are Iceberg's names with text values, already allow-listed."""

    strategy: str = "binpack"  # binpack | sort
    sort_order: str | None = None
    where: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    procedure: Literal[Procedure.REWRITE_DATA_FILES] = Procedure.REWRITE_DATA_FILES


@dataclass(frozen=True, slots=True)
class RewriteManifests:
    """CALL rewrite_manifests on the manifests of one partition spec."""

    spec_id: int
    procedure: Literal[Procedure.REWRITE_MANIFESTS] = Procedure.REWRITE_MANIFESTS


@dataclass(frozen=True, slots=True)
class ExpireSnapshots:
    """CALL expire_snapshots; both bounds are always given, never snapshot_ids."""

    older_than: datetime
    retain_last: int
    procedure: Literal[Procedure.EXPIRE_SNAPSHOTS] = Procedure.EXPIRE_SNAPSHOTS


Action = RewriteDataFiles | RewriteManifests | ExpireSnapshots
