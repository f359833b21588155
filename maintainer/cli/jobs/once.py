"""Runs the loop in the foreground: until a job ends, or until nothing is left to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import BY_NO_DAEMON, Job, JobState
from maintainer.domain.plan import Plan
from maintainer.domain.units import format_count
from maintainer.policy.restriction import is_draining
from maintainer.ports import Ports
from maintainer.ports.store.jobs import JobQuery
from maintainer.requests.run import request_cancel
from maintainer.steps.jobs import held_jobs
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import ScannedTable, scan
from maintainer.steps.submit import start_pending, submit
from maintainer.steps.watch import watch

POLL_SECONDS = 0.2
CANCEL_GRACE = timedelta(seconds=60)
START_GRACE = timedelta(minutes=2)  # a running daemon starts a pending job within seconds
# Each cycle runs at most one action on each table. A table needs about three cycles, one for each
# rule, and more if other writers commit meanwhile.
MAX_CYCLES = 12


def follow_job(ports: Ports, job: Job, on_progress: Callable[[Job], None]) -> list[Job]:
    """Run a requested job and the other jobs of its request, until all have ended.

    Ctrl-C first cancels the running job.
    """
    done: list[Job] = []
    current: Job | None = job
    try:
        while current is not None:
            finished = _follow_one(ports, current, on_progress)
            done.append(finished)
            current = _next_of_request(ports, finished)
    except KeyboardInterrupt:
        if current is not None:
            _cancel_and_wait(ports, current, on_progress)
        raise
    return done


def _follow_one(
    ports: Ports, job: Job, on_progress: Callable[[Job], None], deadline: float | None = None
) -> Job:
    """Wait until the job is in a final state; another process may run it."""
    only = frozenset({job.job_id})  # the daemon runs the other jobs
    current = job
    while not current.state.is_final and (deadline is None or time.monotonic() < deadline):
        start_pending(ports, only)
        watch(ports, only)
        review(ports, only)
        current = ports.store.job(job.job_id) or current
        on_progress(current)
        if not current.state.is_final:
            time.sleep(POLL_SECONDS)
    return current


def settle_left_jobs(ports: Ports, table: TableIdentifier) -> None:
    """End the table's jobs that no process runs any more.

    If a process was killed, there may be no daemon that ends its jobs.
    """
    left = [job for job in ports.store.unfinished_jobs() if job.table == table]
    if not left:
        return
    only = frozenset(job.job_id for job in left)
    watch(ports, only)
    review(ports, only)
    for job in left:
        if (
            job.state is JobState.PENDING
            and ports.clock.now() - job.created_at > START_GRACE
            and not is_draining(ports.store.scope_pauses())
        ):
            request_cancel(ports, job, BY_NO_DAEMON)


def _next_of_request(ports: Ports, finished: Job) -> Job | None:
    if not finished.then:
        return None
    unfinished = ports.store.unfinished_jobs()
    return next(
        (
            job
            for job in unfinished
            if job.table_uuid == finished.table_uuid and job.requested_by == finished.requested_by
        ),
        None,
    )


def _cancel_and_wait(ports: Ports, job: Job, on_progress: Callable[[Job], None]) -> None:
    latest = ports.store.job(job.job_id)
    if latest is not None:
        request_cancel(ports, latest, "person")
        _follow_one(
            ports, latest, on_progress, deadline=time.monotonic() + CANCEL_GRACE.total_seconds()
        )


@dataclass(slots=True)
class OnceReport:
    """The result of running the loop until nothing is left to do."""

    before: list[ScannedTable] = field(default_factory=list)
    after: list[ScannedTable] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    plans: dict[TableIdentifier, Plan] = field(default_factory=dict)
    cycles: int = 0
    is_at_rest: bool = False


def run_until_rest(
    ports: Ports, say: Callable[[str], None], on_progress: Callable[[list[Job]], None]
) -> OnceReport:
    """Run full cycles of the loop until a cycle has nothing to do.

    The scan of the last cycle gives the figures after the jobs.
    """
    report = OnceReport()
    known = {job.job_id for job in ports.store.jobs(JobQuery(limit=1000)).items}
    for _ in range(MAX_CYCLES):
        report.cycles += 1
        scanned: list[ScannedTable] = []
        result = scan(ports, scanned.append)
        report.before = report.before or scanned
        report.after = scanned
        plan(ports)
        cost = (
            f"{result.entries_read:,} manifest entries read, {result.manifests_reused:,} "
            f"manifests reused"
        )
        say(
            f"cycle {report.cycles}: {format_count(result.measured, 'table')} measured, "
            f"{result.unchanged} unchanged, {cost}"
        )
        if not submit(ports) and not ports.store.unfinished_jobs():
            report.is_at_rest = True
            break
        _finish_all(ports, on_progress)
    fresh = [job for job in ports.store.jobs(JobQuery(limit=1000)).items if job.job_id not in known]
    report.jobs = sorted(fresh, key=lambda job: job.created_at)
    report.plans = {
        made.table: made
        for made in ports.store.plans()
        if made.table
        in {one.health.table for one in report.after if not isinstance(one, TableFault)}
    }
    return report


def _finish_all(ports: Ports, on_progress: Callable[[list[Job]], None]) -> None:
    """Wait until no job runs and the new plans of the reviewed tables start no more jobs."""
    try:
        while unfinished := list(ports.store.unfinished_jobs()):
            on_progress(unfinished)
            watch(ports)
            review(ports)
            submit(ports)
            time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        for job in (job for job in held_jobs(ports) if job.unreadable_since is None):
            request_cancel(ports, job, "person")
        deadline = time.monotonic() + CANCEL_GRACE.total_seconds()
        while (
            any(job.unreadable_since is None for job in held_jobs(ports))
            and time.monotonic() < deadline
        ):
            watch(ports)
            review(ports)
            time.sleep(POLL_SECONDS)
        raise
