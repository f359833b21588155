"""Go on with what people asked for beyond a job, where a process ended between two of its jobs."""

from __future__ import annotations

from datetime import timedelta

from maintainer.domain.job import Job, JobState
from maintainer.ports.store import JobQuery
from maintainer.steps.each import each
from maintainer.steps.ports import Ports
from maintainer.steps.submit import continue_request

RESUME_WITHIN = timedelta(days=1)  # what was asked for longer ago, people have asked for again
_JOBS_LOOKED_AT = 100  # of those that succeeded last


def resume_requests(ports: Ports) -> int:
    """At a daemon's start, ask for what is left of requests whose last job ended without the next
    one being stored; returns how many jobs came of it.
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
    """Whether a later job is on its way or was made of the same request, or of another of the same
    person.
    """
    others = ports.store.jobs(JobQuery(table=job.table, limit=_JOBS_LOOKED_AT)).items
    return any(
        other.created_at > job.created_at
        and (not other.state.is_final or other.requested_by == job.requested_by)
        for other in others
    )
