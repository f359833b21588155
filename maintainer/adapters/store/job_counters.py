"""The number of jobs in each state, updated in the transaction of each change."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, insert, select, update

from maintainer.adapters.store.database import Database
from maintainer.adapters.store.job_schema import job_counters, jobs
from maintainer.adapters.store.paging import is_named_within
from maintainer.domain.job import JobState


def count_job(
    database: Database,
    connection: Connection,
    before: JobState | None,
    after: JobState | None,
    number: int = 1,
) -> None:
    """Count new, deleted and changed jobs."""
    if before is after:
        return
    changes = {
        state.value: change
        for state, change in ((before, -number), (after, number))
        if state is not None
    }
    for state, change in sorted(changes.items()):
        if not connection.execute(
            update(job_counters)
            .where(job_counters.c.state == state)
            .values(jobs=job_counters.c.jobs + change)
        ).rowcount:
            fresh = database.insert_unless_present(job_counters, {"state": state, "jobs": change})
            if not connection.execute(fresh).rowcount:
                connection.execute(
                    update(job_counters)
                    .where(job_counters.c.state == state)
                    .values(jobs=job_counters.c.jobs + change)
                )


def read_job_counts(
    connection: Connection, within: tuple[str, ...] | None = None
) -> dict[JobState, int]:
    """Return the number of jobs in each state, of all tables or of those with such a name."""
    counted = (
        select(job_counters.c.state, job_counters.c.jobs)
        if within is None
        else select(jobs.c.state, func.count().label("jobs"))
        .where(is_named_within(jobs.c.full_name, within))
        .group_by(jobs.c.state)
    )
    found = {JobState(row.state): row.jobs for row in connection.execute(counted)}
    return {state: found.get(state, 0) for state in JobState}


def recount_jobs(connection: Connection) -> int:
    """Recompute the numbers of jobs; return how many were wrong."""
    wanted = {
        row.state: row.number
        for row in connection.execute(
            select(jobs.c.state, func.count().label("number")).group_by(jobs.c.state)
        )
    }
    found = {row.state: row.jobs for row in connection.execute(select(job_counters)) if row.jobs}
    if wanted == found:
        return 0
    connection.execute(delete(job_counters))
    if wanted:
        rows = [{"state": state, "jobs": number} for state, number in wanted.items()]
        connection.execute(insert(job_counters), rows)
    return sum(wanted.get(state, 0) != found.get(state, 0) for state in {*wanted, *found})
