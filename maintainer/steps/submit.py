"""Submit: turn planned actions into stored jobs, and hand them to the runner."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.jobs.rollback import refuse_rollback
from maintainer.decide.jobs.safeguards import find_lapsed_tags, surround
from maintainer.decide.jobs.timeouts import find_deadline
from maintainer.decide.plan import decide, on_request
from maintainer.decide.table_state import digest_state
from maintainer.domain.action import Action
from maintainer.domain.admission import AdmissionVerdict, Halt
from maintainer.domain.errors import InvalidTransitionError, RunnerUnavailableError
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault, TableInventory
from maintainer.domain.job import Baseline, FailureReason, Job, JobEvent, JobState
from maintainer.domain.plan import Plan, PlannedAction, SkipCode
from maintainer.domain.policy import RuleName
from maintainer.domain.rollback import RollBack
from maintainer.estimate.floors import check_before_submit
from maintainer.measure.health import summarise
from maintainer.policy.halts import describe_halt, find_halt, is_draining
from maintainer.steps.admission import admit_now, is_blackout
from maintainer.steps.each import each
from maintainer.steps.lease import let_work
from maintainer.steps.look import prepare_look
from maintainer.steps.name_check import check_names
from maintainer.steps.names import registrations_of
from maintainer.steps.neighbours import note_foreign
from maintainer.steps.plan import look_around, make_plan, measured_record, plan_table, policy_of
from maintainer.steps.ports import Ports
from maintainer.steps.removal import prepare_removal
from maintainer.steps.scan import scan_table
from maintainer.steps.stop import find_stop
from maintainer.steps.tell import tell_end

CANCEL_ATTEMPTS = 10  # an attempt fails only if the job changes between two statements


def submit(ports: Ports) -> int:
    """Admit planned actions and start them; return how many jobs the runner got."""
    try:
        each(admit_now(ports), partial(_add_admitted, ports), ports.is_stopping)
    finally:
        started = start_pending(ports)
    return started


def _add_admitted(ports: Ports, verdict: AdmissionVerdict) -> bool:
    record = ports.store.table(verdict.candidate.table)
    plan = record.plan if record is not None else None
    wanted = (
        plan.planned if plan is not None and plan.table_uuid == verdict.candidate.table_uuid else ()
    )
    planned = next((planned for planned in wanted if planned.rule is verdict.candidate.rule), None)
    if plan is None or planned is None:
        return False  # the table was planned again after the candidates were read
    return ports.store.add_job(
        _make_job(ports, plan, replace(planned, score=verdict.score), "policy", ())
    )


def start_pending(ports: Ports, only: frozenset[str] | None = None) -> int:
    """Hand pending jobs to the runner, oldest first: all, or those in `only`.

    During a drain all of them wait; during a blackout those that no person requested.
    """
    if is_draining(ports.store.halts()):
        return 0
    pending = [
        job
        for job in ports.store.unfinished_jobs()
        if job.state is JobState.PENDING and (only is None or job.job_id in only)
    ]
    if is_blackout(ports):  # the blackout may have begun after they were admitted
        pending = [job for job in pending if job.requested_by != "policy"]
    return sum(each(pending, partial(_start, ports), ports.is_stopping))


def request_run(
    ports: Ports, table: TableIdentifier, rules: tuple[RuleName, ...], requested_by: str
) -> tuple[Plan, Job | None]:
    """Measure and plan the table now, and store the first job of the request as pending.

    No job when there is nothing to do.
    """
    return _request(ports, table, rules, requested_by, keeps_thresholds=not rules)


def continue_request(ports: Ports, job: Job) -> Job | None:
    """Store the next job of a request as pending; None when nothing is left to do."""
    return _request(
        ports, job.table, job.then, job.requested_by, keeps_thresholds=job.keeps_thresholds
    )[1]


def _request(
    ports: Ports,
    table: TableIdentifier,
    rules: tuple[RuleName, ...],
    requested_by: str,
    *,
    keeps_thresholds: bool,
) -> tuple[Plan, Job | None]:
    scan_table(ports, table)
    record, health = measured_record(ports, table)
    policy = on_request(policy_of(ports, health), rules, keeps_thresholds=keeps_thresholds)
    plan = make_plan(ports, record, health, policy, is_requested=True)
    if not plan.planned:
        return plan, None
    first, *rest = plan.planned
    made = _make_job(ports, plan, first, requested_by, tuple(planned.rule for planned in rest))
    job = replace(made, keeps_thresholds=keeps_thresholds)
    return plan, job if ports.store.add_job(job) else None


def _make_job(
    ports: Ports, plan: Plan, planned: PlannedAction, requested_by: str, then: tuple[RuleName, ...]
) -> Job:
    return Job(
        job_id=ports.new_id(),
        table=plan.table,
        table_uuid=plan.table_uuid,
        rule=planned.rule,
        action=planned.action,
        findings=planned.findings,
        estimate=planned.estimate,
        reason=planned.reason,
        policy_version=plan.policy_version,
        priority=plan.priority,
        requested_by=requested_by,
        created_at=ports.clock.now(),
        then=then,
        cost=planned.cost,
        score=planned.score,
        memory_gb=planned.memory_gb,
        size=planned.size,
        size_reason=planned.size_reason,
        timeout=planned.timeout,
        charged_to=plan.budget.name if plan.budget is not None else "",
    )


def _start(ports: Ports, job: Job) -> bool:
    """Check the table again, store the job as submitted, and hand it to the runner.

    A crash between the last two leaves a job that the runner reports as lost.
    """
    if job.table.catalog not in ports.catalogs:
        _refuse(
            ports,
            job,
            FailureReason.CATALOG_UNREACHABLE,
            f"catalog {job.table.catalog!r} is not configured any more",
        )
        return False
    known = ports.store.table(job.table)
    scanned = scan_table(ports, job.table)
    if isinstance(scanned, TableFault):
        _refuse(ports, job, _reason_of(scanned.kind), scanned.reason)
        return False
    refusal = check_before_submit(
        job.action, scanned.health, job.table_uuid, known.health if known is not None else None
    )
    if refusal is not None:
        _refuse(ports, job, FailureReason.TABLE_CHANGED, refusal)
        return False
    baseline = _take_baseline(scanned.inventory, scanned.health)
    if isinstance(job.action, RollBack):
        return _start_rollback(ports, job, job.action, baseline)
    return _start_planned(ports, job, job.action, scanned.health, baseline)


def _start_planned(
    ports: Ports, job: Job, action: Action, health: TableHealth, baseline: Baseline
) -> bool:
    refusal = note_foreign(ports, action, health)
    if refusal is not None:
        _refuse(ports, job, FailureReason.TABLE_CHANGED, refusal)
        return False
    refusal = check_names(ports, action, health)
    if refusal is not None:
        _refuse(ports, job, FailureReason.CATALOG_UNREACHABLE, refusal)
        return False
    fresh = _decide_anew(ports, job, health)
    planned = next((planned for planned in fresh.planned if planned.rule is job.policy_rule), None)
    if planned is None:
        if not is_draining(ports.store.halts()):  # during a drain the job waits
            _finish(
                ports,
                job,
                job.advance(
                    JobState.CANCELLED,
                    finished_at=ports.clock.now(),
                    failure_message=_why_not_needed(fresh, job.policy_rule),
                ),
            )
        return False
    ready = _surround(ports, _bring_up_to_date(job, fresh, planned), health)
    refusal = prepare_removal(ports, ready, health)
    if refusal is not None:
        _refuse(ports, job, FailureReason.TABLE_CHANGED, refusal)
        return False
    ready = prepare_look(ports, ready)
    if _is_stopped(
        ports, job, find_stop(ports, job.table)
    ):  # the preparations may have taken minutes
        ports.runner.forget(job.job_id)
        return False
    return _hand_over(ports, ready, baseline)


def _start_rollback(ports: Ports, job: Job, action: RollBack, baseline: Baseline) -> bool:
    refusal = refuse_rollback(action, baseline.snapshot_id)
    if refusal is not None:
        _refuse(ports, job, FailureReason.TABLE_CHANGED, refusal)
        return False
    # A rollback starts in spite of the pause that came with its request; a later pause stops
    # it.
    return not _is_stopped(
        ports, job, find_stop(ports, job.table, since=job.created_at)
    ) and _hand_over(ports, job, baseline)


def _is_stopped(ports: Ports, job: Job, stop: Halt | None) -> bool:
    """True when the job must not start now; a drain lets it wait, a pause cancels it."""
    if stop is not None and not stop.is_drain:
        _finish(
            ports,
            job,
            job.advance(
                JobState.CANCELLED,
                finished_at=ports.clock.now(),
                failure_message=f"not started: {describe_halt(stop)}",
            ),
        )
    return stop is not None


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
        return False  # another process took it
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
    if not let_work(ports, lease):
        return False  # storing took longer than the lease: the job will be found lost
    try:
        runner.submit(submitted)
    except RunnerUnavailableError as error:
        _refuse(ports, submitted, FailureReason.RUNNER_UNAVAILABLE, str(error), lease.token)
        return False
    return True


def _take_baseline(inventory: TableInventory, health: TableHealth) -> Baseline:
    return Baseline(
        snapshot_id=inventory.current_snapshot_id,
        sequence_number=max(
            (snapshot.sequence_number for snapshot in inventory.snapshots), default=0
        ),
        newest_snapshot_at=health.newest_snapshot_at,
        metadata_location=inventory.metadata_location,
        measurement=summarise(health),
        snapshot_at=next(
            (
                snapshot.committed_at
                for snapshot in inventory.snapshots
                if snapshot.snapshot_id == inventory.current_snapshot_id
            ),
            None,
        ),
        lapsed_tags=find_lapsed_tags(health, health.measured_at),
        state=digest_state(health),
    )


def _surround(ports: Ports, job: Job, health: TableHealth) -> Job:
    return replace(job, safeguards=surround(job, policy_of(ports, health).safeguards, health))


def _decide_anew(ports: Ports, job: Job, health: TableHealth) -> Plan:
    """Decide from the new health under the present policy, as if the job did not exist."""
    policy = policy_of(ports, health)
    is_requested = job.requested_by != "policy"
    if is_requested:
        policy = on_request(policy, (job.policy_rule,), keeps_thresholds=job.keeps_thresholds)
    record, _ = measured_record(ports, job.table)
    circumstances = Circumstances(
        now=ports.clock.now(),
        history=ports.store.rule_history(health.table_uuid),
        pins=tuple(ports.store.pins(health.table_uuid)),
        paused_by=record.pause.by if record.pause is not None else None,
        registrations=registrations_of(ports, health.table, health.table_uuid, health.properties),
        is_requested=is_requested,
        calibration=ports.store.calibration(health.table_uuid, health.table.catalog),
        memory_gb=ports.admission.memory_gb,
        admission=ports.admission,
        halt=find_halt(ports.store.halts(), health.table),
        previous=record.plan,
        application=ports.runner.application,
        tasks_at_once=ports.admission.tasks_at_once,
        profiles=ports.admission.profiles,
        no_runner=ports.no_runner.get(health.table.catalog),
    )
    return decide(health, policy, look_around(ports, policy, record, health, circumstances))


def _bring_up_to_date(job: Job, fresh: Plan, planned: PlannedAction) -> Job:
    """Replace the job's action and its reasons with those of the new plan.

    The policy may keep more now, and the table may need another option.
    """
    return replace(
        job,
        action=planned.action,
        findings=planned.findings,
        estimate=planned.estimate,
        reason=planned.reason,
        policy_version=fresh.policy_version,
        cost=planned.cost,
        timeout=planned.timeout,
        memory_gb=planned.memory_gb,
        size=planned.size,
        size_reason=planned.size_reason,
    )


def _why_not_needed(fresh: Plan, rule: RuleName) -> str:
    skipped = next((skip for skip in fresh.skipped if skip.rule is rule), None)
    if skipped is not None and skipped.code is SkipCode.PAUSED:
        return f"not started: {skipped.reason}"
    return (
        f"not needed any more: {skipped.reason}"
        if skipped is not None
        else "not needed any more: the policy has no such rule now"
    )


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


def _refuse(
    ports: Ports, job: Job, reason: FailureReason, message: str, token: int | None = None
) -> None:
    _finish(
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


def _finish(ports: Ports, before: Job, after: Job, token: int | None = None) -> bool:
    if not ports.store.update_job(after, before.state, token):
        return False
    event = JobEvent(
        after.job_id, ports.clock.now(), f"job.{after.state}", {"message": after.failure_message}
    )
    ports.store.append_events([event])
    ports.telemetry.job_finished(after, None)
    tell_end(ports, after, None)
    _plan_again(ports, after.table)
    return True


def _plan_again(ports: Ports, table: TableIdentifier) -> None:
    """Replace the plan that led to the job, so that the next submit step does not repeat it."""
    record = ports.store.table(table)
    if record is not None and record.health is not None:
        plan_table(ports, record, record.health)


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
        job = ports.store.job(job.job_id) or job  # it changed: ask for the end of its present state
    message = (
        f"job {job.job_id} changed {CANCEL_ATTEMPTS} times while its end was asked for; ask again"
    )
    raise InvalidTransitionError(message)


def _ask_for_end(ports: Ports, job: Job, requested_by: str) -> Job | None:
    """Return the job after the request; None when another writer changed it first."""
    now = ports.clock.now()
    if job.state is JobState.PENDING:
        cancelled = job.advance(
            JobState.CANCELLED, finished_at=now, cancel_requested_by=requested_by
        )
        return cancelled if _finish(ports, job, cancelled) else None
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
