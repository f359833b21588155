"""Continue requests of several jobs when a process ended between two of the jobs."""

from __future__ import annotations

from datetime import timedelta

from maintainer.domain.job import Job, JobState
from maintainer.ports.store import JobQuery
from maintainer.steps.each import each
from maintainer.steps.ports import Ports
from maintainer.steps.submit import continue_request

RESUME_WITHIN = timedelta(days=1)  # people have repeated older requests themselves
_JOBS_LOOKED_AT = 100  # of the newest succeeded jobs


def resume_requests(ports: Ports) -> int:
    """At the daemon's start, store the next job of each interrupted request; return how many.

    A request is interrupted when its last job ended and the next one was not stored.
    """
    since = ports.clock.now() - RESUME_WITHIN
    done = ports.store.jobs(JobQuery((JobState.SUCCEEDED,), limit=_JOBS_LOOKED_AT)).items
    left = [
        job
        for job in done
        if job.then
        and job.finished_at is not None
        and job.finished_at >= since
        and not _is_followed(ports, job)
    ]
    return sum(each(left, lambda job: continue_request(ports, job) is not None, ports.is_stopping))


def _is_followed(ports: Ports, job: Job) -> bool:
    """True when a later job of the table is unfinished or was requested by the same person."""
    others = ports.store.jobs(JobQuery(table=job.table, limit=_JOBS_LOOKED_AT)).items
    return any(
        other.created_at > job.created_at
        and (not other.state.is_final or other.requested_by == job.requested_by)
        for other in others
    )
