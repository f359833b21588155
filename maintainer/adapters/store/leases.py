"""Leases on tables, from the submission of a job to its end, and duties of replicas."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Table,
    delete,
    exists,
    literal_column,
    or_,
    select,
    text,
    update,
)

from maintainer.adapters.store import work
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.job_schema import UNFINISHED_STATES, jobs, leases
from maintainer.adapters.store.schema import metadata, tables
from maintainer.adapters.store.types import AnyRow, name_type
from maintainer.domain.job import Job, JobState
from maintainer.domain.replica import LONGEST_DUTY, Duty, DutyKind, HeldDuty, Lease

_MICROSECOND = timedelta(microseconds=1)
# A replica that freezes within the transaction delays the other replicas at most this long.
_LONGEST_TRANSACTION = text("SET LOCAL idle_in_transaction_session_timeout = '10s'")

duties = Table(
    "duties",
    metadata,
    Column("kind", name_type(), primary_key=True),
    Column("scope", name_type(), primary_key=True),
    Column("holder", name_type(), nullable=False),
    Column("until", BigInteger, nullable=False),  # microseconds since 1970 by the database's clock
)


class SqlLeases:
    """Implements LeaseStore."""

    _database: Database

    def submit_job(
        self, job: Job, expires_at: datetime, statements: Sequence[str] = ()
    ) -> Lease | None:
        with self._database.write(durable=True) as connection:
            if not work.update_job(
                self._database, connection, job, JobState.PENDING, statements=statements
            ):
                return None
            return _assign(self._database, connection, job, job.owner, expires_at)

    def leases(self) -> Sequence[Lease]:
        with self._database.read() as connection:
            rows = connection.execute(
                select(leases).where(leases.c.expires_at.is_not(None)).order_by(leases.c.table_uuid)
            )
            return tuple(_read(row) for row in rows)

    def renew_lease(self, lease: Lease, expires_at: datetime) -> Lease | None:
        is_still = (
            leases.c.table_uuid == lease.table_uuid,
            leases.c.token == lease.token,
            leases.c.holder == lease.holder,
            leases.c.expires_at.is_not(None),
        )
        with self._database.write(durable=True) as connection:
            row = connection.execute(
                update(leases).where(*is_still).values(expires_at=expires_at).returning(leases)
            ).one_or_none()
            return None if row is None else _read(row)

    def take_lease(
        self, job: Job, before: Lease | None, holder: str, expires_at: datetime
    ) -> Lease | None:
        is_unfinished = (jobs.c.job_id == job.job_id, jobs.c.state.in_(UNFINISHED_STATES))
        with self._database.write(durable=True) as connection:
            # Every transaction that changes a job locks the job before the lease, so that two of
            # them never deadlock.
            if (
                connection.execute(
                    select(jobs.c.job_id).where(*is_unfinished).with_for_update()
                ).scalar_one_or_none()
                is None
            ):
                return None
            held = (
                select(leases)
                .where(leases.c.table_uuid == job.table_uuid, leases.c.expires_at.is_not(None))
                .with_for_update()
            )
            row = connection.execute(held).one_or_none()
            if (None if row is None else _read(row)) != before:
                return None
            return _assign(self._database, connection, job, holder, expires_at)

    def lay_down_leases(self, holder: str, expired_at: datetime) -> int:
        is_theirs = (leases.c.holder == holder, leases.c.expires_at > expired_at)
        with self._database.write(durable=True) as connection:
            return connection.execute(
                update(leases).where(*is_theirs).values(expires_at=expired_at)
            ).rowcount


def _assign(
    database: Database, connection: Connection, job: Job, holder: str, expires_at: datetime
) -> Lease | None:
    values: dict[str, Any] = {"job_id": job.job_id, "holder": holder, "expires_at": expires_at}
    if connection.execute(
        database.insert_unless_present(leases, {"table_uuid": job.table_uuid, "token": 1, **values})
    ).rowcount:
        return Lease(job.table_uuid, job.job_id, holder, 1, expires_at)
    changed = (
        update(leases)
        .where(leases.c.table_uuid == job.table_uuid)
        .values(token=leases.c.token + 1, **values)
        .returning(leases)
    )
    return _read(connection.execute(changed).one())


def _read(row: AnyRow) -> Lease:
    return Lease(row.table_uuid, row.job_id, row.holder, row.token, row.expires_at)


def prune_leases(connection: Connection) -> None:
    """Delete the leases of unknown tables."""
    is_known = exists().where(tables.c.table_uuid == leases.c.table_uuid)
    connection.execute(delete(leases).where(leases.c.expires_at.is_(None), ~is_known))


def read_clock(database: Database) -> ColumnElement[int]:
    """Build the database's time in microseconds since 1970, constant within a statement."""
    sql = (
        "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
        if database.is_sqlite
        else "CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS BIGINT)"
    )
    return literal_column(sql, BigInteger)


class SqlDuties:
    """Implements DutyStore."""

    _database: Database

    def duties(self) -> Sequence[HeldDuty]:
        now = read_clock(self._database)
        query = select(duties).where(~_is_over(now)).order_by(duties.c.kind, duties.c.scope)
        with self._database.read() as connection:
            return tuple(
                HeldDuty(Duty(DutyKind(row.kind), row.scope), row.holder)
                for row in connection.execute(query)
            )

    def hold_duties(
        self, holder: str, wanted: Collection[Duty], span: timedelta, gone: Collection[str] = ()
    ) -> frozenset[Duty]:
        now = read_clock(self._database)
        may_take = or_(duties.c.holder.in_({holder, *gone}), _is_over(now))
        taken: set[Duty] = set()
        with self._database.write() as connection:
            if not self._database.is_sqlite:
                connection.execute(_LONGEST_TRANSACTION)
            connection.execute(delete(duties).where(_is_over(now)))
            for duty in sorted(wanted):  # the same order in all replicas, so they never deadlock
                row = {"kind": duty.kind.value, "scope": duty.scope, "holder": holder}
                until = now + span // _MICROSECOND
                statement = self._database.upsert(
                    duties, row | {"until": until}, only_where=may_take
                ).returning(duties.c.kind)
                if connection.execute(statement).one_or_none() is not None:
                    taken.add(duty)
        return frozenset(taken)

    def give_back_duties(self, holder: str, given: Collection[Duty]) -> None:
        with self._database.write() as connection:
            for duty in sorted(given):
                connection.execute(
                    delete(duties).where(
                        duties.c.kind == duty.kind.value,
                        duties.c.scope == duty.scope,
                        duties.c.holder == holder,
                    )
                )


def _is_over(now: ColumnElement[int]) -> ColumnElement[bool]:
    """Match ended duties, and duties that end too late because the clock was set back."""
    return or_(duties.c.until <= now, duties.c.until > now + LONGEST_DUTY // _MICROSECOND)
