"""What the store remembers for admission: candidates, what was spent, what jobs taught, and
halts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from maintainer.domain.admission import Candidate, Halt
from maintainer.domain.budget import Spending
from maintainer.domain.calibration import Calibration
from maintainer.domain.verdict import RuleVerdict, StandingVerdict


class AdmissionStore(Protocol):
    """The part of the store that admission reads. Plans and jobs write it as they are stored: it
    cannot disagree with them.
    """

    def candidates(self) -> Sequence[Candidate]:
        """What the latest plans want started, by table and in the fixed order; without the plans,
        which are large.
        """
        ...

    def standing_verdicts(self) -> Sequence[StandingVerdict]:
        """Those of the standing verdicts on candidates' tables that say planned, or that admission
        holds back what is planned; by table and rule.
        """
        ...

    def replace_verdicts(
        self, changes: Sequence[tuple[StandingVerdict, RuleVerdict]]
    ) -> Sequence[RuleVerdict]:
        """End each of these and let another verdict stand from its time on; returns those that were
        written: one whose standing verdict changed is not.
        """
        ...

    def spending(self, day: str) -> Spending:
        """What the jobs that were stored on that day (UTC, 2026-11-21) have cost, those that are
        not done as predicted.
        """
        ...

    def calibration(self, table_uuid: str, catalog: str) -> Calibration:
        """What finished jobs taught of the table's actions, of its catalog's and of all."""
        ...

    def set_halt(self, halt: Halt) -> None:
        """Halt a scope; another halt of the same scope is replaced."""
        ...

    def lift_halt(self, scope: str) -> bool:
        """Take a halt back; False when there was none of that very scope."""
        ...

    def halts(self) -> Sequence[Halt]:
        """Every halt that stands, by scope."""
        ...
