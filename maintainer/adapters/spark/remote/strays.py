"""Applications of this installation that the store does not know, such as after it was restored."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from datetime import timedelta

from maintainer.adapters.spark.launcher import Launcher

_EVERY_SECONDS = 60.0  # between two questions to the cluster

_LOG = logging.getLogger(__name__)


class Strays:
    """Ends applications that stay unknown for longer than any job of theirs may work."""

    def __init__(
        self,
        launcher: Launcher,
        patience: timedelta,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the time for which a driver may work without an answer."""
        self._launcher = launcher
        self._patience = patience.total_seconds()
        self._clock = clock
        self._asked_at = float("-inf")
        self._seen: dict[str, float] = {}  # when each was seen first, by its handle

    def sweep(self, read_known: Callable[[], Collection[str]]) -> None:
        """End those that are due; ``read_known`` reads the names of the store's living drivers.

        A driver's row is older than its application, so rows are read after applications. A handle
        contains its driver's name. RunnerUnavailableError if the cluster cannot be asked.
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
