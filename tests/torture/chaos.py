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
# A daemon that was just killed needs some seconds to start, on a busy machine many: a trouble
# that has found nothing to hit in its own time goes on for this long at most.
HIT_SECONDS = 60.0
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

    def finish(self) -> None:
        """Wait until the last trouble of the schedule is over, and mend everything."""
        self.join()
        self.stop()

    def stop(self) -> None:
        """No further trouble, and everything mended."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self.catalog.heal()
        self.store.heal()
        self.link.heal()
        self.daemon.limit_files(-1)

    def join(self, seconds: float | None = None) -> bool:
        """Wait until the last trouble of the schedule is over, or for so long; True when it is."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        start = time.monotonic()
        late = 0.0  # seconds by which troubles have lasted longer than planned
        for plan in self.plans:
            if self._stopping.wait(max(0.0, start + late + plan.at - time.monotonic())):
                return
            began = time.monotonic()
            has_hit = self._cause(plan)
            lasted = time.monotonic() - began
            late += max(0.0, lasted - plan.seconds)
            self.events.append(Event(began - start, plan.trouble, lasted, has_hit))

    def _cause(self, plan: TroublePlan) -> bool:
        match plan.trouble:
            case Trouble.KILL_JVM | Trouble.KILL_DRIVER:
                victim = _JVM if plan.trouble is Trouble.KILL_JVM else _DRIVER
                return self._wait_for(
                    lambda: sum(map(end_process, self.daemon.pids(victim))) > 0, plan.seconds
                )
            case Trouble.KILL_DAEMON:
                return self._wait_for(self.daemon.kill, HIT_SECONDS)
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
                has_hit = self._last(plan.seconds, lambda: self.catalog.delayed > delayed)
                self.catalog.delay_seconds = 0.0
                return has_hit
            case Trouble.FILL_DISK:
                has_hit = self._wait_for(
                    lambda: self.daemon.limit_files(FULL_DISK_BYTES), HIT_SECONDS
                )
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
        has_hit = self._last(seconds, lambda: proxy.broken > broken)
        proxy.is_refusing = False
        return has_hit

    def _last(self, seconds: float, has_hit: Callable[[], bool]) -> bool:
        """As long as planned, and on until it has hit something."""
        self._stopping.wait(seconds)
        return self._wait_for(has_hit, max(0.0, HIT_SECONDS - seconds))
