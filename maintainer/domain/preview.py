"""What other policies would change, table by table."""

from __future__ import annotations

from dataclasses import dataclass

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import RuleName


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


@dataclass(frozen=True, slots=True)
class TablePreview:
    """One table that the candidate policy could change.

    Without changes all verdicts stay. `unmeasured` is the reason when there is no health to decide
    on.
    """

    table: TableIdentifier
    changes: tuple[VerdictChange, ...] = ()
    unmeasured: str = ""
