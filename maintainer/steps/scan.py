"""Measure: catalog -> inventory -> health -> store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from heapq import nsmallest
from math import ceil
from zlib import crc32

from maintainer import __version__
from maintainer.domain.errors import CatalogUnavailableError, InvalidValueError
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.instants import is_ahead
from maintainer.domain.inventory import DIGEST_VERSION, CatalogFault, FaultKind, ManifestDigest, TableFault, TableInventory
from maintainer.domain.policy import PolicyLayer, PolicySet
from maintainer.domain.reading import UnreadManifests
from maintainer.health.measure import measure, target_file_size
from maintainer.policy.basis import Bases
from maintainer.policy.candidate import with_candidate
from maintainer.policy.effective import effective
from maintainer.policy.gain import target_of_policy
from maintainer.policy.grade import grade
from maintainer.policy.notices import notice_of_grade
from maintainer.ports.catalog import Catalog, KnownDigests, Polled, Taken, TargetOf
from maintainer.ports.store import ScanMark
from maintainer.steps.digest import defer, is_held, keep_portions
from maintainer.steps.each import Trouble, each
from maintainer.steps.gather import GatheredNotices
from maintainer.steps.ports import Ports

MEASURE_VERSION = 2  # raise it when the same metadata would be measured otherwise than before
PROGRAM = f"{__version__} {MEASURE_VERSION}.{DIGEST_VERSION}"
DEFAULT_REMEASURE = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class Measured:
    """A table that was measured, and how long that took."""

    inventory: TableInventory
    health: TableHealth
    grade: Grade
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Recalled:
    """A table that has not changed: its health is the one that the store has."""

    health: TableHealth
    grade: Grade


ScannedTable = Measured | Recalled | TableFault


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What one scan is to do. Deep: every table, every manifest.

    Unchanged tables are measured anew after `remeasure` at the latest; before that, the longest unmeasured ones of each catalog: of those that were not
    measured for `recheck_after`, at most `rechecks` and at most `recheck_share` of the catalog, rounded up.
    """

    is_deep: bool = False
    remeasure: timedelta = DEFAULT_REMEASURE
    rechecks: int = 0
    most_files: int | None = None  # a table of which more have to be read is left to Spark; None: none is
    recheck_share: float = 1.0
    recheck_after: timedelta = timedelta(0)


DEFAULT_OPTIONS = ScanOptions()


@dataclass(slots=True)
class ScanResult:
    """What one scan of the fleet saw, and what it cost: bytes are those of manifests."""

    measured: int = 0
    unchanged: int = 0
    faults: list[TableFault | CatalogFault] = field(default_factory=list)
    entries_read: int = 0
    manifests_read: int = 0
    manifests_reused: int = 0
    bytes_read: int = 0
    bytes_reused: int = 0
    is_complete: bool = True
    deferred: list[TableIdentifier] = field(default_factory=list)  # left to Spark


