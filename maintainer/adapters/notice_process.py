"""The program of a process that sends notices, and the processes themselves.

Apprise reads an answer to its end, and most kinds of targets have no limit of their own: a server
that never ends its answer would keep a thread for ever, or fill the memory. A process can be ended.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, LifoQueue
from threading import Event, Lock, Timer
from typing import IO, Any, Final, cast

from maintainer.adapters.notice_targets import TargetBounds, make_target
from maintainer.adapters.own_process import bound_memory, start_program
from maintainer.domain.units import MIB

MOST_PROCESSES: Final = 4  # that send at the same time; each has some 60 MB
IDLE_SECONDS: Final = 60.0  # an idle process is ended after this time; a start takes a second
MAX_SENDING_BYTES: Final = 128 * MIB  # of one process, beyond what it has when it starts
OUT_OF_MEMORY: Final = 3  # the exit code of a process that has reached its limit
# Of the process's own clock beyond the caller's time, for a caller that has been killed.
_ALARM_SECONDS: Final = 10
MAX_WARNINGS: Final = 5  # of Apprise, for one notice
MAX_WARNING_CHARACTERS: Final = 500
_LOG: Final = logging.getLogger("apprise")


@dataclass(frozen=True, slots=True)
class Message:
    """One notice for one target, whose URL contains secrets."""

    name: str
    url: str
    title: str
    body: str
    kind: str  # of Apprise: info, warning, failure
    bounds: TargetBounds


class SendError(Exception):
    """A message was not sent, because its process has ended; the text says why."""


class Senders:
    """A bounded number of processes that start on demand and send messages. Safe for threads."""

    def __init__(self, processes: int = MOST_PROCESSES) -> None:
        self._slots: LifoQueue[_Process | None] = LifoQueue()
        for _ in range(processes):
            self._slots.put(None)
        self._processes = processes
        self._lock = Lock()
        self._running: set[_Process] = set()
        self._closed = Event()

    def send(self, message: Message, seconds: float) -> bool:
        """Send in the next free process, within so many seconds from its start.

        True if the target received it; SendError if the process was ended, also by `close`.
        """
        process = self._slots.get()
        try:
            if process is None:
                process = self._start()
            is_sent = process.send(message, seconds)
        except (OSError, ValueError) as error:
            late = process is not None and process.is_late
            if process is not None:
                self._end(process)
            process = None
            reason = f"no answer within {seconds:g} s" if late else "the process that sends ended"
            raise SendError(reason) from error
        else:
            if process.is_late:  # its time ended with its answer, and it was killed
                self._end(process)
                process = None
            return is_sent
        finally:
            self._slots.put(process)

    def _start(self) -> _Process:
        with self._lock:  # so that `close` finds each process
            if self._closed.is_set():
                raise OSError("no process starts at the end")
            process = _Process()
            self._running.add(process)
        return process

    def _end(self, process: _Process) -> None:
        process.end()
        with self._lock:
            self._running.discard(process)

    def ids(self) -> list[int]:
        with self._lock:
            return [process.id for process in self._running]

    def end_idle(self, idle_seconds: float = IDLE_SECONDS) -> None:
        """End the processes that have been idle for so long."""
        for _ in range(self._processes):
            try:
                process = self._slots.get_nowait()
            except Empty:
                return
            if process is not None and time.monotonic() - process.used_at >= idle_seconds:
                self._end(process)
                process = None
            self._slots.put(process)

    def close(self) -> None:
        """End all processes at once, also those that send, and start no others."""
        with self._lock:
            self._closed.set()
            running = list(self._running)
        for process in running:
            self._end(process)


class _Process:
    def __init__(self) -> None:
        self._popen = start_program(__name__, str(MAX_SENDING_BYTES))
        self._stdin = cast("IO[bytes]", self._popen.stdin)
        self._stdout = cast("IO[bytes]", self._popen.stdout)
        self.id = self._popen.pid
        self.used_at = time.monotonic()
        self.is_late = False

    def send(self, message: Message, seconds: float) -> bool:
        """Send a message; OSError or ValueError if the process has ended."""

        def kill() -> None:
            self.is_late = True
            self._popen.kill()

        watchdog = Timer(seconds, kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            self._stdin.write(write_request(message, seconds))
            self._stdin.flush()
            is_sent, warnings = read_answer(self._stdout.readline())
        finally:
            watchdog.cancel()
            self.used_at = time.monotonic()
        for warning in warnings:
            _LOG.warning("%s", warning)
        return is_sent

    def end(self) -> None:
        """End the process at once."""
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._stdin, self._stdout):
            with suppress(OSError, ValueError):  # another thread may be about to read or write
                pipe.close()


def write_request(message: Message, seconds: float) -> bytes:
    """Write the line that the process reads."""
    bounds = message.bounds
    fields = {
        "name": message.name,
        "url": message.url,
        "title": message.title,
        "body": message.body,
        "kind": message.kind,
        "schemes": bounds.schemes,
        "hosts": bounds.hosts,
        "seconds": seconds,
    }
    return json.dumps(fields).encode() + b"\n"


def read_answer(line: bytes) -> tuple[bool, list[str]]:
    """Read whether the message was sent, and Apprise's warnings; ValueError if there is none."""
    found = json.loads(line)
    return found["is_sent"] is True, found["warnings"]


def answer(line: bytes) -> bytes:
    """Send the message of a request, and write the answer."""
    asked: dict[str, Any] = json.loads(line)
    signal.alarm(int(asked["seconds"]) + _ALARM_SECONDS)  # which ends the process
    is_sent, warnings = False, list[str]()
    handler = _Keeper(warnings.append)
    _LOG.addHandler(handler)
    try:
        bounds = TargetBounds(tuple(asked["schemes"]), tuple(asked["hosts"]))
        target = make_target(asked["name"], asked["url"], bounds)
        is_sent = bool(
            target.notify(body=asked["body"], title=asked["title"], notify_type=asked["kind"])
        )
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    # No error of a plug-in may end the process. Its text may contain secrets of the target.
    except Exception as error:  # noqa: BLE001
        warnings.append(type(error).__name__)
    finally:
        _LOG.removeHandler(handler)
        signal.alarm(0)
    kept = [warning[:MAX_WARNING_CHARACTERS] for warning in warnings[:MAX_WARNINGS]]
    return json.dumps({"is_sent": is_sent, "warnings": kept}).encode() + b"\n"


class _Keeper(logging.Handler):
    """Keeps warnings for the daemon's log, which has its own form."""

    def __init__(self, keep: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._keep = keep

    def emit(self, record: logging.LogRecord) -> None:
        self._keep(record.getMessage())


def main() -> None:
    """Answer each line of the standard input until it ends; plug-ins print to the errors."""
    for ended_by in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ended_by, signal.SIG_IGN)  # the daemon ends this process
    _LOG.propagate = False
    import apprise  # noqa: F401, PLC0415 - what it needs is not a part of the bound

    bound_memory(int(sys.argv[1]))
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as sink:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for line in sys.stdin.buffer:
            with suppress(BrokenPipeError):
                sink.write(answer(line))
                sink.flush()


if __name__ == "__main__":
    main()
