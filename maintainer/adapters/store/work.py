"""Jobs, their events, the history of each rule, and the savings of all jobs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from maintainer.adapters.store import audit, documents
from maintainer.adapters.store.admission import bound_saving, charge, learn, prune_admission
from maintainer.adapters.store.database import MAX_SQL_VARIABLES, Database
from maintainer.adapters.store.due import want_plan
from maintainer.adapters.store.job_schema import (
    UNFINISHED_STATES,
    job_events,
    jobs,
    leases,
    rule_histories,
    savings,
)
from maintainer.adapters.store.paging import is_named_within, read_newest
from maintainer.adapters.store.schema import tables
from maintainer.adapters.store.types import AnyRow, write_text
from maintainer.domain.audit import audit_change, audit_events
from maintainer.domain.effect import Effect
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.domain.plan import FailureStreak, RuleHistory
from maintainer.domain.policy import RuleName
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.pages import Page

_JOB_ORDER = "jobs:created_at:desc"
_EVENTS_PER_INSERT = 500
# The figures of a RuleHistory. Each figure is in a column of the same name.
_LEARNT = tuple(part.name for part in fields(RuleHistory) if part.name not in {"rule", "streak"})


def add_job(database: Database, connection: Connection, job: Job) -> bool:
    """Store a job; False if a unique index refuses it because the same work is stored already."""
    is_stored = (
        connection.execute(
            database.insert_unless_present(jobs, {"job_id": job.job_id, **_columns(job)})
        ).rowcount
        > 0
    )
    if is_stored and job.state.is_final:
        _record_finished(database, connection, job, None)
    if is_stored:
        charge(database, connection, job)
        want_plan(connection, tables.c.table_uuid == job.table_uuid)
        audit.append(connection, audit_change(None, job))
    return is_stored


def update_job(  # noqa: PLR0913, PLR0917 - the arguments of one change of a job
    database: Database,
    connection: Connection,
    job: Job,
    expected: JobState | Job,
    token: int | None = None,
    learnt: RuleHistory | None = None,
    statements: Sequence[str] = (),
) -> bool:
    """Change the job if its stored state, or the whole stored job, is as expected.

    What was learnt from a job is stored once, when the job reaches a final state. The state of a
    job with a lease changes only if the caller has the lease's token.
    """
    if isinstance(expected, Job):
        stored = connection.execute(
            select(jobs.c.document).where(jobs.c.job_id == job.job_id).with_for_update()
        ).scalar_one_or_none()
        if stored is None or documents.read(Job, stored) != expected:
            return False
    state = expected.state if isinstance(expected, Job) else expected
    if job.state is not state and _read_token(connection, job) not in {None, token}:
        return False
    statement = (
        update(jobs)
        .where(jobs.c.job_id == job.job_id, jobs.c.state == state.value)
        .values(_columns(job))
    )
    is_ours = connection.execute(statement).rowcount > 0
    if is_ours and job.state is not state:
        charge(database, connection, job)
    if is_ours and job.state.is_final and not state.is_final:
        _record_finished(database, connection, job, learnt)
        want_plan(connection, tables.c.table_uuid == job.table_uuid)
        connection.execute(update(leases).where(*_lease_of(job)).values(expires_at=None))
    if is_ours:
        audit.append(connection, audit_change(replace(job, state=state), job, statements))
    return is_ours


def _lease_of(job: Job) -> tuple[ColumnElement[bool], ...]:
    return (
        leases.c.table_uuid == job.table_uuid,
        leases.c.job_id == job.job_id,
        leases.c.expires_at.is_not(None),
    )


def _read_token(connection: Connection, job: Job) -> int | None:
    """Return the token of the job's lease; None if the job has no lease."""
    # every transaction locks the job before the lease
    connection.execute(select(jobs.c.job_id).where(jobs.c.job_id == job.job_id).with_for_update())
    token: int | None = connection.execute(
        select(leases.c.token).where(*_lease_of(job)).with_for_update()
    ).scalar_one_or_none()
    return token


