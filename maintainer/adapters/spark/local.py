"""Runs jobs in warm Sparks on this machine, outside the daemon's process.

The next daemon may adopt them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from maintainer.adapters.spark.driver.channel import read_clock
from maintainer.adapters.spark.driver_settings import DriverSettings
from maintainer.adapters.spark.drivers import Drivers
from maintainer.adapters.spark.launcher.liveness import owner_lives
from maintainer.adapters.spark.launcher.ownership import Ownership
from maintainer.adapters.spark.launcher.process import DriverProcess
from maintainer.adapters.spark.options import DriverSize, LocalSparkOptions, megabytes
from maintainer.adapters.spark.orphan_files import OrphanFiles
from maintainer.adapters.spark.statements.job import Statements, statements_of
from maintainer.adapters.spark.tracking import TrackedJob, blame, failed_start, lost, read_instant
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.errors import InvalidValueError, RunnerUnavailableError
from maintainer.domain.job import FailureReason, Job, Outcome
from maintainer.domain.job_size import JobSize
from maintainer.domain.orphan import FoundFile, FoundOrphans, RemovedOrphans
from maintainer.domain.progress import Progress, Stage
from maintainer.ports.clock import Clock
from maintainer.ports.runner import RunnerReport

_MAX_REMEMBERED = 1_000  # jobs whose outcome has been reported
_UNSEEN_GRACE = timedelta(seconds=30)  # between storing a job as submitted and handing it over


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A job that no driver has room for yet."""

    tracked: TrackedJob
    size: DriverSize
    run: Mapping[str, object]


