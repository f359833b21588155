"""Watch: copy the runner's reports on this process's jobs into the store."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from maintainer.decide.jobs.safeguards import is_over_time, may_go_on
from maintainer.domain.driver import Stage
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.domain.replica import Lease
from maintainer.ports import Ports
from maintainer.ports.runner import RunnerReport
from maintainer.steps.isolation import each
from maintainer.steps.jobs import hold_lease, read_leases, renew_runner

_WATCHED = frozenset({JobState.SUBMITTED, JobState.RUNNING})
UPDATE_ATTEMPTS = 3  # after these, the next run gets the same report again


def watch(ports: Ports, only: frozenset[str] | None = None) -> int:
    """Update the jobs that Spark runs: all, or the jobs in `only`.

    Returns the number of jobs that Spark has finished or lost.
    """
    _exchange_facts(ports)
    unfinished = ports.store.unfinished_jobs()
    handed_over = [
        job
        for job in unfinished
        if job.state is not JobState.PENDING and (only is None or job.job_id in only)
    ]
    # leases are read after the jobs: a job without a lease has ended meanwhile
    leases = read_leases(ports) if handed_over else {}
    return sum(each(handed_over, lambda job: _watch_job(ports, job, leases.get(job.job_id))))


def _exchange_facts(ports: Ports) -> None:
    """Store the facts that this process's drivers reported; use facts of other processes."""
    stored = ports.store.spark_facts()
    for facts in stored.values():
        ports.runner.recall(facts)
    for pool, own in ports.runner.facts.items():
        if pool not in stored or own.at > stored[pool].at:
            ports.store.record_spark_facts(own)


def _watch_job(ports: Ports, job: Job, lease: Lease | None) -> bool:
    held = hold_lease(ports, job, lease)
    if held is None or not _is_watched(job):
        return False
    if may_go_on(job, ports.clock.now()):
        renew_runner(ports, held)
    if job.cancel_requested_by or job.is_overdue:
        ports.runner.cancel(job.job_id)  # another process may have stored the request
    report = ports.runner.report(job)
    if report is None:
        return False
    if report.outcome is None:
        job = _end_overdue(ports, job)
    if report.adopted:
        ports.store.append_events(
            [
                JobEvent(
                    job.job_id,
                    ports.clock.now(),
                    "job.adopted",
                    {"by": ports.runner.owner, "from": job.owner},
                )
            ]
        )
    ports.store.append_events(report.events)
    for _ in range(UPDATE_ATTEMPTS):
        advanced = _advance(ports, job, report)
        if advanced == job or ports.store.update_job(advanced, job, held.token):
            break
        # Another process has requested the end of the job: keep this request.
        job = ports.store.job(job.job_id) or job
        if not _is_watched(job):
            return False
    return report.outcome is not None


def _end_overdue(ports: Ports, job: Job) -> Job:
    """Cancel a job that has exceeded its time limit; the job ends as a timeout.

    If somebody has cancelled the job before, it ends as cancelled.
    """
    now = ports.clock.now()
    if job.is_overdue or job.cancel_requested_by or not is_over_time(job, now):
        return job
    overdue = replace(job, is_overdue=True)
    if not ports.store.update_job(overdue, job):
        return job  # the job has changed: the next run tries again
    ports.store.append_events(
        [JobEvent(job.job_id, now, "job.timed_out", {"deadline": job.deadline})]
    )
    ports.runner.cancel(job.job_id)
    return overdue


def _is_watched(job: Job) -> bool:
    return job.state in _WATCHED and job.outcome is None


def _started_at(ports: Ports, report: RunnerReport) -> datetime:
    """Return when Spark began, from its event: a short job may begin and end between reports."""
    started = next((event.at for event in report.events if event.name == "statement.started"), None)
    return started or (report.outcome.ended_at if report.outcome is not None else ports.clock.now())


def _advance(ports: Ports, job: Job, report: RunnerReport) -> Job:
    outcome = report.outcome
    if report.adopted:
        job = replace(job, owner=ports.runner.owner)
    if report.driver is not None:
        job = replace(job, driver=report.driver)
    has_started = report.is_started or (outcome is not None and outcome.kind == "finished")
    if has_started and job.state is JobState.SUBMITTED:
        job = job.advance(JobState.RUNNING, started_at=_started_at(ports, report))
    progress = report.progress.after(job.progress)
    if outcome is None:
        return replace(job, progress=progress)
    if outcome.kind == "lost":
        return job.advance(
            JobState.UNKNOWN, outcome=outcome, ended_at=outcome.ended_at, progress=progress
        )
    return replace(
        job,
        outcome=outcome,
        ended_at=outcome.ended_at,
        progress=replace(progress, phase="proving", stage=Stage.PROVING),
    )
