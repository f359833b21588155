"""Scan: read inventories from the catalogs, measure them and store the healths."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from math import ceil

from maintainer import __version__
from maintainer.decide.rechecks import choose_rechecks, is_due
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import DIGEST_VERSION, CatalogFault, FaultKind, TableFault
from maintainer.domain.scan_cost import ScanCost
from maintainer.domain.shape import digest_shape
from maintainer.policy.versions import Bases
from maintainer.ports import Ports
from maintainer.ports.catalog import Catalog, Polled, Taken
from maintainer.ports.store.tables import ScanMark
from maintainer.steps.isolation import (
    DEFAULT_LIMIT,
    Failures,
    StoppedError,
    TimeLimit,
    in_parallel,
    one_at_a_time,
)
from maintainer.steps.notices import LimitedNotices, report_missing_tables
from maintainer.steps.table import (
    Measured,
    keep_digests,
    keep_fault,
    measure_and_keep,
    no_digests,
    target_by,
)

# Increase this version if the same metadata now results in other figures or findings. Another
# shape of the health alone needs no increase.
MEASURE_VERSION = 6
PROGRAM = f"{__version__} {MEASURE_VERSION}.{DIGEST_VERSION} {digest_shape(TableHealth)}"
DEFAULT_REMEASURE = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class Recalled:
    """An unchanged table with its stored health and grade."""

    health: TableHealth
    grade: Grade


ScannedTable = Measured | Recalled | TableFault


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """The options of a scan. A deep scan reads every manifest of every table.

    An unchanged table is measured again at the latest after `remeasure`. Before that, each scan
    rechecks some tables of each catalog that were not measured for `recheck_after`, the oldest
    first: at most `rechecks` tables, and at most the share `recheck_share` of the catalog, rounded
    up.
    """

    is_deep: bool = False
    remeasure: timedelta = DEFAULT_REMEASURE
    rechecks: int = 0
    recheck_share: float = 1.0
    recheck_after: timedelta = timedelta(0)
    timeout: timedelta = DEFAULT_LIMIT  # for measuring one table


DEFAULT_OPTIONS = ScanOptions()


@dataclass(slots=True)
class ScanResult:
    """The counts and the cost of one scan of the fleet; bytes are bytes of manifests."""

    measured: int = 0
    unchanged: int = 0
    faults: list[TableFault | CatalogFault] = field(default_factory=list)
    entries_read: int = 0
    manifests_read: int = 0
    manifests_reused: int = 0
    bytes_read: int = 0
    bytes_reused: int = 0
    is_complete: bool = True

    def add(self, other: ScanResult) -> None:
        """Add the counts of another part of the same scan."""
        self.measured += other.measured
        self.unchanged += other.unchanged
        self.faults += other.faults
        self.entries_read += other.entries_read
        self.manifests_read += other.manifests_read
        self.manifests_reused += other.manifests_reused
        self.bytes_read += other.bytes_read
        self.bytes_reused += other.bytes_reused
        self.is_complete = self.is_complete and other.is_complete


def scan(
    ports: Ports,
    on_table: Callable[[ScannedTable], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    options: ScanOptions = DEFAULT_OPTIONS,
    is_ours: Callable[[str], bool] = lambda _catalog: True,
) -> ScanResult:
    """Measure every table that may have changed; an error on one table does not stop the others.

    A catalog is scanned only while it is a duty of this process (`is_ours`).
    """
    started = ports.clock.now()
    result = ScanResult()
    ours = [name for name in ports.catalogs if is_ours(name)]
    if ports.catalogs and not ours:
        return result
    bases = Bases(ports.policies.current(), PROGRAM, ports.store.shared_tables())
    try:
        on_each = on_table and one_at_a_time(on_table)

        def is_over(catalog: str) -> bool:
            return should_stop() or not is_ours(catalog)

        turns = [
            _CatalogScan(
                ports, ports.catalogs[name], on_each, partial(is_over, name), options, bases
            )
            for name in ours
        ]
        try:
            in_parallel(turns, _CatalogScan.run)
        finally:
            for turn in turns:
                result.add(turn.result)
        _note_unconfigured(ports)
        ports.store.record_fleet(ports.clock.now())
    finally:
        seconds = (ports.clock.now() - started).total_seconds()
        ports.telemetry.scan_finished(
            seconds, result.entries_read, result.measured, len(result.faults)
        )
    return result


@dataclass(slots=True)
class _CatalogScan:
    """The scan of one catalog; `is_whole` is true if the listing was not interrupted."""

    ports: Ports
    catalog: Catalog
    on_table: Callable[[ScannedTable], None] | None
    should_stop: Callable[[], bool]
    options: ScanOptions
    bases: Bases
    known: Mapping[TableIdentifier, str] = field(default_factory=dict)
    wanted: Collection[TableIdentifier] = ()  # tables that are measured even if unchanged
    seen: list[TableIdentifier] = field(default_factory=list)
    faults: list[CatalogFault] = field(default_factory=list)
    # the tokens of the tables being read
    changed: dict[TableIdentifier, str] = field(default_factory=dict)
    failures: Failures = field(default_factory=Failures)
    is_whole: bool = False
    result: ScanResult = field(default_factory=ScanResult)
    notices: LimitedNotices = field(init=False)

    def __post_init__(self) -> None:
        self.notices = LimitedNotices(self.ports.notifier, self.catalog.name)
        self.ports = replace(self.ports, notifier=self.notices)

    def run(self) -> None:
        """List the catalog's tables and measure the changed ones as the catalog reads them."""
        started = self.ports.clock.now()
        try:
            if not self.options.is_deep:
                self._recall_marks()
            self._measure(self._find_changed())
            self.failures.raise_first()
        finally:
            self.notices.send_summaries(self.ports.clock.now())
            is_whole = self.is_whole and not self.should_stop()
            if is_whole:
                self._take_listing()
            if not is_whole or self.changed:
                self.result.is_complete = False
            self._record_cost(started)

    def _record_cost(self, started: datetime) -> None:
        done, seconds = self.result, (self.ports.clock.now() - started).total_seconds()
        tables = (done.measured, done.unchanged, len(done.faults))
        manifests = (done.manifests_read, done.manifests_reused, done.bytes_read)
        self.ports.store.record_scan_cost(
            ScanCost(self.catalog.name, started, seconds, *tables, *manifests, done.is_complete)
        )

    def _measure(self, tables: Iterable[TableIdentifier]) -> None:
        known = no_digests if self.options.is_deep else self.ports.store.digests
        target_of, keep = target_by(self.ports.policies.current), keep_digests(self.ports)
        for taken in self.catalog.inventories(tables, target_of, known, self.should_stop, keep):
            self.failures.guard(partial(self._record, taken))

    def _recall_marks(self) -> None:
        """Read the stored tokens, and choose the unchanged tables that are measured again.

        Such a table keeps its token, so that its catalog can still answer "unchanged" cheaply.
        """
        marks = self.ports.store.marks(self.catalog.name)
        self.known = {table: mark.token for table, mark in marks.items() if mark.token}
        self.wanted = self._choose_wanted({table: marks[table] for table in self.known})

    def _choose_wanted(self, marks: Mapping[TableIdentifier, ScanMark]) -> set[TableIdentifier]:
        options, now = self.options, self.ports.clock.now()
        due = {
            table
            for table, mark in marks.items()
            if mark.basis != self.bases.of(table)
            or is_due(table, mark.measured_at, now, options.remeasure)
        }
        # If the metadata file of a table is deleted, the token does not change.
        others = {table: mark.measured_at for table, mark in marks.items() if table not in due}
        most = min(options.rechecks, ceil(options.recheck_share * len(marks)))
        return due.union(choose_rechecks(others, now, options.recheck_after, most))

    def _find_changed(self) -> Iterator[TableIdentifier]:
        for found in self._poll():
            if self.should_stop():
                return
            if isinstance(found, CatalogFault):
                self.faults.append(found)
                continue
            self.seen.append(found.table)
            if isinstance(found, Polled) and (found.is_changed or found.table in self.wanted):
                self.changed[found.table] = found.token
                yield found.table
            else:
                self.failures.guard(partial(self._take, found))
        self.is_whole = not self.should_stop()

    def _poll(self) -> Iterator[Polled | TableFault | CatalogFault]:
        """Poll the catalog, and count the time that it took, without the time for the results."""
        found = self._ask()
        waited, errors = 0.0, 0
        while True:
            asked = time.monotonic()
            polled = next(found, None)
            waited += time.monotonic() - asked
            if polled is None:
                break
            errors += not isinstance(polled, Polled)
            yield polled
        self.ports.telemetry.catalog_polled(self.catalog.name, waited, errors)

    def _ask(self) -> Iterator[Polled | TableFault | CatalogFault]:
        try:
            yield from self.catalog.poll(self.known, self.should_stop)
        except CatalogUnavailableError as error:
            yield CatalogFault(self.catalog.name, (), str(error), self.ports.clock.now())

    def _take(self, found: Polled | TableFault) -> None:
        """Record a table that is unchanged or cannot be read."""
        if isinstance(found, TableFault):
            self._report(keep_fault(self.ports, found))
            return
        self.result.unchanged += 1
        if (
            found.token != self.known[found.table]
        ):  # the catalog gave a new token for the same state, such as an unstable ETag
            self.ports.store.record_mark(
                found.table, ScanMark(found.token, self.bases.of(found.table))
            )
        self._recall(found.table)

    def _record(self, taken: Taken) -> None:
        mark = ScanMark(self.changed[taken.table], self.bases.of(taken.table))
        with suppress(StoppedError):  # the table still counts as changed
            scanned = measure_and_keep(
                self.ports, taken, mark, TimeLimit(self.options.timeout, self.should_stop)
            )
            del self.changed[taken.table]
            self._report(scanned)

    def _report(self, scanned: Measured | TableFault) -> None:
        _count(self.result, scanned)
        if self.on_table is not None:
            self.on_table(scanned)

    def _recall(self, table: TableIdentifier) -> None:
        record = self.ports.store.table(table) if self.on_table is not None else None
        if (
            self.on_table is not None
            and record is not None
            and record.health is not None
            and record.grade is not None
        ):
            self.on_table(Recalled(record.health, record.grade))

    def _take_listing(self) -> None:
        store = self.ports.store
        if not self.faults:
            self.faults.extend(self._find_emptied())
        store.record_catalog_faults(self.catalog.name, self.faults)
        self.result.faults.extend(self.faults)
        if not self.faults:  # after an incomplete listing no table is forgotten
            report_missing_tables(self.ports, self.catalog.name, self.seen)
            for table in store.forget_tables_except(self.catalog.name, self.seen):
                self.ports.telemetry.table_gone(table)

    def _find_emptied(self) -> Iterator[CatalogFault]:
        """Yield a fault for each namespace whose known tables still exist, but are not listed.

        Of each such namespace one table is loaded, so that no table is forgotten after a listing
        that is empty by mistake. If the catalog answers that the table cannot be loaded, the table
        no longer exists.
        """
        full = {table.namespace for table in self.seen}
        known = (one for one in self.ports.store.table_names() if one.catalog == self.catalog.name)
        missing = {table.namespace: table for table in known if table.namespace not in full}
        for namespace, table in sorted(missing.items()):
            if self.should_stop():
                return
            found = self.catalog.snapshots(table)
            if isinstance(found, TableFault) and found.kind is not FaultKind.CATALOG_UNAVAILABLE:
                continue
            why = found.reason if isinstance(found, TableFault) else "it can be loaded"
            reason = f"no table of {'.'.join(namespace)} is listed, but {table} is not gone: {why}"
            yield CatalogFault(self.catalog.name, namespace, reason, self.ports.clock.now())


