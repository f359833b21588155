"""The store's data for admission: candidates, reads, spending, calibration, pauses and drains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from maintainer.domain.admission import Candidate, ScopePause
from maintainer.domain.cost import Calibration
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import RuleVerdict, StandingVerdict
from maintainer.domain.policy import DailyWork, Spending
from maintainer.domain.reads import TableReads


class AdmissionStore(Protocol):
    """The part of the store that admission reads.

    The data is written together with plans and jobs, so it cannot contradict them.
    """

    def candidates(self) -> Sequence[Candidate]:
        """The planned actions of the latest plans, by table and in the fixed order.

        Reading them does not read the plans, which are large.
        """

    def standing_verdicts(self) -> Sequence[StandingVerdict]:
        """The standing verdicts on planned actions: planned, or waiting for admission.

        They are sorted by table and rule.
        """

    def replace_verdicts(
        self, changes: Sequence[tuple[StandingVerdict, RuleVerdict]]
    ) -> Sequence[RuleVerdict]:
        """Replace each of these verdicts by a new verdict, which begins at its own time.

        Returns the verdicts that were written. A verdict that changed meanwhile is not
        replaced.
        """

    def spending(self, day: str) -> Spending:
        """The cost of the jobs stored on that day (UTC, 2026-11-21).

        The predicted cost of unfinished jobs counts too.
        """

    def daily_work(
        self, catalog: str | None, namespace: str | None, first_day: str, last_day: str
    ) -> Sequence[DailyWork]:
        """The work of each day with jobs: of a namespace (not nested ones), a catalog or the fleet.

        It is kept as long as jobs are kept.
        """

    def calibration(self, table_uuid: str, catalog: str) -> Calibration:
        """The calibration of the table, of its catalog and of the fleet, from finished jobs."""

    def set_scope_pause(self, pause: ScopePause) -> None:
        """Store a pause or drain of a scope; it replaces an earlier pause of the same scope."""

    def remove_scope_pause(self, scope: str) -> bool:
        """Remove the pause or drain of exactly this scope; False if there was none."""

    def scope_pauses(self) -> Sequence[ScopePause]:
        """Every pause and drain in force, by scope."""


class ReadStore(Protocol):
    """The part of the store that counts the reads of each table and day."""

    def add_reads(self, day: str, reads: Mapping[TableIdentifier, int]) -> None:
        """Add reads of tables to the counts of a day (UTC, 2026-11-21)."""

    def reads(self, first_day: str, last_day: str) -> Sequence[TableReads]:
        """The reads of every table with reads within these days, sorted by table."""

    def reads_of(self, table: TableIdentifier, first_day: str, last_day: str) -> TableReads | None:
        """The reads of one table within these days, None without any.

        Their first day is the first day with a read of any table in the catalog.
        """

    def prune_reads(self, before: str) -> int:
        """Delete the counts of earlier days; returns how many."""
        ...
