"""One table's trouble is not the others': every one has its turn, and what went wrong is told
afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from functools import partial
from threading import Thread
from typing import TypeVar

from maintainer.domain.errors import StoreUnavailableError

T = TypeVar("T")
R = TypeVar("R")


class Trouble:
    """The errors of those who have had their turn, kept until all have."""

    def __init__(self) -> None:
        self._errors: list[Exception] = []
        self._turns = 0

    def guard(self, do: Callable[[], R]) -> R | None:
        """What it returns, or None when it went wrong; the store's error, without which nothing
        goes, is raised at once.
        """
        self._turns += 1
        try:
            return do()
        except StoreUnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - a bug that one table brings out must not leave the others without maintenance
            self._errors.append(error)
            return None

    def tell(self) -> None:
        """Raise the first error, if there was any."""
        if not self._errors:
            return
        first, *others = self._errors
        if others:
            first.add_note(f"and {len(others)} more of {self._turns} went wrong")
        raise first


def each(
    items: Iterable[T], do: Callable[[T], R], should_stop: Callable[[], bool] = lambda: False
) -> list[R]:
    """Do it for every item, or until it should stop.

    The first error is raised when all have had their turn, that of the store, without which nothing
    goes, at once.
    """
    trouble = Trouble()
    done: list[R] = []
    for item in items:
        if should_stop():
            break
        trouble.guard(lambda item=item: done.append(do(item)))  # type: ignore[misc]  # mypy infers no lambda's default
    trouble.tell()
    return done


def at_once(items: Iterable[T], do: Callable[[T], R]) -> list[R]:
    """The same as `each`, but side by side, each item in a thread of its own: one that hangs delays
    no other.
    """
    started = [_start(partial(do, item)) for item in items]
    wait(started)
    # What is no Exception ends the process, and the store's error is raised before the others:
    # `each` raises both at once.
    first = sorted(
        started,
        key=lambda one: (
            isinstance(one.exception(), Exception)
            and not isinstance(one.exception(), StoreUnavailableError)
        ),
    )
    each(first, lambda one: one.result())
    return [one.result() for one in started]


def _start(work: Callable[[], R]) -> Future[R]:
    done: Future[R] = Future()

    def settle() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the work is waited for
            done.set_exception(error)

    Thread(target=settle, name="at-once", daemon=True).start()
    return done
