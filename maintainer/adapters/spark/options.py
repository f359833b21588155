"""The options of runners and drivers, and Spark's settings from them and for catalogs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

from maintainer.adapters.spark import jars
from maintainer.adapters.spark.catalogs import is_rest
from maintainer.adapters.spark.driver.marks import SUMMARY
from maintainer.adapters.spark.pins import Jar
from maintainer.domain.pool import DEFAULT_POOL, JobSize
from maintainer.domain.redaction import SECRET_WORDS, find_secrets
from maintainer.domain.units import MIB, parse_size

_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
MINIMUM_OVERHEAD_MEGABYTES = 512  # for the driver program, the JVM itself and threads' stacks
# A REST catalog may roll back a snapshot with these properties if it conflicts with a writer's
# commit, so that the writer wins. Other catalogs ignore the properties. Apache Polaris reads the
# first property if polaris.config.rollback.compaction.on-conflicts.enabled is true; its
# documentation names the second. Lakekeeper reads the first and the third property.
LETTING_WRITERS_WIN: Mapping[str, str] = {
    "polaris.internal.conflict-resolution.by-operation-type.replace": "rollback",
    "polaris.internal.rollback.compaction.on-conflict": "rollback",
    "lakekeeper.rollbackable": "true",
}


@dataclass(frozen=True, slots=True)
class Executors:
    """The executors of a driver: number, memory of each (in Spark's format), and tasks of each."""

    count: int
    memory: str
    cores: int
    # with dynamic allocation: the least and the greatest number, after `count` at the start
    bounds: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class DriverSize:
    """A driver's memory in Spark's format, the number of jobs that share it, and its executors.

    Without executors, tasks run in the driver.
    """

    memory: str
    max_jobs: int
    executors: Executors | None = None

    @property
    def counted_megabytes(self) -> int:
        """Return the memory of an executor if the number of executors changes; else 0."""
        executors = self.executors
        return megabytes(executors.memory) if executors is not None and executors.bounds else 0


def megabytes(memory: str) -> int:
    """Convert memory in Spark's format, such as 2g, to MiB."""
    return parse_size(f"{memory}iB") // MIB


def overhead_megabytes(heap: str, share: float) -> int:
    """Return the MiB of a container's memory beyond the heap; `heap` is in Spark's format."""
    return max(MINIMUM_OVERHEAD_MEGABYTES, int(megabytes(heap) * share))


@dataclass(frozen=True, slots=True)
class RunnerOptions:
    """The options of a runner: numbers, sizes and timeouts of its drivers."""

    # of the driver for small jobs, and for job sizes without their own driver
    driver_memory: str = "2g"
    max_jobs: int = 2
    idle_timeout: timedelta = timedelta(minutes=10)
    start_timeout: timedelta = timedelta(minutes=2)
    # for medium and large jobs, if they have their own drivers
    drivers: Mapping[JobSize, DriverSize] = field(default_factory=dict)
    max_memory: str = ""  # of all drivers together; empty: the memory of the largest driver
    # needs a few hundred MB less than the default collector; its pauses do not matter for batches
    java_options: str = "-XX:+UseSerialGC"
    conf: Mapping[str, str] = field(default_factory=dict)
    # a driver without a daemon keeps jobs and their outcomes for this time without a renewal
    abandoned_timeout: timedelta = timedelta(seconds=60)
    # if a cancelled job does not end within this time, the JVM is killed, so it cannot commit
    cancel_timeout: timedelta = timedelta(seconds=60)
    # a rewrite that has begun no Spark job within this time is ended
    planning_timeout: timedelta = timedelta(minutes=10)
    pool: str = DEFAULT_POOL

    def driver_of(self, size: JobSize) -> DriverSize:
        return self.drivers.get(size, DriverSize(self.driver_memory, self.max_jobs))

    @property
    def max_megabytes(self) -> int:
        """Return the memory of all drivers together in MiB."""
        return (
            megabytes(self.max_memory)
            if self.max_memory
            else max(megabytes(self.driver_of(size).memory) for size in JobSize)
        )


@dataclass(frozen=True, slots=True)
class LocalSparkOptions(RunnerOptions):
    """The options of Spark on this machine."""

    master: str = "local[2]"
    java_home: Path | None = None
    jars_dir: Path = field(default_factory=jars.default_directory)
    given_jars: tuple[Jar | Path, ...] = ()  # in addition to the pinned jars
    driver_host: str = "127.0.0.1"  # the address of this machine for the executors of a cluster
    authorities: tuple[Path, ...] = ()  # PEM bundles that Java also trusts


def executor_settings(master: str, executors: Executors) -> dict[str, str]:
    """Return a driver's settings on a cluster.

    A standalone cluster limits an application by its cores, other clusters by its executors.
    """
    most = executors.bounds[1] if executors.bounds is not None else executors.count
    number = (
        {"spark.cores.max": str(most * executors.cores)}
        if master.startswith("spark://")
        else {"spark.executor.instances": str(executors.count)}
    )
    return {
        "spark.executor.memory": executors.memory,
        "spark.executor.cores": str(executors.cores),
        **number,
        **allocation_settings(executors),
    }


def allocation_settings(executors: Executors) -> dict[str, str]:
    """Return the settings of dynamic allocation; empty if the number of executors is fixed.

    No cluster needs a shuffle service: an executor is kept while other executors need its data, but
    not for the data of jobs that ended long ago.
    """
    if executors.bounds is None:
        return {}
    least, most = executors.bounds
    prefix = "spark.dynamicAllocation."
    return {
        f"{prefix}enabled": "true",
        f"{prefix}shuffleTracking.enabled": "true",
        f"{prefix}shuffleTracking.timeout": "300s",
        f"{prefix}minExecutors": str(least),
        f"{prefix}maxExecutors": str(most),
        f"{prefix}initialExecutors": str(executors.count),
    }


def host_settings(options: LocalSparkOptions) -> dict[str, str]:
    """Return Spark's settings for a driver on this machine."""
    return {
        "spark.master": options.master,
        "spark.driver.host": options.driver_host,
        "spark.driver.bindAddress": options.driver_host,
    }


def local_settings(options: LocalSparkOptions, directory: Path) -> dict[str, str]:
    """Return Spark's settings for a driver on this machine, which works in the directory."""
    return host_settings(options) | {
        "spark.local.dir": str(directory),
        "spark.sql.warehouse.dir": (directory / "warehouse").as_uri(),
    }


def spark_settings(
    options: RunnerOptions,
    catalogs: Mapping[str, Mapping[str, str]],
    application: str,
    surroundings: Mapping[str, str],
) -> dict[str, str]:
    """Return Spark's settings.

    Later settings replace earlier ones: the options, the catalogs, the surroundings of the driver,
    and last the settings that the statements and the summary properties need.
    """
    chosen = {
        "spark.sql.shuffle.partitions": "4",
        "spark.log.level": "WARN",
        # For Spark's event log and page; Spark's default leaves out keys of S3 and of APIs.
        "spark.redaction.regex": f"(?i){'|'.join(SECRET_WORDS)}",
    } | {str(key): str(value) for key, value in options.conf.items()}
    fixed = {
        "spark.app.name": application,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.variable.substitute": "false",  # because a table may have the name ${x}
    }
    # This setting is deprecated, and procedure.quote_text needs its default, false.
    chosen.pop("spark.sql.parser.escapedStringLiterals", None)
    extensions = ",".join(
        part for part in (chosen.get("spark.sql.extensions"), _EXTENSIONS) if part
    )
    translated = {key: value for settings in catalogs.values() for key, value in settings.items()}
    last = {**surroundings, **fixed, "spark.sql.extensions": extensions}
    return chosen | translated | last


def secrets_of(options: RunnerOptions, catalogs: Mapping[str, Mapping[str, str]]) -> frozenset[str]:
    """Return the secret values in the settings of drivers, also in the form that URLs need."""
    found = find_secrets(options.conf).union(*map(find_secrets, catalogs.values()))
    return found | {quote(secret, safe="") for secret in found}


def mark_settings(
    catalogs: Iterable[Mapping[str, str]], *, let_writers_win: bool | None
) -> dict[str, str]:
    """Return Spark's settings for the summary properties.

    If `let_writers_win` is None, the properties are set if one of the catalogs (PyIceberg's
    properties) is a REST catalog.
    """
    is_wanted = any(map(is_rest, catalogs)) if let_writers_win is None else let_writers_win
    return (
        {f"{SUMMARY}{key}": value for key, value in LETTING_WRITERS_WIN.items()}
        if is_wanted
        else {}
    )
