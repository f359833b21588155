"""Implements the store of maintainer.ports.store on a database."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar
from uuid import uuid4

from sqlalchemy import Connection, select, text

from maintainer.adapters.store import audit, fleet, listing, samples, work
from maintainer.adapters.store.admission import SqlAdmission
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.drivers import SqlDrivers
from maintainer.adapters.store.due import mark_planned, read_due, want_plan
from maintainer.adapters.store.facts import (
    end_session,
    read_ended_sessions,
    read_pins,
    read_scan_costs,
    read_spark_facts,
    record_scan_cost,
    record_spark_facts,
    remove_pin,
    set_pin,
)
from maintainer.adapters.store.figures import read_failing_rules, read_faulty_tables, read_figures
from maintainer.adapters.store.fleet_samples import (
    prune_fleet_samples,
    read_fleet_history,
    record_fleet,
)
from maintainer.adapters.store.job_logs import append_job_log, prune_job_logs, read_job_log
from maintainer.adapters.store.leases import SqlDuties, SqlLeases, prune_leases
from maintainer.adapters.store.locations import read_locations_near
from maintainer.adapters.store.manifests import SqlDigests
from maintainer.adapters.store.notices import SqlNotices
from maintainer.adapters.store.orphans import SqlOrphans
from maintainer.adapters.store.pauses import lift_pause, read_pauses, set_pause
from maintainer.adapters.store.policy_versions import (
    is_in_force,
    read_version,
    read_versions,
    record_version,
)
from maintainer.adapters.store.portions import SqlPortions
from maintainer.adapters.store.reads import add_reads, prune_reads, read_reads, read_reads_of
from maintainer.adapters.store.scan_marks import read_marks, record_mark
from maintainer.adapters.store.schema import INSTANCE_ID_KEY, store_info, tables
from maintainer.adapters.store.schema_version import is_usable, read_revision
from maintainer.adapters.store.sums import EXACT, SharedSums, count_jobs
from maintainer.adapters.store.verdicts import (
    prune_verdicts,
    read_unenforced,
    read_verdicts,
    record_verdicts,
)
from maintainer.domain.audit import AuditEntry
from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobEvent
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Plan, RuleVerdict
from maintainer.domain.policy_version import PolicyVersion
from maintainer.ports.store.figures import Counters, NamespaceCounters, Overview
from maintainer.ports.store.pages import Page
from maintainer.ports.store.plans import PlanDue
from maintainer.ports.store.tables import Pause, TableQuery, TableRecord
from maintainer.ports.store.upkeep import StoreSize

P = ParamSpec("P")
T = TypeVar("T")

_PROBE_KEY = "probe"  # the key that ensure_writable writes


def _reads(
    function: Callable[Concatenate[Connection, P], T],
) -> Callable[Concatenate[SqlStore, P], T]:
    """Turn a function into a method that runs in a read-only transaction of its own."""

    @wraps(function)
    def method(self: SqlStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._database.read() as connection:
            return function(connection, *args, **kwargs)

    return method


def _writes(
    function: Callable[Concatenate[Database, Connection, P], T], *, durable: bool = False
) -> Callable[Concatenate[SqlStore, P], T]:
    """Turn a function into a method that runs in a write transaction of its own."""

    @wraps(function)
    def method(self: SqlStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._database.write(durable=durable) as connection:
            return function(self._database, connection, *args, **kwargs)

    return method


class SqlStore(
    SqlAdmission, SqlDigests, SqlDrivers, SqlDuties, SqlLeases, SqlNotices, SqlOrphans, SqlPortions
):
    """Implements Store.

    All threads of a process may share an instance, and several processes may share a database.
    """

    def __init__(self, database: Database, max_age: timedelta = EXACT) -> None:
        super().__init__(database)
        self._sums = SharedSums(database, max_age)

    record_health = _writes(fleet.record_health)
    record_fault = _writes(fleet.record_fault)
    record_catalog_faults = _writes(fleet.record_catalog_faults)
    catalog_faults = _reads(fleet.read_catalog_faults)

    def forget_tables_except(
        self, catalog: str, seen: Iterable[TableIdentifier]
    ) -> Sequence[TableIdentifier]:
        with self._database.write() as connection:
            return fleet.forget_tables_except(connection, catalog, seen)

    table = _reads(fleet.read_table)
    grade = _reads(fleet.read_grade)
    faulty_tables = _reads(read_faulty_tables)

    has_tables = _reads(fleet.has_tables)
    has_unmeasured_tables = _reads(fleet.has_unmeasured_tables)

    def tables(self, query: TableQuery) -> Page[TableRecord]:
        sums, is_sqlite = self._sums.read(), self._database.is_sqlite
        with self._database.read() as connection:
            return listing.read_page(connection, query, sums, is_sqlite=is_sqlite)

    table_names = _reads(fleet.read_names)
    names_of = _reads(fleet.read_names_of)
    shared_tables = _reads(fleet.read_shared)
    history = _reads(samples.read_history)
    record_mark = _writes(record_mark)
    marks = _reads(read_marks)
    record_scan_cost = _writes(record_scan_cost)
    scan_costs = _reads(read_scan_costs)
    add_reads = _writes(add_reads)
    reads = _reads(read_reads)
    reads_of = _reads(read_reads_of)
    prune_reads = _writes(prune_reads)

    def set_pause(
        self, table: TableIdentifier, pause: Pause | None, table_uuid: str | None = None
    ) -> None:
        with self._database.write(durable=True) as connection:
            if pause is None:
                lift_pause(connection, table)
            else:
                set_pause(self._database, connection, table, pause, table_uuid)

    paused_tables = _reads(read_pauses)

    def overview(self, within: tuple[str, ...] | None = None) -> Overview:
        """See Store; savings include every finished job with an effect, also pruned jobs."""
        known = self._sums.read()
        sums = known.of() if within is None else known.within(within)
        with self._database.read() as connection:
            saved = work.read_savings(connection)._asdict()
            return Overview(
                **{field.name: getattr(sums, field.name) for field in fields(sums)},
                **(saved if within is None else dict.fromkeys(saved, None)),
                jobs=known.jobs if within is None else count_jobs(connection, within),
                last_measured_at=fleet.read_last_measured(connection, within),
            )

    table_figures = _reads(read_figures)

    def counters(self, catalog: str | None = None, namespace: str | None = None) -> Counters:
        return self._sums.read().of(catalog, namespace)

    def namespaces(
        self,
        catalog: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        within: tuple[str, ...] | None = None,
    ) -> Page[NamespaceCounters]:
        return self._sums.read().page(catalog, limit, cursor, within)

    def record_fleet(self, at: datetime) -> None:
        sums = self._sums.read(exactly=True)
        with self._database.write() as connection:
            record_fleet(self._database, connection, sums, at)

    fleet_history = _reads(read_fleet_history)

    def record_plan(self, plan: Plan, verdicts: Sequence[RuleVerdict] = ()) -> None:
        """See Store; a plan is dropped if its table was forgotten or replaced meanwhile."""
        with self._database.write() as connection:
            if fleet.record_plan(self._database, connection, plan):
                record_verdicts(connection, plan, verdicts)

    verdicts = _reads(read_verdicts)
    unenforced = _reads(read_unenforced)
    plans = _reads(fleet.read_plans)
    tables_to_plan = _reads(read_due)

    def mark_planned(self, due: PlanDue, version: str, next_at: datetime | None) -> None:
        with self._database.write() as connection:
            mark_planned(connection, due, version, next_at)

    def record_policies(self, version: PolicyVersion) -> bool:
        """See Store; an unchanged version writes nothing."""
        with self._database.read() as connection:
            if is_in_force(connection, version):
                return False
        with self._database.write() as connection:
            record_version(self._database, connection, version)
        return True

    policy_versions = _reads(read_versions)
    policy_version = _reads(read_version)
    locations_near = _reads(read_locations_near)
    spark_facts = _reads(read_spark_facts)
    record_spark_facts = _writes(record_spark_facts)
    pins = _reads(read_pins)

    def set_pin(self, table_uuid: str, pin: Pin) -> None:
        with self._database.write(durable=True) as connection:
            set_pin(self._database, connection, table_uuid, pin)
            want_plan(connection, tables.c.table_uuid == table_uuid)

    def remove_pin(self, table_uuid: str, name: str) -> bool:
        with self._database.write() as connection:
            want_plan(connection, tables.c.table_uuid == table_uuid)
            return remove_pin(connection, table_uuid, name)

    rule_history = _reads(work.read_rule_history)
    failing_rules = _reads(read_failing_rules)
    add_job = _writes(work.add_job, durable=True)
    update_job = _writes(work.update_job, durable=True)
    job = _reads(work.read_job)
    jobs = _reads(work.read_page)
    unfinished_jobs = _reads(work.read_unfinished)
    unfinished_job_of = _reads(work.read_unfinished_of)

    def append_events(self, events: Iterable[JobEvent]) -> None:
        """See Store; events of a job that is not in the store are dropped."""
        with self._database.write() as connection:
            work.append_events(connection, events)

    events = _reads(work.read_events)
    append_job_log = _writes(append_job_log)
    job_log = _reads(read_job_log)
    prune_job_logs = _writes(prune_job_logs)

    def record_audit(self, entries: Iterable[AuditEntry]) -> None:
        with self._database.write() as connection:
            audit.append(connection, entries)

    audit = _reads(audit.read_page)

    def prune(
        self,
        samples_before: datetime,
        jobs_before: datetime,
        hourly_before: datetime | None = None,
        daily_before: datetime | None = None,
    ) -> Mapping[str, int]:
        """See Store; the counts are samples, fleet_samples, jobs, events, verdicts and thinned."""
        pruned_samples = samples.prune_samples(self._database, samples_before)
        thinned = (
            samples.thin_samples(self._database, samples.HOUR, hourly_before)
            if hourly_before is not None
            else 0
        )
        thinned += (
            samples.thin_samples(self._database, samples.DAY, daily_before)
            if daily_before is not None
            else 0
        )
        pruned_sums = prune_fleet_samples(
            self._database, samples_before, hourly_before, daily_before
        )
        with self._database.write() as connection:
            pruned = work.prune_jobs(connection, jobs_before) | {
                "verdicts": prune_verdicts(connection, jobs_before)
            }
        with self._database.write() as connection:
            prune_leases(connection)
        return {
            "samples": pruned_samples,
            "fleet_samples": pruned_sums,
            **pruned,
            "thinned": thinned,
        }

    def instance_id(self) -> str:
        with self._database.read() as connection:
            return str(
                connection.execute(
                    select(store_info.c.value).where(store_info.c.key == INSTANCE_ID_KEY)
                ).scalar_one()
            )

    def describe(self) -> str:
        with self._database.read() as connection:
            revision = read_revision(connection)
            if self._database.is_sqlite:
                return (
                    f"SQLite {sqlite3.sqlite_version} file {self._database.place}, schema "
                    f"{revision}"
                )
            version = connection.execute(text("SHOW server_version")).scalar_one()
            return f"{self._database.place}, server {version}, schema {revision}"

    def size(self) -> StoreSize:
        with self._database.read() as connection:
            if self._database.is_sqlite:
                pages = connection.execute(text("PRAGMA page_count")).scalar_one()
                page_bytes = connection.execute(text("PRAGMA page_size")).scalar_one()
                directory = Path(self._database.place).absolute().parent
                return StoreSize(pages * page_bytes, shutil.disk_usage(directory).free)
            used = text("SELECT pg_database_size(current_database())")
            return StoreSize(connection.execute(used).scalar_one(), None)

    end_session = _writes(end_session)
    ended_sessions = _reads(read_ended_sessions)

    def ensure_writable(self) -> None:
        with self._database.write() as connection:
            connection.execute(
                self._database.upsert(store_info, {"key": _PROBE_KEY, "value": uuid4().hex})
            )

    def close(self) -> None:
        self._database.close()


def open_store(url: str, *, migrates: bool = True, max_age: timedelta = EXACT) -> SqlStore:
    """Open the store at sqlite:///path or postgresql://user@host/database and migrate its schema.

    ConfigurationError for any other URL. StoreUnavailableError if the database cannot be used, if a
    newer version has made it unusable for this version, or if it needs a migration and `migrates`
    is false. The sums that the store returns are at most `max_age` old.
    """
    database = Database(url)
    try:
        with database.read() as connection:
            is_ready = is_usable(connection, database.place)
        if not is_ready:
            _update(database, migrates=migrates)
    except BaseException:
        database.close()
        raise
    return SqlStore(database, max_age)


def _update(database: Database, *, migrates: bool) -> None:
    if not migrates:
        raise StoreUnavailableError(
            f"store {database.place} does not yet have this version's schema, and this process "
            f"does not migrate it: run `maintainer store migrate` first"
        )
    # Alembic's import is slow.
    from maintainer.adapters.store.migrate import upgrade  # noqa: PLC0415

    upgrade(database)
