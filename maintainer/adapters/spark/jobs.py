"""Runs jobs in warm drivers: chooses a driver for each job, and keeps its reports.

The source of the drivers starts them and communicates with them.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from maintainer.adapters.spark.drivers import Drivers
from maintainer.adapters.spark.facts import Reports
from maintainer.adapters.spark.link import Driver, DriverSource
from maintainer.adapters.spark.logs.copying import JobLogs
from maintainer.adapters.spark.options import DriverSize, RunnerOptions, megabytes
from maintainer.adapters.spark.orphans.orphan_files import CARRIED, Courier, OrphanFiles
from maintainer.adapters.spark.statements.job import (
    Statements,
    refuse_unknown_catalog,
    statements_of,
)
from maintainer.adapters.spark.tracking import (
    TrackedJob,
    TrackedJobs,
    WaitingJob,
    lost,
    outcome_of_end,
    read_instant,
)
from maintainer.adapters.spark.trial import Trial
from maintainer.domain.action import (
    ComputeTableStats,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
    orphans_of,
)
from maintainer.domain.driver import JobLog, Progress, SparkFacts, Stage
from maintainer.domain.errors import InvalidValueError, RunnerUnavailableError
from maintainer.domain.job import FailureReason, Job, Outcome
from maintainer.domain.pool import JobSize
from maintainer.ports.clock import Clock
from maintainer.ports.runner import RunnerReport

# They work in jobs of Spark; the others may work long in the driver alone.
_PLANNED = (ComputeTableStats, RewriteDataFiles, RewriteManifests, RewritePositionDeleteFiles)
_UNSEEN_GRACE = timedelta(seconds=30)  # the time from storing a job as submitted to its submission


class SparkRunner:
    """Runs jobs in drivers that start on demand, stay warm and end when idle.

    If this process is killed, the next process adopts its drivers.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the composition root passes all of them, once
        self,
        options: RunnerOptions,
        catalogs: Collection[str],
        owner: str,
        application: str,
        source: DriverSource,
        orphan_files: OrphanFiles,
        logs: JobLogs,
        clock: Clock,
    ) -> None:
        """``catalogs`` are the names that Spark knows."""
        if options.max_jobs < 1:
            raise InvalidValueError(
                f"max_jobs of the runner is {options.max_jobs}; it must be at least 1"
            )
        self._options = options
        self._catalogs = catalogs
        self.owner = owner  # the name under which this process's jobs are stored
        self.application = application  # Spark's application name, and `app-name` in snapshots
        self._source = source
        self.orphan_files = orphan_files
        self._clock = clock
        self._mutex = threading.RLock()
        self._jobs = TrackedJobs()
        self._waiting: list[WaitingJob] = []  # jobs that wait for memory, oldest first
        self._is_closed = False
        self._courier = Courier(orphan_files)
        self._logs = logs
        self._reports = Reports(source.fingerprints, options.pool)
        self._drivers = Drivers(
            source, self, self._mutex, options.start_timeout, options.idle_timeout
        )

    def lives(self, owner: str, _pool: str = "", /) -> bool | None:
        """Return whether this process lives, or another process has adopted its drivers.

        Otherwise its drivers are adopted now, with all their jobs.
        """
        lives = self._source.lives(owner)
        if lives is not False or self._is_closed:
            return lives
        return not self._drivers.take_over(owner)

    @property
    def capacities(self) -> Mapping[str, int]:
        """Return how many jobs run at the same time in this runner's only pool."""
        return {self._options.pool: self._options.max_jobs}

    @property
    def obstacles(self) -> Mapping[str, str]:
        """Return nothing: only the first job shows whether Spark starts."""
        return {}

    @property
    def facts(self) -> Mapping[str, SparkFacts]:
        """Return what the newest driver reported about its Spark; empty before the first report."""
        newest = self._reports.newest
        return {} if newest is None else {self._options.pool: newest}

    def recall(self, facts: SparkFacts) -> None:
        """Take facts of another process, if they are newer and under the same settings."""
        self._reports.recall(facts)

    def warm(self, size: JobSize = JobSize.SMALL) -> Driver | None:
        """Return the driver that takes jobs of this size; None while there is none."""
        return self._drivers.warm(self._options.driver_of(size))

    def statements(self, job: Job) -> Sequence[str]:
        try:
            return self._statements(job).every
        except InvalidValueError:
            return ()

    def submit(self, job: Job) -> None:
        """Take the job; a statement that cannot be written fails the job without Spark."""
        self.orphan_files.claim(job)
        with self._mutex:
            if self._is_closed:
                raise RunnerUnavailableError("the runner is closed and takes no more jobs")
            if self._jobs.get(job.job_id) is not None:
                return
            try:
                statements = self._statements(job)
            except InvalidValueError as error:
                refused = self._jobs.remember(TrackedJob(job.job_id))
                self._refuse(refused, FailureReason.INVALID_REQUEST, error)
                return
            size = self._options.driver_of(job.size or JobSize.SMALL)
            driver = None if self._waiting else self._running_driver(size)
            tracked = self._jobs.remember(TrackedJob(job.job_id))
            tracked.tell(
                "spark.submitted",
                self._clock.now(),
                statement=statements.work,
                application=self.application,
            )
            order = {
                "id": job.job_id,
                "statements": list(statements.every),
                "main": statements.main,
                "rows": orphans_of(job.action) is not None,
                "plans": isinstance(job.action, _PLANNED),
            }
            if driver is not None:
                self._hand_over(tracked, driver, order)
                return
            tracked.progress = Progress(phase="waiting for memory")
            self._waiting.append(WaitingJob(tracked, size, order))

    def _hand_over(self, tracked: TrackedJob, driver: Driver, order: Mapping[str, object]) -> None:
        tracked.carrier = driver.name
        self._logs.follow(tracked.job_id, driver)
        tracked.progress = (
            Progress(phase="waiting for Spark")
            if driver.is_started
            else Progress(phase="starting Spark", stage=Stage.STARTING)
        )
        self._drivers.occupy(driver)
        driver.run(order, self._jobs.take_validity(tracked.job_id))

    def _refuse(self, tracked: TrackedJob, reason: FailureReason, error: Exception) -> None:
        tracked.end(Outcome("failed", self._clock.now(), reason=reason, message=str(error)))

    def _place_waiting(self) -> None:
        """Hand over jobs that wait for memory, as far as memory is free."""
        while self._waiting and not self._is_closed:
            first = self._waiting[0]
            try:
                driver = self._running_driver(first.size)
            except RunnerUnavailableError as error:
                self._refuse(first.tracked, FailureReason.RUNNER_UNAVAILABLE, error)
            else:
                if driver is None:
                    return
                self._hand_over(first.tracked, driver, first.order)
            self._waiting.remove(first)

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        """Set the job's fence to this time from now; the driver ends the job by then."""
        with self._mutex:
            tracked = self._jobs.get(job_id)
            if tracked is not None and tracked.carrier:
                driver = self._drivers.living(tracked.carrier)
                if driver is not None:
                    driver.renew(job_id, valid_for)
                return
            self._jobs.keep_validity(job_id, valid_for)

    def report(self, job: Job) -> RunnerReport | None:
        """Report on the job; first adopt its driver if the driver's daemon has ended."""
        if self._jobs.get(job.job_id) is None and job.owner not in {"", self.owner}:
            if self._is_closed or not self._drivers.take_over_job(job.job_id, job.owner):
                return None
            message = f"process {job.owner}, which ran the job, and its Spark have ended"
        else:
            message = (
                f"process {self.owner} does not run the job, because it was restarted"
                if job.owner
                else "no process took the job"
            )
        with self._mutex:
            tracked, was_started = self._jobs.get(job.job_id), job.started_at is not None
            now = self._clock.now()
            if tracked is None:
                if (
                    job.owner == self.owner
                    and job.submitted_at is not None
                    and now - job.submitted_at < _UNSEEN_GRACE
                ):
                    return None
                tracked = self._jobs.remember(
                    TrackedJob(job.job_id, progress=job.progress, is_started=was_started)
                )
                tracked.end(lost(now, message))
            if tracked.progress == Progress():  # of a just adopted job: use the known progress
                tracked.progress = job.progress
                tracked.is_started |= was_started
            numbers, driver = tracked.acknowledge(), self._drivers.living(tracked.carrier)
            if numbers and driver is not None:
                driver.acknowledge(numbers)
            return replace(
                tracked.report(),
                adopted=bool(tracked.carrier) and job.owner not in {"", self.owner},
                driver=self._reports.of(tracked.carrier),
            )

    def log(self, job: Job, since: int) -> JobLog | None:
        """Return the job's share of its driver's log from a position on; None without a log."""
        return self._logs.read(job.job_id, since)

    def cancel(self, job_id: str) -> None:
        """Request the end of the job."""
        with self._mutex:
            tracked = self._jobs.get(job_id)
            if tracked is not None and tracked.outcome is None:
                self._waiting = [one for one in self._waiting if one.tracked is not tracked]
                if not tracked.carrier:
                    tracked.end(Outcome("cancelled", self._clock.now()))
                    return
                tracked.tell("spark.cancelling", self._clock.now())
                driver = self._drivers.living(tracked.carrier)
                if driver is not None:
                    driver.cancel(job_id)

    def outlives_daemon(self, _pool: str = "", /) -> bool:
        """Return whether the drivers continue without this process."""
        return self._source.outlives_daemon

    def leave(self) -> None:
        """Leave the drivers to the next process, or end them; jobs without a driver are lost."""
        if not self.outlives_daemon():
            self.close()
            return
        with self._mutex:
            self._is_closed = True
            self._drivers.leave()
        self._logs.leave()
        self._courier.close()
        self._source.release()

    def close(self) -> None:
        """End Spark with all its jobs; return when its processes have ended."""
        with self._mutex:
            if self._is_closed:
                return
            self._is_closed = True
            for waiting in self._waiting:
                waiting.tracked.end(Outcome("cancelled", self._clock.now()))
        self._drivers.close()
        self._logs.close()
        self._courier.close()
        self._source.release()

    def trial(self) -> Trial:
        """Return a trial with its own driver; this runner must not be used at the same time."""
        return Trial(self._source, self._options)

    def describe(self, _pool: str = "", /) -> Sequence[tuple[str, bool, str]]:
        """Describe each prerequisite in a sentence, whether it is present or missing."""
        return self._source.describe()

    def heard(self, driver: Driver, message: Mapping[str, object]) -> None:
        """Take a driver's message; the driver's reader thread calls this method."""
        self._reports.hear(driver.name, driver.fingerprint, message)
        with self._mutex:
            match message:
                case {"event": "hello", "jobs": dict(jobs)}:
                    for job_id, is_started in jobs.items():
                        self._tracked(driver, job_id).is_started |= is_started
                case {"event": "application.started"}:
                    for waiting in self._jobs.unfinished(driver):
                        waiting.tell(
                            "application.started",
                            read_instant(message),
                            application_id=message.get("application_id"),
                        )
                        waiting.progress = Progress(phase="waiting for Spark", stage=Stage.STARTING)
                case {"job": str(), "event": str(event)} if event in CARRIED:
                    self._courier.take(driver, message)
                case {"job": str(job_id)}:
                    self._tracked(driver, job_id).hear(message, read_instant(message))
                    self._logs.hear(job_id, message)
                    self._place_waiting()
                case _:
                    pass  # a message about the driver itself

    def ended(self, driver: Driver) -> None:
        """Take the end of the driver and its JVM; the driver's reader thread calls this method."""
        with self._mutex:
            for tracked in self._jobs.unfinished(driver):
                tracked.end(
                    outcome_of_end(
                        driver, tracked.job_id, self._clock.now(), is_closed=self._is_closed
                    )
                )
            self._place_waiting()

    def is_idle(self, driver: Driver) -> bool:
        with self._mutex:
            return not self._jobs.unfinished(driver)

    def _statements(self, job: Job) -> Statements:
        refuse_unknown_catalog(job, self._catalogs)
        return statements_of(job, self.orphan_files.find_input(job))

    def _running_driver(self, size: DriverSize) -> Driver | None:
        """Return the running driver of this size or a new one; None if there is no memory for it.

        RunnerUnavailableError if the driver cannot be started.
        """
        driver = self._drivers.warm(size)
        if driver is not None or not self._drivers.make_room(
            megabytes(size.memory), self._options.max_megabytes
        ):
            return driver
        try:
            return self._drivers.start(size)
        except OSError as error:
            raise RunnerUnavailableError(f"Spark cannot be started: {error}") from error

    def _tracked(self, driver: Driver, job_id: str) -> TrackedJob:
        """Return the record of the driver's job; a job of an adopted driver gets a new record."""
        known = self._jobs.get(job_id)
        if known is not None:
            return known
        valid_for = self._jobs.take_validity(job_id)
        if valid_for is not None:
            driver.renew(job_id, valid_for)
        self._logs.follow(job_id, driver)
        return self._jobs.remember(TrackedJob(job_id, driver.name, progress=Progress()))
