"""The options of adapters and steps, from the settings."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path

from maintainer.adapters.catalog.manifests.decoding import DecodingBounds
from maintainer.adapters.catalog.reader import ReadLimits
from maintainer.adapters.catalog.tables.request_rate import PollLimits
from maintainer.adapters.spark.catalogs import trusted_bundles
from maintainer.adapters.spark.jars import default_directory
from maintainer.adapters.spark.launcher.kubernetes.options import (
    KubernetesOptions,
    Operator,
    Queueing,
)
from maintainer.adapters.spark.launcher.yarn.options import YarnOptions
from maintainer.adapters.spark.options import (
    DriverSize,
    Executors,
    LocalSparkOptions,
    RunnerOptions,
    mark_settings,
    megabytes,
)
from maintainer.adapters.spark.pins import Jar
from maintainer.adapters.telemetry.gauges import GaugeOptions
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.pool import DEFAULT_POOL, JobSize
from maintainer.measure.impact import ImpactModel, ImpactModels, StorageProfile
from maintainer.settings import ScanSettings, Settings, StorageSettings
from maintainer.settings.spark import PoolSettings
from maintainer.settings.spark.clusters import KubernetesSettings, YarnSettings
from maintainer.steps.scan import ScanOptions

# A pod may wait for a node and for its image; an application of YARN may wait for its queue.
_START_TIMEOUTS = {
    "process": timedelta(minutes=2),
    "kubernetes": timedelta(minutes=10),
    "yarn": timedelta(minutes=10),
}


def admission_rules(settings: Settings) -> AdmissionRules:
    pools = settings.spark.every_pool
    return settings.admission.as_rules({name: pool.as_pool for name, pool in pools.items()})


def gauge_options(settings: Settings) -> GaugeOptions:
    """Which gauges there are, from the settings."""
    return GaugeOptions(
        catalogs=tuple(settings.catalogs),
        admission=admission_rules(settings),
        remeasure=settings.scan.remeasure + settings.scan.interval,
        **settings.metrics.model_dump(),
    )


def poll_limits(scan: ScanSettings) -> PollLimits:
    """The bounds for asking a catalog table by table."""
    return PollLimits(
        requests_per_second=scan.requests_per_second,
        concurrency=scan.max_requests,
        min_interval=scan.min_interval,
        max_interval=scan.max_interval,
        growth=scan.interval_growth,
        jitter=scan.interval_jitter,
    )


def read_limits(settings: Settings) -> ReadLimits:
    """The bounds of reading metadata, for all catalogs together."""
    scan = settings.scan
    return ReadLimits(
        scan.decode_processes,
        scan.manifest_memory,
        scan.max_requests,
        scan.locations,
        DecodingBounds(scan.decode_memory, scan.decode_timeout.total_seconds()),
    )


def run_dir(settings: Settings, pool: str = DEFAULT_POOL) -> Path:
    """The directory of a pool's logs and locks; the settings resolve it."""
    return settings.spark.every_pool[pool].run_dir or Path("run").absolute()


def spark_options(settings: Settings, pool: str = DEFAULT_POOL) -> LocalSparkOptions:
    spark, common = settings.spark.every_pool[pool], runner_options(settings, pool)
    return LocalSparkOptions(
        **{part.name: getattr(common, part.name) for part in fields(common)},
        master=spark.master,
        driver_host=spark.driver_host or "127.0.0.1",
        java_home=spark.java_home,
        jars_dir=spark.jars_dir or default_directory(),
        given_jars=tuple(Jar.parse(text) or Path(text) for text in spark.jars),
        authorities=tuple(
            bundle
            for catalog in settings.catalogs.values()
            for bundle in trusted_bundles(catalog.properties)
        ),
    )


def runner_options(settings: Settings, pool: str = DEFAULT_POOL) -> RunnerOptions:
    spark = settings.spark.every_pool[pool]
    drivers = {size: _driver_size(spark, size) for size in JobSize}
    most = spark.max_memory or ""
    if not most and spark.runner != "process":
        most = f"{sum(megabytes(driver.memory) for driver in drivers.values())}m"
    return RunnerOptions(
        driver_memory=spark.driver_memory,
        max_jobs=spark.max_jobs,
        drivers=drivers,
        max_memory=most,
        idle_timeout=spark.idle_timeout,
        start_timeout=spark.start_timeout or _START_TIMEOUTS[spark.runner],
        planning_timeout=spark.planning_timeout,
        conf=mark_settings(
            (catalog.properties for catalog in settings.catalogs.values()),
            let_writers_win=spark.let_writers_win,
        )
        | spark.conf,
        pool=pool,
    )


def kubernetes_options(settings: KubernetesSettings) -> KubernetesOptions:
    chosen = settings.model_dump(exclude={"operator", "queueing", "timeout"})
    return KubernetesOptions(
        **chosen,
        operator=Operator(settings.operator),
        queueing=Queueing(settings.queueing),
        timeout_seconds=settings.timeout,
    )


def yarn_options(settings: YarnSettings) -> YarnOptions:
    chosen = settings.model_dump(exclude={"resource_manager", "principal", "timeout"})
    return YarnOptions(
        **chosen,
        resource_managers=settings.resource_manager,
        principal=settings.principal or "",
        timeout_seconds=settings.timeout,
    )


def _driver_size(spark: PoolSettings, size: JobSize) -> DriverSize:
    executors, allowed = spark.executors_of(size), spark.dynamic_allocation
    if executors is None:
        return DriverSize(*spark.driver_of(size))
    bounds = None if allowed is None else (allowed.min_executors, allowed.max_executors)
    given = Executors(executors.count, executors.memory, executors.cores, bounds)
    return DriverSize(*spark.driver_of(size), given)


def scan_options(settings: Settings, *, is_deep: bool = False) -> ScanOptions:
    return ScanOptions(
        is_deep=is_deep,
        remeasure=settings.scan.remeasure,
        rechecks=settings.scan.rechecks,
        timeout=settings.scan.timeout,
    )


def loop_options(settings: Settings) -> ScanOptions:
    """The options of the daemon's scans, which recheck fewer unchanged tables than other scans."""
    own = settings.scan
    return replace(
        scan_options(settings), recheck_share=own.recheck_share, recheck_after=own.recheck_after
    )


def make_impact_models(settings: Settings) -> ImpactModels:
    """The storage of each catalog, for estimating the cost of small files.

    Each setting of a catalog overrides the same setting for all catalogs.
    """
    common = settings.impact
    return ImpactModels(
        _make_impact_model(common),
        {
            name: _make_impact_model(
                common.model_copy(update=catalog.storage.model_dump(exclude_none=True))
            )
            for name, catalog in settings.catalogs.items()
        },
    )


def _make_impact_model(settings: StorageSettings) -> ImpactModel:
    profile = StorageProfile(settings.profile) if settings.profile is not None else None
    return ImpactModel(**settings.model_dump(exclude={"profile"}), profile=profile)
