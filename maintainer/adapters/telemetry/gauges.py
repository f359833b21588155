"""Gauges that are read from the store at each scrape: the same from every daemon.

Their number is bounded at any size of the fleet. Unknown values are not exposed, and no value is
exposed while the store cannot be read.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from maintainer.domain.admission import AdmissionRules
from maintainer.domain.errors import MaintainerError
from maintainer.domain.health import Band
from maintainer.domain.job import Job, JobState
from maintainer.domain.policy import Spending, day_of
from maintainer.domain.units import MIB
from maintainer.ports.clock import Clock
from maintainer.ports.store import Store
from maintainer.ports.store.drivers import DriverRecord
from maintainer.ports.store.figures import Counters, NamespaceCounters, Overview, TableFigures
from maintainer.ports.store.upkeep import StoreSize

log = logging.getLogger("maintainer")

DEFAULT_MAX_TABLES = 1000  # tables with their own gauges, which are eight series for each
DEFAULT_MAX_NAMESPACES = 500  # six series for each
DEFAULT_AVERAGE_FILE_SIZE_BOUND = 32 * MIB
DEFAULT_REMEASURE = timedelta(hours=6)

# The fields of TableHealth that are gauges of a table, with their help texts.
_TABLE_GAUGES = {
    "average_file_size_bytes": "Mean size of the table's live data files.",
    "data_files": "Live data files of the table.",
    "manifests": "Manifests of the table's current snapshot.",
    "snapshots": "Snapshots that the table keeps.",
}
_UNFINISHED = tuple(state for state in JobState if not state.is_final)

# name, seconds since its end, whether late
StepAges = Callable[[], Iterable[tuple[str, float, bool]]]
_Sample = tuple[Sequence[str], float | None]


@dataclass(frozen=True, slots=True)
class GaugeOptions:
    """Which gauges there are.

    Every table has its own gauges while the fleet has at most `max_tables`. In a larger fleet
    only the tables in `tables` have them, and the worst of the degraded and critical tables.
    """

    catalogs: Sequence[str] = ()
    max_tables: int = DEFAULT_MAX_TABLES
    tables: Sequence[str] = ()  # names or globs
    max_namespaces: int = DEFAULT_MAX_NAMESPACES
    average_file_size_bound: int = DEFAULT_AVERAGE_FILE_SIZE_BOUND  # bytes
    remeasure: timedelta = DEFAULT_REMEASURE  # the longest time between two measurements
    admission: AdmissionRules = field(default_factory=AdmissionRules)


@dataclass(frozen=True, slots=True)
class _Known:
    """The contents of the store at one moment."""

    at: datetime
    overview: Overview
    tables: Sequence[TableFigures]
    catalogs: Mapping[str, Counters]
    namespaces: Sequence[NamespaceCounters]
    namespaces_left_out: int
    catalog_faults: Counter[str]
    away: frozenset[str]  # catalogs that could not be listed at all
    unfinished: Sequence[Job]
    drivers: Counter[tuple[str, str]]  # by pool and state
    spending: Spending
    size: StoreSize


class StoreGauges(Collector):
    """Reads the gauges."""

    def __init__(self, store: Store, clock: Clock, options: GaugeOptions) -> None:
        self._store = store
        self._clock = clock
        self._options = options

    def describe(self) -> Iterator[Metric]:
        """List the metric families without reading the store."""
        yield _write_up(is_up=True)
        yield from _write_gauges(_NOTHING, self._options)

    def collect(self) -> Iterator[Metric]:
        """Read the store; if that fails, expose only that the store is unavailable."""
        try:
            known = self._read()
        except MaintainerError as error:
            log.warning("metrics.gauges_unknown error=%s", error)
            yield _write_up(is_up=False)
            return
        yield _write_up(is_up=True)
        yield from _write_gauges(known, self._options)

    def _read(self) -> _Known:
        store, options, now = self._store, self._options, self._clock.now()
        namespaces = store.namespaces(limit=options.max_namespaces)
        faults = store.catalog_faults()
        return _Known(
            at=now,
            overview=store.overview(),
            tables=store.table_figures(options.max_tables, options.tables),
            catalogs={name: store.counters(name) for name in options.catalogs},
            namespaces=namespaces.items,
            namespaces_left_out=(namespaces.total or 0) - len(namespaces.items),
            catalog_faults=Counter(fault.catalog for fault in faults),
            away=frozenset(fault.catalog for fault in faults if not fault.namespace),
            unfinished=store.unfinished_jobs(),
            drivers=Counter((one.pool, self._state(one, now)) for one in store.drivers()),
            spending=store.spending(day_of(now)),
            size=store.size(),
        )

    def _state(self, driver: DriverRecord, now: datetime) -> str:
        if not driver.process:
            return "starting"
        # Each poll renews the fences of the driver's jobs.
        is_old = driver.fence is not None and driver.fence <= now
        return "silent" if is_old and self._store.pending_jobs(driver.name) else "connected"


_NOTHING = _Known(
    at=datetime(1970, 1, 1, tzinfo=UTC),
    overview=Overview(*(0,) * 12, {}, {}, 0, 0, 0, 0, None),
    tables=(),
    catalogs={},
    namespaces=(),
    namespaces_left_out=0,
    catalog_faults=Counter(),
    away=frozenset(),
    unfinished=(),
    drivers=Counter(),
    spending=Spending(""),
    size=StoreSize(0, None),
)


def _write_up(*, is_up: bool) -> Metric:
    meaning = "1 while this process can read the store, else 0."
    return _gauge("store_up", meaning, _one(float(is_up)))


def _write_gauges(known: _Known, options: GaugeOptions) -> Iterator[Metric]:
    yield from _write_tables(known)
    yield from _write_fleet(known, options)
    yield from _write_parts(known)
    yield from _write_jobs(known, options)
    yield from _write_store(known)


def _gauge(
    name: str, meaning: str, samples: Iterable[_Sample], labels: Sequence[str] = ()
) -> Metric:
    family = GaugeMetricFamily(f"maintainer_{name}", meaning, labels=labels)
    for values, figure in samples:
        if figure is not None:
            family.add_metric(values, figure)
    return family


def _one(figure: float | None) -> Iterable[_Sample]:
    return (((), figure),)


def _write_tables(known: _Known) -> Iterator[Metric]:
    shown = [(str(figures.table), figures) for figures in known.tables]
    for metric, meaning in _TABLE_GAUGES.items():
        samples = (([name], getattr(figures, metric)) for name, figures in shown)
        yield _gauge(f"table_{metric}", meaning, samples, ["table"])
    yield _gauge(
        "table_band",
        "1 for the band that the table is in, 0 for the others.",
        (([name, band], float(figures.band is band)) for name, figures in shown for band in Band),
        ["table", "band"],
    )


def _write_fleet(known: _Known, options: GaugeOptions) -> Iterator[Metric]:
    fleet = known.overview
    yield _gauge(
        "tables",
        "Measured tables by band.",
        (([band], fleet.bands.get(band, 0)) for band in Band),
        ["band"],
    )
    yield _gauge(
        "tables_left_out",
        "Measured tables without gauges of their own.",
        _one(fleet.measured_tables - len(known.tables)),
    )
    yield _gauge(
        "fleet_average_file_size_bytes",
        "All bytes by all live data files.",
        _one(fleet.average_file_size_bytes),
    )
    yield _gauge(
        "fleet_average_file_size_bound_bytes",
        "The setting metrics.average_file_size_bound.",
        _one(options.average_file_size_bound),
    )
    yield _gauge(
        "fleet_data_files",
        "Live data files of all tables.",
        _one(fleet.data_files),
    )
    yield _gauge(
        "fleet_data_bytes",
        "Bytes of the live data files of all tables.",
        _one(fleet.data_bytes),
    )
    measured_at = fleet.last_measured_at
    yield _gauge(
        "last_measured_timestamp_seconds",
        "When a table was last measured.",
        _one(measured_at.timestamp() if measured_at else None),
    )
    yield _gauge(
        "remeasure_seconds",
        "The longest time between two measurements of a table: scan.remeasure and scan.interval.",
        _one(options.remeasure.total_seconds()),
    )
    yield _gauge(
        "scan_faults",
        "Names that could not be listed or measured the last time.",
        _one(fleet.faulty_tables + known.catalog_faults.total()),
    )


def _write_parts(known: _Known) -> Iterator[Metric]:
    catalogs = [((name,), sums) for name, sums in known.catalogs.items()]
    namespaces = [((one.catalog, one.namespace), one.counters) for one in known.namespaces]
    yield from _write_sums("catalog", "catalog", catalogs, ["catalog"])
    yield _gauge(
        "catalog_up",
        "1 if the last scan could list the catalog, else 0.",
        (([name], float(name not in known.away)) for name in known.catalogs),
        ["catalog"],
    )
    yield _gauge(
        "catalog_faults",
        "Namespaces of the catalog, or the catalog itself, that the last scan could not list.",
        (([name], known.catalog_faults[name]) for name in known.catalogs),
        ["catalog"],
    )
    # Prometheus gives `namespace` to the pod that it scrapes.
    labels = ["catalog", "table_namespace"]
    yield from _write_sums("namespace", "namespace", namespaces, labels)
    yield _gauge(
        "namespaces_left_out",
        "Namespaces beyond the cap on namespaces with gauges of their own.",
        _one(known.namespaces_left_out),
    )


def _write_sums(
    place: str, noun: str, sums: Sequence[tuple[Sequence[str], Counters]], labels: list[str]
) -> Iterator[Metric]:
    yield _gauge(
        f"{place}_tables",
        f"Measured tables of the {noun} by band.",
        (((*values, band), one.bands.get(band, 0)) for values, one in sums for band in Band),
        [*labels, "band"],
    )
    yield _gauge(
        f"{place}_data_files",
        f"Live data files of the {noun}'s tables.",
        ((values, one.data_files) for values, one in sums),
        labels,
    )
    yield _gauge(
        f"{place}_data_bytes",
        f"Bytes of the live data files of the {noun}'s tables.",
        ((values, one.data_bytes) for values, one in sums),
        labels,
    )


def _write_jobs(known: _Known, options: GaugeOptions) -> Iterator[Metric]:
    jobs = known.overview.jobs
    yield _gauge(
        "jobs",
        "Jobs in each state now; finished ones until they are pruned.",
        (([state], jobs.get(state, 0)) for state in JobState),
        ["state"],
    )
    yield _gauge(
        "oldest_job_age_seconds",
        "The age of the oldest job in the state, 0 without one.",
        (([state], _oldest(known, state)) for state in _UNFINISHED),
        ["state"],
    )
    yield _gauge(
        "overdue_jobs",
        "Unfinished jobs beyond their deadline.",
        _one(sum(job.deadline is not None and job.deadline < known.at for job in known.unfinished)),
    )
    budgets = [
        ((one.name.removeprefix("the "), one.resource), one)
        for one in options.admission.list_budgets(known.spending)
    ]
    labels = ["budget", "resource"]
    yield _gauge(
        "budget_limit",
        "A daily limit of the fleet or of a catalog, in bytes or GB-hours.",
        ((name, one.limit) for name, one in budgets),
        labels,
    )
    yield _gauge(
        "budget_spent",
        "What the jobs that were admitted today (UTC) take of the limit.",
        ((name, one.spent) for name, one in budgets),
        labels,
    )
    yield _gauge(
        "drivers",
        "Drivers that poll the link: starting, connected, or silent beyond their jobs' validity.",
        (
            ((pool, state), known.drivers[pool, state])
            for pool in sorted(options.admission.pools)
            for state in ("starting", "connected", "silent")
        ),
        ["pool", "state"],
    )


def _oldest(known: _Known, state: JobState) -> float:
    began = [job.created_at for job in known.unfinished if job.state is state]
    return (known.at - min(began)).total_seconds() if began else 0.0


def _write_store(known: _Known) -> Iterator[Metric]:
    yield _gauge("store_bytes", "What the store takes.", _one(known.size.used_bytes))
    yield _gauge(
        "store_free_bytes",
        "What is free on the disk of a SQLite store.",
        _one(known.size.free_bytes),
    )


class StepGauges(Collector):
    """The ages of this process's steps, by the monotonic clock."""

    def __init__(self) -> None:
        self.ages: StepAges = tuple

    def describe(self) -> Iterator[Metric]:
        """List the metric families."""
        return self._write(())

    def collect(self) -> Iterator[Metric]:
        """Ask the scheduler."""
        return self._write(tuple(self.ages()))

    @staticmethod
    def _write(steps: Sequence[tuple[str, float, bool]]) -> Iterator[Metric]:
        yield _gauge(
            "step_age_seconds",
            "Since the step's last run ended; since the start, if none has.",
            (([name], age) for name, age, _ in steps),
            ["step"],
        )
        yield _gauge(
            "step_late",
            "1 if the step hangs or is no longer run, as /readyz says, else 0.",
            (([name], float(is_late)) for name, _, is_late in steps),
            ["step"],
        )
