"""Ends applications of this installation that the store does not know.

There may be such applications after the store was restored from a backup.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from datetime import timedelta

from maintainer.adapters.spark.launcher import Launcher

_EVERY_SECONDS = 60.0  # between two questions to the cluster

_LOG = logging.getLogger(__name__)


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
