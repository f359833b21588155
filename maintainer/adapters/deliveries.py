"""Deliveries to other services, from a separate thread: a slow receiver delays no other work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from math import inf
from queue import Empty, Full, Queue
from threading import Event, Thread
from time import monotonic
from typing import Final, Generic, TypeVar

MAX_WAITING = 1_000
_CHECK_SECONDS: Final = 0.2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Refused(Generic[T]):
    letter: T
    attempt: int
    due: float  # by the monotonic clock


class Deliveries(Generic[T]):
    """A bounded queue of letters, which is only in memory.

    `deliver` gets a letter, the number of the attempt, and whether this is the last attempt. The
    letter that it returns is tried again after the next of the waits. It raises no errors.
    """

    def __init__(
        self,
        name: str,
        deliver: Callable[[T, int, bool], T | None],
        waits: Sequence[timedelta] = (),
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the thread, which also calls `meanwhile` repeatedly until the end."""
        self._deliver = deliver
        self._waits = waits
        self._meanwhile = meanwhile
        self._queue: Queue[T] = Queue(MAX_WAITING)
        self._refused: list[_Refused[T]] = []
        self._closing = Event()
        self._thread = Thread(target=self._deliver_all, name=name, daemon=True)
        self._thread.start()

    @property
    def is_closing(self) -> bool:
        return self._closing.is_set()

    def put(self, letter: T) -> bool:
        """Queue a letter; False if the queue is full."""
        try:
            self._queue.put_nowait(letter)
        except Full:
            return False
        return True

    def close(self, grace: timedelta) -> None:
        """Wait for queued letters, at most this long; refused letters are tried a last time."""
        self._closing.set()
        self._thread.join(grace.total_seconds())

    def _deliver_all(self) -> None:
        while not (self.is_closing and self._queue.empty()):
            with suppress(Empty):
                self._try(self._queue.get(timeout=_CHECK_SECONDS))
            self._try_again(monotonic())
            if not self.is_closing:
                self._meanwhile()
        self._try_again(inf)

    def _try_again(self, now: float) -> None:
        due = [refused for refused in self._refused if refused.due <= now]
        self._refused = [refused for refused in self._refused if refused.due > now]
        for refused in due:
            self._try(refused.letter, refused.attempt)

    def _try(self, letter: T, attempt: int = 1) -> None:
        is_last = attempt > len(self._waits) or self.is_closing
        left = self._deliver(letter, attempt, is_last)
        if left is not None and not is_last:
            due = monotonic() + self._waits[attempt - 1].total_seconds()
            self._refused.append(_Refused(left, attempt + 1, due))
