"""Until when each job may work: whoever is not renewed in time is ended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from threading import Lock, Timer


class Fences:
    """One timer per job; `end` is called with the job's id when its time is up."""

    def __init__(self, end: Callable[[str], None]) -> None:
        self._end = end
        self._timers: dict[str, Timer] = {}
        self._lock = Lock()

    def set(self, job_id: str, valid_for: timedelta) -> None:
        """Replace the job's time."""
        timer = Timer(valid_for.total_seconds(), self._end, (job_id,))
        timer.daemon = True
        with self._lock:
            before = self._timers.pop(job_id, None)
            self._timers[job_id] = timer
        if before is not None:
            before.cancel()
        timer.start()

    def lift(self, job_id: str) -> None:
        """The job is over: its time does not matter any more."""
        with self._lock:
            timer = self._timers.pop(job_id, None)
        if timer is not None:
            timer.cancel()

    def lift_all(self) -> None:
        """End every timer."""
        for job_id in list(self._timers):
            self.lift(job_id)