def _columns(job: Job) -> dict[str, Any]:
    return {
        "full_name": str(job.table),
        "table_uuid": job.table_uuid,
        "rule": job.rule.value,
        "state": job.state.value,
        "requested_by": write_text(job.requested_by),
        "created_at": job.created_at,
        "finished_at": job.closed_at if job.state.is_final else None,
        "document": documents.write(job),
    }


def _record_finished(
    database: Database, connection: Connection, job: Job, learnt: RuleHistory | None
) -> None:
    if job.effect is not None:
        _add_savings(connection, job.effect)
    learn(database, connection, job, job.closed_at)
    if learnt is not None:
        row = {name: getattr(learnt, name) for name in _LEARNT}
        row["streak"] = documents.write(learnt.streak) if learnt.streak is not None else None
        row |= {"table_uuid": job.table_uuid, "rule": learnt.rule.value}
        connection.execute(database.upsert(rule_histories, row))


def _add_savings(connection: Connection, effect: Effect) -> None:
    connection.execute(
        update(savings).values(
            files_removed=savings.c.files_removed + bound_saving(effect.files_removed),
            manifests_removed=savings.c.manifests_removed + bound_saving(effect.manifests_removed),
            snapshots_removed=savings.c.snapshots_removed + bound_saving(effect.snapshots_removed),
            bytes_rewritten=savings.c.bytes_rewritten + bound_saving(effect.bytes_rewritten),
        )
    )


def read_job(connection: Connection, job_id: str) -> Job | None:
    document = connection.execute(
        select(jobs.c.document).where(jobs.c.job_id == job_id)
    ).scalar_one_or_none()
    return documents.read_or_none(Job, document)


def read_page(connection: Connection, query: JobQuery) -> Page[Job]:
    """Read a page, newest first; ids break ties."""
    rows = select(jobs.c.document).where(*_filter(query))
    newest = (jobs.c.created_at, jobs.c.job_id)
    return read_newest(
        connection,
        rows,
        newest,
        _JOB_ORDER,
        query.limit,
        query.cursor,
        lambda row: documents.read(Job, row.document),
    )


def _filter(query: JobQuery) -> list[ColumnElement[bool]]:
    filters: list[ColumnElement[bool]] = []
    if query.states:
        filters.append(jobs.c.state.in_([state.value for state in query.states]))
    if query.table is not None:
        filters.append(jobs.c.full_name == str(query.table))
    if query.within is not None:
        filters.append(is_named_within(jobs.c.full_name, query.within))
    if query.rule is not None:
        filters.append(jobs.c.rule == query.rule.value)
    if query.requested_by:
        filters.append(jobs.c.requested_by == write_text(query.requested_by))
    if query.since is not None:
        filters.append(jobs.c.created_at >= query.since)
    if query.until is not None:
        filters.append(jobs.c.created_at < query.until)
    return filters


def read_unfinished(connection: Connection) -> Sequence[Job]:
    """Read the unfinished jobs, oldest first."""
    statement = (
        select(jobs.c.document)
        .where(jobs.c.state.in_(UNFINISHED_STATES))
        .order_by(jobs.c.created_at, jobs.c.job_id)
    )
    return tuple(documents.read(Job, row.document) for row in connection.execute(statement))


def read_unfinished_of(connection: Connection, table_uuid: str) -> Job | None:
    """Read the table's unfinished job; a unique index allows only one."""
    statement = select(jobs.c.document).where(
        jobs.c.state.in_(UNFINISHED_STATES), jobs.c.table_uuid == table_uuid
    )
    document = connection.execute(statement).scalar_one_or_none()
    return documents.read_or_none(Job, document)


def read_savings(connection: Connection) -> AnyRow:
    columns = (
        savings.c.files_removed,
        savings.c.manifests_removed,
        savings.c.snapshots_removed,
        savings.c.bytes_rewritten,
    )
    return connection.execute(select(*columns)).one()


