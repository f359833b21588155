"""The queue for whoever looks: worked out anew at most every few seconds, however many ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from maintainer.domain.admission import AdmissionVerdict
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.clock import Clock

# Judging every planned action of 100,000 tables takes a second or two; a queue of five seconds ago answers as well.
MAX_AGE = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Queue:
    """What admission said of every planned action at one moment, the best first."""

    at: datetime
    verdicts: Sequence[AdmissionVerdict] = ()

    def of(self, table: TableIdentifier) -> tuple[AdmissionVerdict, ...]:
        """Those of one table."""
        return tuple(verdict for verdict in self.verdicts if verdict.candidate.table == table)


class QueueBoard:
    """Keeps the last queue; safe for threads."""

    def __init__(self, judge: Callable[[], Sequence[AdmissionVerdict]], clock: Clock) -> None:
        self._judge = judge
        self._clock = clock
        self._lock = Lock()
        self._last: Queue | None = None

    def read(self) -> Queue:
        """The queue, at most MAX_AGE old."""
        with self._lock:
            now = self._clock.now()
            if self._last is None or now - self._last.at >= MAX_AGE:
                self._last = Queue(now, self._judge())
            return self._last
