"""The store's counts of reads, as engines report them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.reads import TableReads


class ReadStore(Protocol):
    """The part of the store that counts the reads of each table and day."""

    def add_reads(self, day: str, reads: Mapping[TableIdentifier, int]) -> None:
        """Add reads of tables to those of a day (UTC, 2026-11-21)."""

    def reads(self, first_day: str, last_day: str) -> Sequence[TableReads]:
        """The reads of every table that has any within these days, by table."""

    def prune_reads(self, before: str) -> int:
        """Delete the counts of earlier days; returns how many."""
        ...
