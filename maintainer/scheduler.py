"""Run each step at its interval, with jitter, and never two runs of a step at the same time.

Steps run by the monotonic clock: if somebody sets the machine's clock, no run is missed, repeated
or delayed.
"""

from __future__ import annotations

import contextlib
import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from apscheduler.executors.base import BaseExecutor
from apscheduler.job import Job as ScheduledJob
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger

from maintainer.domain.errors import MaintainerError
from maintainer.domain.job import Job
from maintainer.domain.units import format_duration
from maintainer.ports.telemetry import Telemetry

log = logging.getLogger(__name__)

# of the interval, random, so that many daemons do not poll a catalog at the same time
JITTER_SHARE = 0.1
CANCEL_GRACE = timedelta(seconds=30)
# A step is late if no run ends within this many intervals, or this many times its last run time.
MISSED_RUNS = 3
LEAST_PATIENCE = timedelta(minutes=10)
STOP_GRACE = timedelta(seconds=5)  # for steps to end; a step that hangs ends with the process


class _Threads(BaseExecutor):  # type: ignore[misc]  # apscheduler has no types
    """A daemon thread for each run, which does not keep the process alive.

    run_step skips a run of a step that is already running.
    """

    # APScheduler calls this method with these arguments.
    def submit_job(self, job: ScheduledJob, run_times: list[datetime]) -> None:  # noqa: ARG002
        threading.Thread(target=job.func, args=job.args, name=f"step-{job.id}", daemon=True).start()

    _do_submit_job = submit_job


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the loop, ready to be called."""

    name: str
    run: Callable[[], object]
    interval: timedelta
    starts_work: bool  # False for the steps that a drain still needs: watch and review
    rest_factor: float = 0.0  # its least pause, as a multiple of its last run time
    kind: str = ""  # the same for steps that do the same work for other catalogs; empty: the name
    # this step runs directly after runs of steps of this kind, because it uses their results
    after: str = ""
    after_work_of: str = ""  # the same, but only after a run that returned a positive number


@dataclass(frozen=True, slots=True)
class StepState:
    """The state of a step, by the monotonic clock."""

    name: str
    pause: timedelta  # between two runs: its interval, or its longer least pause
    idle: timedelta  # since its last run ended; since the start, if none has
    took: timedelta | None  # the time of its last run; None: no run has ended
    is_running: bool

    @property
    def patience(self) -> timedelta:
        """The time without an ended run after which the step is late."""
        return max(
            LEAST_PATIENCE, MISSED_RUNS * self.pause, MISSED_RUNS * (self.took or timedelta(0))
        )

    @property
    def is_late(self) -> bool:
        """True if the step hangs, or is no longer run."""
        return self.idle > self.patience

    @property
    def sentence(self) -> str:
        """Describe when the step's last run ended, and what is wrong with it, if anything."""
        ago = format_duration(self.idle)
        last = (
            f"its last run ended {ago} ago"
            if self.took is not None
            else f"its first run has not ended in {ago}"
        )
        doing = "running" if self.is_running else "not running"
        return (
            f"{last}; {doing}, expected within {format_duration(self.patience)}"
            if self.is_late
            else last
        )


class SteadyTime(tzinfo):
    """A time zone for APScheduler whose time is that of the monotonic clock.

    APScheduler reads the time only by `datetime.now(zone)`. The result is not a time of the day:
    it is an arbitrary start plus the time that has passed since then.
    """

    _BEGINNING = datetime(2000, 1, 1)  # noqa: DTZ001 - of this time zone

    def now(self) -> datetime:
        """The time by which steps are planned."""
        return (self._BEGINNING + timedelta(seconds=time.monotonic())).replace(tzinfo=self)

    def fromutc(self, dt: datetime) -> datetime:  # noqa: ARG002 - always the machine's time
        """Return the monotonic time, which the machine's clock does not change."""
        return self.now()

    def utcoffset(self, dt: datetime | None) -> timedelta:  # noqa: ARG002 - always the same
        """Zero: two of its times differ by exactly the time between them."""
        return timedelta(0)

    def dst(self, dt: datetime | None) -> timedelta:  # noqa: ARG002 - always the same
        """Zero: there is no daylight saving time."""
        return timedelta(0)

    def tzname(self, dt: datetime | None) -> str:  # noqa: ARG002 - always the same
        return "monotonic"


