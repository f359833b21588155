"""When each step runs: one interval job a step, jittered, never two runs of one step at once."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.background import BackgroundScheduler

from maintainer.domain.errors import MaintainerError
from maintainer.domain.job import Job
from maintainer.ports.telemetry import Telemetry

log = logging.getLogger(__name__)

JITTER_SHARE = 0.1  # of the interval, at random: many daemons must not ask a catalog at the same moment
CANCEL_GRACE = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the loop, ready to be called."""

    name: str
    run: Callable[[], object]
    interval: timedelta
    starts_work: bool  # False for the steps that a drain still needs: watch and review
    rest_factor: float = 0.0  # it runs no more until so many times as long as it took have passed
    after: str = ""  # the step that this one also follows at once: what it wrote need not wait for an interval
    after_work_of: str = ""  # the same, but only where that one says that it has done something, as a number


class Scheduler:
    """Runs steps at their intervals, each in a thread of its own."""

    def __init__(self, steps: tuple[Step, ...], telemetry: Telemetry) -> None:
        self._steps = {step.name: step for step in steps}
        self._telemetry = telemetry
        self._followers = {name: [step.name for step in steps if step.after == name] for name in self._steps}
        self._followers_of_work = {name: [step.name for step in steps if step.after_work_of == name] for name in self._steps}
        self._runs: dict[str, threading.Lock] = {step.name: threading.Lock() for step in steps}
        self._finished_at: dict[str, datetime] = {}
        self._rests_until: dict[str, float] = {}  # by the monotonic clock
        self._hastening = threading.Lock()
        self._is_ending = False
        self._apscheduler = BackgroundScheduler(
            timezone=UTC,
            executors={"default": ThreadPoolExecutor(max(1, len(steps)))},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )

    def start(self) -> None:
        """Begin; every step runs once at once, then at its interval."""
        for order, step in enumerate(self._steps.values()):
            seconds = step.interval.total_seconds()
            self._apscheduler.add_job(
                self.run_step,
                "interval",
                args=[step.name],
                id=step.name,
                seconds=seconds,
                jitter=seconds * JITTER_SHARE,
                next_run_time=datetime.now(UTC) + timedelta(milliseconds=50 * order),
            )
        self._apscheduler.start()

    def run_step(self, name: str) -> bool:
        """One run of a step, now; False when it failed, rests or is running already. A failure is logged and counted, never raised."""
        step = self._steps[name]
        if time.monotonic() < self._rests_until.get(name, 0.0) or not self._runs[name].acquire(blocking=False):
            return False
        started = time.monotonic()
        is_ok = False
        done: object = None
        try:
            done = step.run()
            is_ok = True
        except MaintainerError as error:
            log.warning("step.failed step=%s error=%s", name, error)
        except Exception:
            log.exception("step.failed step=%s", name)
        finally:
            self._runs[name].release()
            self._finished_at[name] = datetime.now(UTC)
            took = time.monotonic() - started
            self._rests_until[name] = started + took + step.rest_factor * took
            self._telemetry.step_finished(name, took, is_ok)
        if is_ok:
            self._hasten(self._followers[name] + (self._followers_of_work[name] if done else []))
        return is_ok

    def _hasten(self, names: list[str]) -> None:
        """Let these steps run now; those that a drain or the end has taken away stay away."""
        with self._hastening:
            for name in names if self._apscheduler.running and not self._is_ending else ():
                with contextlib.suppress(JobLookupError):
                    self._apscheduler.modify_job(name, next_run_time=datetime.now(UTC))

    @property
    def last_runs(self) -> Mapping[str, datetime]:
        """When each step last ended, for those that have run."""
        return dict(self._finished_at)

    def drain(self, unfinished: Callable[[], list[Job]], cancel: Callable[[Job], object], timeout: timedelta) -> None:
        """Start nothing new; let running jobs finish for as long as the timeout, then cancel them; returns when none of ours is left, or the grace is over."""
        for step in self._steps.values():
            if step.starts_work and self._apscheduler.get_job(step.name) is not None:
                self._apscheduler.remove_job(step.name)
        if self._wait_for_none(unfinished, timeout):
            return
        for job in unfinished():
            log.warning("job.cancelled job=%s table=%s reason=shutdown", job.job_id, job.table)
            cancel(job)
        self._wait_for_none(unfinished, CANCEL_GRACE)

    def _wait_for_none(self, unfinished: Callable[[], list[Job]], timeout: timedelta) -> bool:
        deadline = time.monotonic() + timeout.total_seconds()
        while unfinished():
            if time.monotonic() >= deadline:
                return False
            for step in self._steps.values():
                if not step.starts_work:
                    self.run_step(step.name)
            threading.Event().wait(0.2)
        return True

    def stop(self) -> None:
        """End; returns when no step is running any more."""
        with (
            self._hastening
        ):  # apscheduler holds its jobs while it waits for steps: one that then asked for its follower would wait for the end, and the end for it
            self._is_ending = True
        if self._apscheduler.running:
            self._apscheduler.shutdown(wait=True)
