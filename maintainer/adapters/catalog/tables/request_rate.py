"""Limits the polls of a catalog that needs a request for each table; questions and answers.

The rate of requests has a maximum, and idle tables are polled less often.
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

_FINEST_SLEEP_SECONDS: Final = 0.005  # shorter sleeps are too inexact


@dataclass(frozen=True, slots=True)
class PollLimits:
    """The limits of polling one catalog table by table.

    A table's interval grows by the factor `growth` each time the table is unchanged. The interval
    varies randomly by the share `jitter`, so that tables are not polled all at the same time.
    """

    requests_per_second: float = 200.0
    concurrency: int = 64
    min_interval: timedelta = timedelta(minutes=1)
    max_interval: timedelta = timedelta(hours=1)
    growth: float = 1.5
    jitter: float = 0.1


class Rate:
    """Gives threads and coroutines times for their requests, at least 1 / per_second apart."""

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
        """Block until the next request may be sent."""
        delay = self.reserve()
        if delay > _FINEST_SLEEP_SECONDS:
            time.sleep(delay)

    async def turn(self) -> None:
        """Wait until the next request may be sent."""
        delay = self.reserve()
        if delay > _FINEST_SLEEP_SECONDS:
            await asyncio.sleep(delay)


class Intervals:
    """The times when tables are due.

    They are only in memory: after a restart every table is polled once, and polling an unchanged
    table is cheap.
    """

    def __init__(self, limits: PollLimits, seed: int | None = None) -> None:
        """A seed makes the jitter repeatable."""
        self._least = limits.min_interval.total_seconds()
        self._greatest = max(self._least, limits.max_interval.total_seconds())
        self._growth = limits.growth
        self._jitter = limits.jitter
        self._random = random.Random(seed)  # noqa: S311 - only spreads requests, not for security
        # when the table is due, its interval, and when it was last polled
        self._tables: dict[TableIdentifier, tuple[float, float, float]] = {}

    def is_due(
        self, table: TableIdentifier, now: datetime, within: timedelta | None = None
    ) -> bool:
        """Return whether the table is due, by its interval or because `within` has passed."""
        found = self._tables.get(table)
        # The last condition means that the clock was set back.
        if found is None or found[0] <= now.timestamp() or now.timestamp() < found[2]:
            return True
        return within is not None and now.timestamp() - found[2] >= within.total_seconds()

    def note(self, table: TableIdentifier, now: datetime, *, is_changed: bool) -> None:
        """Shorten the interval of a changed table; lengthen the interval of an idle table."""
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


@dataclass(frozen=True, slots=True)
class Question:
    """A table with its known ETag and metadata location; "" if unknown."""

    table: TableIdentifier
    etag: str = ""
    location: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The table's state, which is that of the question if the table is unchanged.

    Both fields are empty if the state can only be found by loading the table.
    """

    etag: str
    location: str
    is_changed: bool


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The reason why the server gave no state."""

    reason: str
