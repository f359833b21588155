"""The commonest contender: it rewrites every table, one after the other, in any state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from maintainer.simulation.fleet import Traits
from maintainer.simulation.table import SimulatedTable
from maintainer.simulation.trial import Outcome, Work


class Cron:
    """Rewrites every table once a day; after the end of a budget it continues the next day."""

    name = "cron-everything"

    def __init__(self) -> None:
        self._next = 0
        self._left_today = 0
        self._day = -1

    def target_of(self, traits: Traits) -> int:
        """Return the table's own target."""
        return traits.target_bytes

    def choose(
        self,
        now: datetime,
        tables: Sequence[SimulatedTable],
        left_gb_hours: float | None,  # noqa: ARG002 - it does not look
    ) -> Iterator[Work]:
        """Yield the tables in turn."""
        if now.toordinal() != self._day:
            self._day, self._left_today = now.toordinal(), len(tables)
        while self._left_today:
            number = self._next
            self._next, self._left_today = (number + 1) % len(tables), self._left_today - 1
            yield Work(number)

    def learn(self, work: Work, table: SimulatedTable, outcome: Outcome) -> None:
        """Learn nothing."""
