"""The contenders beside this daemon: a nightly cron job, and the published model alone.

The model is AutoComp, SIGMOD-Companion 2025, without planner, calibration and waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from maintainer.estimate.score import GAIN_WEIGHT, normalise
from tests.labs.simulation.fleet import Layout, Traits
from tests.labs.simulation.table import SimulatedTable
from tests.labs.simulation.trial import Outcome, Work

# The published figures of OpenHouse: an executor of 2 GB that rewrites 2 MB/s, and a fixed share
# for the start.
MEMORY_GB = 2.0
BYTES_PER_HOUR = 2e6 * 3600
START_UP_GB_HOURS = 0.5
# after a later commit an unpartitioned table has no gain: its rewrite would conflict
QUIET = timedelta(days=7)
SUCCESS_COOLDOWN = timedelta(hours=16)
FAILURE_COOLDOWN = timedelta(hours=1)


class AutoComp:
    """Scores tables by the files under the target (gain) and their bytes (cost).

    Both are normalised over the fleet; the best score comes first.
    """

    name = "autocomp (published)"

    def __init__(self) -> None:
        self._resting: dict[int, datetime] = {}

    def target_of(self, traits: Traits) -> int:
        """Return the table's own target."""
        return traits.target_bytes

    def choose(
        self, now: datetime, tables: Sequence[SimulatedTable], left_gb_hours: float | None
    ) -> Iterator[Work]:
        """Yield all tables with small files by score, except those in a cooldown."""
        del left_gb_hours
        figures = [
            (number, *_observe(table, now))
            for number, table in enumerate(tables)
            if self._resting.get(number, now) <= now
        ]
        wanted = [(number, gain, cost) for number, gain, cost in figures if gain > 0]
        gains, costs = (
            normalise([gain for _, gain, _ in wanted]),
            normalise([cost for _, _, cost in wanted]),
        )
        scored = [
            (GAIN_WEIGHT * gain - (1 - GAIN_WEIGHT) * cost, entry)
            for gain, cost, entry in zip(gains, costs, wanted, strict=True)
        ]
        for _, (number, gain, cost) in sorted(scored, key=lambda item: (-item[0], item[1][0])):
            yield Work(number, is_partial=True, expected_files_removed=gain, expected_gb_hours=cost)

    def learn(self, work: Work, table: SimulatedTable, outcome: Outcome) -> None:
        """Start the table's cooldown; nothing is learnt."""
        del table
        self._resting[work.table] = outcome.started_at + (
            FAILURE_COOLDOWN if outcome.is_conflict else SUCCESS_COOLDOWN
        )


def _observe(table: SimulatedTable, now: datetime) -> tuple[int, float]:
    """Return (gain, cost): small files in all partitions, GB-hours."""
    parts = table.partitions.values()
    newest = max((part.written_at for part in parts if part.written_at is not None), default=now)
    if table.traits.layout is Layout.UNPARTITIONED and now - newest < QUIET:
        return 0, 0.0
    size = sum(part.small_bytes for part in parts)
    return sum(
        part.small_files for part in parts
    ), MEMORY_GB * size / BYTES_PER_HOUR + START_UP_GB_HOURS


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
        left_gb_hours: float | None,  # noqa: ARG002 - this peer ignores it
    ) -> Iterator[Work]:
        if now.toordinal() != self._day:
            self._day, self._left_today = now.toordinal(), len(tables)
        while self._left_today:
            number = self._next
            self._next, self._left_today = (number + 1) % len(tables), self._left_today - 1
            yield Work(number)

    def learn(self, work: Work, table: SimulatedTable, outcome: Outcome) -> None:
        """Learn nothing."""
