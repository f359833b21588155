"""The store of maintainer.ports.store on a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from logging import getLogger
from uuid import uuid4

from sqlalchemy import select, text

from maintainer.adapters.store import audit, counters, fleet, listing, samples, work
from maintainer.adapters.store import scan_marks as marks
from maintainer.adapters.store.admission import SqlAdmission
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.drivers import SqlDrivers
from maintainer.adapters.store.due import mark_planned, read_due, want_plan
from maintainer.adapters.store.leases import SqlLeases, prune_leases
from maintainer.adapters.store.locations import read_places_near
from maintainer.adapters.store.manifests import SqlDigests
from maintainer.adapters.store.migrate import INSTANCE_ID_KEY, upgrade
from maintainer.adapters.store.notices import SqlNotices
from maintainer.adapters.store.orphans import SqlOrphans
from maintainer.adapters.store.pauses import lift_pause, read_pauses, set_pause
from maintainer.adapters.store.pins import read_pins, remove_pin, set_pin
from maintainer.adapters.store.policy_versions import (
    is_in_force,
    read_version,
    read_versions,
    record_version,
)
from maintainer.adapters.store.portions import SqlPortions
from maintainer.adapters.store.schema import VERSION_TABLE, store_info, tables
from maintainer.adapters.store.verdicts import prune_verdicts, read_verdicts, record_verdicts
from maintainer.domain.audit import AuditEntry, AuditQuery
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, TableFault
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.domain.location import Place
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Plan, RuleHistory
from maintainer.domain.policy import RuleName
from maintainer.domain.policy_version import PolicyVersion
from maintainer.domain.verdict import RuleVerdict
from maintainer.ports.store.figures import Counters, NamespaceCounters, Overview, TableFigures
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.pages import Page
from maintainer.ports.store.plans import PlanDue
from maintainer.ports.store.tables import Pause, ScanMark, TableQuery, TableRecord

_log = getLogger(__name__)

_PROBE_KEY = "probe"  # written to test whether writing is possible


class SqlStore(
    SqlAdmission, SqlDigests, SqlDrivers, SqlLeases, SqlNotices, SqlOrphans, SqlPortions
):
    """Implements Store.

    One instance serves all threads of a process; several processes may use one database.
    """

    def record_health(self, health: TableHealth, grade: Grade) -> None:
        """See Store."""
        with self._database.write() as connection:
            fleet.record_health(self._database, connection, health, grade)

    def record_fault(self, fault: TableFault) -> None:
        """See Store."""
        with self._database.write() as connection:
            fleet.record_fault(self._database, connection, fault)

    def record_catalog_faults(self, catalog: str, faults: Sequence[CatalogFault]) -> None:
        """See Store."""
        with self._database.write() as connection:
            fleet.record_catalog_faults(self._database, connection, catalog, faults)

    def catalog_faults(self) -> Sequence[CatalogFault]:
        """See Store."""
        with self._database.read() as connection:
            return fleet.read_catalog_faults(connection)

    def forget_tables_except(
        self, catalog: str, seen: Iterable[TableIdentifier]
    ) -> Sequence[TableIdentifier]:
        """See Store."""
        with self._database.write() as connection:
            return fleet.forget_tables_except(self._database, connection, catalog, seen)

    def table(self, table: TableIdentifier) -> TableRecord | None:
        """See Store."""
        with self._database.read() as connection:
            return fleet.read_table(connection, table)

    def grade(self, table: TableIdentifier, table_uuid: str) -> Grade | None:
        """See Store."""
        with self._database.read() as connection:
            return fleet.read_grade(connection, table, table_uuid)

    def tables(self, query: TableQuery) -> Page[TableRecord]:
        """See Store."""
        with self._database.read() as connection:
            return listing.read_page(connection, query, is_sqlite=self._database.is_sqlite)

    def table_names(self) -> Sequence[TableIdentifier]:
        """See Store."""
        with self._database.read() as connection:
            return fleet.read_names(connection)

    def names_of(self, table_uuid: str) -> Sequence[TableIdentifier]:
        """See Store."""
        with self._database.read() as connection:
            return fleet.read_names_of(connection, table_uuid)

    def shared_tables(self) -> Mapping[TableIdentifier, Sequence[TableIdentifier]]:
        """See Store."""
        with self._database.read() as connection:
            return fleet.read_shared(connection)

    def history(
        self, table: TableIdentifier, metric: str, since: datetime, until: datetime
    ) -> Sequence[tuple[datetime, float | None]]:
        """See Store; since and until are inclusive. InvalidValueError for an unknown metric."""
        with self._database.read() as connection:
            return samples.read_history(connection, table, metric, since, until)

    def record_mark(self, table: TableIdentifier, mark: ScanMark) -> None:
        """See Store."""
        with self._database.write() as connection:
            marks.record_mark(self._database, connection, table, mark)

    def marks(self, catalog: str) -> Mapping[TableIdentifier, ScanMark]:
        """See Store."""
        with self._database.read() as connection:
            return marks.read_marks(connection, catalog)

    def set_pause(
        self, table: TableIdentifier, pause: Pause | None, table_uuid: str | None = None
    ) -> None:
        """See Store."""
        with self._database.write(durable=True) as connection:
            if pause is None:
                lift_pause(self._database, connection, table)
            else:
                set_pause(self._database, connection, table, pause, table_uuid)

    def paused_tables(self) -> Mapping[TableIdentifier, Pause]:
        """See Store."""
        with self._database.read() as connection:
            return read_pauses(connection)

    def overview(self) -> Overview:
        """See Store; savings include every finished job with an effect, pruned ones too."""
        with self._database.read() as connection:
            sums = counters.read_counters(connection, None, None)
            saved = work.read_savings(connection)
            return Overview(
                **{field.name: getattr(sums, field.name) for field in fields(sums)},
                **saved._mapping,  # noqa: SLF001 - SQLAlchemy's public name
                jobs=counters.read_job_counts(connection),
                last_measured_at=fleet.read_last_measured(connection),
            )

    def table_figures(self, limit: int) -> Sequence[TableFigures]:
        """See Store."""
        with self._database.read() as connection:
            return fleet.read_figures(connection, limit)

    def counters(self, catalog: str | None = None, namespace: str | None = None) -> Counters:
        """See Store."""
        with self._database.read() as connection:
            return counters.read_counters(connection, catalog, namespace)

    def namespaces(
        self, catalog: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> Page[NamespaceCounters]:
        """See Store."""
        with self._database.read() as connection:
            return counters.read_namespaces(connection, catalog, limit, cursor)

    def record_plan(self, plan: Plan, verdicts: Sequence[RuleVerdict] = ()) -> None:
        """See Store; a plan of a table that was forgotten or replaced meanwhile is dropped."""
        with self._database.write() as connection:
            if fleet.record_plan(self._database, connection, plan):
                record_verdicts(connection, plan, verdicts)

    def verdicts(
        self, table: TableIdentifier, limit: int = 100, cursor: str | None = None
    ) -> Page[RuleVerdict]:
        """See Store."""
        with self._database.read() as connection:
            return read_verdicts(connection, table, limit, cursor)

    def plans(self) -> Sequence[Plan]:
        """See Store."""
        with self._database.read() as connection:
            return fleet.read_plans(connection)

    def tables_to_plan(
        self, now: datetime, version: str, catalogs: Collection[str] | None = None
    ) -> Sequence[PlanDue]:
        """See Store."""
        with self._database.read() as connection:
            return read_due(connection, now, version, catalogs)

    def mark_planned(self, due: PlanDue, version: str, next_at: datetime | None) -> None:
        """See Store."""
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

    def policy_versions(self, limit: int = 100, cursor: str | None = None) -> Page[PolicyVersion]:
        """See Store."""
        with self._database.read() as connection:
            return read_versions(connection, limit, cursor)

    def policy_version(self, version: str) -> PolicyVersion | None:
        """See Store."""
        with self._database.read() as connection:
            return read_version(connection, version)

    def places_near(self, paths: Sequence[str]) -> Sequence[Place]:
        """See Store."""
        with self._database.read() as connection:
            return read_places_near(connection, paths)

    def pins(self, table_uuid: str) -> Sequence[Pin]:
        """See Store."""
        with self._database.read() as connection:
            return read_pins(connection, table_uuid)

    def set_pin(self, table_uuid: str, pin: Pin) -> None:
        """See Store."""
        with self._database.write(durable=True) as connection:
            set_pin(self._database, connection, table_uuid, pin)
            want_plan(connection, tables.c.table_uuid == table_uuid)

    def remove_pin(self, table_uuid: str, name: str) -> bool:
        """See Store."""
        with self._database.write() as connection:
            want_plan(connection, tables.c.table_uuid == table_uuid)
            return remove_pin(connection, table_uuid, name)

    def rule_history(self, table_uuid: str) -> Mapping[RuleName, RuleHistory]:
        """See Store; one entry for each rule that ever finished a job on the table."""
        with self._database.read() as connection:
            return work.read_rule_history(connection, table_uuid)

    def add_job(self, job: Job) -> bool:
        """See Store."""
        with self._database.write(durable=True) as connection:
            return work.add_job(self._database, connection, job)

    def update_job(
        self,
        job: Job,
        expected: JobState | Job,
        token: int | None = None,
        learnt: RuleHistory | None = None,
    ) -> bool:
        """See Store."""
        with self._database.write(durable=True) as connection:
            return work.update_job(self._database, connection, job, expected, token, learnt=learnt)

    def job(self, job_id: str) -> Job | None:
        """See Store."""
        with self._database.read() as connection:
            return work.read_job(connection, job_id)

    def jobs(self, query: JobQuery) -> Page[Job]:
        """See Store."""
        with self._database.read() as connection:
            return work.read_page(connection, query)

    def unfinished_jobs(self) -> Sequence[Job]:
        """See Store."""
        with self._database.read() as connection:
            return work.read_unfinished(connection)

    def unfinished_job_of(self, table_uuid: str) -> Job | None:
        """See Store."""
        with self._database.read() as connection:
            return work.read_unfinished_of(connection, table_uuid)

    def append_events(self, events: Iterable[JobEvent]) -> None:
        """See Store; events of a job that is not in the store are dropped."""
        with self._database.write() as connection:
            work.append_events(connection, events)

    def events(self, job_id: str, after: int = 0) -> Sequence[JobEvent]:
        """See Store."""
        with self._database.read() as connection:
            return work.read_events(connection, job_id, after)

    def record_audit(self, entries: Iterable[AuditEntry]) -> None:
        """See Store."""
        with self._database.write() as connection:
            audit.append(connection, entries)

    def audit(self, query: AuditQuery) -> Page[AuditEntry]:
        """See Store."""
        with self._database.read() as connection:
            return audit.read_page(connection, query)

    def prune(
        self,
        samples_before: datetime,
        jobs_before: datetime,
        hourly_before: datetime | None = None,
        daily_before: datetime | None = None,
    ) -> Mapping[str, int]:
        """See Store; counts: samples, jobs, events, verdicts, thinned, mended."""
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
        with self._database.write() as connection:
            pruned = work.prune_jobs(self._database, connection, jobs_before) | {
                "verdicts": prune_verdicts(connection, jobs_before)
            }
        with self._database.write() as connection:
            prune_leases(connection)
            mended = counters.recount(connection)
        if mended:
            _log.warning("store.mended", extra={"rows": mended})
        return {"samples": pruned_samples, **pruned, "thinned": thinned, "mended": mended}

    def instance_id(self) -> str:
        """See Store."""
        with self._database.read() as connection:
            return str(
                connection.execute(
                    select(store_info.c.value).where(store_info.c.key == INSTANCE_ID_KEY)
                ).scalar_one()
            )

    def describe(self) -> str:
        """See Store."""
        with self._database.read() as connection:
            revision = connection.execute(
                text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a constant of ours
            ).scalar_one()
            if self._database.is_sqlite:
                return (
                    f"SQLite {sqlite3.sqlite_version} file {self._database.place}, schema "
                    f"{revision}"
                )
            version = connection.execute(text("SHOW server_version")).scalar_one()
            return f"{self._database.place}, server {version}, schema {revision}"

    def ensure_writable(self) -> None:
        """See Store."""
        with self._database.write() as connection:
            connection.execute(
                self._database.upsert(store_info, {"key": _PROBE_KEY, "value": uuid4().hex})
            )

    def close(self) -> None:
        """See Store."""
        self._database.close()


def open_store(url: str) -> SqlStore:
    """Open the store at sqlite:///path or postgresql://user@host/database and migrate its schema.

    ConfigurationError for any other URL. StoreUnavailableError if the database cannot be used, or a
    newer version has migrated it further.
    """
    database = Database(url)
    try:
        upgrade(database)
    except BaseException:
        database.close()
        raise
    return SqlStore(database)
