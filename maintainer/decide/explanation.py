"""Verdicts as sentences: the decision for each rule, the reason, and the next check.

They are for people who run tables and do not know this program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from maintainer.domain.action import Repair
from maintainer.domain.admission import AdmissionDecision, Wait, code_of_wait, key_of_wait
from maintainer.domain.job import JobRule
from maintainer.domain.plan import (
    PLANNED,
    Plan,
    PlannedAction,
    RuleVerdict,
    SkipCode,
    SkippedRule,
)
from maintainer.domain.policy import RuleName
from maintainer.domain.units import format_instant
from maintainer.procedures.registry import CHAPTERS

DOING: Mapping[JobRule, str] = {
    **{name: chapter.doing for name, chapter in CHAPTERS.items()},
    Repair.ROLL_BACK: "Rolling the table back",
}
_VERDICTS: Mapping[SkipCode, str] = {
    SkipCode.BELOW_THRESHOLD: "is not due",
    SkipCode.NOTHING_TO_GAIN: "would achieve nothing",
    SkipCode.COOLING_DOWN: "is due and waits for the end of its cooldown",
    SkipCode.NOT_MEASURED: "cannot be decided",
    SkipCode.GC_DISABLED: "is not allowed by the table",
    SkipCode.RETENTION_FLOOR: "is not allowed below the retention floor",
    SkipCode.UNSAFE: "cannot be done safely",
    SkipCode.PINNED: "is not allowed: a pin protects what it would remove",
    SkipCode.IN_FLIGHT: "is due and waits for the running job",
    SkipCode.OUTSIDE_WINDOW: "is due and waits for its maintenance window",
    SkipCode.OVER_BUDGET: "is due and waits for the budget",
    SkipCode.HOT_PARTITION: "is due and waits for the end of writes to its partitions",
    SkipCode.UNSUPPORTED: "is not supported here",
    SkipCode.OBSERVE_ONLY: "is due but does not start",
    SkipCode.DISABLED: "is disabled",
    SkipCode.PAUSED: "is due and waits, because the table is paused",
    SkipCode.AMBIGUOUS_POLICY: "cannot be decided",
    SkipCode.NOT_QUIET: "is due and waits for a quiet period",
    SkipCode.OTHER_MAINTAINER: "is due and left to another maintainer",
    SkipCode.NO_RUNNER: "cannot be run",
}
_ORDER = tuple(CHAPTERS)
# Figures, which may differ between two checks of a verdict: words with a digit, and the units
# after them.
_FIGURE = re.compile(r"\S*\d\S*(?:\s+(?:B|[KMGTP]iB|s|min|h|d|UTC)\b)?")


def explain(verdict: PlannedAction | SkippedRule) -> str:
    """One sentence with the rule, the decision and the reason."""
    if isinstance(verdict, PlannedAction):
        return _sentence(verdict.rule, "is worth doing", verdict.reason)
    decided = _VERDICTS.get(verdict.code, "is not done now")
    gains = verdict.estimate is not None and verdict.estimate.items_removed > 0
    found = "; ".join(finding.sentence for finding in verdict.findings) if gains else ""
    return _sentence(
        verdict.rule, decided, "; ".join(part for part in (verdict.reason, found) if part)
    )


def explain_admission(decision: AdmissionDecision) -> str:
    """One sentence: a planned action starts, or why it waits and until when."""
    doing = DOING[decision.candidate.rule]
    if decision.wait is None:
        return f"{doing} starts next."
    until = (
        f", until {write_next_check(decision.wait.next_at)} at the earliest"
        if decision.wait.next_at is not None
        else ""
    )
    return f"{doing} waits{until}: {decision.wait.reason.rstrip('.')}."


def explain_wait(planned: PlannedAction, wait: Wait) -> str:
    """Why admission delays a planned action, and why the action was planned."""
    return _sentence(
        planned.rule, _VERDICTS[code_of_wait(wait)], f"{wait.reason.rstrip('.')}; {planned.reason}"
    )


def _sentence(rule: RuleName, decided: str, reason: str) -> str:
    return f"{DOING[rule]} {decided}: {reason.rstrip('.')}."


def write_next_check(next_at: datetime | None) -> str:
    """The next check of a verdict as text. None does not mean never."""
    return "when the table or its policy changes" if next_at is None else format_instant(next_at)


def give_verdicts(plan: Plan) -> tuple[RuleVerdict, ...]:
    """The plan as entries of the history of verdicts, in execution order."""
    made: list[PlannedAction | SkippedRule] = [*plan.planned, *plan.skipped]
    return tuple(
        _give_verdict(plan, verdict)
        for verdict in sorted(made, key=lambda verdict: _ORDER.index(verdict.rule))
    )


def give_wait(plan: Plan, planned: PlannedAction, wait: Wait | None, at: datetime) -> RuleVerdict:
    """A planned action as a new entry of the history: it waits, or (None) no longer does."""
    made = replace(_give_verdict(plan, planned), at=at, next_at=at)
    if wait is None:
        return made
    return replace(
        made,
        code=code_of_wait(wait).value,
        key=key_of_wait(made.key, wait),
        sentence=explain_wait(planned, wait),
        next_at=wait.next_at,
    )


def _give_verdict(plan: Plan, verdict: PlannedAction | SkippedRule) -> RuleVerdict:
    return RuleVerdict(
        rule=verdict.rule,
        code=PLANNED if isinstance(verdict, PlannedAction) else verdict.code.value,
        key=key_of(verdict),
        sentence=explain(verdict),
        at=plan.made_at,
        next_at=plan.made_at if isinstance(verdict, PlannedAction) else verdict.next_at,
        policy_version=plan.policy_version,
        findings=verdict.findings,
        estimate=verdict.estimate,
        cost=verdict.cost,
        score=verdict.score,
    )


def key_of(verdict: PlannedAction | SkippedRule) -> str:
    """The verdict without figures: the thresholds that are met, and the reason."""
    holding = ",".join(sorted(finding.metric for finding in verdict.findings))
    if isinstance(verdict, PlannedAction):
        return holding
    reason = " ".join(_FIGURE.sub("#", verdict.reason).split())
    return f"{holding}|{reason}"
