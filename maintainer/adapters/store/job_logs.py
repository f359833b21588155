"""The logs of jobs, with a row for each part."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, exists, select

from maintainer.adapters.store.database import Database
from maintainer.adapters.store.job_schema import job_logs, jobs
from maintainer.adapters.store.types import AnyRow
from maintainer.domain.driver import JobLog
from maintainer.ports.store.jobs import MAX_LOG_CHARACTERS, check_part


def append_job_log(database: Database, connection: Connection, job_id: str, part: JobLog) -> bool:
    check_part(job_id, part)
    last = _read_last(connection, job_id)
    if part.start != (0 if last is None else last.end) or (last is not None and last.is_last):
        return False
    row = {
        "job_id": job_id,
        "start": part.start,
        "end": part.next,
        "source": part.source,
        "is_last": part.is_complete,
        "data": part.text.encode(),
    }
    added = connection.execute(database.insert_unless_present(job_logs, row))
    is_old = job_logs.c.end <= part.next - MAX_LOG_CHARACTERS
    connection.execute(delete(job_logs).where(job_logs.c.job_id == job_id, is_old))
    return bool(added.rowcount)


def read_job_log(connection: Connection, job_id: str, since: int = 0) -> JobLog | None:
    last = _read_last(connection, job_id)
    if last is None:
        return None
    start = min(last.end, max(since, last.end - MAX_LOG_CHARACTERS))
    found = (
        select(job_logs.c.data)
        .where(job_logs.c.job_id == job_id, job_logs.c.end > start)
        .order_by(job_logs.c.start)
    )
    text = b"".join(connection.execute(found).scalars()).decode()
    return JobLog(text[len(text) - (last.end - start) :], start, last.is_last, last.source)


def prune_job_logs(_database: Database, connection: Connection, before: datetime) -> int:
    is_kept = exists().where(
        jobs.c.job_id == job_logs.c.job_id,
        jobs.c.finished_at.is_(None) | (jobs.c.finished_at >= before),
    )
    return connection.execute(delete(job_logs).where(~is_kept)).rowcount


def _read_last(connection: Connection, job_id: str) -> AnyRow | None:
    found = (
        select(job_logs.c.end, job_logs.c.is_last, job_logs.c.source)
        .where(job_logs.c.job_id == job_id)
        .order_by(job_logs.c.start.desc())
        .limit(1)
    )
    return connection.execute(found).one_or_none()
