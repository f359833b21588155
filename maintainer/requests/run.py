"""Request jobs on a table, continue interrupted requests, and cancel jobs."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from maintainer.decide.waiting.postponement import find_end_of_cancelling
from maintainer.domain.action import Repair
from maintainer.domain.errors import InvalidTransitionError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.domain.plan import Plan
from maintainer.domain.policy import RuleName
from maintainer.domain.units import format_instant
from maintainer.ports import Ports
from maintainer.ports.store.jobs import JobQuery
from maintainer.steps.isolation import each
from maintainer.steps.jobs import finish_job
from maintainer.steps.kinds.maintenance import continue_request, request_job
from maintainer.steps.table_plan import policy_of

RESUME_WITHIN = timedelta(days=1)  # older requests were repeated by people
_JOBS_SEARCHED = 100  # the newest succeeded jobs
CANCEL_ATTEMPTS = 10  # an attempt fails only if the job changes between two statements


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


def request_cancel(ports: Ports, job: Job, requested_by: str) -> Job:
    """Request a job's end; a finished job is returned unchanged.

    A pending job ends at once, and a running job as soon as its runner has stopped it.
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


def describe_wait_of_cancelled(ports: Ports, job: Job) -> tuple[datetime | None, str]:
    """Until when the rule of a cancelled job waits, and how a person ends the wait.

    None and no text if no policy would run the rule again by itself.
    """
    record = ports.store.table(job.table)
    if record is None or record.health is None or isinstance(job.rule, Repair):
        return None, ""
    rules = policy_of(ports, record.health).rules
    rule = next((rule for rule in rules if rule.name is job.rule), None)
    if rule is None:
        return None, ""
    until = find_end_of_cancelling(rule, ports.clock.now())
    sentence = (
        f"{rule.name} waits until {format_instant(until)}; `maintainer run {job.table}` starts it "
        f"earlier"
    )
    return until, sentence


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
