"""Several runners as one: each job runs in the pool that its policy names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.adapters.spark.remote.driver import FENCE_MARGIN
from maintainer.adapters.spark.tracking import TrackedJob, lost
from maintainer.domain.driver import JobLog, SparkFacts
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.job import Job
from maintainer.ports.clock import Clock
from maintainer.ports.runner import Runner, RunnerReport
from maintainer.ports.store import Store


@dataclass(frozen=True, slots=True)
class PooledRunner:
    """Implements Runner with the runners of the pools.

    Calls without a pool go to all runners; a runner ignores unknown ids. A job of a pool that this
    process does not have is lost as soon as its driver's fence has passed.
    """

    runners: Mapping[str, Runner]  # by pool
    refused: Mapping[str, str]  # why the other configured pools have no runner
    owner: str
    application: str
    orphan_files: OrphanFiles
    store: Store
    clock: Clock

    def lives(self, owner: str, pool: str, /) -> bool | None:
        runner = self.runners.get(pool)
        return None if runner is None else runner.lives(owner, pool)

    @property
    def obstacles(self) -> Mapping[str, str]:
        """See Runner; also the pools without a runner."""
        found = dict(self.refused)
        for runner in self.runners.values():
            found |= runner.obstacles
        return found

    @property
    def capacities(self) -> Mapping[str, int]:
        """See Runner; a pool that cannot be used has no slots."""
        found: dict[str, int] = {}
        for runner in self.runners.values():
            found |= runner.capacities
        return found | dict.fromkeys(self.obstacles, 0)

    @property
    def facts(self) -> Mapping[str, SparkFacts]:
        return {
            pool: facts for runner in self.runners.values() for pool, facts in runner.facts.items()
        }

    def recall(self, facts: SparkFacts) -> None:
        if facts.pool in self.runners:
            self.runners[facts.pool].recall(facts)

    def statements(self, job: Job) -> Sequence[str]:
        runner = self.runners.get(job.pool)
        return () if runner is None else runner.statements(job)

    def submit(self, job: Job) -> None:
        if job.pool not in self.runners:
            reason = self.refused.get(job.pool, "it is not configured")
            raise RunnerUnavailableError(f"pool {job.pool} cannot be used: {reason}")
        self.runners[job.pool].submit(job)

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        for runner in self.runners.values():
            runner.renew(job_id, valid_for)

    def report(self, job: Job) -> RunnerReport | None:
        if job.pool in self.runners:
            return self.runners[job.pool].report(job)
        if not self._end_driver_of(job):
            return None
        message = f"its pool {job.pool} is no longer configured, or cannot be used here"
        is_started = job.started_at is not None
        tracked = TrackedJob(job.job_id, progress=job.progress, is_started=is_started)
        tracked.end(lost(self.clock.now(), message))
        return tracked.report()

    def _end_driver_of(self, job: Job) -> bool:
        """End the job's driver in the store, once its fence has passed; True if none is left."""
        for driver in self.store.drivers():
            if job.job_id not in self.store.pending_jobs(driver.name):
                continue
            now = self.clock.now()
            if driver.fence is not None and now <= driver.fence + FENCE_MARGIN:
                return False
            reason = f"no daemon still has its pool {driver.pool}"
            if not self.store.end_driver(driver.name, reason, now, driver.polls):
                return False
        return True

    def log(self, job: Job, since: int) -> JobLog | None:
        return self.store.job_log(job.job_id, since)

    def cancel(self, job_id: str) -> None:
        for runner in self.runners.values():
            runner.cancel(job_id)

    def outlives_daemon(self, pool: str, /) -> bool:
        """See Runner; True for a pool that this process does not have: it ends no such job."""
        return pool not in self.runners or self.runners[pool].outlives_daemon(pool)

    def leave(self) -> None:
        for runner in self.runners.values():
            runner.leave()

    def close(self) -> None:
        for runner in self.runners.values():
            runner.close()

    def describe(self, pool: str = "", /) -> Sequence[tuple[str, bool, str]]:
        """See Runner; each line names its pool, if there are several pools."""
        is_alone = len(self.runners) + len(self.refused) == 1
        found = [
            (what if is_alone else f"{what} (pool {name})", is_fine, sentence)
            for name, runner in self.runners.items()
            if pool in {"", name}
            for what, is_fine, sentence in runner.describe(name)
        ]
        found += [
            (f"pool {name}", False, reason)
            for name, reason in self.refused.items()
            if pool in {"", name}
        ]
        return found