def append_events(connection: Connection, events: Iterable[JobEvent]) -> None:
    """Number and add the events; events of jobs that are not in the store are dropped."""
    events_of: dict[str, list[JobEvent]] = defaultdict(list)
    for event in events:
        events_of[event.job_id].append(event)
    for job_id in sorted(events_of):  # in one order, so that two writers never deadlock
        # With this lock the numbers become visible in their order: a reader that asks for events
        # after 7 never misses a late 6.
        document = connection.execute(
            select(jobs.c.document).where(jobs.c.job_id == job_id).with_for_update(key_share=True)
        ).scalar_one_or_none()
        if document is None:
            continue
        audit.append(connection, audit_events(documents.read(Job, document), events_of[job_id]))
        last = connection.execute(
            select(func.coalesce(func.max(job_events.c.sequence), 0)).where(
                job_events.c.job_id == job_id
            )
        ).scalar_one()
        rows = [
            {
                "job_id": job_id,
                "sequence": sequence,
                "at": event.at,
                "name": event.name,
                "fields": documents.write_fields(event.fields),
            }
            for sequence, event in enumerate(events_of[job_id], start=last + 1)
        ]
        for start in range(0, len(rows), _EVENTS_PER_INSERT):
            connection.execute(insert(job_events), rows[start : start + _EVENTS_PER_INSERT])


def read_events(connection: Connection, job_id: str, after: int = 0) -> Sequence[JobEvent]:
    """Read the events of a job after this sequence number."""
    statement = (
        select(job_events)
        .where(job_events.c.job_id == job_id, job_events.c.sequence > after)
        .order_by(job_events.c.sequence)
    )
    rows = connection.execute(statement)
    return tuple(
        JobEvent(row.job_id, row.at, row.name, documents.read_fields(row.fields), row.sequence)
        for row in rows
    )


def read_rule_history(connection: Connection, table_uuid: str) -> Mapping[RuleName, RuleHistory]:
    """Read the history of each rule that ever finished a job on the table."""
    rows = connection.execute(
        select(rule_histories).where(rule_histories.c.table_uuid == table_uuid)
    )
    return {RuleName(row.rule): build_rule_history(row) for row in rows}


def build_rule_history(row: AnyRow) -> RuleHistory:
    """Build a history from a row of rule_histories."""
    return RuleHistory(
        rule=RuleName(row.rule),
        streak=documents.read_or_none(FailureStreak, row.streak),
        **{name: getattr(row, name) for name in _LEARNT},
    )


def prune_jobs(connection: Connection, before: datetime) -> dict[str, int]:
    """Delete older finished jobs with their events, except the latest job of each known table."""
    newer = jobs.alias("newer")
    is_newer = tuple_(newer.c.created_at, newer.c.job_id) > tuple_(jobs.c.created_at, jobs.c.job_id)
    has_newer = exists().where(
        newer.c.full_name == jobs.c.full_name, newer.c.finished_at.is_not(None), is_newer
    )
    is_known = exists().where(tables.c.full_name == jobs.c.full_name)
    old = connection.execute(
        select(jobs.c.job_id).where(jobs.c.finished_at < before, or_(has_newer, ~is_known))
    )
    ids = [row.job_id for row in old]
    events = 0
    for start in range(0, len(ids), MAX_SQL_VARIABLES):
        some = ids[start : start + MAX_SQL_VARIABLES]
        events += connection.execute(
            delete(job_events).where(job_events.c.job_id.in_(some))
        ).rowcount
        connection.execute(delete(jobs).where(jobs.c.job_id.in_(some)))
    _prune_rule_histories(connection, before)
    prune_admission(connection, before)
    return {"jobs": len(ids), "events": events}


def _prune_rule_histories(connection: Connection, before: datetime) -> None:
    """Delete the rule histories of tables that have been missing for long.

    The cooldowns of a table that is missing for a short time are kept.
    """
    is_known = exists().where(tables.c.table_uuid == rule_histories.c.table_uuid)
    connection.execute(
        delete(rule_histories).where(rule_histories.c.last_finished_at < before, ~is_known)
    )
