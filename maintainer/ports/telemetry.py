"""Counting and timing what the daemon does, for those who watch it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from maintainer.domain.effect import Effect
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.domain.plan import Plan
from maintainer.domain.reader import ReaderFault, SlowRead
from maintainer.domain.verdict import RuleVerdict


class Telemetry(Protocol):
    """Told of everything that happened; never fails, never decides. What is, and not what happened,
    is in the store.
    """

    def table_measured(self, health: TableHealth, grade: Grade) -> None:
        """A table has been measured."""
        ...

    def table_gone(self, table: TableIdentifier) -> None:
        """A table is no longer there."""
        ...

    def scan_finished(self, seconds: float, entries: int, tables: int, faults: int) -> None:
        """A scan of the fleet is over: manifest entries read, tables measured, names that
        failed.
        """
        ...

    def reader_checked(self, fault: ReaderFault | None) -> None:
        """Whether the fast reader of manifests works here, or why every one of them is read by the
        slow one.
        """
        ...

    def manifests_read_slowly(self, reason: SlowRead, manifests: int) -> None:
        """So many manifests and manifest lists were left to the slow reader, each by itself."""
        ...

    def plan_made(self, plan: Plan) -> None:
        """A plan was made: one verdict a rule."""
        ...

    def verdicts_changed(self, verdicts: Sequence[RuleVerdict]) -> None:
        """What plans want was held back by admission, or is not any more."""
        ...

    def job_finished(self, job: Job, effect: Effect | None) -> None:
        """A job has reached a final state."""
        ...

    def step_finished(self, step: str, seconds: float, is_ok: bool) -> None:
        """One run of a step of the loop is over."""
        ...
