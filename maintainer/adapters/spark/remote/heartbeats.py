"""Finds out which processes live. A process without a heartbeat for some time is dead.

The time is measured by this process's clock, so no two clocks are compared. Time in which the store
could not be read does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

DEAD_AFTER = timedelta(seconds=30)  # after this time without a heartbeat a process is dead
BEAT_EVERY = timedelta(seconds=5)


class Heartbeats:
    """The heartbeats of all processes, as this process has seen them."""

    def __init__(self, dead_after: timedelta = DEAD_AFTER) -> None:
        self._dead_after = dead_after.total_seconds()
        self._seen: dict[str, tuple[int | None, float]] = {}  # the count, and when it changed
        self._now = 0.0

    def observe(self, beats: Mapping[str, int | None], now: float) -> None:
        """Take the stored counts at this time of a monotonic clock."""
        self._now = now
        self._seen = {
            owner: self._seen[owner]
            if owner in self._seen and self._seen[owner][0] == count
            else (count, now)
            for owner, count in beats.items()
        }

    def restart(self, now: float) -> None:
        """Count the time again from now, because the store could not be read before."""
        self._now = now
        self._seen = {owner: (count, now) for owner, (count, _) in self._seen.items()}

    def lives(self, owner: str) -> bool | None:
        """Return whether the process lives; None if the process never had a heartbeat."""
        if owner not in self._seen:
            return None
        count, since = self._seen[owner]
        return count is not None and self._now - since < self._dead_after

    def others(self, owner: str) -> list[str]:
        """Return the other living processes."""
        return [other for other in self._seen if other != owner and self.lives(other)]

    def dead_for(self, owner: str) -> float:
        """Return the seconds since the process's count last changed."""
        return self._now - self._seen[owner][1] if owner in self._seen else 0.0
