"""Sharing a pool's workers between huge and tiny tables."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Executor, Future
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


def map_in_turns(executor: Executor, work: Callable[[Item], Found], items: Iterable[Item], window: int) -> list[Found]:
    """Map in order with at most `window` items handed over at once, so that another caller's items come between; CancelledError when the pool is shut down."""
    waiting: deque[Future[Found]] = deque()
    found: list[Found] = []
    for item in items:
        if len(waiting) >= window:
            found.append(waiting.popleft().result())
        try:
            waiting.append(executor.submit(work, item))
        except RuntimeError as error:  # the pool was shut down between two items
            raise CancelledError from error
    found.extend(future.result() for future in waiting)
    return found
