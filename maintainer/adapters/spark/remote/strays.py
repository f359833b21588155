"""Finds owners that are dead, and ends applications that the store does not know.

There may be such applications after the store was restored from a backup.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta

from maintainer.adapters.spark.launcher import Launcher

DEAD_AFTER = timedelta(seconds=30)  # after this time without a heartbeat a process is dead
BEAT_EVERY = timedelta(seconds=5)
_EVERY_SECONDS = 60.0  # between two questions to the cluster

_LOG = logging.getLogger(__name__)


class Heartbeats:
    """The heartbeats of all processes, as this process has seen them.

    The time is measured by this process's clock, so no two clocks are compared. Time in which the
    store could not be read does not count.
    """

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


class Strays:
    """Ends applications that are unknown for longer than any of their jobs may work."""

    def __init__(
        self,
        launcher: Launcher,
        patience: timedelta,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``patience`` is the time for which a driver may work without an answer."""
        self._launcher = launcher
        self._patience = patience.total_seconds()
        self._clock = clock
        self._asked_at = float("-inf")
        self._seen: dict[str, float] = {}  # when each unknown application was first seen, by handle

    def sweep(self, read_known: Callable[[], Collection[str]]) -> None:
        """End the applications that were unknown for too long.

        ``read_known`` reads the names of the running drivers in the store. A driver's row is older
        than its application, so rows are read after applications. A handle contains the driver's
        name. RunnerUnavailableError if the cluster does not answer.
        """
        now = self._clock()
        if now - self._asked_at < _EVERY_SECONDS:
            return
        self._asked_at = now
        found = self._launcher.find()
        known = read_known() if found else ()
        self._seen = {
            handle: self._seen.get(handle, now)
            for handle in found
            if not any(name in handle for name in known)
        }
        for handle, since in self._seen.items():
            if now - since > self._patience:
                _LOG.warning("link.stray_ended", extra={"handle": handle})
                self._launcher.end(handle)
