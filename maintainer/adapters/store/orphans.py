"""Orphan lists: a row for each list, and a compressed row for each thousand of its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select, update

from maintainer.adapters.store import audit, documents
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.due import want_plan
from maintainer.adapters.store.locations import record_foreign
from maintainer.adapters.store.schema import orphan_files, orphan_lists, tables
from maintainer.domain.audit import AuditEntry
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.location import TableLocation
from maintainer.domain.orphan import FoundFile, OrphanList, OrphanListState
from maintainer.ports.store.orphans import MAX_LISTS

FILES_PER_ROW = 1000
_OPEN = tuple(state.value for state in OrphanListState if not state.is_final)
_UNDECIDED = tuple(state.value for state in OrphanListState if state.is_undecided)


class SqlOrphans:
    """Implements OrphanStore."""

    _database: Database

    def add_orphan_list(
        self, orphans: OrphanList, files: Sequence[FoundFile], entries: Sequence[AuditEntry] = ()
    ) -> bool:
        """See OrphanStore; a million files are prepared before the transaction begins."""
        starts = range(0, len(files), FILES_PER_ROW)
        rows = [
            {
                "list_id": orphans.list_id,
                "first": start,
                "document": documents.write_bytes(tuple(files[start : start + FILES_PER_ROW])),
            }
            for start in starts
        ]
        with self._database.write(durable=True) as connection:
            if not connection.execute(
                self._database.insert_unless_present(orphan_lists, _columns(orphans))
            ).rowcount:
                return False
            others = and_(
                orphan_lists.c.table_uuid == orphans.table_uuid,
                orphan_lists.c.list_id != orphans.list_id,
            )
            for other in _read(connection, and_(others, orphan_lists.c.state.in_(_UNDECIDED))):
                _write(connection, replace(other, state=OrphanListState.SUPERSEDED))
            for start in range(0, len(rows), FILES_PER_ROW):
                connection.execute(insert(orphan_files), rows[start : start + FILES_PER_ROW])
            audit.append(connection, entries)
            want_plan(connection, tables.c.table_uuid == orphans.table_uuid)
        return True

    def orphan_list(self, list_id: str) -> OrphanList | None:
        with self._database.read() as connection:
            return next(iter(_read(connection, orphan_lists.c.list_id == list_id)), None)

    def orphan_lists(self, table: TableIdentifier) -> Sequence[OrphanList]:
        with self._database.read() as connection:
            return _read(connection, orphan_lists.c.full_name == str(table))

    def waiting_orphan_lists(self) -> Sequence[OrphanList]:
        with self._database.read() as connection:
            return _read(connection, orphan_lists.c.state == OrphanListState.WAITING.value)

    def open_orphan_lists(self, table_uuid: str) -> Sequence[OrphanList]:
        with self._database.read() as connection:
            return _read(
                connection,
                and_(orphan_lists.c.table_uuid == table_uuid, orphan_lists.c.state.in_(_OPEN)),
            )

    def orphan_files(self, list_id: str, after: int = 0, limit: int = 1000) -> Sequence[FoundFile]:
        start = after // FILES_PER_ROW * FILES_PER_ROW
        is_wanted = and_(
            orphan_files.c.list_id == list_id,
            orphan_files.c.first >= start,
            orphan_files.c.first < after + limit,
        )
        found: list[FoundFile] = []
        with self._database.read() as connection:
            for document in connection.execute(
                select(orphan_files.c.document).where(is_wanted).order_by(orphan_files.c.first)
            ).scalars():
                found += documents.read(tuple[FoundFile, ...], document)
        return tuple(found[after - start : after - start + limit])

    def update_orphan_list(
        self, changed: OrphanList, expected: OrphanList, entries: Sequence[AuditEntry] = ()
    ) -> bool:
        with self._database.write(durable=True) as connection:
            stored = connection.execute(
                select(orphan_lists.c.document)
                .where(orphan_lists.c.list_id == changed.list_id)
                .with_for_update()
            ).scalar_one_or_none()
            if stored is None or documents.read(OrphanList, stored) != expected:
                return False
            _write(connection, changed)
            audit.append(connection, entries)
            want_plan(connection, tables.c.table_uuid == changed.table_uuid)
        return True

    def record_foreign_locations(self, places: Sequence[TableLocation]) -> None:
        if places:
            with self._database.write() as connection:
                record_foreign(self._database, connection, places)

    def prune_orphan_lists(self, before: datetime) -> int:
        with self._database.write() as connection:
            is_old = and_(orphan_lists.c.made_at < before, orphan_lists.c.state.not_in(_OPEN))
            return connection.execute(delete(orphan_lists).where(is_old)).rowcount


def _read(connection: Connection, is_wanted: ColumnElement[bool]) -> tuple[OrphanList, ...]:
    newest = (
        select(orphan_lists.c.document)
        .where(is_wanted)
        .order_by(orphan_lists.c.made_at.desc(), orphan_lists.c.list_id.desc())
        .limit(MAX_LISTS)
    )
    return tuple(
        documents.read(OrphanList, document) for document in connection.execute(newest).scalars()
    )


def _write(connection: Connection, orphans: OrphanList) -> None:
    connection.execute(
        update(orphan_lists)
        .where(orphan_lists.c.list_id == orphans.list_id)
        .values(_columns(orphans))
    )


def _columns(orphans: OrphanList) -> dict[str, Any]:
    return {
        "list_id": orphans.list_id,
        "full_name": str(orphans.table),
        "table_uuid": orphans.table_uuid,
        "state": orphans.state.value,
        "made_at": orphans.made_at,
        "document": documents.write(orphans),
    }
