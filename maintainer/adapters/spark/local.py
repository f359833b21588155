"""Jobs in one warm Spark on this machine, outside the daemon's process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path

from maintainer.adapters.spark import jars
from maintainer.adapters.spark.catalogs import needs_s3
from maintainer.adapters.spark.digest import read_found
from maintainer.adapters.spark.driver_process import DriverProcess
from maintainer.adapters.spark.fences import Fences
from maintainer.adapters.spark.java import Java, find_java, prepare_home
from maintainer.adapters.spark.liveness import owner_lives
from maintainer.adapters.spark.orphans import read_orphans
from maintainer.adapters.spark.ownership import Ownership
from maintainer.adapters.spark.statements import write_statements
from maintainer.adapters.spark.tracking import TrackedJob, failure, lost, read_causes
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.errors import InvalidValueError, RunnerUnavailableError
from maintainer.domain.job import FailureReason, Job, Outcome, Progress
from maintainer.domain.orphan import FoundOrphans
from maintainer.domain.reading import DigestManifests, FoundManifest
from maintainer.ports.clock import Clock
from maintainer.ports.runner import RunnerReport

_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
_MAX_REMEMBERED = 1_000  # jobs whose outcome has been told
_UNSEEN_GRACE = timedelta(seconds=30)  # between storing a job as submitted and handing it over


@dataclass(frozen=True, slots=True)
class LocalSparkOptions:
    """How Spark runs on this machine."""

    master: str = "local[2]"
    driver_memory: str = "2g"
    max_jobs: int = 2
    idle_timeout: timedelta = timedelta(minutes=10)
    start_timeout: timedelta = timedelta(minutes=2)
    java_home: Path | None = None
    jars_dir: Path = field(default_factory=jars.default_directory)
    java_options: str = "-XX:+UseSerialGC"  # a few hundred MB less than the default collector, and no pause that matters to a batch
    conf: Mapping[str, str] = field(default_factory=dict)


class LocalRunner:
    """Runs jobs in a Spark of its own: started by the first job, kept warm, ended when idle, dead when this process is."""

    def __init__(  # noqa: PLR0913, PLR0917 - the composition root gives all it has, once
        self, options: LocalSparkOptions, catalogs: Mapping[str, Mapping[str, str]], owner: str, application: str, run_dir: Path, clock: Clock
    ) -> None:
        """``catalogs``: name -> Spark settings, as spark_configuration gives them; ``run_dir``: shared by all processes here that use the same store."""
        if options.max_jobs < 1:
            message = f"max_jobs of the local runner is {options.max_jobs}; it must be at least 1"
            raise InvalidValueError(message)
        self._options = options
        self._catalogs = catalogs
        self._owner = owner
        self._application = application
        self._run_dir = run_dir.absolute()
        self._clock = clock
        self._mutex = threading.RLock()
        self._jobs: dict[str, TrackedJob] = {}
        self._process: DriverProcess | None = None  # the one that takes jobs
        self._living: dict[str, DriverProcess] = {}  # that one, and one that is ending
        self._started_count = 0
        self._timer: threading.Timer | None = None
        self._is_closed = False
        self._ownership = Ownership(self._run_dir, owner)
        self._fences = Fences(self.cancel)

    @property
    def owner(self) -> str:
        """The name under which this process's jobs are stored."""
        return self._owner

    def lives(self, owner: str) -> bool | None:
        """Whether the process of that name lives; None when it is not of this machine."""
        return owner_lives(self._run_dir, owner)

    @property
    def application(self) -> str:
        """Spark's application name, and so the `app-name` of our snapshots."""
        return self._application

    @property
    def capacity(self) -> int:
        """How many jobs it runs side by side."""
        return self._options.max_jobs

    @property
    def driver_pid(self) -> int | None:
        """The driver's process number; None while Spark is not up."""
        process = self._process
        return process.pid if process and not process.is_ended.is_set() else None

    @property
    def java_pid(self) -> int | None:
        """The process number of Spark's JVM; None while Spark is not up."""
        process = self._process
        return process.java_pid if process and not process.is_ended.is_set() else None

    def submit(self, job: Job) -> None:
        """Take the job; a statement that cannot be written fails it without Spark."""
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
                refused.end(Outcome("failed", self._clock.now(), reason=FailureReason.INVALID_REQUEST, message=str(error)))
                return
            try:
                process = self._running_process()
            except OSError as error:
                message = f"Spark cannot be started: {error}"
                raise RunnerUnavailableError(message) from error
            tracked = self._remember(TrackedJob(job.job_id, carrier=process.directory.name))
            if process.is_started:
                tracked.progress = Progress(phase="waiting for Spark")
            tracked.tell("spark.submitted", self._clock.now(), statement=statements[-1], application=self._application)
            if process.is_started:
                self._set_timer(None)
            process.send({"run": {"id": job.job_id, "statements": statements, "rows": self._open_findings(job)}})

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        """Let the job work for so long from now; without another renewal it is cancelled then."""
        with self._mutex:
            tracked = self._jobs.get(job_id)
            if tracked is None or tracked.outcome is None:
                self._fences.set(job_id, valid_for)
            else:
                self._fences.lift(job_id)

    def report(self, job: Job) -> RunnerReport | None:
        """What is known of the job, whoever took it on this machine."""
        with self._mutex:
            tracked = self._jobs.get(job.job_id)
            if tracked is not None:
                return tracked.report()
            now = self._clock.now()
            if job.owner == self._owner:
                if job.submitted_at is not None and now - job.submitted_at < _UNSEEN_GRACE:
                    return None
                message = f"process {self._owner} does not run the job; it was started anew since"
            elif job.owner and not self._ownership.is_abandoned(job.owner):
                return None
            else:
                message = f"process {job.owner} that ran the job is gone" if job.owner else "no process took the job"
            tracked = self._remember(TrackedJob(job.job_id, progress=job.progress, is_started=job.started_at is not None))
            tracked.end(lost(now, message))
            return tracked.report()

    def cancel(self, job_id: str) -> None:
        """Ask for the job's end."""
        with self._mutex:
            tracked = self._jobs.get(job_id)
            if tracked is not None and tracked.outcome is None and self._process is not None:
                tracked.tell("spark.cancelling", self._clock.now())
                self._process.send({"cancel": job_id})

    def found(self, job: Job) -> Iterator[FoundManifest] | None:
        """What a reading has found so far, each manifest whole, whatever became of the job; None when nothing of it is on this machine."""
        path = self._findings(job.job_id)
        return read_found(path) if path.is_file() else None

    def found_orphans(self, job: Job) -> FoundOrphans | None:
        """What a look for orphans has found; None when it is not here, or not whole."""
        path = self._findings(job.job_id)
        return read_orphans(path) if path.is_file() else None

    def forget(self, job_id: str) -> None:
        """Drop what a reading has found."""
        self._findings(job_id).unlink(missing_ok=True)

    def close(self) -> None:
        """End Spark and everything it runs; returns when its processes are gone."""
        with self._mutex:
            self._is_closed = True
            self._set_timer(None)
            living = list(self._living.values())
        self._fences.lift_all()
        for process in living:
            process.stop()
        self._ownership.release()

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        """What is there and what is missing, each in a sentence."""
        lines: list[tuple[str, bool, str]] = []
        try:
            java = self._find_java()
            lines.append(("Java", True, f"Java {java.version} at {java.home} (from {java.source})"))
        except RunnerUnavailableError as error:
            lines.append(("Java", False, str(error)))
        try:
            lines.append(("Spark", True, f"pyspark {version('pyspark')} at {jars.spark_home()}"))
        except (RunnerUnavailableError, ModuleNotFoundError) as error:
            lines.append(("Spark", False, str(error)))
        try:
            lines.append(("Spark jars", True, f"{', '.join(path.name for path in self._find_jars())} in {self._options.jars_dir}"))
        except RunnerUnavailableError as error:
            lines.append(("Spark jars", False, str(error)))
        return lines

    def heard(self, process: DriverProcess, message: Mapping[str, object]) -> None:
        """The driver said something (called by the driver's reader thread)."""
        with self._mutex:
            now = self._clock.now()
            tracked = self._jobs.get(str(message.get("job")))
            if tracked is not None:
                tracked.hear(message, now)
            elif message.get("event") == "application.started":
                for waiting in self._unfinished(process):
                    waiting.tell("application.started", now, application_id=message.get("application_id"))
                    waiting.progress = Progress(phase="waiting for Spark")
                self._set_timer(None)
            if process is self._process and process.is_started and not self._unfinished(process):
                self._set_timer(timedelta(0) if process.is_worn else self._options.idle_timeout, partial(self._end_idle, process))

    def ended(self, process: DriverProcess) -> None:
        """The driver and its JVM are gone (called by the driver's reader thread)."""
        with self._mutex:
            now = self._clock.now()
            words = process.last_words
            for tracked in self._unfinished(process):
                if process.is_started:
                    # Ended by us, it says nothing of the job; dead by itself, the job may be what killed it, and would at once again.
                    reason = FailureReason.LOST_RUNNER if self._is_closed else FailureReason.OTHER
                    tracked.end(lost(now, str(words.get("reason") or "Spark's driver ended"), reason))
                else:
                    tracked.end(_failed_start(process, now))
            self._living.pop(process.directory.name, None)
            if self._process is process:
                self._process = None
                self._set_timer(None)

    def _end_idle(self, process: DriverProcess) -> None:
        with self._mutex:
            if process is not self._process or self._unfinished(process):
                return
            self._process = None  # a job that comes now starts another Spark
        process.stop()

    def _statements(self, job: Job) -> list[str]:
        if job.table.catalog not in self._catalogs:
            message = f"catalog {job.table.catalog!r} of job {job.job_id} is not configured for Spark; known are {', '.join(sorted(self._catalogs)) or 'none'}"
            raise InvalidValueError(message)
        return write_statements(job.table, job.action)

    def _open_findings(self, job: Job) -> str | None:
        """Where the driver is to put what a reading finds: outside its own directory, which goes with it."""
        if not isinstance(job.action, DigestManifests | RemoveOrphanFiles):
            return None
        path = self._findings(job.job_id)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        return str(path)

    def _findings(self, job_id: str) -> Path:
        return self._run_dir / "findings" / f"{job_id}.jsonl.gz"

    def _running_process(self) -> DriverProcess:
        """The Spark that runs, or a new one."""
        process = self._process
        if process is not None and not process.is_ended.is_set():
            return process
        java_home = prepare_home(self._find_java(), self._run_dir)
        self._started_count += 1
        directory = self._run_dir / f"{self._owner}.spark-{self._started_count}"
        process = DriverProcess(directory, java_home, self._settings(directory, self._find_jars()), self, partial(self._ownership.record, directory.name))
        self._process = self._living[directory.name] = process
        timeout = self._options.start_timeout
        self._set_timer(timeout, partial(process.give_up, f"Spark did not start within {timeout.total_seconds():g} s; its log is {process.log}"))
        return process

    def _settings(self, directory: Path, class_path: list[Path]) -> dict[str, object]:
        return {
            "directory": str(directory),
            "master": self._options.master,
            "driver_memory": self._options.driver_memory,
            "java_options": f"{self._options.java_options} -Djava.io.tmpdir={directory}".strip(),
            "jars": [str(path) for path in class_path],
            "max_jobs": self._options.max_jobs,
            "conf": spark_settings(self._options, self._catalogs, self._application, directory),
        }

    def _find_java(self) -> Java:
        return find_java(self._options.java_home, os.environ)

    def _find_jars(self) -> list[Path]:
        return jars.find_jars(self._options.jars_dir, with_s3=any(needs_s3(settings) for settings in self._catalogs.values()))

    def _remember(self, tracked: TrackedJob) -> TrackedJob:
        told = [job_id for job_id, known in self._jobs.items() if known.is_reported]
        for job_id in told[: max(0, len(told) - _MAX_REMEMBERED)]:
            del self._jobs[job_id]
        self._jobs[tracked.job_id] = tracked
        return tracked

    def _unfinished(self, process: DriverProcess) -> list[TrackedJob]:
        return [tracked for tracked in self._jobs.values() if tracked.outcome is None and tracked.carrier == process.directory.name]

    def _set_timer(self, after: timedelta | None, action: Callable[[], None] | None = None) -> None:
        """Replace the one timer: of the start while Spark starts, of idleness while it does nothing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if after is not None and action is not None:
            self._timer = threading.Timer(after.total_seconds(), action)
            self._timer.daemon = True
            self._timer.start()


def _failed_start(process: DriverProcess, now: datetime) -> Outcome:
    """Why Spark did not start: the driver's words, or what the log complains of when Spark was gone before it could tell the driver."""
    causes = read_causes(process.last_words.get("causes"))
    if not causes or causes[0][0] == "RuntimeError":
        causes = [("RunnerUnavailableError", f"Spark ended during its start ({process.find_complaint() or 'no reason given'}); its log is {process.log}")]
    return failure(causes, now)


def spark_settings(options: LocalSparkOptions, catalogs: Mapping[str, Mapping[str, str]], application: str, directory: Path) -> dict[str, str]:
    """Spark's settings: what can be chosen, then the catalogs, then what our statements and our ownership rely on."""
    chosen = {"spark.sql.shuffle.partitions": "4", "spark.log.level": "WARN"} | {str(key): str(value) for key, value in options.conf.items()}
    fixed = {
        "spark.app.name": application,
        "spark.master": options.master,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(directory),
        "spark.sql.warehouse.dir": (directory / "warehouse").as_uri(),
        "spark.sql.variable.substitute": "false",  # a table may be named ${x}
    }
    chosen.pop("spark.sql.parser.escapedStringLiterals", None)  # deprecated, and procedure.quote_text writes for its default, false
    extensions = ",".join(part for part in (chosen.get("spark.sql.extensions"), _EXTENSIONS) if part)
    translated = {key: value for settings in catalogs.values() for key, value in settings.items()}
    return chosen | translated | fixed | {"spark.sql.extensions": extensions}
