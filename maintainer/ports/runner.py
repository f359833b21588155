"""Running jobs on Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.driver import JobDriver, JobLog, Progress, SparkFacts
from maintainer.domain.job import Job, JobEvent, Outcome
from maintainer.domain.orphan import FoundFile, FoundOrphans, RemovedOrphans


@dataclass(frozen=True, slots=True)
class RunnerReport:
    """The current state of a job in its runner.

    With an outcome, Spark has finished the job and can no longer commit.
    """

    job_id: str
    is_started: bool
    progress: Progress
    events: tuple[JobEvent, ...] = ()  # events since the last report
    outcome: Outcome | None = None
    # the job's former process has ended, and this process continues the job
    adopted: bool = False
    driver: JobDriver | None = None  # None until the job has a driver


class OrphanFiles(Protocol):
    """The input and the results of orphan scans and removals."""

    def write_list(
        self, job_id: str, action: RemoveOrphanFiles, files: Sequence[FoundFile], /
    ) -> None:
        """Store the files that a job may remove, before it is submitted.

        RunnerUnavailableError if they can never be stored.
        """

    def write_listing(
        self, job_id: str, action: RemoveOrphanFiles, pages: Iterable[Sequence[FoundFile]], /
    ) -> int:
        """Store the listing of the table's location, before an orphan scan is submitted.

        Returns how many files are old enough. Exceptions of `pages` and of the store are raised
        as they are.
        """

    def find_orphans(self, job: Job) -> FoundOrphans | None:
        """The result of an orphan scan; None when it is absent or incomplete."""

    def find_removed(self, job: Job) -> RemovedOrphans | None:
        """The input and the result of a removal; None if even the list is missing."""

    def remove(self, job: Job) -> None:
        """Delete all portions of a job. Unknown jobs are ignored.

        Of a job that is not submitted yet, only what this process has stored is deleted.
        """


class Runner(Protocol):
    """Runs the actions of jobs.

    A reported success is a claim; only the table's metadata proves it.
    """

    @property
    def owner(self) -> str:
        """The name of this process among all that share the store; stored with each job."""

    def lives(self, owner: str, pool: str, /) -> bool | None:
        """True if this process lives, or another process has adopted its work in the pool.

        None when the process is of another machine, or the pool is not configured here. When
        nobody has adopted the work in the pool, this process does so now: of two that ask, only
        one may continue.
        """

    @property
    def application(self) -> str:
        """Spark's application name.

        Iceberg writes it as `app-name` into the summary of every snapshot that our jobs
        commit.
        """

    @property
    def capacities(self) -> Mapping[str, int]:
        """How many jobs can run at the same time in each pool."""

    @property
    def obstacles(self) -> Mapping[str, str]:
        """Why no job can run in these pools, in a sentence each."""

    @property
    def facts(self) -> Mapping[str, SparkFacts]:
        """What the newest driver of each pool reported about its Spark."""

    def recall(self, facts: SparkFacts) -> None:
        """Take facts about Spark from another process, or from this process before its restart.

        Facts under other settings, and facts older than the runner's, are ignored.
        """

    def statements(self, job: Job) -> Sequence[str]:
        """The statements that Spark will get for the job, in order.

        Empty if they cannot be written; then `submit` reports the reason.
        """

    def submit(self, job: Job) -> None:
        """Take the job and return at once; a second call with the same id does nothing.

        RunnerUnavailableError if Spark can never start here.
        """

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        """Allow the job to work for this time from now; may come before submit.

        A job that is not renewed in time is ended by the runner itself. Another process
        takes a job over only after this time, so two processes never work on one table.
        Unknown and ended ids are ignored.
        """

    def report(self, job: Job) -> RunnerReport | None:
        """Report on a job; None while another living process owns it.

        The outcome is of kind "lost" when nobody runs the job any more. None also while the
        job may still work in a pool that is not configured any more.
        """

    def log(self, job: Job, since: int) -> JobLog | None:
        """Return the driver's log for the time of the job, from a position on.

        Any process may ask. The text is empty while there is nothing new. None when there is no
        log yet, or none any more.
        """

    def cancel(self, job_id: str) -> None:
        """Request the end of a job; the outcome shows its end. Unknown ids are ignored."""

    @property
    def orphan_files(self) -> OrphanFiles:
        """The files of orphan scans and removals; they are of no pool."""

    def outlives_daemon(self, pool: str, /) -> bool:
        """True when jobs of the pool go on without this process, and another can continue them."""

    def leave(self) -> None:
        """Take no more jobs and follow none; end only those that do not outlive the daemon.

        Another process may adopt the others from now on.
        """

    def close(self) -> None:
        """End Spark and all that it runs; returns when its processes are gone.

        After `leave` there is nothing left to end.
        """

    def describe(self, pool: str = "", /) -> Sequence[tuple[str, bool, str]]:
        """(what, whether it works, sentence) for what Spark needs, in one pool or in all."""
