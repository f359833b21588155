"""Answers that read every table, made at most every so often however many clients ask."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Generic, TypeVar

from maintainer.ports.clock import Clock

MAX_AGE = timedelta(minutes=1)
QUEUE_AGE = timedelta(seconds=5)
# Reading 100,000 tables takes some seconds. This must not become the daemon's main work.
REST_FACTOR = 10
MOST_ANSWERS = 16  # for different questions, or for people who may see different tables

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _Kept(Generic[Answer]):
    at: datetime
    took: timedelta
    answer: Answer


@dataclass(slots=True)
class FleetCache(Generic[Question, Answer]):
    """Keeps the last answer to each question; safe for threads."""

    read_fleet: Callable[[Question], Answer]
    clock: Clock
    max_age: timedelta = MAX_AGE
    _kept: dict[Question, _Kept[Answer]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def read(self, question: Question) -> Answer:
        """The answer, at most the greatest age or ten times its reading time old.

        While another thread reads the fleet, the last answer is returned.
        """
        kept = self._kept.get(question)
        if not self._lock.acquire(blocking=kept is None) and kept is not None:
            return kept.answer
        try:
            kept = self._kept.get(question)
            now = self.clock.now()
            if kept is None or now - kept.at >= max(self.max_age, REST_FACTOR * kept.took):
                kept = self._renew(question, now)
            return kept.answer
        finally:
            self._lock.release()

    def _renew(self, question: Question, now: datetime) -> _Kept[Answer]:
        answer = self.read_fleet(question)
        self._kept.pop(question, None)
        while len(self._kept) >= MOST_ANSWERS:
            del self._kept[next(iter(self._kept))]
        kept = self._kept[question] = _Kept(now, self.clock.now() - now, answer)
        return kept
