"""Request the end of a job."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.errors import InvalidTransitionError
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.ports import Ports
from maintainer.steps.jobs import finish_job

CANCEL_ATTEMPTS = 10  # an attempt fails only if the job changes between two statements


def request_cancel(ports: Ports, job: Job, requested_by: str) -> Job:
    """Request a job's end; a finished job is returned unchanged.

    A pending job ends at once, a running one as soon as its runner has stopped it.
    """
    for _ in range(CANCEL_ATTEMPTS):
        if job.state.is_final:
            return job
        asked = _ask_for_end(ports, job, requested_by)
        if asked is not None:
            return asked
        job = ports.store.job(job.job_id) or job  # the job has changed: try again
    raise InvalidTransitionError(
        f"job {job.job_id} changed {CANCEL_ATTEMPTS} times while it was cancelled; try again"
    )


def _ask_for_end(ports: Ports, job: Job, requested_by: str) -> Job | None:
    """Return the job after the request; None when another writer changed it first."""
    now = ports.clock.now()
    if job.state is JobState.PENDING:
        cancelled = job.advance(
            JobState.CANCELLED, finished_at=now, cancel_requested_by=requested_by
        )
        return cancelled if finish_job(ports, job, cancelled) else None
    asked = replace(
        job,
        cancel_requested_by=requested_by,
        given_up_by=requested_by if job.unreadable_since is not None else "",
    )
    if not ports.store.update_job(asked, job):
        return None
    ports.store.append_events(
        [JobEvent(job.job_id, now, "job.cancel_requested", {"by": requested_by})]
    )
    ports.runner.cancel(job.job_id)
    return asked
