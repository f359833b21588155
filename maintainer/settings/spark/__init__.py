"""Settings of Spark, which runs the jobs."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from re import compile as compile_regex
from typing import Annotated, Literal, assert_never

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from maintainer.adapters.policies.validation import DurationBetween, Strict, matching, refuse
from maintainer.domain.pool import (
    DEFAULT_POOL,
    MAX_POOL_NAME,
    JobSize,
    Pool,
    SizeProfile,
    is_pool_name,
)
from maintainer.domain.units import GIB, MIB, parse_size
from maintainer.settings.paths import read_path
from maintainer.settings.spark.clusters import KubernetesSettings, LinkSettings, YarnSettings
from maintainer.settings.spark.inheritance import lay_pools
from maintainer.settings.spark.pool_parts import (
    AllocationSettings,
    ExecutorsSettings,
    JarTexts,
    ProfilesSettings,
    UiUrl,
    read_memory,
)

_LOCAL = r"local(\[(\*|[1-9][0-9]{0,2})\])?"
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?"
_STANDALONE = rf"spark://({_HOST}:[0-9]{{1,5}})(,{_HOST}:[0-9]{{1,5}})*"
_CLUSTER = r"yarn|k8s://https?://[A-Za-z0-9.\[\]:-]{1,259}(/[A-Za-z0-9._~/-]*)?"
_LOOPBACK = compile_regex(r"localhost|127(\.[0-9]+){3}")
_HERE = "127.0.0.1"
_MAX_POOLS = 32


def _check_runner(value: object) -> object:
    if value == "local":  # the former name
        return "process"
    if value in {"submit", "connect", "operator"}:
        refuse(f"is {value}, but must be process, kubernetes or yarn")
    return value


def _check_conf(value: object) -> object:
    for name, text in value.items() if isinstance(value, dict) else ():
        if not name.startswith("spark."):
            refuse(f"has {name!r}; Spark reads only names that begin with spark.")
        if any(character in str(text) for character in "\n\r\0"):
            refuse(f"has a line break in {name}")
    return value


def _check_pools(value: object) -> object:
    for name in value if isinstance(value, dict) else ():
        if not isinstance(name, str) or not is_pool_name(name):
            refuse(
                f"has {name!r}, but a pool's name has at most {MAX_POOL_NAME} lower-case letters, "
                f"digits and inner dashes"
            )
    return value


def _read_host(address: str) -> str:
    return address.partition("/")[0].rpartition(":")[0] or address.partition("/")[0]


class PoolSettings(Strict):
    """One way to run Spark: how it is started, and how much memory its jobs get."""

    runner: Annotated[Literal["process", "kubernetes", "yarn"], BeforeValidator(_check_runner)] = (
        Field(
            default="process",
            description="How drivers start: as processes of the daemon's machine, as pods, or as "
            "applications of YARN. "
            "`local` is a former name of `process`.",
        )
    )
    master: Annotated[
        str,
        matching(
            f"{_LOCAL}|{_STANDALONE}|{_CLUSTER}",
            "local, local[N], local[*], spark://HOST:PORT of a standalone cluster, "
            "k8s://https://HOST:PORT, or yarn",
        ),
    ] = Field(
        default="local[2]",
        description="Where tasks run, with runner `process`: `local`, `local[N]`, `local[*]`, "
        "`spark://HOST:PORT` of a standalone cluster, `k8s://https://HOST:PORT` or `yarn`.",
    )
    driver_memory: Annotated[str, BeforeValidator(read_memory)] = Field(
        default="2048m",
        description="Memory of the driver of small jobs, 512MiB to 1TiB.",
        examples=["2g"],
    )
    max_jobs: int = Field(default=2, ge=1, le=64, description="Small jobs that share the driver.")
    profiles: ProfilesSettings = Field(default_factory=ProfilesSettings)
    max_memory: Annotated[str, BeforeValidator(read_memory)] | None = Field(
        default=None,
        description="The memory of all drivers together. Default: that of the largest; with "
        "runners `kubernetes` and `yarn`, that of one driver of each size.",
        examples=["16g"],
    )
    executors: ExecutorsSettings | None = Field(
        default=None, description="Executors on a standalone cluster."
    )
    dynamic_allocation: AllocationSettings | None = Field(
        default=None,
        description="Bounds within which Spark adds and removes executors of a driver, after "
        "`executors.count` at its start.",
    )
    driver_host: Annotated[str, matching(_HOST, "a name or an address of this machine")] | None = (
        Field(
            default=None,
            description="The address of this machine as executors reach it. Default: 127.0.0.1.",
        )
    )
    idle_timeout: Annotated[timedelta, DurationBetween("1s")] = Field(
        default=timedelta(minutes=10), description="A driver without a job ends after this time."
    )
    start_timeout: Annotated[timedelta, DurationBetween("1s", "1h")] | None = Field(
        default=None,
        description="The time limit for the start of a driver, including its wait for room in the "
        "cluster and for its image. Default: 2m; with runners `kubernetes` and "
        "`yarn`, 10m.",
    )
    planning_timeout: Annotated[timedelta, DurationBetween("10s", "1d")] = Field(
        default=timedelta(minutes=10),
        description="A rewrite that still plans after this time, so that Spark has begun no work "
        "of it, is ended.",
    )
    java_home: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None, description="The Java to use. Default: `JAVA_HOME`, else the one on the PATH."
    )
    jars_dir: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None,
        description="The directory of Spark's jars. Default: where `make setup` puts them.",
    )
    jars: JarTexts = Field(default_factory=list)
    run_dir: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None,
        description="Logs, sockets and locks of drivers. Default: `run` beside the store.",
    )
    let_writers_win: bool | None = Field(
        default=None,
        description="Set summary properties by which some catalogs undo a rewrite that conflicts "
        "with a writer. Default: true with a REST catalog.",
    )
    ui_url: UiUrl = ""
    conf: Annotated[
        dict[str, str],
        BeforeValidator(_check_conf),
        Field(description="Spark's own settings; names begin with `spark.`."),
    ] = Field(default_factory=dict, repr=False)

    link: LinkSettings | None = Field(
        default=None,
        description="The port on which drivers poll over HTTP. Default: drivers are reached by a "
        "socket of this machine.",
    )
    kubernetes: KubernetesSettings | None = Field(
        default=None, description="The pods, with runner `kubernetes`."
    )
    yarn: YarnSettings | None = Field(
        default=None, description="The cluster and the queue, with runner `yarn`."
    )

    def driver_of(self, size: JobSize) -> tuple[str, int]:
        """Return the memory of the driver for jobs of that size, and how many jobs share it."""
        match size:
            case JobSize.SMALL:
                return self.driver_memory, self.max_jobs
            case JobSize.MEDIUM:
                given, shared = self.profiles.medium, max(1, self.max_jobs // 2)
            case JobSize.LARGE:
                given, shared = self.profiles.large, 1
            case other:
                assert_never(other)
        return given.driver_memory or self.driver_memory, given.max_jobs or shared

    @property
    def is_cluster(self) -> bool:
        """Say whether tasks run in executors and not in the driver."""
        return self.runner != "process" or not self.master.startswith("local")

    def executors_of(self, size: JobSize) -> ExecutorsSettings | None:
        """Return the executors of the driver for that size; None if tasks run in the driver."""
        if not self.is_cluster:
            return None
        profiles = {JobSize.MEDIUM: self.profiles.medium, JobSize.LARGE: self.profiles.large}
        given = profiles[size].executors if size in profiles else None
        if self.kubernetes is not None:  # the driver's pod can run the tasks itself
            return given or self.executors
        return given or self.executors or ExecutorsSettings()

    @property
    def size_profiles(self) -> tuple[SizeProfile, ...]:
        """Return the resources of one job of each size.

        They are its part of the driver and of the executors, whether other jobs run or not.
        """
        return tuple(self._profile_of(size) for size in JobSize)

    def _profile_of(self, size: JobSize) -> SizeProfile:
        memory, jobs = self.driver_of(size)
        executors = self.executors_of(size)
        tasks_gb = (
            executors.count * parse_size(f"{executors.memory}iB") / GIB / jobs
            if executors is not None
            else 0.0
        )
        return SizeProfile(size, parse_size(f"{memory}iB") / GIB / jobs + tasks_gb, tasks_gb)

    @model_validator(mode="after")
    def _check_jars(self) -> PoolSettings:
        if self.jars and self.runner == "kubernetes":
            refuse("has jars, but pods have those of their image")
        if self.runner == "process" and self.link is not None:
            for path in (text for text in self.jars if "@" not in text):
                refuse(f"has the jar {path}, but drivers with a link load jars_dir only")
        return self

    @model_validator(mode="after")
    def _check_profiles(self) -> PoolSettings:
        self._check_growth(
            "driver_memory / max_jobs", [profile.driver_gb for profile in self.size_profiles]
        )
        self._check_growth(
            "executors.count * executors.memory / max_jobs",
            [profile.executors_gb for profile in self.size_profiles],
        )
        largest = max(parse_size(f"{self.driver_of(size)[0]}iB") for size in JobSize)
        if self.max_memory is not None and parse_size(f"{self.max_memory}iB") < largest:
            refuse(
                f"has max_memory {self.max_memory}, but must hold the largest driver, "
                f"{largest // MIB}m"
            )
        return self

    @staticmethod
    def _check_growth(what: str, parts: list[float]) -> None:
        if parts != sorted(parts):
            words = ", ".join(
                f"{size} {part:.3g} GiB" for size, part in zip(JobSize, parts, strict=True)
            )
            refuse(
                f"has profiles whose jobs do not grow ({words}); {what} must not fall from small "
                f"to large"
            )

    @model_validator(mode="after")
    def _check_parts(self) -> PoolSettings:
        sections = {"kubernetes": self.kubernetes, "yarn": self.yarn}
        needed = {self.runner, "link"} if self.runner in sections else set()
        for name, section in {**sections, "link": self.link}.items():
            if name in needed and section is None:
                refuse(f"has runner {self.runner}, but no section {name}")
            if name in sections and name not in needed and section is not None:
                refuse(f"has a section {name}, but runner {self.runner}")
        return self

    @model_validator(mode="after")
    def _check_cluster(self) -> PoolSettings:
        if self.runner != "process":
            if self.driver_host is not None:
                refuse(f"has a driver_host, but runner {self.runner} has drivers on its cluster")
            return self
        if not self.is_cluster:
            asked = [
                self.executors,
                self.profiles.medium.executors,
                self.profiles.large.executors,
                self.driver_host,
            ]
            if any(given is not None for given in asked):
                refuse(
                    f"has executors or a driver_host, but the master {self.master} runs all "
                    f"tasks in the driver"
                )
            return self
        hosts = compile_regex("^(spark|k8s)://(https?://)?").sub("", self.master).split(",")
        is_away = not all(_LOOPBACK.fullmatch(_read_host(host)) for host in hosts)
        if self.master == "yarn":  # YARN's address is in Hadoop's files, which only Spark reads
            is_away = self.driver_host is None
        if is_away and _LOOPBACK.fullmatch(self.driver_host or _HERE):
            refuse(
                f"has driver_host {self.driver_host or _HERE}, which the executors of "
                f"{self.master} cannot reach; write this machine's address"
            )
        return self

    @model_validator(mode="after")
    def _check_allocation(self) -> PoolSettings:
        bounds = self.dynamic_allocation
        if bounds is None:
            return self
        counts = {size: found.count for size in JobSize if (found := self.executors_of(size))}
        if not counts:
            refuse("has dynamic_allocation, but its drivers have no executors: they run all tasks")
        for size, count in counts.items():
            if not bounds.min_executors <= count <= bounds.max_executors:
                refuse(
                    f"has {count} executors for {size} jobs, but dynamic_allocation allows "
                    f"{bounds.min_executors} to {bounds.max_executors}"
                )
        return self

    @property
    def tasks_at_once(self) -> int:
        """Return how many tasks Spark runs at once.

        This is the number in local[N]; on a cluster, the tasks of the largest job's executors.
        """
        found = [
            executors for executors in map(self.executors_of, JobSize) if executors is not None
        ]
        if found:
            return max(executors.count * executors.cores for executors in found)
        if self.kubernetes is not None:
            return self.kubernetes.driver_cores
        number = self.master.partition("[")[2].rstrip("]") or "1"
        return os.cpu_count() or 1 if number == "*" else int(number)

    @property
    def as_pool(self) -> Pool:
        """Return what decisions need of the pool."""
        profiles = self.size_profiles
        return Pool(profiles[0].memory_gb, self.tasks_at_once, profiles)


class SparkSettings(PoolSettings):
    """How Spark is started and how much memory its jobs get: the pool `default`, and others."""

    pools: Annotated[
        dict[str, PoolSettings],
        BeforeValidator(_check_pools),
        Field(
            max_length=_MAX_POOLS,
            description="Further ways to run Spark. A policy selects one by its name (`runs_on`). "
            "Each has the keys of this section and inherits their values; `default` changes the "
            "pool of all other tables.",
        ),
    ] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _lay_pools(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        try:
            PoolSettings.model_validate({key: one for key, one in value.items() if key != "pools"})
        except ValidationError:  # the pools would report the same errors again
            return {**value, "pools": {}}
        return lay_pools(value)

    @model_validator(mode="after")
    def _check_directories(self) -> SparkSettings:
        named = next((name for name, pool in self.pools.items() if pool.run_dir is not None), None)
        if named is not None:
            refuse(f"has pools.{named}.run_dir, but each pool has a directory in spark.run_dir")
        return self

    @model_validator(mode="after")
    def _check_ports(self) -> SparkSettings:
        seen: dict[tuple[str, int], tuple[str, LinkSettings]] = {}
        for name, pool in self.every_pool.items():
            link = pool.link
            if link is None:
                continue
            other, known = seen.setdefault((link.host, link.port), (name, link))
            if (link.certificate, link.key) != (known.certificate, known.key):
                refuse(
                    f"has pools {other} and {name} with one port, {link.host}:{link.port}, and "
                    f"different certificates"
                )
        return self

    @property
    def every_pool(self) -> dict[str, PoolSettings]:
        """Return all pools by name; `default` is first and always there."""
        return {DEFAULT_POOL: self} | self.pools
