"""Prometheus metrics on a separate registry.

Labels of counters and histograms come from closed sets and from the configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from maintainer.adapters.telemetry.gauges import GaugeOptions, StepAges, StepGauges, StoreGauges
from maintainer.domain.action import Procedure
from maintainer.domain.effect import Effect
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.plan import PLANNED, Plan, RuleVerdict, SkipCode
from maintainer.domain.policy import PolicySet
from maintainer.domain.replica import Duty, DutyKind
from maintainer.domain.scan_cost import ReaderFault, SlowRead
from maintainer.domain.status import TableState
from maintainer.ports.clock import Clock
from maintainer.ports.store import Store

_SCAN_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
_JOB_SECONDS = (1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400)
_ERROR_RATIOS = (0.01, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2, 5)
_STEP_SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600)
_FINAL_STATES = tuple(state for state in JobState if state.is_final)

QUEUED = (PLANNED, SkipCode.OVER_BUDGET.value, SkipCode.OUTSIDE_WINDOW.value)
DEFAULT_OPTIONS = GaugeOptions()


class PrometheusTelemetry:
    """Telemetry port on prometheus_client. Thread-safe.

    Counters start at zero with the process; gauges of tables and jobs come from the store.
    """

    def __init__(self, store: Store, clock: Clock, options: GaugeOptions = DEFAULT_OPTIONS) -> None:
        # Metrics of creation times would double the size, and are not needed.
        disable_created_metrics()  # type: ignore[no-untyped-call] # the library does not type it
        self.registry = CollectorRegistry(auto_describe=True)
        self.registry.register(StoreGauges(store, clock, options))
        self._steps = StepGauges()
        self.registry.register(self._steps)
        self._declare_scans()
        self._declare_catalogs(options.catalogs)
        self._declare_jobs()
        self._declare_loop()

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"maintainer_{name}", meaning, labels, registry=self.registry)

    def _gauge(self, name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(f"maintainer_{name}", meaning, labels, registry=self.registry)

    def _histogram(
        self, name: str, meaning: str, buckets: Sequence[float], *labels: str
    ) -> Histogram:
        return Histogram(
            f"maintainer_{name}", meaning, labels, registry=self.registry, buckets=buckets
        )

    def _declare_scans(self) -> None:
        self._scan_seconds = self._histogram(
            "scan_duration_seconds", "How long the scan of a catalog takes.", _SCAN_SECONDS
        )
        self._scan_entries = self._counter("scan_entries_total", "Manifest entries read.")
        self._scan_tables = self._gauge(
            "scan_tables", "Tables that this process's last scan of a catalog measured."
        )
        self._slow_reader = self._gauge(
            "slow_reader", "1 for the reason why every manifest is read slowly, else 0.", "reason"
        )
        self._slow_reads = self._counter(
            "slow_reads_total", "Manifests and manifest lists that were read slowly.", "reason"
        )
        for fault in ReaderFault:
            self._slow_reader.labels(fault.value)
        for reason in SlowRead:
            self._slow_reads.labels(reason.value)

    def _declare_catalogs(self, catalogs: Sequence[str]) -> None:
        self._poll_seconds = self._histogram(
            "catalog_poll_duration_seconds",
            "How long a scan waits for the catalog to say which tables it has and which changed.",
            _SCAN_SECONDS,
            "catalog",
        )
        self._catalog_errors = self._counter(
            "catalog_errors_total",
            "Namespaces that a catalog could not list, and tables for which it did not answer.",
            "catalog",
        )
        for name in catalogs:
            self._poll_seconds.labels(name)
            self._catalog_errors.labels(name)

    def _declare_jobs(self) -> None:
        self._jobs_finished = self._counter(
            "jobs_finished_total", "Jobs that reached a final state.", "action", "state"
        )
        self._job_seconds = self._histogram(
            "job_duration_seconds",
            "From the start of a job's Spark work to its end.",
            _JOB_SECONDS,
            "action",
        )
        self._job_failures = self._counter(
            "job_failures_total", "Jobs that failed, by reason.", "action", "reason"
        )
        self._files_removed = self._counter(
            "files_removed_total",
            "Live data and delete files that our own commits removed.",
            "action",
        )
        self._manifests_removed = self._counter(
            "manifests_removed_total", "Manifests that our own commits removed."
        )
        self._snapshots_removed = self._counter("snapshots_removed_total", "Snapshots expired.")
        self._bytes_rewritten = self._counter(
            "bytes_rewritten_total", "Bytes of data files that were rewritten."
        )
        self._gb_hours = self._counter(
            "gb_hours_total",
            "GB of memory times hours of Spark's work that finished jobs took.",
            "action",
        )
        self._estimate_errors = self._histogram(
            "estimate_error_ratio",
            "The error of a job's estimate, as a share of the actual figure; "
            "direction is over, under or exact.",
            _ERROR_RATIOS,
            "action",
            "direction",
            "quantity",
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
        self._decisions = self._counter(
            "decisions_total", "Verdicts on rules: planned, or why not.", "verdict"
        )
        self._queue = self._gauge(
            "queue_actions",
            "Planned actions in the queue by verdict, as of the last queue step of this process.",
            "verdict",
        )
        self._states = self._gauge(
            "tables_by_state",
            "Tables in each state, as of the last queue step of this process.",
            "state",
        )
        self._step_seconds = self._histogram(
            "step_duration_seconds", "How long a step of the loop takes.", _STEP_SECONDS, "step"
        )
        self._step_failures = self._counter(
            "step_failures_total", "Runs of a step that ended in an error.", "step"
        )
        self._leader = self._gauge(
            "leader", "1 while this process has the duty, else 0.", "duty", "catalog"
        )
        self._policy_problems = self._gauge(
            "policy_problems",
            "Policies, or parts of them, that this process reads and refuses.",
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
        """Count the scan of a catalog."""
        self._scan_seconds.observe(seconds)
        self._scan_entries.inc(entries)
        self._scan_tables.set(tables)

    def catalog_polled(self, catalog: str, seconds: float, errors: int) -> None:
        """Count one poll of a catalog."""
        self._poll_seconds.labels(catalog).observe(seconds)
        self._catalog_errors.labels(catalog).inc(errors)

    def reader_checked(self, fault: ReaderFault | None) -> None:
        """Set the reason why the slow reader reads manifests; all reasons are 0 if none applies."""
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

    def queue_counted(self, actions: Mapping[str, int]) -> None:
        """Set the length of the queue."""
        for code in QUEUED:
            self._queue.labels(code).set(actions.get(code, 0))

    def states_counted(self, tables: Mapping[TableState, int]) -> None:
        """Set the number of tables in each state."""
        for state in TableState:
            self._states.labels(state.value).set(tables.get(state, 0))

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

    def watch_steps(self, ages: StepAges) -> None:
        """Register the function that returns the ages of this process's steps."""
        self._steps.ages = ages

    def watch_policies(self, current: Callable[[], PolicySet]) -> None:
        """Ask at each scrape how many problems the policies have that this process reads."""
        self._policy_problems.set_function(
            lambda: sum(not problem.is_note for problem in current().problems)
        )

    def show_duties(self, duties: Collection[Duty], has: Callable[[Duty], bool]) -> None:
        """Ask at each scrape which of these duties this process has."""
        for duty in sorted(duties):
            if duty.kind is not DutyKind.WORK:
                leader = self._leader.labels(duty.kind.value, duty.scope)
                leader.set_function(partial(has, duty))

    def render(self) -> tuple[bytes, str]:
        """Return the metrics in Prometheus' text format, and the content type."""
        return generate_latest(self.registry), CONTENT_TYPE_PLAIN_0_0_4
