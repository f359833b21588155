"""Which processes live: a heart that has not beaten for a while by our own clock has stopped.

No two clocks are compared. Time in which the store could not be read does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

DEAD_AFTER = timedelta(seconds=30)  # without a heartbeat
BEAT_EVERY = timedelta(seconds=5)


class Heartbeats:
    """The heartbeats of all processes as this one has seen them."""

    def __init__(self, dead_after: timedelta = DEAD_AFTER) -> None:
        self._dead_after = dead_after.total_seconds()
        self._seen: dict[str, tuple[int | None, float]] = {}  # the count, and since when
        self._now = 0.0

    def observe(self, beats: Mapping[str, int | None], now: float) -> None:
        """Take what the store says at this time of a monotonic clock."""
        self._now = now
        self._seen = {
            owner: self._seen[owner]
            if owner in self._seen and self._seen[owner][0] == count
            else (count, now)
            for owner, count in beats.items()
        }

    def restart(self, now: float) -> None:
        """Count from now on: the store could not be read, so nobody could be seen to live."""
        self._now = now
        self._seen = {owner: (count, now) for owner, (count, _) in self._seen.items()}

    def lives(self, owner: str) -> bool | None:
        """Return whether the process lives; None for one that never had a heartbeat."""
        if owner not in self._seen:
            return None
        count, since = self._seen[owner]
        return count is not None and self._now - since < self._dead_after

    def others(self, owner: str) -> list[str]:
        """Return the living processes besides this one."""
        return [other for other in self._seen if other != owner and self.lives(other)]

    def dead_for(self, owner: str) -> float:
        """Return for how many seconds the process has not changed."""
        return self._now - self._seen[owner][1] if owner in self._seen else 0.0
