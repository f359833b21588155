"""The drivers of this process: started when one is needed, kept warm, adopted from processes that
are gone, ended when idle.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Protocol

from maintainer.adapters.spark.driver_process import DriverProcess
from maintainer.adapters.spark.ownership import (
    Ownership,
    ProcessIdentity,
    driver_lock,
    end_processes,
    take_lock,
)

_CATCH_UP_SECONDS = 30  # for a driver on a busy machine to say what it has


class Audience(Protocol):
    """Who asks for drivers, and hears what they say."""

    def heard(self, process: DriverProcess, message: Mapping[str, object]) -> None:
        """A driver said something."""
        ...

    def ended(self, process: DriverProcess) -> None:
        """A driver and its JVM are gone."""
        ...

    def is_idle(self, process: DriverProcess) -> bool:
        """True when the driver has no unfinished job."""
        ...


class Drivers:
    """Those that live, by name; of each kind at most one takes jobs, the others end after those
    that they have.
    """

    def __init__(
        self,
        ownership: Ownership,
        audience: Audience,
        mutex: threading.RLock,
        start_timeout: timedelta,
        idle_timeout: timedelta,
    ) -> None:
        """``mutex`` is the audience's own: each calls the other while it holds it."""
        self._ownership = ownership
        self._audience = audience
        self._start_timeout = start_timeout
        self._idle_timeout = idle_timeout
        self._mutex = mutex
        self._adopting = threading.Lock()
        self._living: dict[str, DriverProcess] = {}
        self._warm: dict[str, DriverProcess] = {}  # by fingerprint: those that take jobs
        self._timers: dict[str, threading.Timer] = {}
        self._started_count = 0

    def warm(self, fingerprint: str) -> DriverProcess | None:
        """The driver of that kind that takes jobs; None when there is none."""
        with self._mutex:
            process = self._warm.get(fingerprint)
            return process if process is not None and not process.is_ended.is_set() else None

    def start(
        self, owner: str, java_home: Path, settings: Callable[[Path], Mapping[str, object]]
    ) -> DriverProcess:
        """A new one, which takes jobs from now on; ``settings`` are those for its directory.
        OSError when it cannot be started.
        """
        with self._mutex:
            self._started_count += 1
            directory = self._ownership.run_dir / f"{owner}.spark-{self._started_count}"
            process = DriverProcess.start(
                directory, java_home, settings(directory), self, self._ownership.record
            )
            self._living[directory.name] = self._warm[process.fingerprint] = process
            self._await_start(process)
            return process

    def make_room(self, megabytes: int, most: int) -> bool:
        """Whether another driver of so much memory fits beside those that live; where not, those
        that are idle are ended for it.
        """
        with self._mutex:
            if (
                not self._living
                or megabytes + sum(process.megabytes for process in self._living.values()) <= most
            ):
                return True
            for process in list(self._warm.values()):
                if process.is_started and self._audience.is_idle(process):
                    self._let_go(process)
                    self._set_timer(process, timedelta(0), process.stop)
            return False

    def send(self, name: str, message: Mapping[str, object]) -> None:
        """Say something to a driver that may be gone."""
        process = self._living.get(name)
        if process is not None:
            process.send(message)

    def occupy(self, process: DriverProcess) -> None:
        """It has a job: it is not ended for idleness."""
        if process.is_started:
            self._set_timer(process, None)

    def take_over(self, owner: str, fingerprints: frozenset[str]) -> bool:
        """Adopt every driver that this owner has left behind; False while the owner lives or
        another process looks after one of them.

        Returns when all that they have is heard. Of the kinds that are asked for here, a driver
        goes on taking jobs.
        """
        with self._adopting:
            left = self._ownership.left_behind(owner)
            if left is None:
                return False
            return all(
                self._adopt(name, processes, fingerprints) for name, processes in left.items()
            )  # whoever has the first has them all

    def _adopt(
        self, name: str, processes: Sequence[ProcessIdentity], fingerprints: frozenset[str]
    ) -> bool:
        if name in self._living:
            return True
        directory = self._ownership.run_dir / name
        try:
            lock = take_lock(driver_lock(directory))
        except FileNotFoundError:  # it cannot be spoken to any more
            return end_processes(processes)
        if lock is None:
            return False
        process = DriverProcess.adopt(directory, lock, processes, self, self._ownership.record)
        with self._mutex:
            self._living[name] = process
        process.is_caught_up.wait(_CATCH_UP_SECONDS)
        with self._mutex:
            if process.is_ended.is_set():
                self._living.pop(name, None)
                return True
            if not process.is_caught_up.is_set():
                process.give_up(
                    f"driver {process.pid} did not say within {_CATCH_UP_SECONDS} s what it has"
                )
                return False
            if process.fingerprint in fingerprints:
                self._warm.setdefault(process.fingerprint, process)
            if not process.is_started:
                self._await_start(process)
            self._rest(process)
        return True

    def close(self) -> None:
        """End them all, and those that a killed process has left and nobody has needed since;
        returns when their processes are gone.
        """
        for owner in self._ownership.find_orphaned():
            self.take_over(owner, frozenset())
        with self._mutex:
            for process in self._living.values():
                self._set_timer(process, None)
            living = list(self._living.values())
        for process in living:
            process.stop()

    def heard(self, process: DriverProcess, message: Mapping[str, object]) -> None:
        """Pass it on, then see whether the driver is of any more use."""
        self._audience.heard(process, message)
        with self._mutex:
            if message.get("event") == "application.started":
                self._set_timer(process, None)
            self._rest(process)

    def ended(self, process: DriverProcess) -> None:
        """It is of no more use."""
        with self._mutex:
            self._set_timer(process, None)
            self._living.pop(process.directory.name, None)
            self._let_go(process)
        self._audience.ended(process)

    def _rest(self, process: DriverProcess) -> None:
        """Once it has nothing to do, end it after a while; at once when it takes no more jobs."""
        if (
            not process.is_started
            or not self._audience.is_idle(process)
            or not process.is_caught_up.is_set()
        ):
            return
        is_wanted = self._warm.get(process.fingerprint) is process and not process.is_worn
        self._set_timer(
            process,
            self._idle_timeout if is_wanted else timedelta(0),
            partial(self._end_idle, process),
        )

    def _end_idle(self, process: DriverProcess) -> None:
        with self._mutex:
            is_put_off = (
                self._timers.get(process.directory.name) is not threading.current_thread()
            )  # while this timer waited for the mutex
            if is_put_off or not self._audience.is_idle(process):
                return
            self._let_go(process)  # a job that comes now starts another Spark
        process.stop()

    def _let_go(self, process: DriverProcess) -> None:
        if self._warm.get(process.fingerprint) is process:
            del self._warm[process.fingerprint]

    def _await_start(self, process: DriverProcess) -> None:
        seconds = self._start_timeout.total_seconds()
        self._set_timer(
            process,
            self._start_timeout,
            partial(
                process.give_up,
                f"Spark did not start within {seconds:g} s; its log is {process.log}",
            ),
        )

    def _set_timer(
        self,
        process: DriverProcess,
        after: timedelta | None,
        action: Callable[[], None] | None = None,
    ) -> None:
        """Replace the driver's one timer: of the start while Spark starts, of idleness while it
        does nothing.
        """
        with contextlib.suppress(KeyError):
            self._timers.pop(process.directory.name).cancel()
        if after is not None and action is not None:
            timer = self._timers[process.directory.name] = threading.Timer(
                after.total_seconds(), action
            )
            timer.daemon = True
            timer.start()
