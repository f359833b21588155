"""What the store remembers of orphan files: the lists, what was decided about them, and their
files.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from maintainer.domain.audit import AuditEntry
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.location import Place
from maintainer.domain.orphan import FoundFile, OrphanList

MAX_LISTS = 100  # told of one table, or of those that wait


class OrphanStore(Protocol):
    """The part of the store that keeps lists of orphan files. A list's files never change."""

    def add_orphan_list(
        self, orphans: OrphanList, files: Sequence[FoundFile], entries: Sequence[AuditEntry] = ()
    ) -> bool:
        """Keep a list with its files; whatever of the table waits or is only approved is superseded
        by it. False (and nothing stored) when the id exists.
        """
        ...

    def orphan_list(self, list_id: str) -> OrphanList | None:
        """One list."""
        ...

    def orphan_lists(self, table: TableIdentifier) -> Sequence[OrphanList]:
        """The lists made of tables of this name, newest first, at most MAX_LISTS."""
        ...

    def waiting_orphan_lists(self) -> Sequence[OrphanList]:
        """The lists of all tables that wait for somebody's word, newest first, at most
        MAX_LISTS.
        """
        ...

    def open_orphan_lists(self, table_uuid: str) -> Sequence[OrphanList]:
        """The lists of a table of which something may still become, newest first."""
        ...

    def orphan_files(self, list_id: str, after: int = 0, limit: int = 1000) -> Sequence[FoundFile]:
        """A list's files in their order, without the first `after` of them; none of a list that is
        not known.
        """
        ...

    def update_orphan_list(
        self, changed: OrphanList, expected: OrphanList, entries: Sequence[AuditEntry] = ()
    ) -> bool:
        """Replace the list if it still is the very one that was read, together with what the audit
        log is to say; False when somebody else changed it.

        The table's plan is to be made anew.
        """
        ...

    def record_foreign_places(self, places: Sequence[Place]) -> None:
        """Remember where tables lie that are none of Iceberg's, and when they were seen there:
        Store.places_near has them from now on.
        """
        ...

    def prune_orphan_lists(self, before: datetime) -> int:
        """Delete lists that were made before and of which nothing more becomes, with their files;
        returns how many.
        """
        ...
