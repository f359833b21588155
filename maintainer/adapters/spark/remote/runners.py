"""Runners whose drivers poll over HTTP: pods, YARN's applications, or processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from maintainer.adapters.spark.driver_settings import DriverSettings
from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.launcher import DriverSpec, Launcher
from maintainer.adapters.spark.launcher.kubernetes.launcher import KubernetesLauncher
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions
from maintainer.adapters.spark.launcher.kubernetes.pods import pod_settings
from maintainer.adapters.spark.launcher.remote_process import ProcessLauncher
from maintainer.adapters.spark.launcher.yarn.launcher import YarnLauncher
from maintainer.adapters.spark.launcher.yarn.options import YarnOptions
from maintainer.adapters.spark.launcher.yarn.submission import start_settings
from maintainer.adapters.spark.logs.copying import JobLogs
from maintainer.adapters.spark.options import (
    DriverSize,
    LocalSparkOptions,
    RunnerOptions,
    executor_settings,
    host_settings,
    secrets_of,
)
from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.adapters.spark.remote.driver import FENCE_MARGIN
from maintainer.adapters.spark.remote.drivers import LinkOptions, RemoteDrivers
from maintainer.adapters.spark.remote.strays import Strays
from maintainer.domain.pool import JobSize
from maintainer.ports.clock import Clock
from maintainer.ports.store import Store


@dataclass(frozen=True, slots=True)
class RemoteParts:
    """The parts that all these runners need."""

    catalogs: Mapping[str, Mapping[str, str]]  # Spark's settings for each catalog
    owner: str
    application: str
    link: LinkOptions
    store: Store
    run_dir: Path  # the directory of logs
    clock: Clock


def kubernetes_runner(
    parts: RemoteParts, options: RunnerOptions, kubernetes: KubernetesOptions
) -> SparkRunner:
    """Return a runner whose drivers are pods."""

    def surround(name: str, size: DriverSize) -> Mapping[str, str]:
        spec = DriverSpec(
            name,
            parts.link.installation,
            JobSize.SMALL,
            size.memory,
            size.executors,
            parts.link.address,
            "",
        )
        return pod_settings(spec, kubernetes)

    launcher = KubernetesLauncher(kubernetes, parts.link.installation)
    return _make_runner(parts, options, launcher, surround, launched_by=kubernetes)


def yarn_runner(parts: RemoteParts, options: LocalSparkOptions, yarn: YarnOptions) -> SparkRunner:
    """Return a runner whose drivers are applications of YARN, submitted from this machine."""

    def surround(_name: str, size: DriverSize) -> Mapping[str, str]:
        return start_settings(size, yarn)

    launcher = YarnLauncher(options, yarn, parts.link.installation, parts.run_dir)
    return _make_runner(parts, options, launcher, surround, launched_by=yarn)


def process_runner(parts: RemoteParts, options: LocalSparkOptions) -> SparkRunner:
    """Return a runner whose drivers are processes of this machine that outlive the daemon."""

    def surround(_name: str, size: DriverSize) -> Mapping[str, str]:
        here = host_settings(options)
        if size.executors is None:
            return here
        return here | executor_settings(options.master, size.executors)

    launcher = ProcessLauncher(options, parts.run_dir)
    return _make_runner(parts, options, launcher, surround, launched_by=None)


def _make_runner(
    parts: RemoteParts,
    options: RunnerOptions,
    launcher: Launcher,
    surround: Callable[[str, DriverSize], Mapping[str, str]],
    launched_by: object,
) -> SparkRunner:
    strays = None
    if launched_by is not None:  # applications on a cluster have the name of their installation
        strays = Strays(launcher, parts.link.longest_validity + 2 * FENCE_MARGIN)
    settings = DriverSettings(options, parts.catalogs, parts.application, (launched_by, parts.link))

    def prepare(name: str, size: DriverSize) -> Mapping[str, object]:
        return settings.write(size, surround(name, size))

    source = RemoteDrivers(
        launcher,
        parts.store,
        parts.clock,
        parts.owner,
        options,
        parts.link,
        settings,
        prepare,
        strays=strays,
    )
    names: Collection[str] = parts.catalogs
    files = OrphanFiles(parts.store, parts.owner)
    secrets = secrets_of(options, parts.catalogs)
    logs = JobLogs(parts.store, secrets, is_on_cluster=launched_by is not None)
    return SparkRunner(
        options, names, parts.owner, parts.application, source, files, logs, parts.clock
    )
