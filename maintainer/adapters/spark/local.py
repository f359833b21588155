"""Runs jobs in warm drivers that are processes of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from maintainer.adapters.spark.driver_settings import LocalDriverSettings
from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.launcher.local_drivers import LocalDrivers
from maintainer.adapters.spark.launcher.process import DriverProcess
from maintainer.adapters.spark.logs.copying import JobLogs
from maintainer.adapters.spark.options import LocalSparkOptions, secrets_of
from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.ports.clock import Clock
from maintainer.ports.store import Store


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
        super().__init__(options, catalogs, owner, application, source, files, logs, clock)

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
