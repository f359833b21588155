"""The queue of letters to other services, and when a refused one is tried again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from threading import Event

import pytest

from maintainer.adapters import deliveries
from maintainer.adapters.deliveries import Deliveries
from tests.adapters.spark.lakes import wait_until

GRACE = timedelta(seconds=30)
AT_ONCE = timedelta(0)
LATER = timedelta(hours=1)


class Receiver:
    """Refuses a letter so many times; notes each attempt."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.attempts: list[tuple[str, int, bool]] = []

    def __call__(self, letter: str, attempt: int, is_last: bool) -> str | None:
        self.attempts.append((letter, attempt, is_last))
        self.refusals -= 1
        return None if self.refusals < 0 else f"{letter}'"


def test_what_is_left_of_a_letter_is_tried_again_after_each_wait_and_no_more() -> None:
    receiver = Receiver(refusals=9)
    queue = Deliveries("letters", receiver, (AT_ONCE, AT_ONCE))
    assert queue.put("a")
    wait_until(lambda: len(receiver.attempts) == 3)
    queue.close(GRACE)
    assert receiver.attempts == [("a", 1, False), ("a'", 2, False), ("a''", 3, True)]


def test_a_letter_waits_for_its_time_and_is_tried_a_last_time_at_the_end() -> None:
    receiver = Receiver(refusals=1)
    queue = Deliveries("letters", receiver, (LATER, LATER))
    queue.put("a")
    wait_until(lambda: len(receiver.attempts) == 1)
    queue.put("b")
    wait_until(lambda: len(receiver.attempts) == 2)
    queue.close(GRACE)
    assert receiver.attempts == [("a", 1, False), ("b", 1, False), ("a'", 2, True)]


def test_only_so_many_letters_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "MAX_WAITING", 1)
    gate, begun, receiver = Event(), Event(), Receiver()

    def deliver(letter: str, attempt: int, is_last: bool) -> str | None:
        begun.set()
        gate.wait()
        return receiver(letter, attempt, is_last)

    queue = Deliveries("letters", deliver)
    assert queue.put("a")
    begun.wait()
    assert [queue.put("b"), queue.put("c")] == [True, False]
    gate.set()
    queue.close(GRACE)
    assert receiver.attempts == [("a", 1, True), ("b", 1, True)]


def test_it_does_its_other_work_until_it_closes() -> None:
    done: list[int] = []
    look: Callable[[], None] = lambda: done.append(1)  # noqa: E731 - with its type
    queue: Deliveries[str] = Deliveries("letters", Receiver(), meanwhile=look)
    wait_until(lambda: len(done) > 1)
    queue.close(GRACE)
