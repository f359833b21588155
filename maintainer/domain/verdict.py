"""What was decided about one rule of a table, from when until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from maintainer.domain.cost import Cost, Score
from maintainer.domain.health import Finding
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName

PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """One entry of a table's history of verdicts, with the figures of the moment it began; figures that move later are not another verdict."""

    rule: RuleName
    code: str  # PLANNED, or a SkipCode
    key: str  # what the sentence says without its figures: two verdicts of equal code and key are the same
    sentence: str
    at: datetime
    until: datetime | None = None  # filled by the store; None: it still stands
    next_at: datetime | None = None
    policy_version: str = ""
    findings: tuple[Finding, ...] = ()
    estimate: Estimate | None = None
    cost: Cost | None = None
    score: Score | None = None
