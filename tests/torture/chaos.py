"""What goes wrong around the daemon, carried out as the schedule has it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from tests.torture.daemon import FULL_DISK_BYTES, Daemon, end_process
from tests.torture.proxy import Proxy, spare_none
from tests.torture.reading import breaks_if_unanswered
from tests.torture.schedule import Trouble, TroublePlan

DELAY_SECONDS = 0.7  # of everything that is said to the catalog
_LOOK_SECONDS = 0.1
_DRIVER, _JVM = "maintainer.adapters.spark.driver", "org.apache.spark.deploy.SparkSubmit"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that went wrong."""

    at: float  # seconds after the start
    trouble: Trouble
    seconds: float
    has_hit: bool  # there was something to hit


@dataclass(slots=True)
class Chaos:
    """One thread; the daemon's ways to its catalog and its store lead through the proxies, and
    those of its drivers to the daemon.
    """

    plans: list[TroublePlan]
    daemon: Daemon
    catalog: Proxy
    store: Proxy
    link: Proxy
    events: list[Event] = field(default_factory=list)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to count the schedule's seconds."""
        self._thread = threading.Thread(target=self._run, name="chaos", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """No further trouble, and everything mended."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self.catalog.heal()
        self.store.heal()
        self.link.heal()
        self.daemon.limit_files(-1)

    def _run(self) -> None:
        start = time.monotonic()
        for plan in self.plans:
            if self._stopping.wait(max(0.0, start + plan.at - time.monotonic())):
                return
            at = time.monotonic() - start
            has_hit = self._cause(plan)
            self.events.append(Event(at, plan.trouble, plan.seconds, has_hit))

    def _cause(self, plan: TroublePlan) -> bool:
        match plan.trouble:
            case Trouble.KILL_JVM | Trouble.KILL_DRIVER:
                victim = _JVM if plan.trouble is Trouble.KILL_JVM else _DRIVER
                return self._wait_for(
                    lambda: sum(map(end_process, self.daemon.pids(victim))) > 0, plan.seconds
                )
            case Trouble.KILL_DAEMON:
                return self.daemon.kill()
            case Trouble.CUT_CATALOG:
                return self._cut(self.catalog, plan.seconds)
            case Trouble.CUT_STORE:
                return self._cut(self.store, plan.seconds)
            case Trouble.CUT_LINK:
                return self._cut(self.link, plan.seconds)
            case Trouble.FREEZE_DRIVER:
                return self._freeze(plan.seconds)
            case Trouble.DELAY_COMMITS:
                delayed = self.catalog.delayed
                self.catalog.delay_seconds = DELAY_SECONDS
                self._stopping.wait(plan.seconds)
                self.catalog.delay_seconds = 0.0
                return self.catalog.delayed > delayed
            case Trouble.FILL_DISK:
                has_hit = self.daemon.limit_files(FULL_DISK_BYTES)
                self._stopping.wait(plan.seconds)
                self.daemon.limit_files(-1)
                return has_hit
            case Trouble.LOSE_ANSWER | Trouble.LOSE_ANY_ANSWER:
                before = self.catalog.lost_answers
                self.catalog.spares = (
                    breaks_if_unanswered if plan.trouble is Trouble.LOSE_ANSWER else spare_none
                )
                self.catalog.answers_to_lose = 1
                has_hit = self._wait_for(lambda: self.catalog.lost_answers > before, plan.seconds)
                self.catalog.answers_to_lose = 0
                return has_hit
            case _:
                assert_never(plan.trouble)

    def _freeze(self, seconds: float) -> bool:
        frozen = [*self.daemon.pids(_DRIVER), *self.daemon.pids(_JVM)]
        for sent in (signal.SIGSTOP, signal.SIGCONT):
            for pid in frozen:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, sent)
            if sent is signal.SIGSTOP:
                self._stopping.wait(seconds)
        return bool(frozen)

    def _wait_for(self, happens: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not happens():
            if time.monotonic() > deadline or self._stopping.wait(_LOOK_SECONDS):
                return False
        return True

    def _cut(self, proxy: Proxy, seconds: float) -> bool:
        broken = proxy.broken
        proxy.is_refusing = True
        proxy.cut()
        self._stopping.wait(seconds)
        proxy.is_refusing = False
        return proxy.broken > broken
