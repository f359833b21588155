"""Reports on small files, their share and cost, and on the storage of each catalog."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import Compaction, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import HISTOGRAM_BOUNDS_BYTES, has_present_bins
from maintainer.domain.units import KIB, MIB, format_count, format_duration
from maintainer.measure.impact import (
    Impact,
    ImpactModels,
    Storage,
    StorageProfile,
    estimate_impact,
)
from maintainer.measure.name_node import (
    NameNodeLoad,
    NameService,
    load_name_node,
    name_service,
    sum_by_service,
    sum_loads,
)

# Only bounds of the histogram: for other sizes the number of smaller files is unknown.
SMALL_BOUNDS_BYTES: Final = (64 * KIB, MIB, 10 * MIB)
PARALLEL: Final = (1, 64)  # requests at the same time
MAX_SCANS_PER_DAY: Final = 1_000_000
FIRST_TABLES: Final = 10
_Part = tuple[TableHealth, Impact]


@dataclass(frozen=True, slots=True)
class ReportLine:
    """The files of a table, a namespace or all, and the cost of a full read of each table."""

    name: str
    tables: int
    files: int
    bytes: int
    files_under: tuple[int, ...]  # for each of SMALL_BOUNDS_BYTES
    slowdown_low: float  # mean over the tables, weighted by their bytes
    slowdown_high: float
    requests: int
    requests_after_compaction: int
    requests_at_target: int
    cost: float | None  # of these requests; None: the storage of a table has no price
    cost_after_compaction: float | None
    wait_seconds: float  # of the round trips of these requests, one after the other
    scan_seconds: float  # from the bandwidth, the round trip and the parallelism of the storage
    scan_seconds_at_target: float

    @property
    def average_file_size_bytes(self) -> float:
        return self.bytes / self.files

    @property
    def shares_under(self) -> tuple[float, ...]:
        """The shares of the files that are smaller than each of SMALL_BOUNDS_BYTES."""
        return tuple(files / self.files for files in self.files_under)

    @property
    def requests_saved(self) -> int:
        """The requests of one full read that compaction avoids, as the planner predicts it."""
        return self.requests - self.requests_after_compaction

    @property
    def requests_saved_by_layout(self) -> int:
        """The further requests that files of the target size would avoid.

        They need other partitions: compaction joins no files of different partitions.
        """
        return self.requests_after_compaction - self.requests_at_target


@dataclass(frozen=True, slots=True)
class Report:
    """All measured tables with files; without any, `total` is None."""

    total: ReportLine | None
    namespaces: tuple[ReportLine, ...]  # the most avoidable requests first
    first: tuple[ReportLine, ...]  # the tables to compact first
    left_out: int  # tables without data files or readable manifests, or of an older version
    profiles: tuple[StorageProfile, ...]
    sources: tuple[str, ...]  # of the slowdowns
    scans_per_day: float
    storages: tuple[Storage, ...]  # the storages that the estimates use
    name_services: tuple[NameService, ...]  # of the tables on HDFS

    def requests_per_day(self, requests: int) -> float:
        return requests * self.scans_per_day

    def cost_per_day(self, line: ReportLine) -> float | None:
        """In the operator's currency; None without a price."""
        return None if line.cost is None else line.cost * self.scans_per_day

    def cost_saved_per_day(self, line: ReportLine) -> float | None:
        """The part that compaction saves."""
        if line.cost is None or line.cost_after_compaction is None:
            return None
        return (line.cost - line.cost_after_compaction) * self.scans_per_day


def build_report(
    measured: Iterable[tuple[TableHealth, Compaction | None]],
    models: ImpactModels,
    scans_per_day: float = 1.0,
) -> Report:
    """Sum up the tables, each with what its compaction would achieve.

    InvalidValueError for scans_per_day outside 0..MAX_SCANS_PER_DAY.
    """
    if not 0 < scans_per_day <= MAX_SCANS_PER_DAY:
        raise InvalidValueError(
            f"scans per day {scans_per_day:g} are not above 0 and up to {MAX_SCANS_PER_DAY:,}"
        )
    spaces: dict[str, list[_Part]] = defaultdict(list)
    everything: list[_Part] = []
    left_out = 0
    for health, compaction in measured:
        impact = estimate_impact(health, models.of(health.table.catalog), compaction)
        if impact is None or not has_present_bins(health.histogram):
            left_out += 1
            continue
        spaces[_name_space(health.table)].append((health, impact))
        everything.append((health, impact))
    tables = [_sum(str(health.table), [(health, impact)]) for health, impact in everything]
    return Report(
        total=_sum("all tables", everything) if everything else None,
        namespaces=_rank(_sum(name, parts) for name, parts in spaces.items()),
        first=tuple(line for line in _rank(tables) if line.requests_saved > 0)[:FIRST_TABLES],
        left_out=left_out,
        profiles=tuple(sorted({impact.profile for _, impact in everything})),
        sources=tuple(sorted({impact.source for _, impact in everything})),
        scans_per_day=scans_per_day,
        storages=tuple(sorted({impact.storage for _, impact in everything}, key=repr)),
        name_services=sum_by_service(
            health for health, impact in everything if impact.profile is StorageProfile.HDFS
        ),
    )


def _name_space(table: TableIdentifier) -> str:
    return f"{table.catalog}.{table.namespace_text}"


