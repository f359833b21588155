"""Prepares and proves a job of a procedure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from maintainer.compare.conclusion import conclude, find_statistics
from maintainer.compare.effect import compare, split_commits
from maintainer.compare.proof import (
    compare_contents,
    describe_earlier_damage,
    describe_missing_checks,
    explain_difference,
    find_failed_proofs,
    find_lineage_faults,
)
from maintainer.compare.row_proof import (
    COUNT_LIMIT_BYTES,
    prove_rows_since,
    rows_to_count,
    spread_counts,
)
from maintainer.decide.jobs.safeguards import (
    bring_up_to_date,
    choose_safeguards,
    explain_needlessness,
)
from maintainer.decide.plan import on_request
from maintainer.domain.action import Action, Canary
from maintainer.domain.audit import BY_PROOF
from maintainer.domain.effect import CanaryResult, Effect, RowProof
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Snapshot, TableInventory
from maintainer.domain.job import Baseline, FailureReason, Job, JobEvent
from maintainer.domain.plan import Plan, PlannedAction
from maintainer.domain.policy import RuleName
from maintainer.measure.health import summarise
from maintainer.ports import Ports
from maintainer.steps.kinds.registration_check import check_registrations
from maintainer.steps.kinds.results import NotNeeded, Preparation, Proved, Ready, Refused
from maintainer.steps.pauses import pause_table, resume_readable
from maintainer.steps.table import Measured, measure_table, measured_record
from maintainer.steps.table_plan import circumstances_of, decide_in_time, make_plan, policy_of


def prove_contents(
    ports: Ports, job: Job, own: Sequence[Snapshot], inventory: TableInventory, effect: Effect
) -> Effect:
    """Add to the effect the result of reading the job's new files, and Spark's row checksums."""
    effect = replace(effect, difference=explain_difference(job, effect))
    if not own or not job.procedure.rewrites_content:
        return effect
    contents, canary = compare_contents(job, own), _read(ports, job, own)
    is_off = job.safeguards.canary is Canary.OFF
    # The manifests of other writers are not part of the proof; the manifest list of the job's
    # snapshot is.
    unreadable = [
        broken
        for broken in inventory.unreadable
        if not effect.other_commits or broken.of_snapshot in effect.own_snapshot_ids
    ]
    failed = find_failed_proofs(job, contents, canary, unreadable, own)
    said = (effect.sentence, describe_missing_checks(job, contents))
    sentence = " ".join(filter(None, (*said, describe_earlier_damage(job, canary))))
    return replace(
        effect,
        sentence=sentence,
        contents=contents,
        canary_files=None if canary is None or is_off else canary.files_read,
        failed_proofs=failed,
    )


def _read(ports: Ports, job: Job, own: Sequence[Snapshot]) -> CanaryResult | None:
    failure = job.outcome.check_failure if job.outcome is not None else ""
    is_off = job.safeguards.canary is Canary.OFF
    if is_off and not failure:
        return None
    canary = ports.catalog_of(job.table).read_canary(
        job.table,
        [snapshot.snapshot_id for snapshot in own],
        failure,
        had_row_ids=job.baseline is not None and bool(job.baseline.next_row_id),
    )
    if is_off:  # only the failed checksum is in question
        return None if canary is None else CanaryResult(0, older=canary.older)
    if canary is not None:
        fields = {
            "files": canary.files_read,
            "problems": list(canary.problems),
            "unread": list(canary.unread),
        }
        ports.store.append_events([JobEvent(job.job_id, ports.clock.now(), "canary.read", fields)])
    return canary


def pause_unproved(ports: Ports, job: Job, effect: Effect) -> bool:
    """Pause the table if the proof found damage, so that no older file is deleted.

    A person must resume the table. Returns False if nothing is wrong.
    """
    if effect.rows is RowProof.DIFFERENT:
        reason = (
            f"the rows before and after job {job.job_id} differ; check the job before you resume"
        )
    elif effect.failed_proofs:
        reason = (
            f"job {job.job_id} is not proved: {effect.failed_proofs[0]}; check the job "
            f"before you resume"
        )
    else:
        return False
    pause_table(ports, job, BY_PROOF, reason)
    return True


def make_job(
    ports: Ports, plan: Plan, planned: PlannedAction, requested_by: str, then: tuple[RuleName, ...]
) -> Job:
    """Make the pending job of a planned action; `then` are the next rules of the request."""
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
        executors_gb=planned.executors_gb,
        size=planned.size,
        size_reason=planned.size_reason,
        pool=plan.pool,
        timeout=planned.timeout,
        charged_to=plan.budget.name if plan.budget is not None else "",
    )


def request_job(
    ports: Ports,
    table: TableIdentifier,
    rules: tuple[RuleName, ...],
    requested_by: str,
    *,
    keeps_thresholds: bool,
) -> tuple[Plan, Job | None]:
    """Measure and plan the table, and store the first planned action as a pending job."""
    measure_table(ports, table)
    record, health = measured_record(ports, table)
    policy = on_request(policy_of(ports, health), rules, keeps_thresholds=keeps_thresholds)
    plan = make_plan(ports, record, health, policy, is_requested=True)
    if not plan.planned:
        return plan, None
    first, *rest = plan.planned
    made = make_job(ports, plan, first, requested_by, tuple(planned.rule for planned in rest))
    job = replace(made, keeps_thresholds=keeps_thresholds)
    return plan, job if ports.store.add_job(job) else None


def continue_request(ports: Ports, job: Job) -> Job | None:
    """Store the next job of a request as pending; None if nothing is left to do."""
    return request_job(
        ports, job.table, job.then, job.requested_by, keeps_thresholds=job.keeps_thresholds
    )[1]


def prepare_maintenance(ports: Ports, job: Job, action: Action, health: TableHealth) -> Preparation:
    """Repeat the decision for the job's rule with the new health and the current policy."""
    refusal = check_registrations(ports, action, health)
    if refusal is not None:
        return Refused(FailureReason.CATALOG_UNREACHABLE, refusal)
    fresh = _decide_anew(ports, job, health)
    planned = next((planned for planned in fresh.planned if planned.rule is job.policy_rule), None)
    if planned is None:
        return NotNeeded(explain_needlessness(fresh, job.policy_rule))
    ready = bring_up_to_date(job, fresh, planned)
    safeguards = choose_safeguards(ready, policy_of(ports, health).safeguards, health)
    return Ready(replace(ready, safeguards=safeguards))


