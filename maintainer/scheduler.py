"""Run each step at its interval, with jitter, and never two runs of one step at once.

Steps run by the monotonic clock: when somebody sets the machine's clock, no run is missed, repeated
or delayed.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from maintainer.domain.errors import MaintainerError
from maintainer.domain.job import Job
from maintainer.domain.units import format_duration
from maintainer.ports.telemetry import Telemetry

log = logging.getLogger(__name__)

JITTER_SHARE = (
    0.1  # of the interval, at random, so that many daemons do not ask a catalog at the same moment
)
FIRST_RUNS_APART = 0.05  # seconds, so that the steps begin in their order
CANCEL_GRACE = timedelta(seconds=30)
# A step is late when it ends no run for this many intervals, or this many times its last run time.
MISSED_RUNS = 3
LEAST_PATIENCE = timedelta(minutes=10)
STOP_GRACE = timedelta(seconds=5)  # for steps to end; a step that hangs ends with the process


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the loop, ready to be called."""

    name: str
    run: Callable[[], object]
    interval: timedelta
    starts_work: bool  # False for the steps that a drain still needs: watch and review
    rest_factor: float = 0.0  # its least pause, as a multiple of its last run time
    # the step after whose runs this one runs at once, because it uses what that step wrote
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
        """True when the step hangs, or is no longer run."""
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


class Scheduler:
    """Runs steps at their intervals, each in a thread of its own."""

    def __init__(self, steps: tuple[Step, ...], telemetry: Telemetry) -> None:
        self._steps = {step.name: step for step in steps}
        self._telemetry = telemetry
        self._followers = {
            name: [step.name for step in steps if step.after == name] for name in self._steps
        }
        self._followers_of_work = {
            name: [step.name for step in steps if step.after_work_of == name]
            for name in self._steps
        }
        self._ended: dict[
            str, tuple[float, float]
        ] = {}  # the end of each step's last run, by the monotonic clock, and its run time
        self._began = time.monotonic()
        self._state = threading.Condition()  # guards the four below
        self._due: dict[str, float] = {}  # the next run of each step, by the monotonic clock
        self._running: set[str] = set()
        self._is_draining = False
        self._is_ending = False

    def start(self) -> None:
        """Start; every step runs at once, then at its interval."""
        self._began = time.monotonic()
        for order, step in enumerate(self._steps.values()):
            self._due[step.name] = self._began + FIRST_RUNS_APART * order
        for step in self._steps.values():
            threading.Thread(
                target=self._repeat, args=(step,), name=f"step-{step.name}", daemon=True
            ).start()

    def _repeat(self, step: Step) -> None:
        while self._await_run(step):
            self.run_step(step.name)

    def _await_run(self, step: Step) -> bool:
        """Wait until the step is due; False when it must not run any more.

        What was due while the step was running is skipped.
        """
        with self._state:
            if self._due[step.name] <= self._ended.get(step.name, (0.0, 0.0))[0]:
                self._plan(step)
            while not self._is_ending and not (self._is_draining and step.starts_work):
                left = self._due[step.name] - time.monotonic()
                if left <= 0:
                    self._plan(step)
                    return True
                self._state.wait(left)
            return False

    def _plan(self, step: Step) -> None:
        # S311: spreads requests, guards nothing.
        jitter = random.uniform(1 - JITTER_SHARE, 1 + JITTER_SHARE)  # noqa: S311
        self._due[step.name] = time.monotonic() + step.interval.total_seconds() * jitter

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
        """Let these steps run now, unless the scheduler was never started."""
        with self._state:
            self._due |= dict.fromkeys(self._due.keys() & set(names), time.monotonic())
            self._state.notify_all()

    @property
    def states(self) -> tuple[StepState, ...]:
        """The state of each step."""
        return tuple(map(self._look_at, self._steps.values()))

    def _look_at(self, step: Step) -> StepState:
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

        Returns when none of our jobs is left, or CANCEL_GRACE is over.
        """
        with self._state:
            self._is_draining = True
            self._state.notify_all()
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
            self._state.notify_all()
            self._state.wait_for(lambda: not self._running, grace.total_seconds())
            for name in sorted(self._running):
                log.warning(
                    "step.left step=%s (it did not end within %g s and ends with the process)",
                    name,
                    grace.total_seconds(),
                )
