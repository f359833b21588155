"""Review: measure the table after a job, prove the job's effect and set its final state."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from maintainer.compare.effect import Verdict, compare, conclude, find_statistics, split_commits
from maintainer.compare.missing_parent import prove_rows_since
from maintainer.compare.row_proof import COUNT_LIMIT_BYTES, rows_to_count, spread_counts
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.effect import Effect
from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import Baseline, FailureReason, Job, JobEvent, JobState
from maintainer.domain.rollback import RollBack
from maintainer.measure.health import summarise
from maintainer.steps.each import each
from maintainer.steps.lease import held_jobs, token_of
from maintainer.steps.orphans import review_orphans
from maintainer.steps.plan import measured_record, plan_table
from maintainer.steps.ports import Ports
from maintainer.steps.proof import pause_unproved, prove_contents
from maintainer.steps.record import Measured
from maintainer.steps.rollback import review_rollback
from maintainer.steps.scan import scan_table
from maintainer.steps.submit import continue_request
from maintainer.steps.tell import tell_end
from maintainer.steps.unread import resume_proved, wait_for_table


def review(ports: Ports, only: frozenset[str] | None = None) -> int:
    """Review our jobs that Spark has finished or lost: all, or those in `only`.

    Returns how many reached their final state.
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
    """Wait, with a limit, because the table's metadata cannot be read now."""
    verdict = wait_for_table(ports, job, reason)
    return verdict is not None and _settle(ports, job, None, verdict)


def _review_readable(ports: Ports, job: Job) -> bool:
    scanned = scan_table(ports, job.table)
    if isinstance(scanned, TableFault):
        if scanned.kind not in {FaultKind.DROPPED, FaultKind.VIEW}:
            return _wait(ports, job, scanned.reason)
        return _settle(
            ports,
            job,
            None,
            Verdict(
                JobState.FAILED, FailureReason.TABLE_CHANGED, f"the table is gone: {scanned.reason}"
            ),
        )
    if job.baseline is None or scanned.health.table_uuid != job.table_uuid:
        return _settle(
            ports,
            job,
            None,
            Verdict(
                JobState.FAILED,
                FailureReason.TABLE_CHANGED,
                "the table was replaced by another one of the same name",
            ),
        )
    if isinstance(job.action, RollBack):
        return _settle(ports, job, *review_rollback(ports, job, job.action, scanned))
    effect = _find_effect(ports, job, job.baseline, scanned)
    if not pause_unproved(
        ports, job, effect
    ):  # pause before anything else, so that no further job touches the table
        resume_proved(ports, job)
    if isinstance(job.action, RemoveOrphanFiles):
        return _settle_orphans(ports, job, review_orphans(ports, job, job.action, scanned, effect))
    return _settle(ports, job, effect, conclude(job, effect))


def _settle_orphans(ports: Ports, job: Job, found: tuple[Effect, Verdict] | None) -> bool:
    if found is None:
        return _wait(ports, job, "its storage does not say which of the files are there")
    if not _settle(ports, job, *found):
        return False
    ports.runner.forget(job.job_id)
    return True


def _find_effect(ports: Ports, job: Job, baseline: Baseline, scanned: Measured) -> Effect:
    snapshots = scanned.inventory.snapshots
    commits = split_commits(baseline, job.application, job.job_id, snapshots)
    catalog = ports.catalog_of(job.table)
    unsure = rows_to_count(commits.own, snapshots)
    limit_bytes = COUNT_LIMIT_BYTES // max(1, len(unsure))
    counted = {
        snapshot_id: catalog.count_rows(job.table, snapshot_id, limit_bytes)
        for snapshot_id in unsure
    }
    rows = prove_rows_since(baseline, commits.own, snapshots, spread_counts(commits.own, counted))
    statistics = find_statistics(job, scanned.inventory)
    is_there = statistics is not None and bool(catalog.file_bytes(job.table, statistics.path))
    effect = compare(
        job, baseline, summarise(scanned.health), commits, rows, counted, int(is_there)
    )
    return prove_contents(ports, job, commits.own, scanned.inventory, effect)


def _settle(ports: Ports, job: Job, effect: Effect | None, verdict: Verdict) -> bool:
    now = ports.clock.now()
    running = replace(job, progress=replace(job.progress, phase=""))
    settled = running.advance(
        verdict.state,
        effect=effect,
        finished_at=now,
        failure_reason=verdict.reason,
        failure_message=verdict.message,
    )
    if not ports.store.update_job(settled, job.state, token_of(ports, job)):
        return False
    fields = {
        "state": verdict.state.value,
        "message": verdict.message or (effect.sentence if effect is not None else ""),
    }
    ports.store.append_events([JobEvent(job.job_id, now, "job.reviewed", fields)])
    ports.telemetry.job_finished(settled, effect)
    tell_end(ports, settled, effect)
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
