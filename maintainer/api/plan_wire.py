"""Convert plans, verdicts and their reasons to schemas; pure."""

from __future__ import annotations

from collections.abc import Iterable

from maintainer.adapters.spark.statements.job import main_statement
from maintainer.api import plan_schemas
from maintainer.decide.explanation import explain, explain_admission
from maintainer.domain.admission import AdmissionDecision
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Plan, PlannedAction, SkippedRule
from maintainer.domain.verdict import RuleVerdict
from maintainer.ports.store.pages import Page


def write_plan(plan: Plan, decisions: Iterable[AdmissionDecision] = ()) -> plan_schemas.PlanOut:
    """Convert a plan, with the CALL statement and the queue position of each action."""
    admissions = {
        decision.candidate.rule: decision
        for decision in decisions
        if decision.candidate.table_uuid == plan.table_uuid
    }
    return plan_schemas.PlanOut.of(
        plan,
        policy=plan.policy_version,
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
    return plan_schemas.PlannedOut.of(
        planned,
        action=main_statement(table, planned.action),
        sentence=explain(planned),
        admission=None if admission is None else write_admission(admission),
    )


def write_admission(decision: AdmissionDecision) -> plan_schemas.AdmissionOut:
    """Convert the decision of admission on one action."""
    wait = decision.wait
    return plan_schemas.AdmissionOut.of(
        decision,
        code=wait.code if wait is not None else None,
        sentence=explain_admission(decision),
        next_at=wait.next_at if wait is not None else None,
        ahead=wait.ahead if wait is not None else None,
        waiting_since=decision.candidate.waiting_since,
    )


def _write_skipped(table: TableIdentifier, skipped: SkippedRule) -> plan_schemas.SkippedOut:
    return plan_schemas.SkippedOut.of(
        skipped,
        action=main_statement(table, skipped.would_do) if skipped.would_do is not None else None,
        sentence=explain(skipped),
    )


def write_verdicts(page: Page[RuleVerdict]) -> plan_schemas.VerdictPage:
    """Convert a page of the history of verdicts."""
    return plan_schemas.VerdictPage.of(page, items=[write_verdict(item) for item in page.items])


def write_verdict(verdict: RuleVerdict) -> plan_schemas.VerdictOut:
    """Convert one entry of the history of verdicts."""
    return plan_schemas.VerdictOut.of(verdict, policy=verdict.policy_version)
