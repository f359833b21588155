"""The store's lists of orphan files, the decisions about them, and their files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from maintainer.domain.audit import AuditEntry
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.location import TableLocation
from maintainer.domain.orphan import FoundFile, OrphanList

MAX_LISTS = 100  # lists of one table, or lists that wait for approval


class OrphanStore(Protocol):
    """The part of the store that keeps lists of orphan files. A list's files never change."""

    def add_orphan_list(
        self, orphans: OrphanList, files: Sequence[FoundFile], entries: Sequence[AuditEntry] = ()
    ) -> bool:
        """Store a list with its files; False (and nothing stored) when the id exists.

        It supersedes the table's lists that wait for approval or are approved but not yet
        removed.
        """

    def orphan_list(self, list_id: str) -> OrphanList | None:
        """One list; None when the id is unknown."""

    def orphan_lists(self, table: TableIdentifier) -> Sequence[OrphanList]:
        """The lists of all tables that had this name, newest first, at most MAX_LISTS."""

    def waiting_orphan_lists(self) -> Sequence[OrphanList]:
        """The lists of all tables that wait for approval, newest first, at most MAX_LISTS."""

    def open_orphan_lists(self, table_uuid: str) -> Sequence[OrphanList]:
        """The lists of a table that are not closed, newest first."""

    def orphan_files(self, list_id: str, after: int = 0, limit: int = 1000) -> Sequence[FoundFile]:
        """A list's files in order, from position `after` on; none for an unknown list."""

    def update_orphan_list(
        self, changed: OrphanList, expected: OrphanList, entries: Sequence[AuditEntry] = ()
    ) -> bool:
        """Replace the list and add its audit entries, and request a new plan of the table.

        False if another process has changed the list after it was read.
        """

    def record_foreign_locations(self, locations: Sequence[TableLocation]) -> None:
        """Store the locations of foreign (not Iceberg) tables, and when they were seen.

        Store.locations_near returns them from now on.
        """

    def prune_orphan_lists(self, before: datetime) -> int:
        """Delete closed lists made before that time, with their files; return how many."""
