"""Runs jobs in warm drivers that are processes of this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic

from maintainer.adapters.spark.driver_settings import LocalDriverSettings
from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.launcher.ownership import (
    Ownership,
    ProcessIdentity,
    driver_lock,
    end_processes,
    owner_lives,
    take_lock,
)
from maintainer.adapters.spark.launcher.process import DriverProcess
from maintainer.adapters.spark.link import Listener
from maintainer.adapters.spark.logs.copying import JobLogs
from maintainer.adapters.spark.options import DriverSize, LocalSparkOptions, secrets_of
from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.ports.clock import Clock
from maintainer.ports.store import Store

# How long it is believed that Spark lacks something on this machine, and that it lacks nothing.
_LACK_SECONDS = 10.0
_NO_LACK_SECONDS = 600.0
_KEPT_LOGS = 20  # logs of drivers that a process has started


class LocalDrivers:
    """Starts drivers as processes of this machine. Each has a socket in its own directory."""

    def __init__(self, settings: LocalDriverSettings, run_dir: Path, owner: str) -> None:
        """Take the owner's lock in ``run_dir``, which all processes on this machine share.

        RunnerUnavailableError if another running process has the owner's name, or if the directory
        cannot be written.
        """
        self._settings = settings
        self._run_dir = run_dir
        self._owner = owner
        self._ownership = Ownership(run_dir, owner)
        self._started_count = 0
        self._left: dict[str, Sequence[ProcessIdentity]] = {}  # processes of drivers left behind

    @property
    def fingerprints(self) -> frozenset[str]:
        return self._settings.fingerprints

    def fingerprint(self, size: DriverSize) -> str:
        return self._settings.fingerprint(size)

    def start(self, size: DriverSize, listener: Listener) -> DriverProcess:
        """Start a driver of this size.

        RunnerUnavailableError if Java or a jar is missing; OSError if no process can be started.
        """
        java_home, settings = self._settings.prepare(size, self._run_dir)
        self._started_count += 1
        directory = self._directory(self._started_count)
        oldest = self._directory(self._started_count - _KEPT_LOGS)
        oldest.with_name(f"{oldest.name}.log").unlink(missing_ok=True)
        return DriverProcess.start(
            directory, java_home, settings(directory), listener, self._ownership.record
        )

    def _directory(self, number: int) -> Path:
        return self._run_dir / f"{self._owner}.spark-{number}"

    def lives(self, owner: str) -> bool | None:
        """Return whether the process holds its lock; None if it never ran on this machine."""
        return owner_lives(self._run_dir, owner)

    def owner_of(self, job_id: str) -> str | None:
        """Return None: only the process that started a driver knows the driver's jobs."""
        del job_id
        return None

    def left_behind(self, owner: str) -> Sequence[str] | None:
        """Return the running drivers of an owner that has ended; None while the owner lives.

        A driver without its directory can no longer be reached, and is ended.
        """
        left: Mapping[str, Sequence[ProcessIdentity]] | None = self._ownership.left_behind(owner)
        if left is None:
            return None
        reachable = {
            name: processes
            for name, processes in left.items()
            if (self._run_dir / name).is_dir() or not end_processes(processes)
        }
        self._left |= reachable
        return tuple(reachable)

    def adopt(self, name: str, listener: Listener) -> DriverProcess | None:
        """Take the driver's lock and connect to it; None if another process has the lock."""
        directory = self._run_dir / name
        try:
            lock = take_lock(driver_lock(directory))
        # The driver has just ended, or cannot be reached. It is ended now.
        except FileNotFoundError:
            end_processes(self._left[name])
            return None
        if lock is None:
            return None
        return DriverProcess.adopt(
            directory, lock, self._left[name], listener, self._ownership.record
        )

    def orphaned_owners(self) -> Sequence[str]:
        """Return the owners that have ended, if no other process on this machine handles them."""
        return self._ownership.find_orphaned()

    @property
    def outlives_daemon(self) -> bool:
        """Return False: drivers of this machine end when their daemon ends normally."""
        return False

    def release(self) -> None:
        """Release the owner's name."""
        self._ownership.release()

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        """Describe each prerequisite in a sentence, whether it is present or missing."""
        return tuple(self._settings.describe_prerequisites())


class LocalRunner(SparkRunner):
    """Runs jobs in drivers that are processes of this machine."""

    def __init__(  # noqa: PLR0913, PLR0917 - the composition root passes all of them, once
        self,
        options: LocalSparkOptions,
        catalogs: Mapping[str, Mapping[str, str]],
        owner: str,
        application: str,
        run_dir: Path,
        store: Store,
        clock: Clock,
    ) -> None:
        """``catalogs`` has each catalog's Spark settings from spark_configuration.

        All processes on this machine that use the same store share ``run_dir``.
        """
        run_dir = run_dir.absolute()
        source = LocalDrivers(LocalDriverSettings(options, catalogs, application), run_dir, owner)
        files = OrphanFiles(store, owner)
        logs = JobLogs(store, secrets_of(options, catalogs))
        self._lacks: Mapping[str, str] = {}
        self._lacks_until = 0.0
        super().__init__(options, catalogs, owner, application, source, files, logs, clock)

    @property
    def obstacles(self) -> Mapping[str, str]:
        """Return what this machine lacks for Spark, so that no job is made that must fail.

        The answer is kept for a while: it takes a tenth of a second.
        """
        now = monotonic()
        if now >= self._lacks_until:
            described = self._source.describe()
            lacks = "; ".join(
                f"{what}: {text}" for what, is_there, text in described if not is_there
            )
            self._lacks = {self._options.pool: lacks} if lacks else {}
            self._lacks_until = now + (_LACK_SECONDS if lacks else _NO_LACK_SECONDS)
        return self._lacks

    @property
    def driver_pid(self) -> int | None:
        """Return the process number of the warm driver; None while Spark does not run."""
        driver = self.warm()
        return driver.pid if isinstance(driver, DriverProcess) else None

    @property
    def java_pid(self) -> int | None:
        """Return the process number of Spark's JVM; None while Spark does not run."""
        driver = self.warm()
        return driver.java_pid if isinstance(driver, DriverProcess) else None
