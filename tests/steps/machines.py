"""One of two machines with a daemon on each, for tests in which two of them share a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

from maintainer.domain.job import Job
from maintainer.ports import Ports
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.spark import FakeRunner
from tests.steps.world import World

STEPS: Mapping[str, Callable[[Ports], object]] = {
    "scan": scan,
    "plan": plan,
    "submit": submit,
    "watch": watch,
    "review": review,
}


class Machine:
    """A clock of its own, and a Spark that knows nothing of the other machine's."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.skew = timedelta(0)
        self.clock = FakeClock(world.clock.now())
        self.lives = 0
        self.other: Machine | None = None
        self.past: list[FakeRunner] = []
        self.runner = self._begin()

    def _begin(self) -> FakeRunner:
        self.lives += 1
        runner = FakeRunner(
            self.clock, capacity=2, owner=f"{self.name}-{self.lives}", tables=self.world
        )
        self.past.append(runner)
        self.ports: Ports = replace(self.world.restarted(), runner=runner, clock=self.clock)
        return runner

    def restart(self, *, adopts: bool) -> None:
        gone = self.runner
        self.runner = self._begin()
        if adopts:
            self.runner.adopt(gone)
        gone.closed = True

    def tell_time(self) -> None:
        self.clock.time = self.world.clock.now() + self.skew
        self.runner.end_overdue()

    def working(self) -> list[Job]:
        """The jobs that this machine's Spark is at work on: neither ended, nor past the time that
        it may work.
        """
        self.runner.end_overdue()
        taken = {**self.runner.submitted, **self.runner.adopted}
        return [job for job_id, job in taken.items() if job_id not in self.runner._outcomes]

    def run(self, *steps: str) -> None:
        if self.other is not None:
            self.runner.distant_owners = {runner.owner for runner in self.other.past}
        for step in steps:
            STEPS[step](self.ports)
