"""Leases on tables. A job takes one when it is submitted, and releases it when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, exists, select, update

from maintainer.adapters.store import work
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.job_schema import UNFINISHED_STATES, jobs, leases
from maintainer.adapters.store.schema import tables
from maintainer.adapters.store.types import AnyRow
from maintainer.domain.job import Job, JobState
from maintainer.domain.replica import Lease


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
