"""The drivers of this process: started on demand, kept warm, adopted, and ended when idle."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Protocol

from maintainer.adapters.spark.launcher.ownership import (
    Ownership,
    ProcessIdentity,
    driver_lock,
    end_processes,
    take_lock,
)
from maintainer.adapters.spark.launcher.process import DriverProcess

_CATCH_UP_SECONDS = 30  # for a driver on a busy machine to send its state


class Audience(Protocol):
    """The owner of the drivers, which receives their messages."""

    def heard(self, process: DriverProcess, message: Mapping[str, object]) -> None:
        """A driver sent a message."""
        ...

    def ended(self, process: DriverProcess) -> None:
        """A driver and its JVM have ended."""
        ...

    def is_idle(self, process: DriverProcess) -> bool:
        """Return True if the driver has no unfinished job."""
        ...


class Drivers:
    """Running drivers by name.

    At most one of each kind takes jobs; the others end after their present jobs.
    """

    def __init__(
        self,
        ownership: Ownership,
        audience: Audience,
        mutex: threading.RLock,
        start_timeout: timedelta,
        idle_timeout: timedelta,
    ) -> None:
        """Take the owner of the drivers.

        ``mutex`` is the audience's own: each calls the other while it holds it.
        """
        self._ownership = ownership
        self._audience = audience
        self._start_timeout = start_timeout
        self._idle_timeout = idle_timeout
        self._mutex = mutex
        self._adopting = threading.Lock()
        self._living: dict[str, DriverProcess] = {}
        self._warm: dict[str, DriverProcess] = {}  # by fingerprint: the drivers that take jobs
        self._timers: dict[str, threading.Timer] = {}
        self._started_count = 0

    def warm(self, fingerprint: str) -> DriverProcess | None:
        """Return the driver of that kind that takes jobs; None if there is none."""
        with self._mutex:
            process = self._warm.get(fingerprint)
            return process if process is not None and not process.is_ended.is_set() else None

    def start(
        self, owner: str, java_home: Path, settings: Callable[[Path], Mapping[str, object]]
    ) -> DriverProcess:
        """Start a driver, which takes jobs from now on.

        ``settings`` returns the settings for its directory. OSError if it cannot be started.
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
        """Return whether a driver of this memory fits beside the others; if not, end idle ones."""
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
        """Send a message to a driver that may be gone."""
        process = self._living.get(name)
        if process is not None:
            process.send(message)

    def occupy(self, process: DriverProcess) -> None:
        """Note that the driver has a job, so that it is not ended for idleness."""
        if process.is_started:
            self._set_timer(process, None)

    def take_over(self, owner: str, fingerprints: frozenset[str]) -> bool:
        """Adopt every driver that this owner has left behind.

        False while the owner lives or another process has adopted one of them. Returns when all
        their messages are received. Adopted drivers of the given fingerprints continue to take
        jobs.
        """
        with self._adopting:
            left = self._ownership.left_behind(owner)
            if left is None:
                return False
            return all(
                self._adopt(name, processes, fingerprints) for name, processes in left.items()
            )  # the holder of the first lock has all of them

    def _adopt(
        self, name: str, processes: Sequence[ProcessIdentity], fingerprints: frozenset[str]
    ) -> bool:
        if name in self._living:
            return True
        directory = self._ownership.run_dir / name
        try:
            lock = take_lock(driver_lock(directory))
        except FileNotFoundError:  # it cannot be reached any more
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
        """End all drivers, also those of killed processes, and wait for their processes."""
        for owner in self._ownership.find_orphaned():
            self.take_over(owner, frozenset())
        with self._mutex:
            for process in self._living.values():
                self._set_timer(process, None)
            living = list(self._living.values())
        for process in living:
            process.stop()

    def heard(self, process: DriverProcess, message: Mapping[str, object]) -> None:
        """Pass the message on, then check whether the driver is still needed."""
        self._audience.heard(process, message)
        with self._mutex:
            if message.get("event") == "application.started":
                self._set_timer(process, None)
            self._rest(process)

    def ended(self, process: DriverProcess) -> None:
        """Forget the driver."""
        with self._mutex:
            self._set_timer(process, None)
            self._living.pop(process.directory.name, None)
            self._let_go(process)
        self._audience.ended(process)

    def _rest(self, process: DriverProcess) -> None:
        """End the driver after a while without work; at once if it takes no more jobs."""
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
        """Replace the driver's one timer, which limits its start and its idleness."""
        with contextlib.suppress(KeyError):
            self._timers.pop(process.directory.name).cancel()
        if after is not None and action is not None:
            timer = self._timers[process.directory.name] = threading.Timer(
                after.total_seconds(), action
            )
            timer.daemon = True
            timer.start()
