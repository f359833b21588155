"""The part of the store port that the API calls, on dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from maintainer.domain.errors import InvalidValueError, StoreUnavailableError, UnknownTableError
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, TableFault
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.domain.plan import Plan
from maintainer.ports.store import JobQuery, Overview, Page, Pause, TableQuery, TableRecord
from tests.api.nouns import NOW

_T = TypeVar("_T")


class StandInStore:
    """Names as the port has them."""

    def __init__(self) -> None:
        self.records: dict[TableIdentifier, TableRecord] = {}
        self.samples: dict[TableIdentifier, list[TableHealth]] = {}
        self.faults: list[CatalogFault] = []
        self.stored: dict[str, Job] = {}
        self.told: list[JobEvent] = []
        self.is_down = False

    def _look(self) -> None:
        if self.is_down:
            message = "store sqlite:///maintainer.db cannot be read: disk I/O error"
            raise StoreUnavailableError(message)

    # -- tables
    def record_health(self, health: TableHealth, grade: Grade) -> None:
        known = self.records.get(health.table, TableRecord(health.table, NOW))
        self.records[health.table] = replace(known, health=health, grade=grade, fault=None)
        self.samples.setdefault(health.table, []).append(health)

    def record_fault(self, fault: TableFault) -> None:
        known = self.records.get(fault.table, TableRecord(fault.table, NOW))
        self.records[fault.table] = replace(known, fault=fault)

    def record_catalog_faults(self, catalog: str, faults: Sequence[CatalogFault]) -> None:
        self.faults = [fault for fault in self.faults if fault.catalog != catalog] + list(faults)

    def catalog_faults(self) -> Sequence[CatalogFault]:
        return self.faults

    def table(self, table: TableIdentifier) -> TableRecord | None:
        self._look()
        return self.records.get(table)

    def tables(self, query: TableQuery) -> Page[TableRecord]:
        self._look()
        found = [record for record in self.records.values() if _matches(record, query)]
        found.sort(key=lambda record: str(record.table), reverse=query.descending)
        return _cut(found, query.limit, query.cursor)

    def table_names(self) -> Sequence[TableIdentifier]:
        return sorted(self.records)

    def history(self, table: TableIdentifier, metric: str, since: datetime, until: datetime) -> Sequence[tuple[datetime, float | None]]:
        return [(health.measured_at, getattr(health, metric)) for health in self.samples.get(table, []) if since <= health.measured_at <= until]

    def set_pause(self, table: TableIdentifier, pause: Pause | None) -> None:
        if table not in self.records:
            message = f"no table {table}"
            raise UnknownTableError(message)
        self.records[table] = replace(self.records[table], pause=pause)

    def overview(self) -> Overview:
        self._look()
        measured = [record.health for record in self.records.values() if record.health]
        return Overview(
            tables=len(self.records), measured_tables=len(measured), faulty_tables=0, paused_tables=0, data_files=sum(h.data_files or 0 for h in measured),
            data_bytes=sum(h.data_bytes or 0 for h in measured), small_files=0, delete_files=0, manifests=0, snapshots=0,
            bands=Counter(record.grade.band for record in self.records.values() if record.grade), jobs=Counter(job.state for job in self.stored.values()),
            files_removed=0, manifests_removed=0, snapshots_removed=0, bytes_rewritten=0, last_measured_at=None,
        )  # fmt: skip

    # -- plans and jobs
    def record_plan(self, plan: Plan) -> None:
        self.records[plan.table] = replace(self.records[plan.table], plan=plan)

    def add_job(self, job: Job) -> bool:
        self.stored[job.job_id] = job
        return True

    def update_job(self, job: Job, expected: JobState) -> bool:
        assert self.stored[job.job_id].state is expected
        self.stored[job.job_id] = job
        return True

    def job(self, job_id: str) -> Job | None:
        self._look()
        return self.stored.get(job_id)

    def jobs(self, query: JobQuery) -> Page[Job]:
        self._look()
        found = [job for job in self.stored.values() if (not query.states or job.state in query.states) and query.table in {None, job.table}]
        return _cut(sorted(found, key=lambda job: job.created_at, reverse=True), query.limit, query.cursor)

    def append_events(self, events: Sequence[JobEvent]) -> None:
        for event in events:
            self.told.append(replace(event, sequence=len(self.told) + 1))

    def events(self, job_id: str, after: int = 0) -> Sequence[JobEvent]:
        return [event for event in self.told if event.job_id == job_id and event.sequence > after]


def _matches(record: TableRecord, query: TableQuery) -> bool:
    table, band = record.table, record.grade.band if record.grade else None
    return (
        query.search.lower() in str(table).lower()
        and query.catalog in {None, table.catalog}
        and query.namespace in {None, table.namespace_text}
        and query.band in {None, band}
    )


def _cut(found: Sequence[_T], limit: int, cursor: str | None) -> Page[_T]:
    start = 0
    if cursor is not None:
        if not cursor.removeprefix("at-").isdecimal() or len(cursor) > 9:
            message = f"cursor {cursor!r} is not one of ours"
            raise InvalidValueError(message)
        start = int(cursor.removeprefix("at-"))
    end = start + limit
    return Page(tuple(found[start:end]), f"at-{end}" if end < len(found) else None, len(found))
