"""Starts and adopts drivers that poll over HTTP, and exchanges their orders and messages.

Two threads work for all drivers of a process. One thread sends orders to the store, reads messages
from the store, and writes this process's heartbeat. The other asks the launcher about silent
drivers.

The first order to a driver contains the catalogs' secrets. It is in the store from the driver's
start until the driver has taken it.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from maintainer.adapters.spark.driver_settings import DriverSettings
from maintainer.adapters.spark.launcher import DriverSpec, Launcher, LaunchPhase, LaunchState
from maintainer.adapters.spark.link import Driver, Listener
from maintainer.adapters.spark.link.http.tokens import make_token, start_tokens
from maintainer.adapters.spark.options import DriverSize, RunnerOptions
from maintainer.adapters.spark.remote.driver import (
    FENCE_MARGIN,
    SILENT_SECONDS,
    RemoteDriver,
    read_jobs,
)
from maintainer.adapters.spark.remote.strays import BEAT_EVERY, Heartbeats, Strays
from maintainer.domain.errors import MaintainerError, RunnerUnavailableError, StoreUnavailableError
from maintainer.domain.pool import JobSize
from maintainer.ports.clock import Clock
from maintainer.ports.store.drivers import DriverRecord, DriverStore

_TICK_SECONDS = 0.5  # between two readings of messages
_CHECK_SECONDS = 5.0  # between two questions to the launcher about a silent driver
_CHECK_AFTER_SECONDS = 5.0  # after this time without a poll a driver is silent
_LEAVE_SECONDS = 15.0  # for an application to end by itself after its driver has reported its end
_CLEAN_UP_SECONDS = 5.0  # for the running clean-ups when this process leaves
_SWEEP_AFTER_SECONDS = 300.0  # after this time, a dead process's drivers without jobs are ended
_REFUSE_AFTER_SECONDS = 600.0  # the same in a pool of no process; the refusal of a poll ends them

_OVER = frozenset({LaunchPhase.ENDED, LaunchPhase.GONE})
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """The data for starting drivers, in addition to Spark's settings."""

    installation: str  # the store's instance id
    address: str  # of the link, for drivers
    authority: str = ""  # PEM; empty: the system's authorities
    longest_validity: timedelta = timedelta(minutes=2)  # of a job without a renewal, as of a lease


