"""Prometheus metrics on a registry of our own.

Labels come from closed sets. Table names label gauges only, up to a cap.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from maintainer.domain.action import Procedure
from maintainer.domain.effect import Effect
from maintainer.domain.errors import MaintainerError
from maintainer.domain.health import Band, Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.plan import Plan, SkipCode
from maintainer.domain.reader import ReaderFault, SlowRead
from maintainer.domain.verdict import PLANNED, RuleVerdict
from maintainer.ports.store import Store
from maintainer.ports.store.figures import Overview, TableFigures

log = logging.getLogger("maintainer")

DEFAULT_MAX_TABLES = 2000  # tables with gauges of their own: eight series each

_SCAN_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
_JOB_SECONDS = (1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400)
_ERROR_RATIOS = (0.01, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2, 5)
_STEP_SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600)
_FINAL_STATES = tuple(state for state in JobState if state.is_final)
# Metric -> its help text; the fields of TableHealth that are gauges of a table.
_TABLE_GAUGES = {
    "average_file_size_bytes": "Mean size of the table's live data files.",
    "data_files": "Live data files of the table.",
    "manifests": "Manifests of the table's current snapshot.",
    "snapshots": "Snapshots that the table keeps.",
}


class _Gauges(Collector):
    """Gauges that are read from the store at each scrape.

    They are the same from every daemon and available right after a start. An unknown value is not
    exposed, and neither is any while the store cannot be read.
    """

    def __init__(self, store: Store, max_tables: int) -> None:
        self._store = store
        self._max_tables = max_tables

    def describe(self) -> Iterator[Metric]:
        """List the metric families without reading the store."""
        return _write_gauges(None, (), 0)

    def collect(self) -> Iterator[Metric]:
        try:
            overview, tables = self._store.overview(), self._store.table_figures(self._max_tables)
            listing_faults = len(self._store.catalog_faults())
        except MaintainerError as error:
            log.warning("metrics.gauges_unknown error=%s", error)
            return _write_gauges(None, (), 0)
        return _write_gauges(overview, tables, listing_faults)


def _write_gauges(
    overview: Overview | None, tables: Sequence[TableFigures], listing_faults: int
) -> Iterator[Metric]:
    for metric, meaning in _TABLE_GAUGES.items():
        family = GaugeMetricFamily(f"maintainer_table_{metric}", meaning, labels=["table"])
        for figures in tables:
            value = getattr(figures, metric)
            if value is not None:
                family.add_metric([str(figures.table)], value)
        yield family
    family = GaugeMetricFamily(
        "maintainer_table_band",
        "1 for the band that the table is in, 0 for the others.",
        labels=["table", "band"],
    )
    for figures in tables:
        for band in Band:
            family.add_metric([str(figures.table), band.value], float(figures.band is band))
    yield family
    yield from _write_fleet(overview, len(tables), listing_faults)


def _write_fleet(overview: Overview | None, shown: int, listing_faults: int) -> Iterator[Metric]:
    bands = GaugeMetricFamily("maintainer_tables", "Measured tables by band.", labels=["band"])
    left_out = GaugeMetricFamily(
        "maintainer_tables_left_out",
        "Measured tables beyond the cap on tables with gauges of their own.",
    )
    average = GaugeMetricFamily(
        "maintainer_fleet_average_file_size_bytes", "All bytes by all live data files."
    )
    files = GaugeMetricFamily("maintainer_fleet_data_files", "Live data files of all tables.")
    size = GaugeMetricFamily(
        "maintainer_fleet_data_bytes", "Bytes of the live data files of all tables."
    )
    faults = GaugeMetricFamily(
        "maintainer_scan_faults", "Names that could not be listed or measured the last time."
    )
    jobs = GaugeMetricFamily(
        "maintainer_jobs",
        "Jobs in each state now; finished ones until they are pruned.",
        labels=["state"],
    )
    if overview is not None:
        for band in Band:
            bands.add_metric([band.value], overview.bands.get(band, 0))
        left_out.add_metric([], overview.measured_tables - shown)
        files.add_metric([], overview.data_files)
        size.add_metric([], overview.data_bytes)
        if overview.average_file_size_bytes is not None:
            average.add_metric([], overview.average_file_size_bytes)
        faults.add_metric([], overview.faulty_tables + listing_faults)
        for state in JobState:
            jobs.add_metric([state.value], overview.jobs.get(state, 0))
    yield from (bands, left_out, average, files, size, faults, jobs)


class PrometheusTelemetry:
    """Telemetry port on prometheus_client. Thread-safe.

    Counters start at zero with the process; gauges of tables and jobs come from the store.
    """

    def __init__(self, store: Store, max_tables: int = DEFAULT_MAX_TABLES) -> None:
        # Times of creation would double the size, and nobody reads them.
        disable_created_metrics()  # type: ignore[no-untyped-call] # the library has no types here
        self.registry = CollectorRegistry(auto_describe=True)
        self.registry.register(_Gauges(store, max_tables))
        self._declare_scans()
        self._declare_jobs()
        self._declare_loop()

    def _declare_scans(self) -> None:
        here = self.registry
        self._scan_seconds = Histogram(
            "maintainer_scan_duration_seconds",
            "How long a scan of the fleet takes.",
            registry=here,
            buckets=_SCAN_SECONDS,
        )
        self._scan_entries = Counter(
            "maintainer_scan_entries_total", "Manifest entries read.", registry=here
        )
        self._scan_tables = Gauge(
            "maintainer_scan_tables",
            "Tables that this process's last scan measured.",
            registry=here,
        )
        self._slow_reader = Gauge(
            "maintainer_slow_reader",
            "1 for the reason why every manifest is read slowly, else 0.",
            ["reason"],
            registry=here,
        )
        self._slow_reads = Counter(
            "maintainer_slow_reads_total",
            "Manifests and manifest lists that were read slowly.",
            ["reason"],
            registry=here,
        )
        for fault in ReaderFault:
            self._slow_reader.labels(fault.value)
        for reason in SlowRead:
            self._slow_reads.labels(reason.value)

    def _declare_jobs(self) -> None:
        here, action = self.registry, ["action"]
        self._jobs_finished = Counter(
            "maintainer_jobs_finished_total",
            "Jobs that reached a final state.",
            ["action", "state"],
            registry=here,
        )
        self._job_seconds = Histogram(
            "maintainer_job_duration_seconds",
            "From the start of a job's Spark work to its end.",
            action,
            registry=here,
            buckets=_JOB_SECONDS,
        )
        self._job_failures = Counter(
            "maintainer_job_failures_total",
            "Jobs that failed, by reason.",
            ["action", "reason"],
            registry=here,
        )
        self._files_removed = Counter(
            "maintainer_files_removed_total",
            "Live data and delete files that our own commits removed.",
            action,
            registry=here,
        )
        self._manifests_removed = Counter(
            "maintainer_manifests_removed_total",
            "Manifests that our own commits removed.",
            registry=here,
        )
        self._snapshots_removed = Counter(
            "maintainer_snapshots_removed_total", "Snapshots expired.", registry=here
        )
        self._bytes_rewritten = Counter(
            "maintainer_bytes_rewritten_total",
            "Bytes of data files that were rewritten.",
            registry=here,
        )
        self._gb_hours = Counter(
            "maintainer_gb_hours_total",
            "GB of memory times hours of Spark's work that finished jobs took.",
            action,
            registry=here,
        )
        self._estimate_errors = Histogram(
            "maintainer_estimate_error_ratio",
            "The error of a job's estimate, as a share of the actual figure; "
            "direction is over, under or exact.",
            ["action", "direction", "quantity"],
            registry=here,
            buckets=_ERROR_RATIOS,
        )
        for procedure in Procedure:
            self._job_seconds.labels(procedure.value)
            self._files_removed.labels(procedure.value)
            self._gb_hours.labels(procedure.value)
            for state in _FINAL_STATES:
                self._jobs_finished.labels(procedure.value, state.value)
            for reason in FailureReason:
                self._job_failures.labels(procedure.value, reason.value)

    def _declare_loop(self) -> None:
        here = self.registry
        self._decisions = Counter(
            "maintainer_decisions_total",
            "Verdicts on rules: planned, or why not.",
            ["verdict"],
            registry=here,
        )
        self._step_seconds = Histogram(
            "maintainer_step_duration_seconds",
            "How long a step of the loop takes.",
            ["step"],
            registry=here,
            buckets=_STEP_SECONDS,
        )
        self._step_failures = Counter(
            "maintainer_step_failures_total",
            "Runs of a step that ended in an error.",
            ["step"],
            registry=here,
        )
        self._leader = Gauge(
            "maintainer_leader",
            "1 while this process plans and submits, as each of several daemons on one store "
            "does, else 0.",
            registry=here,
        )
        for verdict in (PLANNED, *SkipCode):
            self._decisions.labels(str(verdict))

    def table_measured(self, health: TableHealth, grade: Grade) -> None:
        """Do nothing: the table's gauges come from the store."""

    def table_gone(self, table: TableIdentifier) -> None:
        """Do nothing: the table's gauges come from the store."""

    def scan_finished(
        self,
        seconds: float,
        entries: int,
        tables: int,
        faults: int,  # noqa: ARG002 - faults are in the store
    ) -> None:
        """Count a scan of the fleet."""
        self._scan_seconds.observe(seconds)
        self._scan_entries.inc(entries)
        self._scan_tables.set(tables)

    def reader_checked(self, fault: ReaderFault | None) -> None:
        """Set the reason why the slow reader reads manifests; all are 0 if none applies."""
        for reason in ReaderFault:
            self._slow_reader.labels(reason.value).set(float(reason is fault))

    def manifests_read_slowly(self, reason: SlowRead, manifests: int) -> None:
        """Count the manifests."""
        self._slow_reads.labels(reason.value).inc(manifests)

    def plan_made(self, plan: Plan) -> None:
        """Count the verdict of each rule."""
        if plan.planned:
            self._decisions.labels(PLANNED).inc(len(plan.planned))
        for skipped in plan.skipped:
            self._decisions.labels(skipped.code.value).inc()

    def verdicts_changed(self, verdicts: Sequence[RuleVerdict]) -> None:
        """Count each verdict."""
        for verdict in verdicts:
            self._decisions.labels(verdict.code).inc()

    def job_finished(self, job: Job, effect: Effect | None) -> None:
        """Count a job and its effect; later changes by other writers are not subtracted."""
        action = job.action.procedure.value
        if not job.state.is_final:
            return
        self._jobs_finished.labels(action, job.state.value).inc()
        if job.duration is not None:
            self._job_seconds.labels(action).observe(job.duration.total_seconds())
        if job.gb_hours is not None:
            self._gb_hours.labels(action).inc(job.gb_hours)
        for error in job.estimate_errors:
            if error.ratio is not None:
                direction = "over" if error.ratio > 0 else "under" if error.ratio < 0 else "exact"
                self._estimate_errors.labels(action, direction, error.quantity.value).observe(
                    abs(error.ratio)
                )
        if job.state is JobState.FAILED:
            self._job_failures.labels(
                action, (job.failure_reason or FailureReason.OTHER).value
            ).inc()
        if effect is not None:
            self._files_removed.labels(action).inc(
                max(0, effect.files_removed) + max(0, effect.delete_files_removed)
            )
            self._manifests_removed.inc(max(0, effect.manifests_removed))
            self._snapshots_removed.inc(max(0, effect.snapshots_removed))
            self._bytes_rewritten.inc(max(0, effect.bytes_rewritten))

    def step_finished(self, step: str, seconds: float, is_ok: bool) -> None:
        """Count one run of a step."""
        self._step_seconds.labels(step).observe(seconds)
        failures = self._step_failures.labels(step)
        if not is_ok:
            failures.inc()

    def leadership_changed(self, is_leader: bool) -> None:
        """Set whether this process plans and submits."""
        self._leader.set(float(is_leader))

    def render(self) -> tuple[bytes, str]:
        """Return the metrics in Prometheus' text format, and the content type."""
        return generate_latest(self.registry), CONTENT_TYPE_PLAIN_0_0_4