def _count(result: ScanResult, scanned: Measured | TableFault) -> None:
    if isinstance(scanned, TableFault):
        if scanned.kind is not FaultKind.VIEW:
            result.faults.append(scanned)
        return
    result.measured += 1
    for manifest in scanned.inventory.manifests:
        if manifest.entries_read > 0:
            result.entries_read += manifest.entries_read
            result.manifests_read += 1
            result.bytes_read += manifest.length_bytes
        else:
            result.manifests_reused += 1
            result.bytes_reused += manifest.length_bytes


def _note_unconfigured(ports: Ports) -> None:
    """Mark the tables of catalogs that are no longer configured as not measured.

    These tables are kept, because the catalog may be configured again.
    """
    for table in ports.store.table_names():
        if table.catalog in ports.catalogs:
            continue
        reason = f"catalog {table.catalog!r} is no longer configured"
        record = ports.store.table(table)
        if record is not None and (
            record.fault is None or record.fault.reason != reason
        ):  # record the fault once, not at each scan
            ports.store.record_fault(
                TableFault(table, FaultKind.CATALOG_UNAVAILABLE, reason, ports.clock.now())
            )


def scan_tables(
    ports: Ports,
    tables: Iterable[TableIdentifier],
    on_table: Callable[[ScannedTable], None],
    options: ScanOptions = DEFAULT_OPTIONS,
) -> ScanResult:
    """Measure the named tables, even if they are unchanged."""
    result, failures = ScanResult(), Failures()
    known = no_digests if options.is_deep else ports.store.digests
    by_catalog: dict[str, list[TableIdentifier]] = {}
    for table in tables:
        by_catalog.setdefault(table.catalog, []).append(table)

    def record(taken: Taken) -> None:
        scanned = measure_and_keep(ports, taken, None, TimeLimit(options.timeout))
        _count(result, scanned)
        on_table(scanned)

    for named in by_catalog.values():
        for taken in ports.catalog_of(named[0]).inventories(
            named, target_by(ports.policies.current), known, keep=keep_digests(ports)
        ):
            failures.guard(partial(record, taken))
    failures.raise_first()
    return result
