"""Do work for every item although some items fail; report the failures afterwards."""

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
    """Collects the errors of single items until every item has been worked on."""

    def __init__(self) -> None:
        self._errors: list[Exception] = []
        self._turns = 0

    def guard(self, do: Callable[[], R]) -> R | None:
        """Return the result of `do`, or None when it fails.

        StoreUnavailableError is raised at once, because no item can succeed without the
        store.
        """
        self._turns += 1
        try:
            return do()
        except StoreUnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - an error that one table causes must not leave the others without maintenance
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
    """Call `do` for every item, or until `should_stop`, and return the results.

    The first error is raised after all items have been worked on; StoreUnavailableError at
    once.
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
    """The same as `each`, with one thread for each item, so that a hanging item delays no other."""
    started = [_start(partial(do, item)) for item in items]
    wait(started)
    # A BaseException that is no Exception ends the process, and a store error is raised
    # before all other errors: `each` raises both at once.
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
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits for the result
            done.set_exception(error)

    Thread(target=settle, name="at-once", daemon=True).start()
    return done