def _decide_anew(ports: Ports, job: Job, health: TableHealth) -> Plan:
    """Make a plan as if the job did not exist."""
    policy = policy_of(ports, health)
    is_requested = job.requested_by != "policy"
    if is_requested:
        policy = on_request(policy, (job.policy_rule,), keeps_thresholds=job.keeps_thresholds)
    record, _ = measured_record(ports, job.table)
    known = circumstances_of(ports, record, health, policy, is_requested=is_requested)
    circumstances = replace(known, in_flight=None, band=None)
    return decide_in_time(ports, record, health, policy, circumstances)


def prove_maintenance(ports: Ports, job: Job, baseline: Baseline, scanned: Measured) -> Proved:
    """Prove the job's effect, and pause the table if the proof finds damage."""
    effect = find_effect(ports, job, baseline, scanned)
    return Proved(effect, conclude(job, effect))


def find_effect(ports: Ports, job: Job, baseline: Baseline, scanned: Measured) -> Effect:
    """Compute and prove the effect. Damage pauses the table.

    A proof without damage resumes a table that was paused because it could not be read.
    """
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
    compared = compare(
        job, baseline, summarise(scanned.health), commits, rows, counted, int(is_there)
    )
    effect = prove_contents(ports, job, commits.own, scanned.inventory, compared)
    if not effect.is_idle:
        faults = find_lineage_faults(baseline, commits.own, scanned.inventory)
        effect = replace(effect, failed_proofs=(*effect.failed_proofs, *faults))
    # The pause comes first, so that no other job changes the table.
    if not pause_unproved(ports, job, effect):
        resume_readable(ports, job)
    return effect
