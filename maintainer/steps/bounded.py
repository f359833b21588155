"""Run work on one table in its own thread, so that it can be given up.

A table that takes too long then delays neither other tables nor the end of the process.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import timedelta
from threading import Thread
from typing import TypeVar

from maintainer.domain.errors import MaintainerError
from maintainer.domain.units import format_duration

R = TypeVar("R")

DEFAULT_LIMIT = timedelta(minutes=10)
_STOP_CHECK_SECONDS = 0.1  # how often `should_stop` is asked


class TookTooLongError(MaintainerError):
    """Work on a table did not end within its time limit."""


class StoppedError(MaintainerError):
    """Work on a table was given up because the process is about to end."""


class _GiveUp(BaseException):
    """Raised inside a thread whose result nobody waits for any more."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The time limit for work on one table, and a way to stop it earlier."""

    limit: timedelta = DEFAULT_LIMIT
    should_stop: Callable[[], bool] = lambda: False

    def run(self, work: Callable[[], R]) -> R:
        """Return or raise what the work returns or raises, within the limit.

        TookTooLongError or StoppedError when the work is given up. The work must be pure
        Python without side effects, because it can be interrupted anywhere.
        """
        done: Future[R] = Future()
        thread = Thread(target=_settle, args=(work, done), name="bounded", daemon=True)
        ends = time.monotonic() + self.limit.total_seconds()
        thread.start()
        while not wait([done], max(0.0, min(_STOP_CHECK_SECONDS, ends - time.monotonic()))).done:
            if self.should_stop():
                _interrupt(thread)
                raise StoppedError
            if time.monotonic() >= ends:
                _interrupt(thread)
                message = f"it took longer than {format_duration(self.limit)}"
                raise TookTooLongError(message)
        return done.result()


def _settle(work: Callable[[], R], done: Future[R]) -> None:
    try:
        done.set_result(work())
    except _GiveUp:
        return
    except BaseException as error:  # noqa: BLE001 - it is the caller's
        done.set_exception(error)


def _interrupt(thread: Thread) -> None:
    """Raise _GiveUp at the thread's next Python instruction, if the thread still runs."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(_GiveUp)
        )
