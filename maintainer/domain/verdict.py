"""The history of verdicts: the decision for each rule of a table, with its start and end."""

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
# In the key of a planned action that waits, this follows the key of the plan's verdict.
_WAITS_FOR = "|admission: "


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """One entry of a table's history of verdicts, with the figures at its start.

    Later figures do not make another verdict.
    """

    rule: RuleName
    code: str  # PLANNED, or a SkipCode
    # the sentence without figures: two verdicts with equal code and key are the same
    key: str
    sentence: str
    at: datetime
    until: datetime | None = None  # the store sets this value; None: still current
    next_at: datetime | None = None
    policy_version: str = ""
    findings: tuple[Finding, ...] = ()
    estimate: Estimate | None = None
    cost: Cost | None = None
    score: Score | None = None


@dataclass(frozen=True, slots=True)
class StandingVerdict:
    """The fields that identify a current verdict, without figures."""

    table: TableIdentifier
    table_uuid: str
    rule: RuleName
    code: str
    key: str


def key_while_waiting(key: str, cause: str) -> str:
    """The key of the verdict for a planned action that admission delays for this cause."""
    return f"{planned_key(key)}{_WAITS_FOR}{cause}"


def planned_key(key: str) -> str:
    """The key of the plan's own verdict, with the waiting part removed."""
    return key.partition(_WAITS_FOR)[0]


def is_waiting(key: str) -> bool:
    return _WAITS_FOR in key


def stands_on(standing: StandingVerdict, table_uuid: str, fresh: RuleVerdict) -> bool:
    """True when a new plan's verdict does not change the current one.

    Either both are the same, or admission delays an action that both plan.
    """
    if standing.table_uuid != table_uuid:
        return False
    is_held_back = is_waiting(standing.key) and fresh.code == PLANNED
    return (standing.code, standing.key) == (fresh.code, fresh.key) or (
        is_held_back and planned_key(standing.key) == fresh.key
    )


def code_of_wait(wait: Wait) -> SkipCode:
    """Convert admission waits into rule verdicts."""
    return SkipCode.OUTSIDE_WINDOW if wait.code is WaitCode.BLACKOUT else SkipCode.OVER_BUDGET


def key_of_wait(key: str, wait: Wait) -> str:
    """The cause of a wait without figures: which budget and resource, or which blackout."""
    if wait.budget is None:
        return key_while_waiting(key, wait.reason)
    cause = f"{wait.budget.resource} of {wait.budget.name}"
    return key_while_waiting(
        key, f"too large for {cause}" if wait.code is WaitCode.TOO_LARGE else cause
    )


@dataclass(frozen=True, slots=True)
class Unenforced:
    """What would run if all policies in observe mode were enforced.

    The figures are those at the start of each verdict.
    """

    tables: int
    files_removed: int  # data files
    gb_hours: float
    is_whole: bool = True  # False: the figures are only of some tables


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """One rule with a different verdict.

    PLANNED or a SkipCode on each side; None where the policy does not have the rule.
    """

    rule: RuleName
    before: str | None
    after: str | None
    why_before: str
    why_after: str
    gb_hours: float | None = None  # the cost of the action, if it would be planned


@dataclass(frozen=True, slots=True)
class TablePreview:
    """One table that the candidate policy could change.

    Without changes all verdicts stay. `unmeasured` is the reason when there is no health to decide
    on.
    """

    table: TableIdentifier
    changes: tuple[VerdictChange, ...] = ()
    unmeasured: str = ""
