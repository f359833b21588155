"""What other policies would change, table by table."""

from __future__ import annotations

from dataclasses import dataclass

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import RuleName


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """One rule that would be judged otherwise: PLANNED or a SkipCode on each side, None where the
    policy has no such rule.
    """

    rule: RuleName
    before: str | None
    after: str | None
    why_before: str
    why_after: str


@dataclass(frozen=True, slots=True)
class TablePreview:
    """One table that the candidate could change; without changes when all verdicts stay, unmeasured
    (with the reason) when there is nothing to judge.
    """

    table: TableIdentifier
    changes: tuple[VerdictChange, ...] = ()
    unmeasured: str = ""