class _Every(BaseTrigger):  # type: ignore[misc]  # apscheduler has no types
    """A run each interval from now on, with jitter; missed runs are not repeated."""

    def __init__(self, interval: timedelta) -> None:
        self._interval = interval

    def get_next_fire_time(
        self,
        previous_fire_time: datetime | None,  # noqa: ARG002 - as APScheduler calls it
        now: datetime,
    ) -> datetime:
        # S311: the random number only spreads requests, and is not for security.
        jitter = random.uniform(1 - JITTER_SHARE, 1 + JITTER_SHARE)  # noqa: S311
        return now + self._interval * jitter


class Scheduler:
    """Runs steps at their intervals, each in a separate thread."""

    def __init__(self, steps: tuple[Step, ...], telemetry: Telemetry) -> None:
        self._steps = {step.name: step for step in steps}
        self._telemetry = telemetry
        self._followers = {
            name: [step.name for step in steps if step.after == (one.kind or name)]
            for name, one in self._steps.items()
        }
        self._followers_of_work = {
            name: [step.name for step in steps if step.after_work_of == name]
            for name in self._steps
        }
        self._ended: dict[
            str, tuple[float, float]
        ] = {}  # the end of each step's last run, by the monotonic clock, and its run time
        self._began = time.monotonic()
        self._time = SteadyTime()
        self._state = threading.Condition()  # guards the next two attributes
        self._running: set[str] = set()
        self._is_ending = False
        self._apscheduler = BackgroundScheduler(
            timezone=self._time,
            executors={"default": _Threads()},
            job_defaults={"coalesce": True, "misfire_grace_time": None},
        )

    def start(self) -> None:
        """Start; every step runs at once, then at its interval."""
        self._began = time.monotonic()
        for order, step in enumerate(self._steps.values()):
            first = self._time.now() + timedelta(milliseconds=50 * order)
            self._apscheduler.add_job(
                self.run_step,
                _Every(step.interval),
                args=[step.name],
                id=step.name,
                next_run_time=first,
            )
        self._apscheduler.start()

    def run_step(self, name: str) -> bool:
        """Run a step now, and return whether it succeeded.

        False when it failed, runs already, must pause, or must not start any more. A failure is
        logged and counted, never raised.
        """
        step = self._steps[name]
        with self._state:
            if self._is_resting(step) or name in self._running or self._is_ending:
                return False
            self._running.add(name)
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
            took = time.monotonic() - started
            self._ended[name] = started + took, took
            with self._state:
                self._running.remove(name)
                self._state.notify_all()
            self._telemetry.step_finished(name, took, is_ok)
        if is_ok:
            self._hasten(self._followers[name] + (self._followers_of_work[name] if done else []))
        return is_ok

    def _is_resting(self, step: Step) -> bool:
        ended, took = self._ended.get(step.name, (0.0, 0.0))
        return time.monotonic() < ended + step.rest_factor * took

    def _hasten(self, names: list[str]) -> None:
        """Let these steps run now, except steps that a drain or the end has removed."""
        with self._state:
            for name in names if self._apscheduler.running and not self._is_ending else ():
                with contextlib.suppress(JobLookupError):
                    self._apscheduler.modify_job(name, next_run_time=self._time.now())

    @property
    def states(self) -> tuple[StepState, ...]:
        return tuple(map(self._state_of, self._steps.values()))

    def _state_of(self, step: Step) -> StepState:
        ended = self._ended.get(step.name)
        since, took = ended if ended is not None else (self._began, 0.0)
        return StepState(
            name=step.name,
            pause=max(step.interval, timedelta(seconds=step.rest_factor * took)),
            idle=timedelta(seconds=time.monotonic() - since),
            took=timedelta(seconds=took) if ended is not None else None,
            is_running=step.name in self._running,
        )

    def drain(
        self,
        unfinished: Callable[[], list[Job]],
        cancel: Callable[[Job], object],
        timeout: timedelta,
    ) -> None:
        """Start nothing new, and let running jobs finish within the timeout; then cancel them.

        Returns when no job of this process is left, or after CANCEL_GRACE.
        """
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

    def stop(self, grace: timedelta = STOP_GRACE) -> None:
        """Start no more runs; returns when no step is running, or the grace is over."""
        with self._state:
            self._is_ending = True
        if self._apscheduler.running:
            self._apscheduler.shutdown(wait=False)
        with self._state:
            self._state.wait_for(lambda: not self._running, grace.total_seconds())
            for name in sorted(self._running):
                log.warning(
                    "step.left step=%s (it did not end within %g s and ends with the process)",
                    name,
                    grace.total_seconds(),
                )
