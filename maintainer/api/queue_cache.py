"""The queue, computed at most every few seconds however many clients ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from maintainer.domain.admission import AdmissionDecision
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.clock import Clock

MAX_AGE = timedelta(seconds=5)
# Computing the queue of 100,000 tables takes some seconds, and must not become the daemon's main
# work.
REST_FACTOR = 10


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue at one moment, best first."""

    at: datetime
    decisions: Sequence[AdmissionDecision] = ()

    def of(self, table: TableIdentifier) -> tuple[AdmissionDecision, ...]:
        """The part of the queue that concerns one table."""
        return tuple(decision for decision in self.decisions if decision.candidate.table == table)


class QueueBoard:
    """Keeps the last queue; safe for threads."""

    def __init__(self, read_queue: Callable[[], Sequence[AdmissionDecision]], clock: Clock) -> None:
        self._read_queue = read_queue
        self._clock = clock
        self._lock = Lock()
        self._last: Queue | None = None
        self._took = timedelta(0)

    def read(self) -> Queue:
        """The queue, at most MAX_AGE or ten times its computing time old.

        While another thread computes it, the previous one is returned.
        """
        last = self._last
        if last is not None and not self._lock.acquire(blocking=False):
            return last
        if last is None:
            self._lock.acquire()
        try:
            return self._renew()
        finally:
            self._lock.release()

    def _renew(self) -> Queue:
        now = self._clock.now()
        if self._last is None or now - self._last.at >= max(MAX_AGE, REST_FACTOR * self._took):
            self._last = Queue(now, self._read_queue())
            self._took = self._clock.now() - now
        return self._last
