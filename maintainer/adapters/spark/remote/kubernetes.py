"""Runs jobs in warm drivers on a cluster, which poll the daemon over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from maintainer.adapters.spark.driver_settings import DriverSettings
from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.launcher import DriverSpec
from maintainer.adapters.spark.launcher.kubernetes.launcher import KubernetesLauncher
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions
from maintainer.adapters.spark.launcher.kubernetes.spark_settings import pod_settings
from maintainer.adapters.spark.options import DriverSize, RunnerOptions
from maintainer.adapters.spark.orphan_files import OrphanFiles
from maintainer.adapters.spark.remote.drivers import LinkOptions, RemoteDrivers
from maintainer.domain.job_size import JobSize
from maintainer.ports.clock import Clock
from maintainer.ports.store import Store


def kubernetes_runner(  # noqa: PLR0913, PLR0917 - the composition root passes all of them, once
    options: RunnerOptions,
    catalogs: Mapping[str, Mapping[str, str]],
    owner: str,
    application: str,
    kubernetes: KubernetesOptions,
    link: LinkOptions,
    store: Store,
    run_dir: Path,
    clock: Clock,
) -> SparkRunner:
    """Return a runner whose drivers are pods; ``run_dir`` keeps the logs of ended drivers."""
    settings = DriverSettings(options, catalogs, application, launched_by=(kubernetes, link))

    def prepare(name: str, size: DriverSize) -> Mapping[str, object]:
        spec = DriverSpec(
            name, link.installation, JobSize.SMALL, size.memory, size.executors, link.address, ""
        )
        return settings.write(size, pod_settings(spec, kubernetes))

    source = RemoteDrivers(
        KubernetesLauncher(kubernetes, link.installation, run_dir / "logs"),
        store,
        clock,
        owner,
        options,
        link,
        settings,
        prepare,
    )
    return SparkRunner(
        options, catalogs, owner, application, source, OrphanFiles(store, owner), clock
    )
