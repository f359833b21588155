"""Review: measure the table after a job, prove the job's effect and set its final state."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from maintainer.compare.conclusion import Conclusion, find_end_of_wait, is_worth_a_notice
from maintainer.decide.notices import notice_of_wait
from maintainer.domain.audit import BY_WAIT
from maintainer.domain.effect import Effect
from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import FailureReason, Job, JobEvent, JobState
from maintainer.ports import Ports
from maintainer.steps.isolation import each
from maintainer.steps.jobs import held_jobs, store_end, token_of
from maintainer.steps.kinds.dispatch import prove
from maintainer.steps.kinds.maintenance import continue_request
from maintainer.steps.kinds.results import Proved, Unreadable
from maintainer.steps.notices import notify_end
from maintainer.steps.pauses import pause_table
from maintainer.steps.table import measure_table, measured_record
from maintainer.steps.table_plan import plan_table

WAITING_PHASE = "waiting until its table can be read"
WAIT_REPORTED = "job.unproved"  # the event of a job that waits so long that a notice was sent


def review(ports: Ports, only: frozenset[str] | None = None) -> int:
    """Review this process's jobs that Spark has finished or lost: all, or the jobs in `only`.

    Returns the number of jobs that reached their final state.
    """
    waiting = [
        job
        for job in held_jobs(ports)
        if job.awaits_review and (only is None or job.job_id in only)
    ]
    return sum(each(waiting, partial(_review_job, ports)))


def _review_job(ports: Ports, job: Job) -> bool:
    if job.table.catalog not in ports.catalogs:
        return _wait(
            ports, job, f"catalog {job.table.catalog!r} is not configured"
        )  # the configuration may bring the catalog back
    try:
        return _review_readable(ports, job)
    except StoreUnavailableError:
        raise
    except Exception as error:
        current = ports.store.job(job.job_id)
        if current is not None and not current.state.is_final:
            _wait(ports, current, f"{type(error).__name__}: {error}")
        raise


def _wait(ports: Ports, job: Job, reason: str) -> bool:
    """Wait, at most for a time limit, because the table's metadata cannot be read now."""
    conclusion = _wait_within_limit(ports, job, reason)
    return conclusion is not None and _settle(ports, job, None, conclusion)


def _review_readable(ports: Ports, job: Job) -> bool:
    scanned = measure_table(ports, job.table)
    if isinstance(scanned, TableFault):
        if scanned.kind not in {FaultKind.DROPPED, FaultKind.VIEW}:
            return _wait(ports, job, scanned.reason)
        return _settle(
            ports,
            job,
            None,
            Conclusion(
                JobState.FAILED,
                FailureReason.TABLE_CHANGED,
                f"the table no longer exists: {scanned.reason}",
            ),
        )
    if job.baseline is None or scanned.health.table_uuid != job.table_uuid:
        return _settle(
            ports,
            job,
            None,
            Conclusion(
                JobState.FAILED,
                FailureReason.TABLE_CHANGED,
                "the table was replaced by another table with the same name",
            ),
        )
    match prove(ports, job, job.baseline, scanned):
        case Unreadable(reason):
            return _wait(ports, job, reason)
        case Proved(effect, conclusion):
            is_settled = _settle(ports, job, effect, conclusion)
            if is_settled:
                ports.runner.orphan_files.remove(job)
            return is_settled


def _settle(ports: Ports, job: Job, effect: Effect | None, conclusion: Conclusion) -> bool:
    now = ports.clock.now()
    running = replace(job, progress=replace(job.progress, phase=""))
    settled = running.advance(
        conclusion.state,
        effect=effect,
        finished_at=now,
        failure_reason=conclusion.reason,
        failure_message=conclusion.message,
    )
    if not store_end(ports, job, settled, token_of(ports, job)):
        return False
    fields = {
        "state": conclusion.state.value,
        "message": conclusion.message or (effect.sentence if effect is not None else ""),
    }
    ports.store.append_events([JobEvent(job.job_id, now, "job.reviewed", fields)])
    ports.telemetry.job_finished(settled, effect)
    notify_end(ports, settled, effect)
    _follow_up(ports, settled)
    return True


def _follow_up(ports: Ports, job: Job) -> None:
    """Plan the table again at once, and store the next job of the same request."""
    record = ports.store.table(job.table)
    if record is None or record.health is None:
        return
    if job.state is JobState.SUCCEEDED and job.then:
        continue_request(ports, job)
        record, _ = measured_record(ports, job.table)
    if record.health is not None:
        plan_table(ports, record, record.health)


def _wait_within_limit(ports: Ports, job: Job, reason: str) -> Conclusion | None:
    """Wait for the table; return the final conclusion if the time limit has passed, else None."""
    now = ports.clock.now()
    since = job.unreadable_since
    if since is None:
        waiting = replace(
            job, unreadable_since=now, progress=replace(job.progress, phase=WAITING_PHASE)
        )
        if ports.store.update_job(waiting, job):
            ports.store.append_events(
                [JobEvent(job.job_id, now, "job.waits_for_table", {"reason": reason})]
            )
        return None
    end = find_end_of_wait(job, now)
    if end is not None or is_worth_a_notice(since, now):
        _report_wait(ports, job, reason)
    if end is None:
        return None
    return Conclusion(
        JobState.FAILED, FailureReason.UNPROVED, f"the job's effect is unknown: {end} ({reason})"
    )


def _report_wait(ports: Ports, job: Job, reason: str) -> None:
    """Pause the table and notify people, once.

    No job may run on the table before the result of this job is known.
    """
    if any(event.name == WAIT_REPORTED for event in ports.store.events(job.job_id)):
        return
    now = ports.clock.now()
    record = ports.store.table(job.table)
    is_paused = record is None or record.pause is None
    if is_paused:
        why = f"the effect of job {job.job_id} is unknown, because the table cannot be read"
        pause_table(ports, job, BY_WAIT, why)
    ports.notifier.notify(notice_of_wait(job, reason, now, is_paused=is_paused))
    ports.store.append_events([JobEvent(job.job_id, now, WAIT_REPORTED, {"reason": reason})])
