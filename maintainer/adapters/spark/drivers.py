"""The drivers of this process: started on demand, kept warm, adopted, and ended when idle."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Protocol

from maintainer.adapters.spark.link import Driver, DriverSource, Listener
from maintainer.adapters.spark.options import DriverSize

_CATCH_UP_SECONDS = 30  # the time in which an adopted driver must send its state


class Audience(Listener, Protocol):
    """The owner of the drivers, which receives their messages."""

    def is_idle(self, driver: Driver) -> bool:
        """Return True if the driver has no unfinished job."""


@dataclass(eq=False, slots=True)
class Drivers:
    """The running drivers.

    At most one driver of each fingerprint takes jobs; the others end after their current jobs.
    """

    source: DriverSource
    audience: Audience
    mutex: threading.RLock  # shared with the audience, because they call each other
    start_timeout: timedelta
    idle_timeout: timedelta
    _adopting: threading.Lock = field(default_factory=threading.Lock)
    _living: dict[str, Driver] = field(default_factory=dict)
    # the drivers that take jobs, by fingerprint
    _warm: dict[str, Driver] = field(default_factory=dict)
    # the names of running drivers that another process has started
    _adopted: set[str] = field(default_factory=set)
    _timers: dict[str, threading.Timer] = field(default_factory=dict)

    def warm(self, size: DriverSize) -> Driver | None:
        """Return the driver of this size that takes jobs; None if there is none."""
        with self.mutex:
            driver = self._warm.get(self.source.fingerprint(size))
            return driver if driver is not None and not driver.is_ended.is_set() else None

    def start(self, size: DriverSize) -> Driver:
        """Start a driver, which takes jobs from now on.

        RunnerUnavailableError or OSError if the driver cannot be started.
        """
        with self.mutex:
            driver = self.source.start(size, self)
            self._living[driver.name] = self._warm[driver.fingerprint] = driver
            self._await_start(driver)
            return driver

    def make_room(self, megabytes: int, most: int) -> bool:
        """Return whether a driver of this memory fits in addition; if not, end idle drivers."""
        with self.mutex:
            if (
                not self._living
                or megabytes + sum(driver.megabytes for driver in self._living.values()) <= most
            ):
                return True
            for driver in list(self._warm.values()):
                if driver.is_started and self.audience.is_idle(driver):
                    self._forget_warm(driver)
                    self._set_timer(driver, timedelta(0), driver.stop)
            return False

    def living(self, name: str) -> Driver | None:
        """Return the driver with this name; None if it has ended."""
        return self._living.get(name)

    def occupy(self, driver: Driver) -> None:
        """Record that the driver has a job, so that it is not ended as idle."""
        if driver.is_started:
            self._set_timer(driver, None)

    def take_over_job(self, job_id: str, owner: str) -> bool:
        """Adopt the driver of this owner's job, with all other drivers that the owner has left.

        The driver's owner counts, if it is known: a process may adopt a driver and end before it
        becomes the owner of the job. False in the same cases as `take_over`.
        """
        return self.take_over(self.source.owner_of(job_id) or owner)

    def take_over(self, owner: str) -> bool:
        """Adopt every driver that this owner has left.

        False while the owner lives, or if another process has adopted one of the drivers. Returns
        when all their messages are received. Adopted drivers with the current settings continue to
        take jobs.
        """
        with self._adopting:
            left = self.source.left_behind(owner)
            if left is None:
                return False
            return all(map(self._adopt, left))  # the process that adopts the first adopts all

    def _adopt(self, name: str) -> bool:
        if name in self._living:
            return True
        driver = self.source.adopt(name, self)
        if driver is None:
            return False
        with self.mutex:
            self._living[name] = driver
            self._adopted.add(name)
        driver.is_caught_up.wait(_CATCH_UP_SECONDS)
        with self.mutex:
            if driver.is_ended.is_set():
                self._living.pop(name, None)
                return True
            if not driver.is_caught_up.is_set():
                driver.give_up(f"driver {name} did not send its state within {_CATCH_UP_SECONDS} s")
                return False
            if driver.fingerprint in self.source.fingerprints:
                self._warm.setdefault(driver.fingerprint, driver)
            if not driver.is_started:
                self._await_start(driver)
            self._end_if_idle(driver)
        return True

    def leave(self) -> None:
        """Forget all drivers, but end none of them."""
        with self.mutex:
            for driver in self._living.values():
                self._set_timer(driver, None)
            self._living.clear()
            self._warm.clear()

    def close(self) -> None:
        """End all drivers, also those of killed processes, and wait until they have ended.

        If drivers outlive their daemon, only the drivers that this process has started and adopted
        drivers without a job are ended. The next daemon continues with the others.
        """
        if not self.source.outlives_daemon:
            for owner in self.source.orphaned_owners():
                self.take_over(owner)
        with self.mutex:
            for driver in self._living.values():
                self._set_timer(driver, None)
            ending = [
                driver
                for driver in self._living.values()
                if not self.source.outlives_daemon
                or driver.name not in self._adopted
                or self.audience.is_idle(driver)
            ]
        for driver in ending:
            driver.stop()

    def heard(self, driver: Driver, message: Mapping[str, object]) -> None:
        """Pass the message on, then check whether the driver is still needed."""
        self.audience.heard(driver, message)
        with self.mutex:
            if message.get("event") == "application.started":
                self._set_timer(driver, None)
            self._end_if_idle(driver)

    def ended(self, driver: Driver) -> None:
        with self.mutex:
            self._set_timer(driver, None)
            self._living.pop(driver.name, None)
            self._adopted.discard(driver.name)
            self._forget_warm(driver)
        self.audience.ended(driver)

    def _end_if_idle(self, driver: Driver) -> None:
        """End the driver if it is idle: after a while, or at once if it takes no more jobs."""
        if (
            not driver.is_started
            or not self.audience.is_idle(driver)
            or not driver.is_caught_up.is_set()
        ):
            return
        is_wanted = self._warm.get(driver.fingerprint) is driver and not driver.is_worn
        self._set_timer(
            driver,
            self.idle_timeout if is_wanted else timedelta(0),
            partial(self._end_idle, driver),
        )

    def _end_idle(self, driver: Driver) -> None:
        with self.mutex:
            # Another thread may have replaced this timer while it waited for the mutex.
            is_put_off = self._timers.get(driver.name) is not threading.current_thread()
            if is_put_off or not self.audience.is_idle(driver):
                return
            self._forget_warm(driver)  # a job that arrives now starts another Spark
        driver.stop()

    def _forget_warm(self, driver: Driver) -> None:
        if self._warm.get(driver.fingerprint) is driver:
            del self._warm[driver.fingerprint]

    def _await_start(self, driver: Driver) -> None:
        self._set_timer(driver, self.start_timeout, partial(self._end_late, driver))

    def _end_late(self, driver: Driver) -> None:
        late = f"Spark did not start within {self.start_timeout.total_seconds():g} s"
        driver.give_up(
            "; ".join(filter(None, (late, driver.hindrance, f"its log is {driver.log}")))
        )

    def _set_timer(
        self,
        driver: Driver,
        after: timedelta | None,
        action: Callable[[], None] | None = None,
    ) -> None:
        """Replace the driver's timer, which limits its start and its idle time."""
        with contextlib.suppress(KeyError):
            self._timers.pop(driver.name).cancel()
        if after is not None and action is not None:
            timer = self._timers[driver.name] = threading.Timer(after.total_seconds(), action)
            timer.daemon = True
            timer.start()
