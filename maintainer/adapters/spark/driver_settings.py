"""The start settings of drivers, by size."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from maintainer.adapters.spark import jars
from maintainer.adapters.spark.catalogs import needed_databases, needed_jars
from maintainer.adapters.spark.java import find_java, prepare_home
from maintainer.adapters.spark.options import (
    DriverSize,
    LocalSparkOptions,
    RunnerOptions,
    executor_settings,
    local_settings,
    megabytes,
    spark_settings,
)
from maintainer.adapters.spark.prerequisites import Finding, find_prerequisites
from maintainer.adapters.spark.trust import trust_options
from maintainer.domain.pool import JobSize


class DriverSettings:
    """Start settings from the options and the catalogs' own settings.

    Drivers with equal settings have equal fingerprints.
    """

    def __init__(
        self,
        options: RunnerOptions,
        catalogs: Mapping[str, Mapping[str, str]],
        application: str,
        launched_by: object = None,
    ) -> None:
        """``launched_by`` are the options of the launcher, if it has any."""
        self._options = options
        self._catalogs = catalogs
        self._application = application
        whole = (version("iceberg-maintainer"), options, catalogs, application, launched_by)
        self._fingerprints = {
            size: sha256(repr((*whole, size)).encode()).hexdigest()
            for size in {options.driver_of(size) for size in JobSize}
        }

    @property
    def fingerprints(self) -> frozenset[str]:
        return frozenset(self._fingerprints.values())

    def fingerprint(self, size: DriverSize) -> str:
        return self._fingerprints[size]

    def write(self, size: DriverSize, surroundings: Mapping[str, str]) -> dict[str, object]:
        """Return the start settings of a driver.

        ``surroundings`` are Spark's settings for the place where the driver runs, such as the
        master. A driver on another machine adds its directory and its jars itself.
        """
        options = self._options
        return {
            "master": surroundings["spark.master"],
            "driver_memory": size.memory,
            "megabytes": megabytes(size.memory),
            "java_options": options.java_options,
            "max_jobs": size.max_jobs,
            "executor_megabytes": size.counted_megabytes,
            "fingerprint": self._fingerprints[size],
            "abandoned_seconds": options.abandoned_timeout.total_seconds(),
            "cancel_seconds": options.cancel_timeout.total_seconds(),
            "planning_seconds": options.planning_timeout.total_seconds(),
            "conf": spark_settings(options, self._catalogs, self._application, surroundings),
        }


class LocalDriverSettings(DriverSettings):
    """Start settings of drivers on this machine, with Java, jars and directories."""

    def __init__(
        self,
        options: LocalSparkOptions,
        catalogs: Mapping[str, Mapping[str, str]],
        application: str,
    ) -> None:
        super().__init__(options, catalogs, application)
        self._local = options

    def prepare(
        self, size: DriverSize, run_dir: Path
    ) -> tuple[Path, Callable[[Path], Mapping[str, object]]]:
        """Return Java's directory, and a function that makes the start settings.

        The function takes the driver's directory. RunnerUnavailableError if Java, a jar or a bundle
        of authorities is missing.
        """
        java_home = prepare_home(find_java(self._local.java_home, os.environ), run_dir)
        class_path = jars.find_jars(
            self._local.jars_dir,
            self._needed_jars(),
            self._local.given_jars,
            self._needed_databases(),
        )
        trusted = trust_options(self._local.authorities, os.environ, run_dir / "trusted.jks")
        return java_home, partial(self._write_here, size, class_path, trusted)

    def describe_prerequisites(self) -> Iterable[Finding]:
        """Describe each prerequisite, whether it is present or missing."""
        return find_prerequisites(
            self._local.java_home,
            self._local.jars_dir,
            self._needed_jars(),
            self._local.given_jars,
            self._needed_databases(),
        )

    def _needed_databases(self) -> frozenset[str]:
        return frozenset().union(*map(needed_databases, self._catalogs.values()))

    def _needed_jars(self) -> frozenset[str]:
        return frozenset().union(*map(needed_jars, self._catalogs.values()))

    def _write_here(
        self, size: DriverSize, class_path: Sequence[Path], trusted: Sequence[str], directory: Path
    ) -> dict[str, object]:
        options = self._local
        surroundings = local_settings(options, directory)
        if size.executors is not None:
            surroundings |= executor_settings(options.master, size.executors) | {
                "spark.jars": ",".join(path.as_uri() for path in class_path)
            }  # executors fetch the jars from the driver
        return self.write(size, surroundings) | {
            "directory": str(directory),
            "java_options": " ".join(
                filter(None, (options.java_options, f"-Djava.io.tmpdir={directory}", *trusted))
            ),
            "jars": [str(path) for path in class_path],
            "host": options.driver_host,
        }
