"""A store in memory, with the behaviour that the suite in tests/adapters/store asks of every store."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import RLock
from typing import Any, TypeVar

from maintainer.domain.errors import InvalidValueError, StoreUnavailableError, UnknownTableError
from maintainer.domain.health import Band, Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, ManifestDigest, TableFault
from maintainer.domain.job import FailureReason, Job, JobEvent, JobState
from maintainer.domain.plan import Plan, RuleHistory
from maintainer.domain.policy import RuleName
from maintainer.ports.store import HISTORY_METRICS, MAX_PAGE, TABLE_SORTS, JobQuery, Overview, Page, Pause, ScanMark, TableQuery, TableRecord

T = TypeVar("T")


@dataclass
class FakeStore:
    """Implements Store. Set `broken` to a sentence to make every call fail with StoreUnavailableError."""

    broken: str = ""
    _tables: dict[TableIdentifier, TableRecord] = field(default_factory=dict)
    _uuids: dict[TableIdentifier, str] = field(default_factory=dict)
    _samples: dict[str, dict[datetime, TableHealth]] = field(default_factory=dict)
    _catalog_faults: dict[str, tuple[CatalogFault, ...]] = field(default_factory=dict)
    _digests: dict[str, tuple[int, dict[str, ManifestDigest]]] = field(default_factory=dict)
    _marks: dict[TableIdentifier, ScanMark] = field(default_factory=dict)
    _jobs: dict[str, Job] = field(default_factory=dict)
    _finished: list[Job] = field(default_factory=list)  # in the order of finishing; pruned jobs stay, as the memory of rules and savings
    _events: dict[str, list[JobEvent]] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock)

    # -- tables
    def record_health(self, health: TableHealth, grade: Grade) -> None:
        with self._open():
            known, uuid = self._tables.get(health.table), self._uuids.get(health.table)
            is_same = known is not None and uuid in {None, health.table_uuid}
            self._uuids[health.table] = health.table_uuid
            self._tables[health.table] = TableRecord(
                table=health.table,
                first_seen_at=known.first_seen_at if known is not None and is_same else health.measured_at,
                health=health,
                grade=grade,
                pause=known.pause if known is not None else None,
                plan=known.plan if known is not None and is_same else None,
            )
            self._samples.setdefault(health.table_uuid, {})[health.measured_at] = health
            self._drop_orphans(samples=False)

    def record_fault(self, fault: TableFault) -> None:
        with self._open():
            if fault.kind in {FaultKind.VIEW, FaultKind.DROPPED}:
                self._forget([fault.table])
                return
            known = self._tables.get(fault.table) or TableRecord(fault.table, fault.seen_at)
            self._tables[fault.table] = replace(known, fault=fault)

    def _forget(self, tables: Iterable[TableIdentifier]) -> None:
        for table in tables:
            self._tables.pop(table, None)
            self._marks.pop(table, None)
            uuid = self._uuids.pop(table, None)
            if uuid is not None and uuid not in self._uuids.values():
                self._samples.pop(uuid, None)
        self._drop_orphans(samples=False)

    def _drop_orphans(self, *, samples: bool) -> None:
        for uuid in set(self._digests) - set(self._uuids.values()):
            del self._digests[uuid]
        if samples:
            for uuid in set(self._samples) - set(self._uuids.values()):
                del self._samples[uuid]

    def record_catalog_faults(self, catalog: str, faults: Sequence[CatalogFault]) -> None:
        with self._open():
            self._catalog_faults[catalog] = tuple(faults)

    def catalog_faults(self) -> Sequence[CatalogFault]:
        with self._open():
            return tuple(fault for catalog in sorted(self._catalog_faults) for fault in self._catalog_faults[catalog])

    def forget_tables_except(self, catalog: str, seen: Iterable[TableIdentifier]) -> Sequence[TableIdentifier]:
        with self._open():
            gone = sorted({table for table in self._tables if table.catalog == catalog} - set(seen), key=str)
            self._forget(gone)
            return tuple(gone)

    def table(self, table: TableIdentifier) -> TableRecord | None:
        with self._open():
            return self._tables.get(table)

    def tables(self, query: TableQuery) -> Page[TableRecord]:
        with self._open():
            _check_limit(query.limit)
            if query.sort not in TABLE_SORTS:
                message = f"sort {query.sort!r} is unknown"
                raise InvalidValueError(message)
            chosen = [_summary(record) for record in self._tables.values() if _is_wanted(record, query)]

            def value(record: TableRecord) -> Any:  # noqa: ANN401 - a number, a text or None
                return _sort_value(record, query.sort)

            ordered = sorted(chosen, key=lambda record: str(record.table))
            ordered.sort(key=lambda record: (value(record) is not None, value(record) or _ZEROS.get(query.sort, 0)), reverse=query.descending)
            ordered.sort(key=lambda record: value(record) is None)
            order = f"{query.sort}/{query.descending}"
            return _page(ordered, query.limit, query.cursor, order, lambda record: str(record.table))

    def table_names(self) -> Sequence[TableIdentifier]:
        with self._open():
            return tuple(sorted(self._tables, key=str))

    def history(self, table: TableIdentifier, metric: str, since: datetime, until: datetime) -> Sequence[tuple[datetime, float | None]]:
        with self._open():
            if metric not in HISTORY_METRICS:
                message = f"metric {metric!r} has no history"
                raise InvalidValueError(message)
            samples = self._samples.get(self._uuids.get(table, ""), {})
            return tuple((at, _as_float(getattr(samples[at], metric))) for at in sorted(samples) if since <= at <= until)

    def record_mark(self, table: TableIdentifier, mark: ScanMark) -> None:
        with self._open():
            if table in self._tables:
                self._marks[table] = mark

    def marks(self, catalog: str) -> Mapping[TableIdentifier, ScanMark]:
        with self._open():
            records = [self._tables[table] for table in self._marks if table.catalog == catalog]
            return {
                record.table: replace(self._marks[record.table], measured_at=record.health.measured_at if record.health is not None else None)
                for record in records
                if record.fault is None
            }

    def set_pause(self, table: TableIdentifier, pause: Pause | None) -> None:
        with self._open():
            if table not in self._tables:
                message = f"table {table} is not known"
                raise UnknownTableError(message)
            self._tables[table] = replace(self._tables[table], pause=pause)

    def overview(self) -> Overview:
        with self._open():
            records = list(self._tables.values())
            healths = [record.health for record in records if record.health is not None]
            bands = Counter(record.grade.band for record in records if record.grade is not None)
            states = Counter(job.state for job in self._jobs.values())
            effects = [job.effect for job in self._finished if job.effect is not None]
            return Overview(
                tables=len(records),
                measured_tables=len(healths),
                faulty_tables=sum(record.fault is not None for record in records),
                paused_tables=sum(record.pause is not None for record in records),
                data_files=sum(health.data_files or 0 for health in healths),
                data_bytes=sum(health.data_bytes or 0 for health in healths),
                small_files=sum(health.small_files or 0 for health in healths),
                delete_files=sum(_delete_files(health) or 0 for health in healths),
                manifests=sum(health.manifests or 0 for health in healths),
                snapshots=sum(health.snapshots for health in healths),
                bands={band: bands[band] for band in Band},
                jobs={state: states[state] for state in JobState},
                files_removed=sum(effect.files_removed for effect in effects),
                manifests_removed=sum(effect.manifests_removed for effect in effects),
                snapshots_removed=sum(effect.snapshots_removed for effect in effects),
                bytes_rewritten=sum(effect.bytes_rewritten for effect in effects),
                last_measured_at=max((health.measured_at for health in healths), default=None),
            )

    # -- manifest digests
    def digests(self, table_uuid: str, paths: Iterable[str], target_bytes: int) -> Mapping[str, ManifestDigest]:
        with self._open():
            target, known = self._digests.get(table_uuid, (target_bytes, {}))
            return {path: known[path] for path in paths if path in known and target == target_bytes}

    def record_digests(self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest]) -> None:
        with self._open():
            self._digests[table_uuid] = (target_bytes, {digest.path: digest for digest in digests})

    # -- plans
    def record_plan(self, plan: Plan) -> None:
        with self._open():
            if plan.table in self._tables and self._uuids.get(plan.table) in {None, plan.table_uuid}:
                self._tables[plan.table] = replace(self._tables[plan.table], plan=plan)

    def plans(self) -> Sequence[Plan]:
        with self._open():
            return tuple(self._tables[table].plan for table in sorted(self._tables, key=str) if self._tables[table].plan)  # type: ignore[misc]

    def rule_history(self, table_uuid: str) -> Mapping[RuleName, RuleHistory]:
        with self._open():
            jobs = [job for job in self._finished if job.table_uuid == table_uuid]
            return {rule: _remember(rule, [job for job in jobs if job.rule is rule]) for rule in {job.rule for job in jobs}}

    # -- jobs
    def add_job(self, job: Job) -> bool:
        with self._open():
            is_busy = any(other.table_uuid == job.table_uuid and not other.state.is_final for other in self._jobs.values())
            if job.job_id in self._jobs or (is_busy and not job.state.is_final):
                return False
            self._jobs[job.job_id] = job
            if job.state.is_final:
                self._finished.append(job)
            return True

    def update_job(self, job: Job, expected: JobState | Job) -> bool:
        with self._open():
            stored = self._jobs.get(job.job_id)
            if stored is None or expected not in (stored, stored.state):
                return False
            self._jobs[job.job_id] = job
            if job.state.is_final and not stored.state.is_final:
                self._finished.append(job)
            return True

    def job(self, job_id: str) -> Job | None:
        with self._open():
            return self._jobs.get(job_id)

    def jobs(self, query: JobQuery) -> Page[Job]:
        with self._open():
            _check_limit(query.limit)
            chosen = [
                job for job in self._jobs.values() if (not query.states or job.state in query.states) and (query.table is None or job.table == query.table)
            ]
            chosen.sort(key=lambda job: (job.created_at, job.job_id), reverse=True)
            return _page(chosen, query.limit, query.cursor, "jobs", lambda job: job.job_id)

    def unfinished_jobs(self) -> Sequence[Job]:
        with self._open():
            jobs = [job for job in self._jobs.values() if not job.state.is_final]
            return tuple(sorted(jobs, key=lambda job: (job.created_at, job.job_id)))

    def append_events(self, events: Iterable[JobEvent]) -> None:
        with self._open():
            for event in events:
                if event.job_id in self._jobs:
                    story = self._events.setdefault(event.job_id, [])
                    fields = json.loads(json.dumps(dict(event.fields), default=str))
                    story.append(replace(event, sequence=len(story) + 1, at=event.at.astimezone(UTC), fields=fields))

    def events(self, job_id: str, after: int = 0) -> Sequence[JobEvent]:
        with self._open():
            return tuple(event for event in self._events.get(job_id, ()) if event.sequence > after)

    # -- upkeep
    def prune(self, samples_before: datetime, jobs_before: datetime) -> Mapping[str, int]:
        with self._open():
            samples = self._prune_samples(samples_before)
            gone = [job for job in self._jobs.values() if self._is_prunable(job, jobs_before)]
            events = sum(len(self._events.pop(job.job_id, ())) for job in gone)
            for job in gone:
                del self._jobs[job.job_id]
            return {"samples": samples, "jobs": len(gone), "events": events}

    def _prune_samples(self, before: datetime) -> int:
        known = set(self._uuids.values())
        count = 0
        for uuid, samples in self._samples.items():
            latest = max(samples, default=None) if uuid in known else None
            for at in [at for at in samples if at < before and at != latest]:
                del samples[at]
                count += 1
        return count

    def _is_prunable(self, job: Job, before: datetime) -> bool:
        if not job.state.is_final or _finished_at(job) >= before:
            return False
        others = [other for other in self._jobs.values() if other.table == job.table and other.state.is_final]
        latest = max(others, key=lambda other: (other.created_at, other.job_id))
        return job.table not in self._tables or latest.job_id != job.job_id

    def instance_id(self) -> str:
        with self._open():
            return "fa4e57"

    def describe(self) -> str:
        with self._open():
            return "a store in memory"

    def close(self) -> None:
        pass

    def _open(self) -> RLock:
        if self.broken:
            raise StoreUnavailableError(self.broken)
        return self._lock


_ZEROS: dict[str, Any] = {"name": "", "measured_at": datetime(1, 1, 1, tzinfo=UTC)}


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        message = f"limit {limit} is outside 1..{MAX_PAGE}"
        raise InvalidValueError(message)


def _summary(record: TableRecord) -> TableRecord:
    health = None if record.health is None else replace(record.health, partitions=(), history=(), refs=())
    return replace(record, health=health, plan=None)


def _is_wanted(record: TableRecord, query: TableQuery) -> bool:
    namespace = record.table.namespace_text
    return (
        query.search.casefold() in str(record.table).casefold()
        and query.catalog in {None, record.table.catalog}
        and (query.namespace is None or namespace == query.namespace or namespace.startswith(f"{query.namespace}."))
        and (query.band is None or (record.grade is not None and record.grade.band is query.band))
    )


def _sort_value(record: TableRecord, sort: str) -> object:
    match sort:
        case "name":
            return str(record.table)
        case "band":
            return None if record.grade is None else list(Band).index(record.grade.band)
        case "delete_files":
            return None if record.health is None else _delete_files(record.health)
        case _:
            return None if record.health is None else getattr(record.health, sort)


def _delete_files(health: TableHealth) -> int | None:
    counts = (health.position_delete_files, health.equality_delete_files, health.deletion_vectors)
    return None if None in counts else sum(count or 0 for count in counts)


def _as_float(value: float | None) -> float | None:
    return None if value is None else float(value)


def _page(ordered: Sequence[T], limit: int, cursor: str | None, order: str, name: Callable[[T], str]) -> Page[T]:
    """The cursor names the last item; a page after an item that is gone starts over, which the real store does better."""
    start = 0
    if cursor is not None:
        try:
            found, last = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        except ValueError as error:
            message = f"cursor {cursor[:40]!r} is foreign"
            raise InvalidValueError(message) from error
        if found != order:
            message = f"cursor {cursor[:40]!r} is foreign"
            raise InvalidValueError(message)
        start = next((index + 1 for index, item in enumerate(ordered) if name(item) == last), 0)
    items = tuple(ordered[start : start + limit])
    has_more = start + limit < len(ordered)
    following = base64.urlsafe_b64encode(json.dumps([order, name(items[-1])]).encode()).decode() if has_more else None
    return Page(items, following, len(ordered))


def _finished_at(job: Job) -> datetime:
    return job.finished_at or job.ended_at or job.created_at


def _remember(rule: RuleName, jobs: Sequence[Job]) -> RuleHistory:
    """Seen from the end, unlike the real store, which folds job by job."""
    successes = [index for index, job in enumerate(jobs) if job.state is JobState.SUCCEEDED]
    failures = [index for index, job in enumerate(jobs) if job.state is JobState.FAILED and job.failure_reason is not FailureReason.LOST_RUNNER]
    success = jobs[successes[-1]] if successes else None
    failure = jobs[failures[-1]] if failures else None
    is_idle = success is not None and success.effect is not None and success.effect.is_idle
    return RuleHistory(
        rule=rule,
        last_finished_at=_finished_at(jobs[-1]),
        last_success_at=None if success is None else _finished_at(success),
        consecutive_failures=sum(index > (successes[-1] if successes else -1) for index in failures),
        last_failure_at=None if failure is None else _finished_at(failure),
        last_failure_reason="" if failure is None or failure.failure_reason is None else failure.failure_reason.value,
        idle_at_metadata_location=success.baseline.metadata_location if success is not None and is_idle and success.baseline else None,
    )
