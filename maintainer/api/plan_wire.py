"""Convert plans, verdicts and their reasons to schemas; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from maintainer.adapters.spark.statements.job import main_statement
from maintainer.api import plan_schemas
from maintainer.decide.explanation import DOING, explain, explain_admission
from maintainer.domain.access import Person
from maintainer.domain.admission import AdmissionDecision, WaitCode
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Plan, PlannedAction, SkippedRule
from maintainer.domain.verdict import RuleVerdict, is_waiting
from maintainer.ports.store.pages import Page

# The waits whose sentences contain numbers of jobs or spent budgets.
_OTHERS = {
    WaitCode.QUEUED: "no free slot",
    WaitCode.OVER_BUDGET: "a budget that it shares has too little left",
    WaitCode.RESERVED: "what is left of a budget that it shares is reserved for others",
}


def hide_others(decision: AdmissionDecision, person: Person) -> AdmissionDecision:
    """The decision without figures of tables that the person may not see."""
    wait = decision.wait
    if wait is None or person.sees_all or wait.code not in _OTHERS:
        return decision
    kept = replace(wait, reason=_OTHERS[wait.code], ahead=None, budget=None)
    return replace(decision, wait=kept)


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


def write_verdicts(page: Page[RuleVerdict], person: Person) -> plan_schemas.VerdictPage:
    """Convert a page of the history of verdicts, without figures of tables of others."""
    items = [
        verdict
        if person.sees_all or not is_waiting(verdict.key)
        else replace(verdict, sentence=f"{DOING[verdict.rule]} waits: others were first.")
        for verdict in page.items
    ]
    return plan_schemas.VerdictPage.of(page, items=[write_verdict(item) for item in items])


def write_verdict(verdict: RuleVerdict) -> plan_schemas.VerdictOut:
    """Convert one entry of the history of verdicts."""
    return plan_schemas.VerdictOut.of(verdict, policy=verdict.policy_version)
