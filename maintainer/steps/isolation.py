"""Runs work on many items. An item that fails, hangs or takes too long does not stop the others."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from threading import Lock, Thread
from typing import TypeVar

from maintainer.domain.errors import MaintainerError, StoreUnavailableError
from maintainer.domain.units import format_duration

T = TypeVar("T")
R = TypeVar("R")

DEFAULT_LIMIT = timedelta(minutes=10)
_STOP_CHECK_SECONDS = 0.1  # the interval between calls of `should_stop`
# Pieces of work that may run on after their time limit before new work has to wait. Each takes its
# share of one CPU, and holds the metadata of one table.
MOST_ABANDONED = 4
_LOG = logging.getLogger(__name__)


class Failures:
    """Collects the errors of single items until all items are done."""

    def __init__(self) -> None:
        self._errors: list[Exception] = []
        self._turns = 0

    def guard(self, do: Callable[[], R]) -> R | None:
        """Return the result of `do`, or None if it fails.

        StoreUnavailableError is raised at once, because no item can succeed without the store.
        """
        self._turns += 1
        try:
            return do()
        except StoreUnavailableError:
            raise
        # An error on one table must not stop the maintenance of other tables.
        except Exception as error:  # noqa: BLE001
            self._errors.append(error)
            return None

    def raise_first(self) -> None:
        """Raise the first error, if any; a note says how many others there were."""
        if not self._errors:
            return
        first, *others = self._errors
        if others:
            first.add_note(f"and {len(others)} more of {self._turns} failed")
        raise first


def each(
    items: Iterable[T], do: Callable[[T], R], should_stop: Callable[[], bool] = lambda: False
) -> list[R]:
    """Call `do` for every item until `should_stop` is true, and return the results.

    The first error is raised after the last item; StoreUnavailableError is raised at once.
    """
    failures = Failures()
    done: list[R] = []
    for item in items:
        if should_stop():
            break
        # Mypy does not infer the type of a lambda's default.
        failures.guard(lambda item=item: done.append(do(item)))  # type: ignore[misc]
    failures.raise_first()
    return done


def in_parallel(items: Iterable[T], do: Callable[[T], R]) -> list[R]:
    """Do the same as `each`, with a thread for each item: a hanging item delays no other item."""
    started = [_start(partial(do, item)) for item in items]
    wait(started)
    # `each` raises these two kinds of errors at once, so they come first: errors that end the
    # process (not Exceptions), and then errors of the store.
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
    Thread(target=_settle, args=(work, done), name="at-once", daemon=True).start()
    return done


def one_at_a_time(do: Callable[[T], None]) -> Callable[[T], None]:
    """Return a function that several threads may call, and that runs `do` one call at a time."""
    lock = Lock()

    def call(item: T) -> None:
        with lock:
            do(item)

    return call


class TookTooLongError(MaintainerError):
    """Work on a table did not end within its time limit."""


class StoppedError(MaintainerError):
    """Work on a table was stopped because the process is about to end."""


class CrowdedError(StoppedError):
    """Work on a table was not begun, because too much other work runs on after its time limit."""


class Abandoned:
    """Work that nobody waits for any longer. Python cannot end a thread, so it runs to its end.

    Such work changes nothing, and its result is dropped. While it runs, the same piece of work does
    not begin again, and while `most` of them run, nothing new begins. Work that had begun by then
    may still be added. Safe for threads.
    """

    def __init__(self, most: int = MOST_ABANDONED) -> None:
        self.most = most
        self._lock = Lock()
        self._running: list[tuple[str, Thread]] = []

    def names(self) -> tuple[str, ...]:
        """What still runs, sorted."""
        with self._lock:
            self._running = [one for one in self._running if one[1].is_alive()]
            return tuple(sorted(name for name, _ in self._running))

    def check(self, name: str) -> None:
        """TookTooLongError if this piece of work still runs; CrowdedError if too many others do."""
        names = self.names()
        if name in names:
            raise TookTooLongError("its last run, which took too long, has not ended yet")
        if len(names) >= self.most:
            # Without their names: a person who reads this may see one table alone.
            raise CrowdedError(
                f"{name} waits, because {len(names)} pieces of work run on after their time limit"
            )

    def add(self, name: str, thread: Thread) -> None:
        """Count a thread until it ends."""
        with self._lock:
            self._running.append((name, thread))
        names = self.names()
        _LOG.error("work.abandoned work=%r running=%d most=%d", name, len(names), self.most)


ABANDONED = Abandoned()  # of this process
PREVIEWS = Abandoned()  # what people ask for: it must not keep the daemon from its own work


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """The time limit for work on one table, and a way to stop it earlier."""

    limit: timedelta = DEFAULT_LIMIT
    should_stop: Callable[[], bool] = lambda: False
    abandoned: Abandoned | None = None  # None: the daemon's own

    def run(self, name: str, work: Callable[[], R]) -> R:
        """Do the work within the limit; return its result, or raise its error.

        TookTooLongError or StoppedError if nobody waits for the work any longer; CrowdedError if it
        was not begun. The work must have no side effects, because it runs on after that. The name
        says what is done to which table.
        """
        abandoned = self.abandoned or ABANDONED
        abandoned.check(name)
        done: Future[R] = Future()
        thread = Thread(target=_settle, args=(work, done), name="bounded", daemon=True)
        ends = time.monotonic() + self.limit.total_seconds()
        thread.start()
        while not wait([done], max(0.0, min(_STOP_CHECK_SECONDS, ends - time.monotonic()))).done:
            if self.should_stop():
                raise StoppedError  # the thread ends with the process
            if time.monotonic() >= ends:
                abandoned.add(name, thread)
                raise TookTooLongError(f"it took longer than {format_duration(self.limit)}")
        return done.result()


def _settle(work: Callable[[], R], done: Future[R]) -> None:
    try:
        done.set_result(work())
    # The thread that waits for the result raises this error.
    except BaseException as error:  # noqa: BLE001
        done.set_exception(error)
