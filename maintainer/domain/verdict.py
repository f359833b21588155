"""What was decided about one rule of a table, from when until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from maintainer.domain.admission import Wait, WaitCode
from maintainer.domain.cost import Cost, Score
from maintainer.domain.health import Finding
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Estimate, SkipCode
from maintainer.domain.policy import RuleName

PLANNED = "planned"
# in the key of what is planned and waits, behind the key that it has while it does not
_WAITS_FOR = "|admission: "


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """One entry of a table's history of verdicts, with the figures of the moment it began; figures
    that move later are not another verdict.
    """

    rule: RuleName
    code: str  # PLANNED, or a SkipCode
    # what the sentence says without its figures: two verdicts of equal code and key are the same
    key: str
    sentence: str
    at: datetime
    until: datetime | None = None  # filled by the store; None: it still stands
    next_at: datetime | None = None
    policy_version: str = ""
    findings: tuple[Finding, ...] = ()
    estimate: Estimate | None = None
    cost: Cost | None = None
    score: Score | None = None


@dataclass(frozen=True, slots=True)
class StandingVerdict:
    """What tells a verdict that stands from another one, without its figures."""

    table: TableIdentifier
    table_uuid: str
    rule: RuleName
    code: str
    key: str


def key_while_waiting(key: str, cause: str) -> str:
    """The key of a verdict on something that a plan wants and admission holds back for this
    cause.
    """
    return f"{planned_key(key)}{_WAITS_FOR}{cause}"


def planned_key(key: str) -> str:
    """The key that the plan's own verdict has, whether it waits or not."""
    return key.partition(_WAITS_FOR)[0]


def is_waiting(key: str) -> bool:
    """True for the key of a verdict of admission."""
    return _WAITS_FOR in key


def stands_on(standing: StandingVerdict, table_uuid: str, fresh: RuleVerdict) -> bool:
    """True when a new plan's verdict changes nothing of the one that stands: it is the same, or
    admission holds back what both want.
    """
    if standing.table_uuid != table_uuid:
        return False
    is_held_back = is_waiting(standing.key) and fresh.code == PLANNED
    return (standing.code, standing.key) == (fresh.code, fresh.key) or (
        is_held_back and planned_key(standing.key) == fresh.key
    )


def code_of_wait(wait: Wait) -> SkipCode:
    """The verdict that the wait comes to, in a plan's own words."""
    return SkipCode.OUTSIDE_WINDOW if wait.code is WaitCode.BLACKOUT else SkipCode.OVER_BUDGET


def key_of_wait(key: str, wait: Wait) -> str:
    """What the verdict rests on, without figures: whose budget of what, or which blackout."""
    if wait.budget is None:
        return key_while_waiting(key, wait.reason)
    cause = f"{wait.budget.resource} of {wait.budget.name}"
    return key_while_waiting(
        key, f"too large for {cause}" if wait.code is WaitCode.TOO_LARGE else cause
    )
