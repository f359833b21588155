"""Convert plans, verdicts and their reasons to schemas; pure."""

from __future__ import annotations

from collections.abc import Iterable

from maintainer.adapters.spark.statements.job import main_statement
from maintainer.api import plan_schemas
from maintainer.api.wire import (
    score_out,
    write_cost,
    write_findings,
    write_id,
    write_score,
)
from maintainer.decide.explanation import explain, explain_admission
from maintainer.domain.admission import AdmissionDecision
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Estimate, Plan, PlannedAction, SkippedRule
from maintainer.domain.verdict import RuleVerdict
from maintainer.ports.store.pages import Page


def write_plan(plan: Plan, decisions: Iterable[AdmissionDecision] = ()) -> plan_schemas.PlanOut:
    """Convert a plan, with the CALL statement and the queue position of each action."""
    admissions = {
        decision.candidate.rule: decision
        for decision in decisions
        if decision.candidate.table_uuid == plan.table_uuid
    }
    return plan_schemas.PlanOut(
        table=str(plan.table),
        policy=plan.policy_version,
        mode=plan.mode,
        snapshot_id=write_id(plan.snapshot_id),
        made_at=plan.made_at,
        planned=[
            _write_planned(plan.table, planned, admissions.get(planned.rule))
            for planned in plan.planned
        ],
        skipped=[_write_skipped(plan.table, skipped) for skipped in plan.skipped],
    )


def _write_planned(
    table: TableIdentifier,
    planned: PlannedAction,
    admission: AdmissionDecision | None,
) -> plan_schemas.PlannedOut:
    return plan_schemas.PlannedOut(
        rule=planned.rule,
        action=main_statement(table, planned.action),
        findings=write_findings(planned.findings),
        estimate=plan_schemas.EstimateOut.model_validate(planned.estimate),
        reason=planned.reason,
        sentence=explain(planned),
        cost=write_cost(planned.cost),
        score=write_score(planned.score),
        admission=None if admission is None else write_admission(admission),
        size=planned.size,
        size_reason=planned.size_reason,
    )


def write_admission(decision: AdmissionDecision) -> plan_schemas.AdmissionOut:
    """Convert the decision of admission on one action."""
    wait = decision.wait
    return plan_schemas.AdmissionOut(
        is_admitted=decision.is_admitted,
        code=wait.code if wait is not None else None,
        sentence=explain_admission(decision),
        next_at=wait.next_at if wait is not None else None,
        ahead=wait.ahead if wait is not None else None,
        waiting_since=decision.candidate.waiting_since,
        score=score_out(decision.score),
    )


def _write_skipped(table: TableIdentifier, skipped: SkippedRule) -> plan_schemas.SkippedOut:
    return plan_schemas.SkippedOut(
        rule=skipped.rule,
        code=skipped.code,
        reason=skipped.reason,
        next_at=skipped.next_at,
        findings=write_findings(skipped.findings),
        estimate=_write_estimate(skipped.estimate),
        action=main_statement(table, skipped.would_do) if skipped.would_do is not None else None,
        sentence=explain(skipped),
        cost=write_cost(skipped.cost),
        score=write_score(skipped.score),
    )


def _write_estimate(estimate: Estimate | None) -> plan_schemas.EstimateOut | None:
    return None if estimate is None else plan_schemas.EstimateOut.model_validate(estimate)


def write_verdicts(page: Page[RuleVerdict]) -> plan_schemas.VerdictPage:
    """Convert a page of the history of verdicts."""
    return plan_schemas.VerdictPage(
        items=[_write_verdict(verdict) for verdict in page.items],
        next_cursor=page.next_cursor,
        total=page.total,
    )


def _write_verdict(verdict: RuleVerdict) -> plan_schemas.VerdictOut:
    return plan_schemas.VerdictOut(
        rule=verdict.rule,
        code=verdict.code,
        sentence=verdict.sentence,
        at=verdict.at,
        until=verdict.until,
        next_at=verdict.next_at,
        policy=verdict.policy_version,
        findings=write_findings(verdict.findings),
        estimate=_write_estimate(verdict.estimate),
        cost=write_cost(verdict.cost),
        score=write_score(verdict.score),
    )
