"""Submit: turn planned actions into stored jobs, and hand them to the runner."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from maintainer.decide.jobs.safeguards import find_deadline, take_baseline
from maintainer.decide.jobs.submission import check_before_submit
from maintainer.domain.admission import AdmissionDecision
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import Baseline, FailureReason, Job, JobEvent, JobState
from maintainer.policy.restriction import describe_scope_pause, is_draining
from maintainer.ports import Ports
from maintainer.steps.admission import admit_now, is_blackout
from maintainer.steps.isolation import each
from maintainer.steps.jobs import finish_job, renew_runner
from maintainer.steps.kinds.dispatch import prepare
from maintainer.steps.kinds.maintenance import make_job
from maintainer.steps.kinds.results import NotNeeded, Ready, Refused
from maintainer.steps.pauses import find_stop
from maintainer.steps.table import measure_table


def submit(ports: Ports) -> int:
    """Admit planned actions and start them; return the number of jobs that the runner got."""
    try:
        each(admit_now(ports), partial(_add_admitted, ports), ports.is_stopping)
    finally:
        started = start_pending(ports)
    return started


def _add_admitted(ports: Ports, decision: AdmissionDecision) -> bool:
    record = ports.store.table(decision.candidate.table)
    plan = record.plan if record is not None else None
    wanted = (
        plan.planned
        if plan is not None and plan.table_uuid == decision.candidate.table_uuid
        else ()
    )
    planned = next((planned for planned in wanted if planned.rule is decision.candidate.rule), None)
    if plan is None or planned is None:
        return False  # the table was planned again after the candidates were read
    return ports.store.add_job(
        make_job(ports, plan, replace(planned, score=decision.score), "policy", ())
    )


def start_pending(ports: Ports, only: frozenset[str] | None = None) -> int:
    """Hand pending jobs to the runner, oldest first: all, or the jobs in `only`.

    During a drain all jobs wait. During a blackout only jobs that a person requested start.
    """
    if is_draining(ports.store.scope_pauses()):
        return 0
    pending = [
        job
        for job in ports.store.unfinished_jobs()
        if job.state is JobState.PENDING and (only is None or job.job_id in only)
    ]
    if is_blackout(ports):  # the blackout may have begun after the jobs were admitted
        pending = [job for job in pending if job.requested_by != "policy"]
    return sum(each(pending, partial(_start, ports), ports.is_stopping))


def _start(ports: Ports, job: Job) -> bool:
    """Check the table again, store the job as submitted, and hand it to the runner.

    After a crash between the last two steps, the runner reports the job as lost.
    """
    if job.table.catalog not in ports.catalogs:
        _refuse(
            ports,
            job,
            FailureReason.CATALOG_UNREACHABLE,
            f"catalog {job.table.catalog!r} is no longer configured",
        )
        return False
    known = ports.store.table(job.table)
    scanned = measure_table(ports, job.table)
    if isinstance(scanned, TableFault):
        _refuse(ports, job, _reason_of(scanned.kind), scanned.reason)
        return False
    refusal = check_before_submit(
        job.action, scanned.health, job.table_uuid, known.health if known is not None else None
    )
    if refusal is not None:
        _refuse(ports, job, FailureReason.TABLE_CHANGED, refusal)
        return False
    match prepare(ports, job, scanned):
        case Refused(reason, message):
            _refuse(ports, job, reason, message)
            return False
        case NotNeeded(message):
            if not is_draining(ports.store.scope_pauses()):  # during a drain the job waits
                _cancel(ports, job, message)
            return False
        case Ready(ready, ignores_pauses_until):
            # The preparations may have taken minutes.
            stop = find_stop(ports, job.table, since=ignores_pauses_until)
            if stop is None:
                return _hand_over(ports, ready, take_baseline(scanned.inventory, scanned.health))
            if not stop.is_drain:  # during a drain the job waits
                _cancel(ports, job, f"not started: {describe_scope_pause(stop)}")
            ports.runner.orphan_files.remove(job)
            return False


def _hand_over(ports: Ports, job: Job, baseline: Baseline) -> bool:
    now = ports.clock.now()
    runner = ports.runner
    marks = {"owner": runner.owner, "application": runner.application, "baseline": baseline}
    submitted = job.advance(
        JobState.SUBMITTED, submitted_at=now, deadline=find_deadline(job, now), **marks
    )
    lease = ports.store.submit_job(
        submitted, now + ports.lease_terms.duration, runner.statements(submitted)
    )
    if lease is None:
        return False  # another process has changed the job
    snapshot_id = str(baseline.snapshot_id or "")
    ports.store.append_events(
        [
            JobEvent(
                job.job_id,
                now,
                "job.submitted",
                {"owner": runner.owner, "snapshot_id": snapshot_id},
            )
        ]
    )
    if not renew_runner(ports, lease):
        return False  # the lease has ended meanwhile: the job will be reported as lost
    try:
        runner.submit(submitted)
    except RunnerUnavailableError as error:
        _refuse(ports, submitted, FailureReason.RUNNER_UNAVAILABLE, str(error), lease.token)
        return False
    return True


def _reason_of(kind: FaultKind) -> FailureReason:
    unreachable = {
        FaultKind.CATALOG_UNAVAILABLE: FailureReason.CATALOG_UNREACHABLE,
        FaultKind.ACCESS_DENIED: FailureReason.PERMISSION,
    }
    missing = {
        FaultKind.METADATA_MISSING: FailureReason.MISSING_FILE,
        FaultKind.METADATA_CORRUPT: FailureReason.MISSING_FILE,
    }
    return (unreachable | missing).get(kind, FailureReason.TABLE_CHANGED)


def _cancel(ports: Ports, job: Job, message: str) -> None:
    ended = job.advance(JobState.CANCELLED, finished_at=ports.clock.now(), failure_message=message)
    finish_job(ports, job, ended)


def _refuse(
    ports: Ports, job: Job, reason: FailureReason, message: str, token: int | None = None
) -> None:
    finish_job(
        ports,
        job,
        job.advance(
            JobState.FAILED,
            finished_at=ports.clock.now(),
            failure_reason=reason,
            failure_message=message,
        ),
        token,
    )