class LocalRunner:
    """Runs jobs in drivers that start on demand, stay warm and end when idle.

    If this process is killed, the next one adopts them.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the composition root passes all of them, once
        self,
        options: LocalSparkOptions,
        catalogs: Mapping[str, Mapping[str, str]],
        owner: str,
        application: str,
        run_dir: Path,
        clock: Clock,
    ) -> None:
        """Take the configuration.

        ``catalogs``: name -> Spark settings from spark_configuration. ``run_dir``: shared by all
        processes on this machine that use the same store.
        """
        if options.max_jobs < 1:
            message = f"max_jobs of the local runner is {options.max_jobs}; it must be at least 1"
            raise InvalidValueError(message)
        self._options = options
        self._settings = DriverSettings(options, catalogs, application)
        self._catalogs = catalogs
        self._owner = owner
        self._application = application
        self._run_dir = run_dir.absolute()
        self._orphan_files = OrphanFiles(self._run_dir)
        self._clock = clock
        self._mutex = threading.RLock()
        self._jobs: dict[str, TrackedJob] = {}
        self._until: dict[str, float] = {}  # of jobs without a driver
        self._waiting: list[_Waiting] = []  # for memory, the longest first
        self._is_closed = False
        self._ownership = Ownership(self._run_dir, owner)
        self._drivers = Drivers(
            self._ownership, self, self._mutex, options.start_timeout, options.idle_timeout
        )

    @property
    def owner(self) -> str:
        """Return the name under which this process's jobs are stored."""
        return self._owner

    def lives(self, owner: str) -> bool | None:
        """Return whether the process of that name lives, or a process here has adopted its drivers.

        Drivers without a process are adopted now, with all their jobs.
        """
        lives = owner_lives(self._run_dir, owner)
        if lives is not False or self._is_closed:
            return lives
        return not self._drivers.take_over(owner, self._settings.fingerprints)

    @property
    def application(self) -> str:
        """Return Spark's application name, which is the `app-name` of our snapshots."""
        return self._application

    @property
    def capacity(self) -> int:
        """Return how many jobs run at once."""
        return self._options.max_jobs

    @property
    def driver_pid(self) -> int | None:
        """Return the driver's process number; None while Spark is not up."""
        process = self._warm()
        return process.pid if process else None

    @property
    def java_pid(self) -> int | None:
        """Return the process number of Spark's JVM; None while Spark is not up."""
        process = self._warm()
        return process.java_pid if process else None

    def _warm(self, size: JobSize = JobSize.SMALL) -> DriverProcess | None:
        return self._drivers.warm(self._settings.fingerprint(self._options.driver_of(size)))

    def statements(self, job: Job) -> Sequence[str]:
        """Return the statements for the job."""
        try:
            return self._statements(job).every
        except InvalidValueError:
            return ()

    def submit(self, job: Job) -> None:
        """Take the job; a statement that cannot be written fails the job without Spark."""
        with self._mutex:
            if self._is_closed:
                message = "the local runner is closed and takes no more jobs"
                raise RunnerUnavailableError(message)
            if job.job_id in self._jobs:
                return
            try:
                statements = self._statements(job)
            except InvalidValueError as error:
                refused = self._remember(TrackedJob(job.job_id))
                self._refuse(refused, FailureReason.INVALID_REQUEST, error)
                return
            size = self._options.driver_of(job.size or JobSize.SMALL)
            process = None if self._waiting else self._running_process(size)
            tracked = self._remember(TrackedJob(job.job_id))
            tracked.tell(
                "spark.submitted",
                self._clock.now(),
                statement=statements.work,
                application=self._application,
            )
            run = {
                "id": job.job_id,
                "statements": list(statements.every),
                "main": statements.main,
                "rows": self._orphan_files.open_rows(job),
            }
            if process is not None:
                self._hand_over(tracked, process, run)
                return
            tracked.progress = Progress(phase="waiting for memory")
            self._waiting.append(_Waiting(tracked, size, run))

    def _hand_over(
        self, tracked: TrackedJob, process: DriverProcess, run: Mapping[str, object]
    ) -> None:
        tracked.carrier = process.directory.name
        tracked.progress = (
            Progress(phase="waiting for Spark")
            if process.is_started
            else Progress(phase="starting Spark", stage=Stage.STARTING)
        )
        self._drivers.occupy(process)
        process.send({"run": dict(run) | {"until": self._until.pop(tracked.job_id, None)}})

    def _refuse(self, tracked: TrackedJob, reason: FailureReason, error: Exception) -> None:
        tracked.end(Outcome("failed", self._clock.now(), reason=reason, message=str(error)))

    def _place_waiting(self) -> None:
        """Hand over jobs that wait for memory, as far as memory is free."""
        while self._waiting and not self._is_closed:
            first = self._waiting[0]
            try:
                process = self._running_process(first.size)
            except RunnerUnavailableError as error:
                self._refuse(first.tracked, FailureReason.RUNNER_UNAVAILABLE, error)
            else:
                if process is None:
                    return
                self._hand_over(first.tracked, process, first.run)
            self._waiting.remove(first)

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        """Set the job's fence to so long from now; the driver enforces it even without us."""
        until = read_clock() + valid_for.total_seconds()
        with self._mutex:
            tracked = self._jobs.get(job_id)
            if tracked is not None and tracked.carrier:
                self._drivers.send(tracked.carrier, {"renew": {"id": job_id, "until": until}})
                return
            self._until[job_id] = until
            for forgotten in list(self._until)[:-_MAX_REMEMBERED]:
                del self._until[forgotten]

    def report(self, job: Job) -> RunnerReport | None:
        """Report the job, after adopting its driver if the driver's daemon is gone."""
        if job.job_id not in self._jobs and job.owner not in {"", self._owner}:
            if self._is_closed or not self._drivers.take_over(
                job.owner, self._settings.fingerprints
            ):
                return None
            message = f"process {job.owner} that ran the job has ended, and its Spark too"
        else:
            message = (
                f"process {self._owner} does not run the job; it has restarted since"
                if job.owner
                else "no process took the job"
            )
        with self._mutex:
            tracked = self._jobs.get(job.job_id)
            now = self._clock.now()
            if tracked is None:
                if (
                    job.owner == self._owner
                    and job.submitted_at is not None
                    and now - job.submitted_at < _UNSEEN_GRACE
                ):
                    return None
                tracked = self._remember(
                    TrackedJob(
                        job.job_id, progress=job.progress, is_started=job.started_at is not None
                    )
                )
                tracked.end(lost(now, message))
            if tracked.progress == Progress():  # just adopted: the known progress is as good
                tracked.progress = job.progress
                tracked.is_started |= job.started_at is not None
            numbers = tracked.acknowledge()
            if numbers:
                self._drivers.send(tracked.carrier, {"acknowledged": numbers})
            return replace(
                tracked.report(),
                adopted=bool(tracked.carrier) and job.owner not in {"", self._owner},
            )

    def cancel(self, job_id: str) -> None:
        """Request the end of the job."""
        with self._mutex:
            tracked = self._jobs.get(job_id)
            if tracked is not None and tracked.outcome is None:
                self._waiting = [
                    waiting for waiting in self._waiting if waiting.tracked is not tracked
                ]
                if not tracked.carrier:
                    tracked.end(Outcome("cancelled", self._clock.now()))
                    return
                tracked.tell("spark.cancelling", self._clock.now())
                self._drivers.send(tracked.carrier, {"cancel": job_id})

    def found_orphans(self, job: Job) -> FoundOrphans | None:
        """Return the result of an orphan scan; None if it is not here or incomplete."""
        return self._orphan_files.find_orphans(job)

    def bring_orphans(
        self, job_id: str, action: RemoveOrphanFiles, files: Sequence[FoundFile]
    ) -> None:
        """Write the list of files that the job may remove."""
        self._orphan_files.write_list(job_id, action, files)

    def bring_listing(
        self, job_id: str, action: RemoveOrphanFiles, pages: Iterable[Sequence[FoundFile]]
    ) -> int:
        """Write the listing of the table's location; return how many files are old enough."""
        return self._orphan_files.write_listing(job_id, action, pages)

    def removed_orphans(self, job: Job) -> RemovedOrphans | None:
        """Return the input and the result of a removal; None if not even the list is here."""
        return self._orphan_files.find_removed(job)

    def forget(self, job_id: str) -> None:
        """Remove the job's files: results of an orphan scan, lists and listings."""
        self._orphan_files.remove(job_id)

    def close(self) -> None:
        """End Spark and everything it runs; returns when its processes are gone."""
        with self._mutex:
            self._is_closed = True
            for waiting in self._waiting:
                waiting.tracked.end(Outcome("cancelled", self._clock.now()))
        self._drivers.close()
        self._ownership.release()

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        """Describe each prerequisite in a sentence, present or missing."""
        return tuple(self._settings.describe_prerequisites())

    def heard(self, process: DriverProcess, message: Mapping[str, object]) -> None:
        """Take a driver's message (called by the driver's reader thread)."""
        with self._mutex:
            match message:
                case {"event": "hello", "jobs": dict(jobs)}:
                    for job_id, is_started in jobs.items():
                        self._tracked(process, job_id).is_started |= is_started
                case {"event": "application.started"}:
                    for waiting in self._unfinished(process):
                        waiting.tell(
                            "application.started",
                            read_instant(message),
                            application_id=message.get("application_id"),
                        )
                        waiting.progress = Progress(phase="waiting for Spark", stage=Stage.STARTING)
                case {"job": str(job_id)}:
                    self._tracked(process, job_id).hear(message, read_instant(message))
                    self._place_waiting()
                case _:
                    pass  # of the driver itself

    def ended(self, process: DriverProcess) -> None:
        """Note that the driver and its JVM are gone (called by the driver's reader thread)."""
        with self._mutex:
            now = self._clock.now()
            words = process.last_words
            for tracked in self._unfinished(process):
                if process.is_started:
                    reason = (
                        FailureReason.LOST_RUNNER
                        if self._is_closed
                        else blame(tracked.job_id, words)
                    )
                    tracked.end(
                        lost(now, str(words.get("reason") or "Spark's driver ended"), reason)
                    )
                else:
                    tracked.end(failed_start(process, now))
            self._place_waiting()

    def is_idle(self, process: DriverProcess) -> bool:
        """Return True if the driver has no unfinished job."""
        with self._mutex:
            return not self._unfinished(process)

    def _statements(self, job: Job) -> Statements:
        if job.table.catalog not in self._catalogs:
            message = (
                f"catalog {job.table.catalog!r} of job {job.job_id} is not configured for Spark; "
                f"known are {', '.join(sorted(self._catalogs)) or 'none'}"
            )
            raise InvalidValueError(message)
        return statements_of(job, self._orphan_files.find_input(job))

    def _running_process(self, size: DriverSize) -> DriverProcess | None:
        """Return the running driver of that size or a new one; None if there is no memory for it.

        RunnerUnavailableError if it cannot be started.
        """
        process = self._drivers.warm(self._settings.fingerprint(size))
        if process is not None or not self._drivers.make_room(
            megabytes(size.memory), self._options.max_megabytes
        ):
            return process
        java_home, settings = self._settings.prepare(size, self._run_dir)
        try:
            return self._drivers.start(self._owner, java_home, settings)
        except OSError as error:
            message = f"Spark cannot be started: {error}"
            raise RunnerUnavailableError(message) from error

    def _remember(self, tracked: TrackedJob) -> TrackedJob:
        told = [job_id for job_id, known in self._jobs.items() if known.is_reported]
        for job_id in told[: max(0, len(told) - _MAX_REMEMBERED)]:
            del self._jobs[job_id]
        self._jobs[tracked.job_id] = tracked
        return tracked

    def _tracked(self, process: DriverProcess, job_id: str) -> TrackedJob:
        """Return what is known of the driver's job; a new record for one from an adopted driver."""
        known = self._jobs.get(job_id)
        if known is not None:
            return known
        if job_id in self._until:
            process.send({"renew": {"id": job_id, "until": self._until.pop(job_id)}})
        return self._remember(TrackedJob(job_id, process.directory.name, progress=Progress()))

    def _unfinished(self, process: DriverProcess) -> list[TrackedJob]:
        return [
            tracked
            for tracked in self._jobs.values()
            if tracked.outcome is None and tracked.carrier == process.directory.name
        ]
