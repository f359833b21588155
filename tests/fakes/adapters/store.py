"""A store in memory, with the behaviour that the suite in tests/adapters/store asks of every
store.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from threading import RLock
from typing import Any

from maintainer.domain.access import is_within
from maintainer.domain.audit import AuditEntry, AuditQuery, audit_change, audit_events
from maintainer.domain.errors import InvalidValueError, StoreUnavailableError, UnknownTableError
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.domain.location import TableLocation, overlap
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Plan, RuleHistory, RuleVerdict, Unenforced
from maintainer.domain.policy import RuleName
from maintainer.domain.scan_cost import MAX_SCAN_COSTS, ScanCost
from maintainer.domain.units import CLOCK_TOLERANCE
from maintainer.ports.store.figures import Counters, NamespaceCounters, Overview, TableFigures
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.pages import Page
from maintainer.ports.store.plans import LONGEST_TRUST, PlanDue
from maintainer.ports.store.tables import (
    HISTORY_METRICS,
    TABLE_SORTS,
    Pause,
    ScanMark,
    TableQuery,
    TableRecord,
)
from maintainer.ports.store.upkeep import StoreSize
from tests.fakes.adapters.store_digests import FakeDigests
from tests.fakes.adapters.store_drivers import FakeDrivers
from tests.fakes.adapters.store_duties import FakeDuties
from tests.fakes.adapters.store_fleet import FakeFleet
from tests.fakes.adapters.store_job_logs import FakeJobLogs
from tests.fakes.adapters.store_leases import FakeLeases
from tests.fakes.adapters.store_notices import FakeNotices
from tests.fakes.adapters.store_orphans import FakeOrphans
from tests.fakes.adapters.store_policies import FakePolicyVersions
from tests.fakes.adapters.store_portions import FakePortions
from tests.fakes.adapters.store_reading import (
    ZEROS,
    as_float,
    check_limit,
    is_wanted,
    list_figures,
    page_of,
    sort_value,
    sum_records,
    summarise,
)
from tests.fakes.adapters.store_reads import FakeReads


@dataclass
class FakeStore(
    FakeDigests,
    FakeDrivers,
    FakeFleet,
    FakeDuties,
    FakeJobLogs,
    FakeLeases,
    FakeNotices,
    FakePolicyVersions,
    FakeOrphans,
    FakePortions,
    FakeReads,
):
    """Implements Store. Set `broken` to a sentence to make every call fail with
    StoreUnavailableError.
    """

    broken: str = ""
    free_bytes: int | None = None  # of its disk
    _samples: dict[str, dict[datetime, tuple[TableHealth, datetime]]] = field(
        default_factory=dict
    )  # until when it was measured so
    _catalog_faults: dict[str, tuple[CatalogFault, ...]] = field(default_factory=dict)
    _marks: dict[TableIdentifier, ScanMark] = field(default_factory=dict)
    _scan_costs: dict[str, tuple[ScanCost, ...]] = field(default_factory=dict)
    _ended: dict[str, datetime] = field(default_factory=dict)
    _events: dict[str, list[JobEvent]] = field(default_factory=dict)
    _wanted: Counter[TableIdentifier] = field(default_factory=Counter)
    _planned: dict[TableIdentifier, tuple[str, datetime | None]] = field(default_factory=dict)
    _rule_histories: dict[tuple[str, RuleName], RuleHistory] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock)

    # -- tables
    def record_health(self, health: TableHealth, grade: Grade) -> None:
        with self._open():
            known, uuid = self._tables.get(health.table), self._uuids.get(health.table)
            is_same = known is not None and uuid in {None, health.table_uuid}
            self._uuids[health.table] = health.table_uuid
            if health.table in self._pauses:
                of, pause = self._pauses[health.table]
                self._pauses[health.table] = of or health.table_uuid, pause
            self._tables[health.table] = TableRecord(
                table=health.table,
                first_seen_at=known.first_seen_at
                if known is not None and is_same
                else health.measured_at,
                health=health,
                grade=grade,
                pause=self._find_pause(health.table),
                plan=known.plan if known is not None and is_same else None,
            )
            self._story.locations |= {
                (path, health.table_uuid, str(health.table)): None for path in health.own_paths()
            }
            self._add_sample(self._samples.setdefault(health.table_uuid, {}), health)
            self._want_plan(health.table)
            if uuid is not None:
                self._drop_digests([uuid])

    def _add_sample(
        self, samples: dict[datetime, tuple[TableHealth, datetime]], health: TableHealth
    ) -> None:
        first = max(samples, default=health.measured_at)
        known, last = samples.get(first, (health, health.measured_at))
        if first < health.measured_at and all(
            getattr(known, metric) == getattr(health, metric) for metric in HISTORY_METRICS
        ):
            samples[first] = known, max(last, health.measured_at)
        elif not first < health.measured_at <= last:
            samples[health.measured_at] = health, health.measured_at

    def record_fault(self, fault: TableFault) -> None:
        with self._open():
            if fault.kind in {FaultKind.VIEW, FaultKind.DROPPED}:
                self._forget([fault.table])
                return
            known = self._tables.get(fault.table) or TableRecord(fault.table, fault.seen_at)
            self._tables[fault.table] = replace(
                known, fault=fault, pause=self._find_pause(fault.table)
            )

    def _want_plan(self, *tables: TableIdentifier) -> None:
        for table in tables:
            self._wanted[table] += 1
            self._planned.pop(table, None)
            if table in self._tables:
                self._tables[table] = replace(self._tables[table], next_plan_at=None)

    def _want_plan_of(self, table_uuid: str) -> None:
        self._want_plan(*(table for table, uuid in self._uuids.items() if uuid == table_uuid))

    def _forget(self, tables: Sequence[TableIdentifier]) -> None:
        forgotten = [self._uuids[table] for table in tables if table in self._uuids]
        for table in tables:
            self._tables.pop(table, None)
            self._planned.pop(table, None)
            self._marks.pop(table, None)
            self._uuids.pop(table, None)
        self._drop_digests(forgotten)

    def _known_uuids(self) -> Collection[str]:
        return self._uuids.values()

    def record_catalog_faults(self, catalog: str, faults: Sequence[CatalogFault]) -> None:
        with self._open():
            self._catalog_faults[catalog] = tuple(faults)

    def catalog_faults(self) -> Sequence[CatalogFault]:
        with self._open():
            return tuple(
                fault
                for catalog in sorted(self._catalog_faults)
                for fault in self._catalog_faults[catalog]
            )

    def forget_tables_except(
        self, catalog: str, seen: Iterable[TableIdentifier]
    ) -> Sequence[TableIdentifier]:
        with self._open():
            gone = sorted(
                {table for table in self._tables if table.catalog == catalog} - set(seen), key=str
            )
            self._forget(gone)
            return tuple(gone)

    def table(self, table: TableIdentifier) -> TableRecord | None:
        with self._open():
            return self._tables.get(table)

    def faulty_tables(self, limit: int) -> Sequence[TableFault]:
        with self._open():
            faults = [record.fault for record in self._tables.values() if record.fault is not None]
            return tuple(sorted(faults, key=lambda fault: str(fault.table))[:limit])

    def grade(self, table: TableIdentifier, table_uuid: str) -> Grade | None:
        with self._open():
            return self._tables[table].grade if self._uuids.get(table) == table_uuid else None

    def tables(self, query: TableQuery) -> Page[TableRecord]:
        with self._open():
            check_limit(query.limit)
            if query.sort not in TABLE_SORTS:
                message = f"sort {query.sort!r} is unknown"
                raise InvalidValueError(message)
            chosen = [record for record in self._tables.values() if is_wanted(record, query)]
            is_reversed = query.descending != (
                query.sort == "band"
            )  # its values are less for worse tables

            def value(record: TableRecord) -> Any:
                return sort_value(record, query.sort)

            ordered = sorted(chosen, key=lambda record: str(record.table), reverse=is_reversed)
            ordered.sort(
                key=lambda record: (
                    value(record) is not None,
                    value(record) or ZEROS.get(query.sort, 0),
                ),
                reverse=is_reversed,
            )
            unknown = sorted(
                (record for record in ordered if value(record) is None),
                key=lambda record: str(record.table),
            )
            known = [record for record in ordered if value(record) is not None]
            ordered = [
                summarise(record, with_plan=query.with_plans) for record in [*known, *unknown]
            ]
            order = f"{query.sort}/{query.descending}"
            return page_of(
                ordered, query.limit, query.cursor, order, lambda record: str(record.table)
            )

    def has_tables(self, catalog: str) -> bool:
        with self._open():
            return any(table.catalog == catalog for table in self._tables)

    def has_unmeasured_tables(self) -> bool:
        with self._open():
            return any(record.health is None for record in self._tables.values())

    def table_names(self) -> Sequence[TableIdentifier]:
        with self._open():
            return tuple(sorted(self._tables, key=str))

    def names_of(self, table_uuid: str) -> Sequence[TableIdentifier]:
        with self._open():
            return tuple(
                sorted(
                    (table for table, uuid in self._uuids.items() if uuid == table_uuid), key=str
                )
            )

    def shared_tables(self) -> Mapping[TableIdentifier, Sequence[TableIdentifier]]:
        with self._open():
            names = {table: self.names_of(uuid) for table, uuid in self._uuids.items()}
            return {table: found for table, found in names.items() if len(found) > 1}

    def history(
        self, table: TableIdentifier, metric: str, since: datetime, until: datetime
    ) -> Sequence[tuple[datetime, float | None]]:
        with self._open():
            if metric not in HISTORY_METRICS:
                message = f"metric {metric!r} has no history"
                raise InvalidValueError(message)
            samples = self._samples.get(self._uuids.get(table, ""), {})
            lasting = [
                (
                    max(at, since),
                    min(samples[at][1], until),
                    as_float(getattr(samples[at][0], metric)),
                )
                for at in sorted(samples)
            ]
            return tuple(
                (at, value)
                for first, last, value in lasting
                if first <= last
                for at in sorted({first, last})
            )

    def record_mark(self, table: TableIdentifier, mark: ScanMark) -> None:
        with self._open():
            if table in self._tables:
                self._marks[table] = mark

    def marks(self, catalog: str) -> Mapping[TableIdentifier, ScanMark]:
        with self._open():
            records = [self._tables[table] for table in self._marks if table.catalog == catalog]
            return {
                record.table: replace(
                    self._marks[record.table],
                    measured_at=record.health.measured_at if record.health is not None else None,
                )
                for record in records
                if record.fault is None
            }

    def record_scan_cost(self, cost: ScanCost) -> None:
        with self._open():
            known = self._scan_costs.get(cost.catalog, ())
            self._scan_costs[cost.catalog] = (cost, *known)[:MAX_SCAN_COSTS]

    def scan_costs(self) -> Mapping[str, Sequence[ScanCost]]:
        with self._open():
            return dict(sorted(self._scan_costs.items()))

    def set_pause(
        self, table: TableIdentifier, pause: Pause | None, table_uuid: str | None = None
    ) -> None:
        with self._open():
            uuid = self._uuids.get(table) or table_uuid
            held = {
                name
                for name, (of, _) in self._pauses.items()
                if name == table or (of is not None and of == uuid)
            }
            if table not in self._tables and (not held if pause is None else uuid is None):
                message = f"table {table} is not known"
                raise UnknownTableError(message)
            uuids = {uuid, *(self._pauses[name][0] for name in held)} - {None}
            if pause is None:
                self._pauses = {
                    name: entry for name, entry in self._pauses.items() if name not in held
                }
            else:
                self._pauses[table] = uuid, pause
            for name in [
                name
                for name in self._tables
                if name in {table, *held} or self._uuids.get(name) in uuids
            ]:
                self._tables[name] = replace(self._tables[name], pause=self._find_pause(name))
                self._want_plan(name)

    def overview(self, within: tuple[str, ...] | None = None) -> Overview:
        with self._open():
            records = [
                record for record in self._tables.values() if is_within(record.table, within)
            ]
            sums = sum_records(records)
            states = Counter(
                job.state for job in self._jobs.values() if is_within(job.table, within)
            )
            effects = [job.effect for job in self._finished if job.effect is not None]
            healths = [record.health for record in records if record.health is not None]
            saved: dict[str, Any] = {
                name: None if within is not None else sum(getattr(each, name) for each in effects)
                for name in (
                    "files_removed", "manifests_removed", "snapshots_removed", "bytes_rewritten",
                )
            }  # fmt: skip
            return Overview(
                **{part.name: getattr(sums, part.name) for part in fields(sums)},
                jobs={state: states[state] for state in JobState},
                **saved,
                last_measured_at=max((health.measured_at for health in healths), default=None),
            )

    def counters(self, catalog: str | None = None, namespace: str | None = None) -> Counters:
        with self._open():
            return sum_records(
                record
                for table, record in self._tables.items()
                if catalog is None
                or (table.catalog == catalog and namespace in {None, table.namespace_text})
            )

    def namespaces(
        self,
        catalog: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        within: tuple[str, ...] | None = None,
    ) -> Page[NamespaceCounters]:
        with self._open():
            check_limit(limit)
            names = sorted(
                {
                    (table.catalog, table.namespace_text)
                    for table in self._tables
                    if catalog in {None, table.catalog} and is_within(table, within)
                }
            )
            found = [NamespaceCounters(*name, self.counters(*name)) for name in names]
            return page_of(
                found,
                limit,
                cursor,
                f"namespaces/{catalog}",
                lambda item: json.dumps([item.catalog, item.namespace]),
            )

    # -- plans
    def record_plan(self, plan: Plan, verdicts: Sequence[RuleVerdict] = ()) -> None:
        with self._open():
            if plan.table in self._tables and self._uuids.get(plan.table) in {
                None,
                plan.table_uuid,
            }:
                self._tables[plan.table] = replace(self._tables[plan.table], plan=plan)
                self._story.tell(plan, verdicts)

    def locations_near(self, paths: Sequence[str]) -> Sequence[TableLocation]:
        with self._open():
            known = {
                (self._uuids[table], str(table)) for table in self._tables if table in self._uuids
            }
            found = sorted(self._story.locations.items(), key=lambda location: location[0])
            locations = [
                TableLocation(path, name, uuid, bool(uuid) and (uuid, name) not in known, seen_at)
                for (path, uuid, name), seen_at in found
            ]
            return tuple(
                location
                for location in locations
                if any(overlap(location.path, path) for path in paths)
            )

    def record_foreign_locations(self, locations: Sequence[TableLocation]) -> None:
        with self._open():
            self._story.locations |= {
                (location.path, "", location.table): location.seen_at for location in locations
            }

    def pins(self, table_uuid: str) -> Sequence[Pin]:
        with self._open():
            return tuple(pin for _, pin in sorted(self._story.pins.get(table_uuid, {}).items()))

    def set_pin(self, table_uuid: str, pin: Pin) -> None:
        with self._open():
            self._story.pins.setdefault(table_uuid, {})[pin.name] = pin
            self._want_plan_of(table_uuid)

    def remove_pin(self, table_uuid: str, name: str) -> bool:
        with self._open():
            self._want_plan_of(table_uuid)
            return self._story.pins.get(table_uuid, {}).pop(name, None) is not None

    def verdicts(
        self, table: TableIdentifier, limit: int = 100, cursor: str | None = None
    ) -> Page[RuleVerdict]:
        with self._open():
            return self._story.page(table, self._uuids.get(table), limit, cursor)

    def unenforced(self, limit: int) -> Unenforced:
        with self._open():
            known = {table: self._uuids[table] for table in self._tables if table in self._uuids}
            return self._story.unenforced(known, limit)

    def plans(self) -> Sequence[Plan]:
        with self._open():
            return tuple(
                self._tables[table].plan  # type: ignore[misc]
                for table in sorted(self._tables, key=str)
                if self._tables[table].plan
            )

    def tables_to_plan(
        self, now: datetime, version: str, catalogs: Collection[str] | None = None
    ) -> Sequence[PlanDue]:
        with self._open():
            asked = [
                record
                for table, record in self._tables.items()
                if catalogs is None or table.catalog in catalogs
            ]
            measured = sorted(
                (record.table for record in asked if record.health is not None), key=str
            )
            return tuple(
                PlanDue(table, self._wanted[table])
                for table in measured
                if self._is_due(table, now, version)
            )

    def _is_due(self, table: TableIdentifier, now: datetime, version: str) -> bool:
        planned, next_at = self._planned.get(table, (None, None))
        return planned != version or (
            next_at is not None and not now < next_at <= now + LONGEST_TRUST + CLOCK_TOLERANCE
        )

    def mark_planned(self, due: PlanDue, version: str, next_at: datetime | None) -> None:
        with self._open():
            if due.table in self._tables and self._wanted[due.table] == due.wanted:
                self._planned[due.table] = version, next_at
                known = self._tables[due.table]
                self._tables[due.table] = replace(known, next_plan_at=next_at)

    def rule_history(self, table_uuid: str) -> Mapping[RuleName, RuleHistory]:
        with self._open():
            return {
                rule: history
                for (uuid, rule), history in self._rule_histories.items()
                if uuid == table_uuid
            }

    def failing_rules(
        self, least: int, limit: int
    ) -> Sequence[tuple[TableIdentifier, RuleHistory]]:
        with self._open():
            found = [
                (table, history)
                for (of, _), history in self._rule_histories.items()
                for table, uuid in self._uuids.items()
                if uuid == of and history.consecutive_failures >= least
            ]
            return tuple(sorted(found, key=lambda one: (str(one[0]), one[1].rule))[:limit])

    # -- jobs
    def add_job(self, job: Job) -> bool:
        with self._open():
            is_busy = any(
                other.table_uuid == job.table_uuid and not other.state.is_final
                for other in self._jobs.values()
            )
            if job.job_id in self._jobs or (is_busy and not job.state.is_final):
                return False
            self._jobs[job.job_id] = job
            self._audit.note(audit_change(None, job))
            self._want_plan_of(job.table_uuid)
            if job.state.is_final:
                self._finished.append(job)
            return True

    def update_job(
        self,
        job: Job,
        expected: JobState | Job,
        token: int | None = None,
        learnt: RuleHistory | None = None,
    ) -> bool:
        with self._open():
            return self._update_job(job, expected, token, learnt)

    def _update_job(
        self,
        job: Job,
        expected: JobState | Job,
        token: int | None = None,
        learnt: RuleHistory | None = None,
    ) -> bool:
        """Update the job under the lock that the caller holds.

        A test may replace `update_job` and let another daemon work there, which needs the lock.
        """
        stored = self._jobs.get(job.job_id)
        if (
            stored is None
            or expected not in (stored, stored.state)
            or (job.state is not stored.state and not self._may_move(job, token))
        ):
            return False
        self._jobs[job.job_id] = job
        self._audit.note(audit_change(stored, job, self._handed.pop(job.job_id, ())))
        if job.state.is_final and not stored.state.is_final:
            self._finished.append(job)
            if learnt is not None:
                self._rule_histories[job.table_uuid, learnt.rule] = learnt
            self._want_plan_of(job.table_uuid)
            self._end_lease(job)
        return True

    def job(self, job_id: str) -> Job | None:
        with self._open():
            return self._jobs.get(job_id)

    def jobs(self, query: JobQuery) -> Page[Job]:
        with self._open():
            check_limit(query.limit)
            chosen = [
                job
                for job in self._jobs.values()
                if (not query.states or job.state in query.states)
                and (query.table is None or job.table == query.table)
                and is_within(job.table, query.within)
                and (query.rule is None or job.rule == query.rule)
                and (not query.requested_by or job.requested_by == query.requested_by)
                and (query.since is None or job.created_at >= query.since)
                and (query.until is None or job.created_at < query.until)
            ]
            chosen.sort(key=lambda job: (job.created_at, job.job_id), reverse=True)
            return page_of(chosen, query.limit, query.cursor, "jobs", lambda job: job.job_id)

    def unfinished_jobs(self) -> Sequence[Job]:
        with self._open():
            jobs = [job for job in self._jobs.values() if not job.state.is_final]
            return tuple(sorted(jobs, key=lambda job: (job.created_at, job.job_id)))

    def unfinished_job_of(self, table_uuid: str) -> Job | None:
        return next((job for job in self.unfinished_jobs() if job.table_uuid == table_uuid), None)

    def append_events(self, events: Iterable[JobEvent]) -> None:
        with self._open():
            for event in events:
                if event.job_id in self._jobs:
                    self._audit.note(audit_events(self._jobs[event.job_id], [event]))
                    story = self._events.setdefault(event.job_id, [])
                    fields = json.loads(json.dumps(dict(event.fields), default=str))
                    story.append(
                        replace(
                            event,
                            sequence=len(story) + 1,
                            at=event.at.astimezone(UTC),
                            fields=fields,
                        )
                    )

    def events(self, job_id: str, after: int = 0) -> Sequence[JobEvent]:
        with self._open():
            return tuple(event for event in self._events.get(job_id, ()) if event.sequence > after)

    # -- audit
    def record_audit(self, entries: Iterable[AuditEntry]) -> None:
        with self._open():
            self._audit.note(entries)

    def audit(self, query: AuditQuery) -> Page[AuditEntry]:
        with self._open():
            return self._audit.page(query)

    # -- upkeep
    def prune(
        self,
        samples_before: datetime,
        jobs_before: datetime,
        hourly_before: datetime | None = None,
        daily_before: datetime | None = None,
    ) -> Mapping[str, int]:
        with self._open():
            samples = self._prune_samples(samples_before)
            sums = self._prune_fleet(samples_before, hourly_before, daily_before)
            thinned = sum(
                self._thin(digits, before)
                for digits, before in ((13, hourly_before), (10, daily_before))
                if before is not None
            )
            gone = [job for job in self._jobs.values() if self._is_prunable(job, jobs_before)]
            events = sum(len(self._events.pop(job.job_id, ())) for job in gone)
            for job in gone:
                del self._jobs[job.job_id]
            reported = self._story.prune(self._uuids, jobs_before)
            return {
                "samples": samples,
                "fleet_samples": sums,
                "jobs": len(gone),
                "events": events,
                "thinned": thinned,
                **reported,
            }

    def _thin(self, digits: int, before: datetime) -> int:
        """The first digits of a time name its hour or its day."""
        count = 0
        whole = before.astimezone(UTC).isoformat()[:digits]
        for samples in self._samples.values():
            by_bucket: dict[str, list[datetime]] = {}
            for at in sorted(samples):
                by_bucket.setdefault(at.astimezone(UTC).isoformat()[:digits], []).append(at)
            for bucket, times in by_bucket.items():
                for at in times[:-1] if bucket < whole else ():
                    del samples[at]
                    count += 1
        return count

    def _prune_samples(self, before: datetime) -> int:
        known = set(self._uuids.values())
        count = 0
        for uuid, samples in self._samples.items():
            latest = max(samples, default=None) if uuid in known else None
            for at in [at for at, (_, last) in samples.items() if last < before and at != latest]:
                del samples[at]
                count += 1
        return count

    def _is_unfinished(self, job_id: str) -> bool:
        return job_id in self._jobs and not self._jobs[job_id].state.is_final

    def _is_prunable(self, job: Job, before: datetime) -> bool:
        if not job.state.is_final or job.closed_at >= before:
            return False
        others = [
            other
            for other in self._jobs.values()
            if other.table == job.table and other.state.is_final
        ]
        latest = max(others, key=lambda other: (other.created_at, other.job_id))
        return job.table not in self._tables or latest.job_id != job.job_id

    def instance_id(self) -> str:
        with self._open():
            return "fa4e57"

    def describe(self) -> str:
        with self._open():
            return "a store in memory"

    def table_figures(self, limit: int, chosen: Sequence[str] = ()) -> Sequence[TableFigures]:
        with self._open():
            return list_figures(self._tables.values(), limit, chosen)

    def size(self) -> StoreSize:
        with self._open():
            return StoreSize(4096, self.free_bytes)

    def end_session(self, name: str, until: datetime, now: datetime) -> None:
        with self._open():
            self._ended = {one: end for one, end in self._ended.items() if end > now}
            self._ended[name] = until

    def ended_sessions(self, now: datetime) -> Sequence[str]:
        with self._open():
            return tuple(sorted(name for name, end in self._ended.items() if end > now))

    def ensure_writable(self) -> None:
        with self._open():
            pass

    def close(self) -> None:
        pass

    def _open(self) -> RLock:
        if self.broken:
            raise StoreUnavailableError(self.broken)
        return self._lock
