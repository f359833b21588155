"""What the store in memory knows of orphan files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime

from maintainer.domain.audit import AuditEntry
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import FoundFile, OrphanList, OrphanListState
from maintainer.ports.store.orphans import MAX_LISTS
from tests.fakes.adapters.store_audit import FakeAudit


@dataclass
class FakeOrphans:
    """Implements OrphanStore for the store that mixes it in."""

    _lists: dict[str, tuple[OrphanList, tuple[FoundFile, ...]]] = field(
        default_factory=dict, kw_only=True
    )
    _audit: FakeAudit = field(default_factory=FakeAudit, kw_only=True)

    def _open(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def _want_plan_of(self, table_uuid: str) -> None:
        raise NotImplementedError

    def add_orphan_list(
        self, orphans: OrphanList, files: Sequence[FoundFile], entries: Sequence[AuditEntry] = ()
    ) -> bool:
        with self._open():
            if orphans.list_id in self._lists:
                return False
            for list_id, (other, their_files) in self._lists.items():
                if other.table_uuid == orphans.table_uuid and other.state.is_undecided:
                    self._lists[list_id] = (
                        replace(other, state=OrphanListState.SUPERSEDED),
                        their_files,
                    )
            self._lists[orphans.list_id] = orphans, tuple(files)
            self._audit.note(entries)
            self._want_plan_of(orphans.table_uuid)
            return True

    def orphan_list(self, list_id: str) -> OrphanList | None:
        with self._open():
            return self._lists[list_id][0] if list_id in self._lists else None

    def orphan_lists(self, table: TableIdentifier) -> Sequence[OrphanList]:
        return self._newest(lambda orphans: orphans.table == table)

    def waiting_orphan_lists(self) -> Sequence[OrphanList]:
        return self._newest(lambda orphans: orphans.state is OrphanListState.WAITING)

    def open_orphan_lists(self, table_uuid: str) -> Sequence[OrphanList]:
        return self._newest(
            lambda orphans: orphans.table_uuid == table_uuid and not orphans.state.is_final
        )

    def _newest(self, is_wanted: Callable[[OrphanList], bool]) -> tuple[OrphanList, ...]:
        with self._open():
            found = [orphans for orphans, _ in self._lists.values() if is_wanted(orphans)]
            return tuple(
                sorted(found, key=lambda orphans: (orphans.made_at, orphans.list_id), reverse=True)[
                    :MAX_LISTS
                ]
            )

    def orphan_files(self, list_id: str, after: int = 0, limit: int = 1000) -> Sequence[FoundFile]:
        with self._open():
            return self._lists[list_id][1][after : after + limit] if list_id in self._lists else ()

    def update_orphan_list(
        self, changed: OrphanList, expected: OrphanList, entries: Sequence[AuditEntry] = ()
    ) -> bool:
        with self._open():
            stored, files = self._lists.get(changed.list_id, (None, ()))
            if stored != expected:
                return False
            self._lists[changed.list_id] = changed, files
            self._audit.note(entries)
            self._want_plan_of(changed.table_uuid)
            return True

    def prune_orphan_lists(self, before: datetime) -> int:
        with self._open():
            gone = [
                list_id
                for list_id, (orphans, _) in self._lists.items()
                if orphans.made_at < before and orphans.state.is_final
            ]
            for list_id in gone:
                del self._lists[list_id]
            return len(gone)