def scan(
    ports: Ports,
    on_table: Callable[[ScannedTable], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    options: ScanOptions = DEFAULT_OPTIONS,
) -> ScanResult:
    """Measure every table of every catalog that is not known to be unchanged; what is wrong with one never stops the others."""
    started = ports.clock.now()
    result = ScanResult()
    bases = Bases(ports.policies.current(), PROGRAM)
    try:
        each(ports.catalogs.values(), lambda catalog: _CatalogScan(ports, catalog, result, on_table, should_stop, options, bases).run())
        _note_unconfigured(ports)
    finally:
        overview = ports.store.overview()
        ports.telemetry.fleet_measured(overview.data_files, overview.data_bytes)
        seconds = (ports.clock.now() - started).total_seconds()
        ports.telemetry.scan_finished(seconds, result.entries_read, result.measured, len(result.faults))
    return result


@dataclass(slots=True)
class _CatalogScan:
    """One catalog's turn in a scan; its listing is whole when nothing cut it short."""

    ports: Ports
    catalog: Catalog
    result: ScanResult
    on_table: Callable[[ScannedTable], None] | None
    should_stop: Callable[[], bool]
    options: ScanOptions
    bases: Bases
    known: Mapping[TableIdentifier, str] = field(default_factory=dict)
    wanted: Collection[TableIdentifier] = ()  # to be measured, changed or not
    seen: list[TableIdentifier] = field(default_factory=list)
    faults: list[CatalogFault] = field(default_factory=list)
    changed: dict[TableIdentifier, str] = field(default_factory=dict)  # the tokens of those that are being read
    refused: list[TableIdentifier] = field(default_factory=list)  # too large to be read here, and not to be had from Spark
    trouble: Trouble = field(default_factory=Trouble)
    is_whole: bool = False
    notices: GatheredNotices = field(init=False)

    def __post_init__(self) -> None:
        self.notices = GatheredNotices(self.ports.notifier, self.catalog.name)
        self.ports = replace(self.ports, notifier=self.notices)

    def run(self) -> None:
        """Ask which tables there are and which have changed, and measure those, each as soon as the catalog has read it."""
        try:
            if not self.options.is_deep:
                self._recall_marks()
            self._measure(self._find_changed(), self.options.most_files)
            self._measure(self.refused, None)
            self.trouble.tell()
        finally:
            self.notices.tell_rest(self.ports.clock.now())
            if self.is_whole:
                self._take_listing()
            if not self.is_whole or self.changed:
                self.result.is_complete = False

    def _measure(self, tables: Iterable[TableIdentifier], most_files: int | None) -> None:
        known = _know_nothing if self.options.is_deep else self.ports.store.digests
        target_of, keep = target_by(self.ports.policies.current), keep_portions(self.ports)
        for taken in self.catalog.inventories(tables, target_of, known, self.should_stop, most_files, keep):
            self.trouble.guard(partial(self._record, taken))

    def _recall_marks(self) -> None:
        """A table that is measured anew keeps its token: the catalog is asked about it no more often, and answers as cheaply."""
        marks = self.ports.store.marks(self.catalog.name)
        self.known = {table: mark.token for table, mark in marks.items() if mark.token}
        self.wanted = choose_wanted({table: marks[table] for table in self.known}, self.bases, self.options, self.ports.clock.now())

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
                self.trouble.guard(partial(self._take, found))
        self.is_whole = not self.should_stop()

    def _poll(self) -> Iterator[Polled | TableFault | CatalogFault]:
        try:
            yield from self.catalog.poll(self.known, self.should_stop)
        except CatalogUnavailableError as error:
            yield CatalogFault(self.catalog.name, (), str(error), self.ports.clock.now())

    def _take(self, found: Polled | TableFault) -> None:
        """A table that need not be read, or cannot be."""
        if isinstance(found, TableFault):
            self._tell(_keep_fault(self.ports, found))
            return
        self.result.unchanged += 1
        if found.token != self.known[found.table]:  # another token for the same state: an ETag that did not last
            self.ports.store.record_mark(found.table, ScanMark(found.token, self.bases.of(found.table)))
        self._recall(found.table)

    def _record(self, taken: Taken) -> None:
        if isinstance(taken.outcome, UnreadManifests):
            self._defer(taken.outcome)
            return
        mark = ScanMark(self.changed.pop(taken.table), self.bases.of(taken.table))
        self._tell(_record_taken(self.ports, taken, mark))

    def _defer(self, unread: UnreadManifests) -> None:
        """Its mark stays as it is: the table counts as changed until it is measured."""
        if is_held(self.ports, unread.table) or defer(self.ports, unread) is not None:
            del self.changed[unread.table]
            self.result.deferred.append(unread.table)
        else:
            self.refused.append(unread.table)

    def _tell(self, scanned: Measured | TableFault) -> None:
        _count(self.result, scanned)
        if self.on_table is not None:
            self.on_table(scanned)

    def _recall(self, table: TableIdentifier) -> None:
        record = self.ports.store.table(table) if self.on_table is not None else None
        if self.on_table is not None and record is not None and record.health is not None and record.grade is not None:
            self.on_table(Recalled(record.health, record.grade))

    def _take_listing(self) -> None:
        store = self.ports.store
        store.record_catalog_faults(self.catalog.name, self.faults)
        self.result.faults.extend(self.faults)
        if not self.faults:  # a listing with holes must not make us forget what it did not show
            for table in store.forget_tables_except(self.catalog.name, self.seen):
                self.ports.telemetry.table_gone(table)


def choose_wanted(marks: Mapping[TableIdentifier, ScanMark], bases: Bases, options: ScanOptions, now: datetime) -> set[TableIdentifier]:
    """The tables that are measured even if they have not changed: by other rules than the last time, or so long ago that it is time."""
    due = {table for table, mark in marks.items() if mark.basis != bases.of(table) or is_due(table, mark.measured_at, now, options.remeasure)}
    # An unchanged pointer does not tell that the file it points to was deleted: a few tables are looked at all the same.
    rested = {table: mark.measured_at or now for table, mark in marks.items() if table not in due and now - (mark.measured_at or now) >= options.recheck_after}
    most = min(options.rechecks, ceil(options.recheck_share * len(marks)))
    return due.union(nsmallest(most, rested, key=lambda table: (rested[table], table)))


def is_due(table: TableIdentifier, measured_at: datetime | None, now: datetime, remeasure: timedelta) -> bool:
    """Whether an unchanged table is to be measured anew: in the last quarter of the time, each at a moment of its own."""
    if measured_at is None or is_ahead(measured_at, now):
        return True
    share = crc32(str(table).encode()) / 2**32
    return now - measured_at >= remeasure * (1 - share / 4)


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
    """Tables of a catalog that the configuration has no more are kept, because it may come back, but no longer shown as if they were measured."""
    for table in ports.store.table_names():
        if table.catalog in ports.catalogs:
            continue
        reason = f"catalog {table.catalog!r} is not configured any more"
        record = ports.store.table(table)
        if record is not None and (record.fault is None or record.fault.reason != reason):  # once, not at each scan
            ports.store.record_fault(TableFault(table, FaultKind.CATALOG_UNAVAILABLE, reason, ports.clock.now()))


def scan_table(ports: Ports, table: TableIdentifier, mark: ScanMark | None = None, *, is_deep: bool = False) -> Measured | TableFault:
    """Measure one table now and record it; the mark, kept last, says on what state of the table that rests, so far as the caller knows one."""
    started = ports.clock.now()
    inventory = read_table(ports, table, known=_know_nothing if is_deep else ports.store.digests)
    return _record_taken(ports, Taken(table, inventory, (ports.clock.now() - started).total_seconds()), mark)


def _record_taken(ports: Ports, taken: Taken, mark: ScanMark | None) -> Measured | TableFault:
    inventory = taken.outcome
    if isinstance(inventory, TableFault):
        return _keep_fault(ports, inventory)
    if isinstance(inventory, Exception):
        raise inventory
    if isinstance(inventory, UnreadManifests):
        message = f"{taken.table} was left unread, where nothing bounds what is read"
        raise TypeError(message)
    started = ports.clock.now()
    table = taken.table
    health = measure(inventory)
    policy = effective(ports.policies.current(), table, inventory.properties)
    before = ports.store.grade(table, inventory.table_uuid)
    graded = grade(health, policy, inventory.read_at, before, ports.store.pins(inventory.table_uuid))
    try:
        ports.store.record_health(health, graded)
    except InvalidValueError as error:  # a figure or a name that no database holds: this table's trouble, not the fleet's
        fault = TableFault(table, FaultKind.UNSUPPORTED, str(error), inventory.read_at)
        ports.store.record_fault(fault)
        return fault
    ports.store.record_digests(inventory.table_uuid, inventory.size_classes.target_bytes, inventory.manifests)
    if mark is not None:  # what could not be read may be readable the next time
        ports.store.record_mark(table, replace(mark, token="") if health.unreadable else mark)
    ports.telemetry.table_measured(health, graded)
    notice = notice_of_grade(table, before, graded, inventory.read_at)
    if notice is not None:
        ports.notifier.notify(notice)
    return Measured(inventory, health, graded, taken.seconds + (ports.clock.now() - started).total_seconds())


def _keep_fault(ports: Ports, fault: TableFault) -> TableFault:
    ports.store.record_fault(fault)
    if fault.kind in {FaultKind.DROPPED, FaultKind.VIEW}:
        ports.telemetry.table_gone(fault.table)
    return fault


def _know_nothing(_table_uuid: str, _paths: Iterable[str], _target_bytes: int) -> Mapping[str, ManifestDigest]:
    return {}


def read_table(ports: Ports, table: TableIdentifier, candidate: PolicyLayer | None = None, known: KnownDigests | None = None) -> TableInventory | TableFault:
    """The table's inventory, small and large measured against the target that its policy or its own property sets."""
    return read_under(ports, table, with_candidate(ports.policies.current(), candidate), known)


def read_under(ports: Ports, table: TableIdentifier, policies: PolicySet, known: KnownDigests | None = None) -> TableInventory | TableFault:
    """The same under other policies than those in force."""
    return ports.catalog_of(table).inventory(table, target_by(lambda: policies), known or ports.store.digests)


def target_by(policies: Callable[[], PolicySet]) -> TargetOf:
    """The target file size that a table's policy sets, else its own property."""
    return lambda table, properties: target_of_policy(effective(policies(), table, properties)) or target_file_size(properties)


def find_unread(ports: Ports, table: TableIdentifier) -> UnreadManifests | None:
    """What measuring the table would have to read; None when that is nothing, or the table cannot be measured."""
    found = ports.catalog_of(table).inventories([table], target_by(ports.policies.current), ports.store.digests, most_files=0)
    return next((taken.outcome for taken in found if isinstance(taken.outcome, UnreadManifests)), None)


def scan_tables(
    ports: Ports, tables: Iterable[TableIdentifier], on_table: Callable[[ScannedTable], None], options: ScanOptions = DEFAULT_OPTIONS
) -> ScanResult:
    """Measure the named tables only, changed or not."""
    result, trouble = ScanResult(), Trouble()
    known = _know_nothing if options.is_deep else ports.store.digests
    by_catalog: dict[str, list[TableIdentifier]] = {}
    for table in tables:
        by_catalog.setdefault(table.catalog, []).append(table)

    def record(taken: Taken) -> None:
        scanned = _record_taken(ports, taken, None)
        _count(result, scanned)
        on_table(scanned)

    for named in by_catalog.values():
        for taken in ports.catalog_of(named[0]).inventories(named, target_by(ports.policies.current), known, keep=keep_portions(ports)):
            trouble.guard(partial(record, taken))
    trouble.tell()
    return result