class RemoteDrivers:
    """Implements DriverSource with any launcher and the store."""

    def __init__(  # noqa: PLR0913, PLR0917 - the composition root passes all of them, once
        self,
        launcher: Launcher,
        store: DriverStore,
        clock: Clock,
        owner: str,
        options: RunnerOptions,
        link: LinkOptions,
        settings: DriverSettings,
        prepare: Callable[[str, DriverSize], Mapping[str, object]],
        hearts: Heartbeats | None = None,
        strays: Strays | None = None,
    ) -> None:
        """Start the two threads. ``prepare`` returns a driver's start settings by name and size."""
        self._launcher = launcher
        self._store = store
        self._clock = clock
        self._owner = owner
        self._options = options
        self._link = link
        self._settings = settings
        self._prepare = prepare
        self._hearts = hearts or Heartbeats()
        self._strays = strays
        self._mutex = threading.Lock()
        self._living: dict[str, RemoteDriver] = {}
        self._is_released = threading.Event()
        self._wake = threading.Event()
        self._beaten_at = float("-inf")
        self._is_store_away = False
        self._cleaning: list[threading.Thread] = []
        self._beat()
        self._threads = [
            threading.Thread(target=self._talk, name="link-talk", daemon=True),
            threading.Thread(target=self._watch, name="link-watch", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def fingerprints(self) -> frozenset[str]:
        return self._settings.fingerprints

    def fingerprint(self, size: DriverSize) -> str:
        return self._settings.fingerprint(size)

    def start(self, size: DriverSize, listener: Listener) -> RemoteDriver:
        """See DriverSource; the row is stored before the driver is launched."""
        name = f"spark-{secrets.token_hex(6)}"
        settings, token, now = self._prepare(name, size), make_token(name), self._clock.now()
        record = DriverRecord(
            name,
            self._owner,
            start_tokens(token, now, self._options.start_timeout),
            now,
            fingerprint=self.fingerprint(size),
            megabytes=int(str(settings["megabytes"])),
            pool=self._options.pool,
        )
        self._store.add_driver(record, {"start": dict(settings)})
        driver = self._make(record, listener)
        driver.is_caught_up.set()
        try:
            driver.handle = self._launcher.launch(self._specify(name, size, token))
        except BaseException as error:
            with contextlib.suppress(StoreUnavailableError):
                self._store.end_driver(name, str(error), now)
            raise
        with contextlib.suppress(StoreUnavailableError):  # without a handle, the name finds it
            self._store.set_handle(name, driver.handle)
        with self._mutex:
            self._living[name] = driver
        return driver

    def lives(self, owner: str) -> bool | None:
        """See DriverSource; the heartbeat decides."""
        return True if owner == self._owner else self._hearts.lives(owner)

    def owner_of(self, job_id: str) -> str | None:
        """See DriverSource; a driver has the jobs of its description and of its pending orders."""
        return next(
            (
                record.owner
                for record in self._in_pool()
                if job_id in read_jobs(record.hello)
                or job_id in self._store.pending_jobs(record.name)
            ),
            None,
        )

    def left_behind(self, owner: str) -> Sequence[str] | None:
        """See DriverSource; an owner that was never seen counts as ended."""
        if self.lives(owner):
            return None
        return tuple(driver.name for driver in self._in_pool() if driver.owner == owner)

    def adopt(self, name: str, listener: Listener) -> RemoteDriver | None:
        """See DriverSource; if two processes try, only the first adopts the driver."""
        before = self._store.driver(name)
        if before is None or not self._store.adopt_driver(name, before.owner, self._owner):
            return None
        driver = self._make(before, listener)
        with self._mutex:
            self._living[name] = driver
        self._wake.set()
        return driver

    def orphaned_owners(self) -> Sequence[str]:
        if self._hearts.others(self._owner):
            return ()
        owners = {driver.owner for driver in self._in_pool()} - {self._owner}
        return sorted(owner for owner in owners if not self.lives(owner))

    @property
    def outlives_daemon(self) -> bool:
        """See DriverSource; no driver depends on a single process."""
        return True

    def release(self) -> None:
        self._is_released.set()
        self._wake.set()
        for thread in self._threads:
            thread.join()
        with contextlib.suppress(StoreUnavailableError):
            for driver in self._drivers():
                driver.send_waiting(self._store, self._owner)
            self._store.sign_off(self._owner)
        deadline = time.monotonic() + _CLEAN_UP_SECONDS
        for thread in self._cleaning:
            thread.join(max(0.0, deadline - time.monotonic()))

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        return self._launcher.describe()

    def _make(self, record: DriverRecord, listener: Listener) -> RemoteDriver:
        return RemoteDriver(
            record,
            self._launcher,
            self._clock,
            listener,
            self._wake.set,
            self._link.longest_validity,
        )

    def _specify(self, name: str, size: DriverSize, token: str) -> DriverSpec:
        job_size = next(of for of in JobSize if self._options.driver_of(of) == size)
        link = self._link
        return DriverSpec(
            name,
            link.installation,
            job_size,
            size.memory,
            size.executors,
            link.address,
            token,
            link.authority,
        )

    def _in_pool(self) -> list[DriverRecord]:
        return [driver for driver in self._store.drivers() if driver.pool == self._options.pool]

    def _drivers(self) -> list[RemoteDriver]:
        with self._mutex:
            return list(self._living.values())

    def _talk(self) -> None:
        while not self._is_released.is_set():
            self._wake.wait(_TICK_SECONDS)
            self._wake.clear()
            try:
                self._beat()
                self._exchange()
            except StoreUnavailableError as error:
                self._is_store_away = True
                _LOG.warning("link.store_away", extra={"reason": str(error)})
                self._is_released.wait(_TICK_SECONDS)
            # An error of a listener must not stop the messages of other drivers.
            except Exception:  # noqa: BLE001
                _LOG.exception("link.failed")
                self._is_released.wait(_TICK_SECONDS)

    def _beat(self) -> None:
        if time.monotonic() - self._beaten_at >= BEAT_EVERY.total_seconds():
            self._store.beat(self._owner, self._clock.now())
            self._beaten_at = time.monotonic()
        beats = self._store.heartbeats()
        if self._is_store_away:
            self._is_store_away = False
            self._hearts.restart(time.monotonic())
        self._hearts.observe(beats, time.monotonic())

    def _exchange(self) -> None:
        """Send the waiting orders, and give new messages to the listeners."""
        drivers = self._drivers()
        for driver in drivers:
            driver.send_waiting(self._store, self._owner)
            if driver.given_up:
                self._store.end_driver(driver.name, driver.given_up, self._clock.now())
        pending = {
            driver.name: self._store.pending_jobs(driver.name)
            for driver in drivers
            if not driver.is_caught_up.is_set()
        }
        states = {driver.name: driver.state for driver in drivers}  # older than the messages
        news = self._store.hear(self._owner, {driver.name: driver.heard for driver in drivers})
        records = {record.name: record for record in news.drivers}
        for driver in drivers:
            record = records.get(driver.name)
            if record is None:
                self._end_absent(driver)
                continue
            driver.note_poll(record.polls)
            messages = news.messages.get(driver.name, ())
            if driver.is_caught_up.is_set():
                for message in messages:
                    driver.hear(message)
            else:
                driver.catch_up(record, pending[driver.name], messages)
            self._end_if_over(driver, record, states[driver.name])

    def _end_if_over(self, driver: RemoteDriver, record: DriverRecord, state: LaunchState) -> None:
        if driver.has_said_its_end:
            self._end(driver, str(driver.last_words.get("reason") or "its start failed"))
        elif state.phase is LaunchPhase.ENDED:
            self._end(driver, state.reason or "its application has ended")
        else:
            self._end_silent(driver, record)

    def _end_silent(self, driver: RemoteDriver, record: DriverRecord) -> None:
        """End a driver that does not poll, once none of its jobs can still work."""
        is_gone = driver.state.phase is LaunchPhase.GONE
        if not is_gone and (not record.polls or driver.silent_seconds < SILENT_SECONDS):
            return
        if record.fence is not None and self._clock.now() <= record.fence + FENCE_MARGIN:
            return
        reason = (
            driver.state.reason or f"the application of driver {driver.name} no longer exists"
            if is_gone
            else f"driver {driver.name} did not poll before the fence of its jobs"
        )
        if self._store.end_driver(driver.name, reason, self._clock.now(), record.polls):
            self._end(driver, reason)

    def _end_absent(self, driver: RemoteDriver) -> None:
        """End a driver that the store no longer lists as a driver of this process."""
        record = self._store.driver(driver.name)
        if record is None or record.owner != self._owner:
            self._forget(driver)
            driver.is_anothers = True
            driver.end(f"another process has adopted driver {driver.name}")
            return
        is_over = (
            record.fence is None
            or self._clock.now() > record.fence + FENCE_MARGIN
            or driver.state.phase is LaunchPhase.ENDED
        )
        if is_over:
            self._end(driver, record.reason)

    def _end(self, driver: RemoteDriver, reason: str) -> None:
        self._store.end_driver(driver.name, reason, self._clock.now())
        self._forget(driver)
        driver.end(reason, driver.state.failure)
        cleaning = threading.Thread(target=self._clean_up, args=(driver,), daemon=True)
        self._cleaning = [thread for thread in self._cleaning if thread.is_alive()] + [cleaning]
        cleaning.start()

    def _forget(self, driver: RemoteDriver) -> None:
        with self._mutex:
            self._living.pop(driver.name, None)

    def _clean_up(self, driver: RemoteDriver) -> None:
        """Let a stopped application end by itself, then remove all that is left of it."""
        deadline = time.monotonic() + _LEAVE_SECONDS
        with contextlib.suppress(RunnerUnavailableError):
            while driver.has_said_its_end and time.monotonic() < deadline:
                state = self._launcher.state(driver.handle)
                if state.phase in _OVER or self._is_released.wait(_TICK_SECONDS):
                    break
            driver.end_application()

    def _watch(self) -> None:
        """Ask the launcher about silent drivers, and end drivers without an owner."""
        while not self._is_released.wait(_CHECK_SECONDS):
            for driver in self._drivers():
                with contextlib.suppress(RunnerUnavailableError):
                    if driver.given_up:
                        driver.end_application()
                    if driver.given_up or driver.silent_seconds > _CHECK_AFTER_SECONDS:
                        driver.state = self._launcher.state(driver.handle)
            try:
                self._sweep()
            except MaintainerError as error:
                _LOG.warning("link.sweep_failed", extra={"reason": str(error)})

    def _sweep(self) -> None:
        if self._strays is not None:
            self._strays.sweep(lambda: [record.name for record in self._store.drivers()])
        for record in self._store.drivers():
            if self.lives(record.owner) is not False or self._store.pending_jobs(record.name):
                continue
            dead_for = self._hearts.dead_for(record.owner)
            if record.pool != self._options.pool:
                if dead_for > _REFUSE_AFTER_SECONDS:
                    reason = f"no daemon still has its pool {record.pool}"
                    self._store.end_driver(record.name, reason, self._clock.now())
            elif dead_for > _SWEEP_AFTER_SECONDS:
                driver = self.adopt(record.name, _Nobody())
                if driver is not None:
                    threading.Thread(target=driver.stop, daemon=True).start()


class _Nobody:
    """The listener of a driver that is adopted only to be ended."""

    def heard(self, driver: Driver, message: Mapping[str, object]) -> None:
        """Ignore the message."""

    def ended(self, driver: Driver) -> None:
        """Do nothing."""
