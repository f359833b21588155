"""How many requests one person or token may send, and how many streams each may follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic

MAX_NAMES = 10_000  # with more names, those that may send again are forgotten


class Limits:
    """A bucket for each name, full at first, that fills at a steady rate; safe for threads."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = monotonic) -> None:
        self._burst = per_minute
        self._per_second = per_minute / 60
        self._clock = clock
        self._lock = Lock()
        self._full_at: dict[str, float] = {}  # when each bucket will be full again

    def take(self, name: str) -> float:
        """Count one request; 0.0 when it may be answered, else the seconds until it may."""
        return self._ask(name, is_counted=True)

    def wait(self, name: str) -> float:
        """The same without counting it."""
        return self._ask(name, is_counted=False)

    def _ask(self, name: str, *, is_counted: bool) -> float:
        with self._lock:
            now = self._clock()
            if len(self._full_at) > MAX_NAMES:
                self._full_at = {each: at for each, at in self._full_at.items() if at > now}
            full_at = max(now, self._full_at.get(name, now)) + 1 / self._per_second
            over = full_at - now - self._burst / self._per_second
            if over > 0:
                return over
            if is_counted:
                self._full_at[name] = full_at
            return 0.0


class Streams:
    """How many event streams each name follows now; safe for threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = Lock()
        self._open: Counter[str] = Counter()

    @contextmanager
    def lend(self, name: str) -> Iterator[Callable[[], bool]]:
        """Yield what takes one stream, until the end of the context; it is False for one more."""
        taken = 0

        def take() -> bool:
            nonlocal taken
            with self._lock:
                if self._open[name] >= self.most:
                    return False
                self._open[name] += 1
                taken += 1
                return True

        try:
            yield take
        finally:
            with self._lock:
                self._open[name] -= taken
                self._open += Counter()  # removes the names without an open stream
