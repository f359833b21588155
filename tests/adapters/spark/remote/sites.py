"""Processes with remote drivers on one store, and a launcher whose drivers a test moves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from maintainer.adapters.spark.driver.link.exchange import Exchange
from maintainer.adapters.spark.driver_settings import DriverSettings
from maintainer.adapters.spark.launcher import DriverSpec, LaunchPhase, LaunchState
from maintainer.adapters.spark.link import Driver, LogPart
from maintainer.adapters.spark.link.http.endpoint import Polls, RefusalError
from maintainer.adapters.spark.options import RunnerOptions
from maintainer.adapters.spark.remote import driver as remote
from maintainer.adapters.spark.remote import drivers as source
from maintainer.adapters.spark.remote.drivers import LinkOptions, RemoteDrivers
from maintainer.adapters.spark.remote.strays import Heartbeats, Strays
from maintainer.domain.pool import DEFAULT_POOL, JobSize
from tests.adapters.spark.lakes import wait_until
from tests.adapters.spark.link.polls import LONGEST, NOW
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.store import FakeStore

OPTIONS = RunnerOptions()
SMALL = OPTIONS.driver_of(JobSize.SMALL)


@dataclass
class FakeLauncher:
    """Launches nothing: a test is the cluster."""

    specs: list[DriverSpec] = field(default_factory=list)
    states: dict[str, LaunchState] = field(default_factory=dict)
    ended: list[str] = field(default_factory=list)
    error: Exception | None = None
    log_text: str = "INFO fine\nError: no room\n"  # of each driver at first
    logs: dict[str, str] = field(default_factory=dict)

    def launch(self, spec: DriverSpec) -> str:
        if self.error is not None:
            raise self.error
        self.specs.append(spec)
        return f"app-{spec.name}"

    def state(self, handle: str) -> LaunchState:
        return self.states.get(handle, LaunchState(LaunchPhase.RUNNING))

    def log(self, handle: str, since: int) -> LogPart:
        text = self.logs.get(handle, self.log_text)
        if handle in self.ended:
            return LogPart("", since)
        return LogPart(text[since:], len(text))

    def end(self, handle: str) -> None:
        self.ended.append(handle)

    def find(self) -> Sequence[str]:
        handles = [f"app-{spec.name}" for spec in self.specs]
        return [handle for handle in handles if handle not in self.ended]

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        return [("cluster", True, "it is a test")]


@dataclass
class Heard:
    """A listener that remembers."""

    messages: list[Mapping[str, object]] = field(default_factory=list)
    ends: list[Driver] = field(default_factory=list)

    def heard(self, driver: Driver, message: Mapping[str, object]) -> None:
        del driver
        self.messages.append(message)

    def ended(self, driver: Driver) -> None:
        self.ends.append(driver)

    @property
    def events(self) -> list[object]:
        return [message["event"] for message in self.messages]


class Application:
    """What was launched: it polls when a test says so."""

    def __init__(self, site: Site, spec: DriverSpec) -> None:
        self.site = site
        self.spec = spec
        self.taken: list[dict[str, Any]] = []
        self.jobs: dict[str, bool] = {}
        self.is_started = False
        self.exchange = Exchange(spec.start_token, self._take, self._introduce)

    def _introduce(self) -> dict[str, Any]:
        return {"is_started": self.is_started, "is_worn": False, "jobs": dict(self.jobs)}

    def _take(self, order: dict[str, Any]) -> None:
        if "renew" not in order:
            self.taken.append(order)
        if "run" in order:
            self.jobs[order["run"]["id"]] = False

    def say(self, event: str, job: str | None = None, **fields: object) -> None:
        self.exchange.write(event, job, {"at": 0.0, **fields})

    def poll(self) -> str:
        """Poll once; return why it was refused, or nothing."""
        poll = self.exchange.make_poll()
        polls = Polls(self.site.store, self.site.clock, LONGEST)
        try:
            driver = polls.identify(self.spec.name, poll.token)
            answer = polls.answer(driver, poll.token, json.dumps(poll.body).encode())
        except RefusalError as refusal:
            return refusal.detail
        self.exchange.take_answer(poll, answer)
        return ""

    def poll_until(self, condition: Callable[[], bool]) -> None:
        def is_so() -> bool:
            self.poll()
            return condition()

        wait_until(is_so)

    @property
    def kinds(self) -> list[str]:
        return [next(iter(order)) for order in self.taken]


@dataclass
class Site:
    """One store, one cluster, and the processes on them."""

    clock: FakeClock = field(default_factory=lambda: FakeClock(NOW))
    store: FakeStore = field(default_factory=FakeStore)
    launcher: FakeLauncher = field(default_factory=FakeLauncher)
    processes: list[RemoteDrivers] = field(default_factory=list)

    def open(
        self,
        owner: str,
        dead_after: timedelta = timedelta(minutes=5),
        pool: str = DEFAULT_POOL,
        strays: Strays | None = None,
    ) -> RemoteDrivers:
        options = replace(OPTIONS, pool=pool)
        opened = RemoteDrivers(
            self.launcher,
            self.store,
            self.clock,
            owner,
            options,
            LinkOptions("abc", "https://home:1", "PEM", LONGEST),
            DriverSettings(options, {}, "app"),
            lambda name, _: {"megabytes": 2048, "secret": "s3cret", "directory": name},
            Heartbeats(dead_after),
            strays,
        )
        self.processes.append(opened)
        return opened

    def close(self) -> None:
        self.store.broken = ""
        for process in self.processes:
            process.release()

    def application(self) -> Application:
        """The one that was launched last."""
        return Application(self, self.launcher.specs[-1])


@contextmanager
def open_quick_site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Open a site that looks at its drivers again and again, without waiting."""
    monkeypatch.setattr(source, "_TICK_SECONDS", 0.02)
    monkeypatch.setattr(source, "_CHECK_SECONDS", 0.02)
    monkeypatch.setattr(source, "_CHECK_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(source, "_LEAVE_SECONDS", 0.2)
    monkeypatch.setattr(remote, "STOP_SECONDS", 0.2)
    opened = Site()
    yield opened
    opened.close()