def _rank(lines: Iterable[ReportLine]) -> tuple[ReportLine, ...]:
    return tuple(sorted(lines, key=lambda line: (-line.requests_saved, line.name)))


def _sum(name: str, parts: Sequence[_Part]) -> ReportLine:
    size = sum(health.data_bytes or 0 for health, _ in parts)
    # If all files are empty, each table has the same weight.
    weights = [(health.data_bytes or 0) if size else 1 for health, _ in parts]
    weight = sum(weights)
    return ReportLine(
        name=name,
        tables=len(parts),
        files=sum(health.data_files or 0 for health, _ in parts),
        bytes=size,
        files_under=tuple(
            sum(_count_under(health, bound) for health, _ in parts) for bound in SMALL_BOUNDS_BYTES
        ),
        slowdown_low=_mean(weights, weight, [impact.slowdown_low for _, impact in parts]),
        slowdown_high=_mean(weights, weight, [impact.slowdown_high for _, impact in parts]),
        requests=sum(impact.requests_per_scan for _, impact in parts),
        requests_after_compaction=sum(impact.requests_after_compaction for _, impact in parts),
        requests_at_target=sum(impact.requests_at_target for _, impact in parts),
        cost=_add([impact.request_cost_per_scan for _, impact in parts]),
        cost_after_compaction=_add(
            [impact.request_cost_per_scan_after_compaction for _, impact in parts]
        ),
        wait_seconds=sum(
            impact.requests_per_scan * impact.storage.round_trip.total_seconds()
            for _, impact in parts
        ),
        scan_seconds=sum(impact.scan_seconds for _, impact in parts),
        scan_seconds_at_target=sum(impact.scan_seconds_at_target for _, impact in parts),
    )


def _add(costs: Sequence[float | None]) -> float | None:
    """The sum; None if one is unknown."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _mean(weights: Sequence[int], weight: int, values: Sequence[float]) -> float:
    return sum(each * value for each, value in zip(weights, values, strict=True)) / weight


def _count_under(health: TableHealth, bound: int) -> int:
    return sum(health.histogram[: HISTOGRAM_BOUNDS_BYTES.index(bound) + 1])


def describe(found: Report) -> Iterator[str]:
    """The sentences below the lists: requests and money a day, round trips, sources."""
    total = found.total
    if total is None:
        return
    money = found.cost_per_day(total)
    saved = found.cost_saved_per_day(total)
    yield (
        f"Requests a day (scans of each table a day: {found.scans_per_day:g}): "
        f"{found.requests_per_day(total.requests):,.0f}, of which compaction would avoid "
        f"{found.requests_per_day(total.requests_saved):,.0f}."
    )
    if total.requests_saved_by_layout:
        yield (
            f"With other partitions, files of the target size would avoid "
            f"{found.requests_per_day(total.requests_saved_by_layout):,.0f} more; compaction "
            f"cannot."
        )
    if money is not None and saved is not None:
        yield f"Cost of these requests a day: {money:,.3g}, of which {saved:,.3g} is avoidable."
    waits = " and ".join(
        f"{_write_seconds(total.wait_seconds / parallel)} with {parallel} in parallel"
        for parallel in PARALLEL
    )
    yield f"Round trips of one scan of each table: {waits}."
    yield (
        f"One scan of each table takes about {_write_seconds(total.scan_seconds)}, and "
        f"{_write_seconds(total.scan_seconds_at_target)} with files of the target size."
    )
    yield from (storage.sentence for storage in found.storages)
    yield from (service.sentence for service in found.name_services)
    if found.left_out:
        yield (
            f"{format_count(found.left_out, 'table')} left out: no readable data files, or not "
            "measured since an upgrade."
        )
    yield f"Slower: estimated query time against files of about 130 MB on {_name(found)}."
    yield from found.sources


def _name(found: Report) -> str:
    return " and ".join(found.profiles).replace("_", " ")


def _write_seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 1 else format_duration(timedelta(seconds=seconds))


@dataclass(frozen=True, slots=True)
class CatalogStorage:
    """The storage of one catalog, by its measured tables.

    A catalog without measured tables has the storage of its settings, if they name the profile.
    """

    catalog: str
    storages: tuple[Storage, ...]  # one for each kind of storage
    name_services: tuple[NameService, ...]  # of the tables on HDFS, by name


def describe_storage(
    healths: Iterable[TableHealth], models: ImpactModels, catalogs: Sequence[str]
) -> tuple[CatalogStorage, ...]:
    """The storage of each of these catalogs, in their order."""
    storages: dict[str, set[Storage]] = defaultdict(set)
    loads: dict[str, list[tuple[str, NameNodeLoad | None]]] = defaultdict(list)
    for health in healths:
        name = health.table.catalog
        storage = models.of(name).at(health.location)
        storages[name].add(storage)
        if storage.profile is StorageProfile.HDFS:
            loads[name].append((name_service(health.location), load_name_node(health)))
    for name in catalogs:
        if models.of(name).profile is not None:
            storages[name].add(models.of(name).at(""))
    return tuple(
        CatalogStorage(
            name,
            tuple(sorted(storages[name], key=lambda storage: storage.profile)),
            sum_loads(loads[name]),
        )
        for name in catalogs
    )
