"""Measure: catalog -> inventory -> health -> store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from maintainer.domain.errors import CatalogUnavailableError, InvalidValueError
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault, TableInventory
from maintainer.domain.policy import PolicyLayer, PolicySet
from maintainer.health.measure import measure, target_file_size
from maintainer.policy.assess import grade
from maintainer.policy.decide import target_of_policy
from maintainer.policy.effective import effective
from maintainer.ports.catalog import Catalog
from maintainer.steps.each import each
from maintainer.steps.ports import Ports


@dataclass(frozen=True, slots=True)
class Measured:
    """A table that was measured."""

    inventory: TableInventory
    health: TableHealth
    grade: Grade


ScannedTable = Measured | TableFault


@dataclass(slots=True)
class ScanResult:
    """What one scan of the fleet saw."""

    measured: int = 0
    faults: list[TableFault | CatalogFault] = field(default_factory=list)
    entries_read: int = 0
    manifests_read: int = 0
    manifests_reused: int = 0
    is_complete: bool = True


def scan(ports: Ports, on_table: Callable[[ScannedTable], None] | None = None, should_stop: Callable[[], bool] = lambda: False) -> ScanResult:
    """Measure every table of every catalog; what is wrong with one never stops the others."""
    started = ports.clock.now()
    result = ScanResult()
    try:
        each(ports.catalogs.values(), lambda catalog: _scan_catalog(ports, catalog, result, on_table, should_stop))
        _note_unconfigured(ports)
    finally:
        overview = ports.store.overview()
        ports.telemetry.fleet_measured(overview.data_files, overview.data_bytes)
        seconds = (ports.clock.now() - started).total_seconds()
        ports.telemetry.scan_finished(seconds, result.entries_read, result.measured, len(result.faults))
    return result


@dataclass(slots=True)
class _Listing:
    """What one catalog has listed; it is whole when nothing cut it short."""

    seen: list[TableIdentifier] = field(default_factory=list)
    faults: list[CatalogFault] = field(default_factory=list)
    is_whole: bool = False


def _scan_catalog(ports: Ports, catalog: Catalog, result: ScanResult, on_table: Callable[[ScannedTable], None] | None, should_stop: Callable[[], bool]) -> None:
    listing = _Listing()

    def measure_one(table: TableIdentifier) -> None:
        scanned = scan_table(ports, table)
        _count(result, scanned)
        if on_table is not None:
            on_table(scanned)

    try:
        each(_walk(ports, catalog, listing, should_stop), measure_one)
    finally:
        if listing.is_whole:
            _take_listing(ports, catalog, listing, result)
        else:
            result.is_complete = False


def _walk(ports: Ports, catalog: Catalog, listing: _Listing, should_stop: Callable[[], bool]) -> Iterator[TableIdentifier]:
    for listed in _list_tables(ports, catalog):
        if should_stop():
            return
        if isinstance(listed, CatalogFault):
            listing.faults.append(listed)
        else:
            listing.seen.append(listed)
            yield listed
    listing.is_whole = True


def _take_listing(ports: Ports, catalog: Catalog, listing: _Listing, result: ScanResult) -> None:
    ports.store.record_catalog_faults(catalog.name, listing.faults)
    result.faults.extend(listing.faults)
    if not listing.faults:  # a listing with holes must not make us forget what it did not show
        for table in ports.store.forget_tables_except(catalog.name, listing.seen):
            ports.telemetry.table_gone(table)


def _list_tables(ports: Ports, catalog: Catalog) -> Iterator[TableIdentifier | CatalogFault]:
    try:
        yield from catalog.tables()
    except CatalogUnavailableError as error:
        yield CatalogFault(catalog.name, (), str(error), ports.clock.now())


def _count(result: ScanResult, scanned: ScannedTable) -> None:
    if isinstance(scanned, TableFault):
        if scanned.kind is not FaultKind.VIEW:
            result.faults.append(scanned)
        return
    result.measured += 1
    for manifest in scanned.inventory.manifests:
        result.entries_read += manifest.entries_read
        result.manifests_read += manifest.entries_read > 0
        result.manifests_reused += manifest.entries_read == 0


def _note_unconfigured(ports: Ports) -> None:
    """Tables of a catalog that the configuration has no more are kept, because it may come back, but no longer shown as if they were measured."""
    for table in ports.store.table_names():
        if table.catalog not in ports.catalogs:
            reason = f"catalog {table.catalog!r} is not configured any more"
            ports.store.record_fault(TableFault(table, FaultKind.CATALOG_UNAVAILABLE, reason, ports.clock.now()))


def scan_table(ports: Ports, table: TableIdentifier) -> ScannedTable:
    """Measure one table now and record it."""
    inventory = read_table(ports, table)
    if isinstance(inventory, TableFault):
        ports.store.record_fault(inventory)
        if inventory.kind in {FaultKind.DROPPED, FaultKind.VIEW}:
            ports.telemetry.table_gone(table)
        return inventory
    health = measure(inventory)
    policy = effective(ports.policies.current(), table, inventory.properties)
    graded = grade(health, policy, inventory.read_at)
    try:
        ports.store.record_health(health, graded)
    except InvalidValueError as error:  # a figure or a name that no database holds: this table's trouble, not the fleet's
        fault = TableFault(table, FaultKind.UNSUPPORTED, str(error), inventory.read_at)
        ports.store.record_fault(fault)
        return fault
    ports.store.record_digests(inventory.table_uuid, inventory.size_classes.target_bytes, inventory.manifests)
    ports.telemetry.table_measured(health, graded)
    return Measured(inventory, health, graded)


def read_table(ports: Ports, table: TableIdentifier, candidate: PolicyLayer | None = None) -> TableInventory | TableFault:
    """The table's inventory, small and large measured against the target that its policy or its own property sets."""
    policies = with_candidate(ports.policies.current(), candidate)
    return ports.catalog_of(table).inventory(
        table,
        lambda name, properties: target_of_policy(effective(policies, name, properties)) or target_file_size(properties),
        ports.store.digests,
    )


def with_candidate(policies: PolicySet, candidate: PolicyLayer | None) -> PolicySet:
    """The policies with one more layer that is tried out; it takes the place of a file of the same name."""
    if candidate is None:
        return policies
    return replace(policies, layers=(*(layer for layer in policies.layers if layer.name != candidate.name), candidate))


def scan_tables(ports: Ports, tables: Iterable[TableIdentifier], on_table: Callable[[ScannedTable], None]) -> ScanResult:
    """Measure the named tables only."""
    result = ScanResult()
    for table in tables:
        scanned = scan_table(ports, table)
        _count(result, scanned)
        on_table(scanned)
    return result
