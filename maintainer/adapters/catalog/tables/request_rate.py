"""Limits how often a catalog is polled where each table costs a request.

The rate has a maximum, and idle tables are asked rarely.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from maintainer.domain.identifier import TableIdentifier

_FINEST_SLEEP_SECONDS: Final = 0.005  # shorter sleeps cost more than they wait


@dataclass(frozen=True, slots=True)
class PollLimits:
    """The bounds of polling one catalog table by table.

    A table's interval grows by the factor `growth` each time the table is unchanged. It varies
    randomly by `jitter` of itself, so that tables do not stay in step.
    """

    requests_per_second: float = 200.0
    concurrency: int = 64
    min_interval: timedelta = timedelta(minutes=1)
    max_interval: timedelta = timedelta(hours=1)
    growth: float = 1.5
    jitter: float = 0.1


class Rate:
    """Hands out times at least 1 / per_second apart, to threads and coroutines alike."""

    def __init__(self, per_second: float) -> None:
        self._seconds = 1 / per_second
        self._lock = Lock()
        self._next = 0.0

    def reserve(self) -> float:
        """Return the seconds to wait before the next request."""
        with self._lock:
            now = time.monotonic()
            moment = max(now, self._next)
            self._next = moment + self._seconds
            return moment - now

    def wait(self) -> None:
        """Block until the next request may go."""
        delay = self.reserve()
        if delay > _FINEST_SLEEP_SECONDS:
            time.sleep(delay)

    async def turn(self) -> None:
        """Wait until the next request may go."""
        delay = self.reserve()
        if delay > _FINEST_SLEEP_SECONDS:
            await asyncio.sleep(delay)


class Intervals:
    """When each table is due.

    It is kept in memory: after a restart every table is asked once, and an unchanged one answers
    cheaply.
    """

    def __init__(self, limits: PollLimits, seed: int | None = None) -> None:
        """Take the bounds; a seed makes the jitter repeatable."""
        self._least = limits.min_interval.total_seconds()
        self._greatest = max(self._least, limits.max_interval.total_seconds())
        self._growth = limits.growth
        self._jitter = limits.jitter
        self._random = random.Random(seed)  # noqa: S311 - spreads requests, guards nothing
        # due, interval, last asked
        self._tables: dict[TableIdentifier, tuple[float, float, float]] = {}

    def is_due(
        self, table: TableIdentifier, now: datetime, within: timedelta | None = None
    ) -> bool:
        """Say whether the table is due, by its interval or because `within` has passed."""
        found = self._tables.get(table)
        # the last: the clock was set back
        if found is None or found[0] <= now.timestamp() or now.timestamp() < found[2]:
            return True
        return within is not None and now.timestamp() - found[2] >= within.total_seconds()

    def note(self, table: TableIdentifier, now: datetime, *, is_changed: bool) -> None:
        """Shorten the interval of a table that changes; lengthen that of an idle one."""
        found = self._tables.get(table)
        interval = (
            self._least
            if found is None or is_changed
            else min(self._greatest, found[1] * self._growth)
        )
        spread = interval * self._random.uniform(1 - self._jitter, 1 + self._jitter)
        self._tables[table] = (
            now.timestamp() + min(self._greatest, max(self._least, spread)),
            interval,
            now.timestamp(),
        )

    def keep(self, tables: Collection[TableIdentifier]) -> None:
        """Forget all other tables."""
        self._tables = {table: self._tables[table] for table in tables if table in self._tables}
