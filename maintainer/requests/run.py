"""Request jobs on a table, and continue requests that were interrupted."""

from __future__ import annotations

from datetime import timedelta

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.plan import Plan
from maintainer.domain.policy import RuleName
from maintainer.ports import Ports
from maintainer.ports.store.jobs import JobQuery
from maintainer.steps.isolation import each
from maintainer.steps.kinds.maintenance import continue_request, request_job

RESUME_WITHIN = timedelta(days=1)  # older requests were repeated by people
_JOBS_SEARCHED = 100  # the newest succeeded jobs


def request_run(
    ports: Ports, table: TableIdentifier, rules: tuple[RuleName, ...], requested_by: str
) -> tuple[Plan, Job | None]:
    """Measure and plan the table now, and store the first job of the request as pending.

    No job when there is nothing to do.
    """
    return request_job(ports, table, rules, requested_by, keeps_thresholds=not rules)


def continue_interrupted(ports: Ports) -> int:
    """At the daemon's start, store the next job of each interrupted request; return how many.

    A request is interrupted when its last job ended and the next one was not stored.
    """
    since = ports.clock.now() - RESUME_WITHIN
    done = ports.store.jobs(JobQuery((JobState.SUCCEEDED,), limit=_JOBS_SEARCHED)).items
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
    others = ports.store.jobs(JobQuery(table=job.table, limit=_JOBS_SEARCHED)).items
    return any(
        other.created_at > job.created_at
        and (not other.state.is_final or other.requested_by == job.requested_by)
        for other in others
    )
