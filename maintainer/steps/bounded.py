"""Work on one table in a thread of its own: a table that takes too long stops neither the others
nor the end of the process.
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
_STOP_CHECK_SECONDS = 0.1  # how soon a stop is noticed


class TookTooLongError(MaintainerError):
    """Work on a table that did not end within its time."""


class StoppedError(MaintainerError):
    """Work on a table that was given up because the process is to end."""


class _GiveUp(BaseException):
    """Raised inside the thread whose work nobody waits for any more."""


@dataclass(frozen=True, slots=True)
class Bound:
    """How long the work on one table may take, and who may end it before that."""

    limit: timedelta = DEFAULT_LIMIT
    should_stop: Callable[[], bool] = lambda: False

    def run(self, work: Callable[[], R]) -> R:
        """What the work returns or raises; TookTooLongError or StoppedError, and the work is given
        up, when it does not end in time.

        The work must be pure Python without side effects: it is interrupted wherever it is.
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
    """Python raises it at the next instruction of the thread; a thread that has ended does not
    notice.
    """
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(_GiveUp)
        )
