"""A catalog by PyIceberg, with faster readers of metadata files."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final, TypeVar

from pyiceberg.catalog import Catalog
from pyiceberg.io import FileIO
from pyiceberg.table import Table

from maintainer.adapters.catalog.faults import explain, kind_of_catalog_error, secrets_of
from maintainer.adapters.catalog.files.aliases import load_table
from maintainer.adapters.catalog.files.deferred_io import open_io
from maintainer.adapters.catalog.inventories import DEFAULT_TIMEOUT, Inventories, Source, TooMuch
from maintainer.adapters.catalog.loop import DaemonThreads, iterate_aside, never, wait_for
from maintainer.adapters.catalog.reader import MetadataReader
from maintainer.adapters.catalog.rows import (
    count_by_reading,
    count_without_reading,
    has_equality_deletes,
)
from maintainer.adapters.catalog.side_by_side import Abreast
from maintainer.adapters.catalog.tables.changes import Poller, Unanswered
from maintainer.adapters.catalog.tables.foreign_tables import ForeignLocations
from maintainer.adapters.catalog.tables.loading import name_kind, open_catalog
from maintainer.adapters.catalog.tables.pointer import (
    NamespaceError,
    count_top_namespaces,
    list_tables,
)
from maintainer.adapters.catalog.tables.request_rate import PollLimits
from maintainer.domain.effect import CanaryResult
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    CatalogFault,
    SizeClasses,
    Snapshot,
    TableFault,
    TableInventory,
)
from maintainer.domain.location import Aliases, TableLocation
from maintainer.domain.orphan import FoundFile, StoredFile
from maintainer.ports.catalog import KeepDigests, KnownDigests, Polled, Taken, TargetOf
from maintainer.ports.clock import Clock

DEFAULT_WORKERS: Final = 4
DEFAULT_POLL_LIMITS: Final = PollLimits()
NO_ALIASES: Final = Aliases()
HUGE_ENTRIES: Final = 60_000  # in new manifests; reading them takes half a second of one core
# Rows are counted with these classes.
_NO_TARGET: Final = SizeClasses(target_bytes=0, small_below_bytes=0, large_above_bytes=0)

T = TypeVar("T")
_Within = TableInventory | TableFault | TooMuch


class PyIcebergCatalog:
    """One configured catalog, which connects at the first call."""

    def __init__(  # noqa: PLR0913, PLR0917 - a catalog and its bounds
        self,
        name: str,
        properties: Mapping[str, str],
        clock: Clock,
        workers: int = DEFAULT_WORKERS,
        limits: PollLimits = DEFAULT_POLL_LIMITS,
        reader: MetadataReader | None = None,
        timeout: timedelta = DEFAULT_TIMEOUT,
        aliases: Aliases = NO_ALIASES,
    ) -> None:
        """``properties`` are PyIceberg's.

        `workers` tables are read at the same time. `limits` apply to a poll that asks table by
        table. Catalogs may share a reader.
        """
        self.name = name
        self._properties = dict(properties)
        self._secrets = secrets_of(self._properties)
        self._clock = clock
        self._workers = workers
        self._poller = Poller(name, limits, clock)
        self._aliases = aliases
        self._foreign = ForeignLocations(name, clock, aliases)
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._closings = 0
        self._loaded: Catalog | None = None
        self._pool: Executor | None = None
        self._ios: dict[str, FileIO] = {}
        self._under_way: set[Future[Any]] = set()
        self._owns_reader = reader is None
        self._reader = reader or MetadataReader()
        source = Source(self._catalog, self._io_for, self._properties, aliases)
        self._inventories = Inventories(source, self._reader, clock, timeout)

    def tables(self) -> Iterator[TableIdentifier | CatalogFault]:
        """List every table of every namespace.

        If a namespace or the whole catalog cannot be listed, its fault is yielded.
        """
        try:
            catalog = self._catalog()
        except CatalogUnavailableError as error:
            yield CatalogFault(self.name, (), str(error), self._clock.now())
            return
        for found in list_tables(catalog):
            match found:
                case NamespaceError(namespace, reason):
                    yield self._listing_fault(namespace, reason)
                case (namespace, table):
                    yield TableIdentifier(self.name, namespace, table)

    def foreign_locations(
        self, paths: Sequence[str], within: timedelta
    ) -> Iterator[TableLocation | CatalogFault]:
        """List locations of other tables in Hive and Glue; a listing is used again for `within`."""
        try:
            catalog = self._catalog()
        except CatalogUnavailableError as error:
            yield CatalogFault(self.name, (), str(error), self._clock.now())
            return
        for found in self._foreign.near(catalog, paths, within):
            match found:
                case TableLocation():
                    yield found
                case NamespaceError(namespace, reason):
                    yield self._listing_fault(namespace, reason)

    def poll(
        self,
        known: Mapping[TableIdentifier, str],
        should_stop: Callable[[], bool] = never,
        within: timedelta | None = None,
    ) -> Iterator[Polled | TableFault | CatalogFault]:
        """Yield every table and whether it has changed.

        A SQL catalog needs one query, a REST catalog one conditional request for each table, and
        other catalogs must load each table.
        """
        yield from iterate_aside(self._poll(known, within), should_stop)

    def _poll(
        self, known: Mapping[TableIdentifier, str], within: timedelta | None
    ) -> Iterator[Polled | TableFault | CatalogFault]:
        try:
            catalog = self._catalog()
        except CatalogUnavailableError as error:
            yield CatalogFault(self.name, (), str(error), self._clock.now())
            return
        for found in self._poller.poll(catalog, known, self._executor(), within):
            match found:
                case Polled():
                    location = self._aliases.resolve(found.metadata_location)
                    yield replace(found, metadata_location=location)
                case Unanswered(table, reason):
                    said = explain(reason, self._secrets)
                    kind = kind_of_catalog_error(reason)
                    yield TableFault(table, kind, said, self._clock.now())
                case NamespaceError(namespace, reason):
                    yield self._listing_fault(namespace, reason)

    def inventory(
        self, table: TableIdentifier, target_of: TargetOf, known: KnownDigests
    ) -> TableInventory | TableFault:
        """Take the inventory; errors become a fault or an `unreadable`, not an exception."""
        return wait_for(self._submit(self._inventories.take(table, target_of, known)))

    def inventories(
        self,
        tables: Iterable[TableIdentifier],
        target_of: TargetOf,
        known: KnownDigests,
        should_stop: Callable[[], bool] = never,
        keep: KeepDigests | None = None,
    ) -> Iterator[Taken]:
        """Take inventories of several tables, one for each worker at a time.

        A huge table waits until it delays no other table.
        """

        def start(table: TableIdentifier, may_be_put_off: bool) -> Future[Taken | TooMuch]:
            most_entries = HUGE_ENTRIES if may_be_put_off else None
            return self._submit(
                self._take(
                    table,
                    partial(
                        self._inventories.take_within, most_entries, table, target_of, known, keep
                    ),
                )
            )

        for _, future in Abreast(
            start, lambda found: isinstance(found, TooMuch), self._workers
        ).run(tables, should_stop):
            taken = future.result()
            if isinstance(taken, Taken):
                yield taken

    async def _take(
        self, table: TableIdentifier, take: Callable[[], Awaitable[_Within]]
    ) -> Taken | TooMuch:
        started = self._clock.now()
        try:
            outcome: _Within | Exception = await take()
        except Exception as error:  # noqa: BLE001 - the error is reported with its table
            outcome = error
        return (
            outcome
            if isinstance(outcome, TooMuch)
            else Taken(table, outcome, (self._clock.now() - started).total_seconds())
        )

    def snapshots(self, table: TableIdentifier) -> tuple[Snapshot, ...] | TableFault:
        """Return the table's snapshots, oldest first."""
        opened = wait_for(self._submit(self._inventories.open(table)))
        return opened if isinstance(opened, TableFault) else opened.metadata.snapshots

    def count_rows(self, table: TableIdentifier, snapshot_id: int, limit_bytes: int) -> int | None:
        """Count the live rows of a snapshot, after its deletes.

        None if more than `limit_bytes` would be read, or if counting is impossible.
        """
        opened = wait_for(self._submit(self._inventories.open(table)))
        if isinstance(opened, TableFault) or snapshot_id not in opened.metadata.sources:
            return None
        # The daemon's own reader reads first, because PyIceberg's decoder does not check bounds in
        # a corrupt manifest.
        digests = wait_for(
            self._submit(self._inventories.digest_snapshot(opened, snapshot_id, _NO_TARGET))
        )
        if digests is None or has_equality_deletes(digests):
            return None
        total = count_without_reading(digests)
        if total is not None:
            return total
        try:
            return count_by_reading(self._load(table), snapshot_id, limit_bytes)
        except Exception:  # noqa: BLE001 - after any error the count is unknown
            return None

    def file_bytes(self, table: TableIdentifier, path: str) -> int | None:
        """Return a file's length in bytes; None if it is missing or cannot be inspected."""
        opened = wait_for(self._submit(self._inventories.open(table)))
        if isinstance(opened, TableFault):
            return None
        try:
            return opened.access.length(path)
        # Storage libraries raise many kinds of exceptions, and each means that the length is
        # unknown.
        except Exception:  # noqa: BLE001
            return None

    def stat_files(
        self, table: TableIdentifier, paths: Sequence[str]
    ) -> Sequence[StoredFile | None]:
        """Return the storage's facts about each file; each worker sends one request at a time."""
        opened = wait_for(self._submit(self._inventories.open(table)))
        if isinstance(opened, TableFault):
            return [None] * len(paths)
        with ThreadPoolExecutor(self._workers, thread_name_prefix=f"looks-{self.name}") as pool:
            return list(pool.map(opened.access.look, paths))

    def list_files(
        self, table: TableIdentifier, location: str
    ) -> Iterator[Sequence[FoundFile]] | None:
        """List every file under a location in portions; None if only Spark can list it."""
        opened = wait_for(self._submit(self._inventories.open(table)))
        return (
            None
            if isinstance(opened, TableFault)
            else opened.access.list_files(location, self._workers)
        )

    def read_canary(
        self,
        table: TableIdentifier,
        snapshot_ids: Sequence[int],
        failure: str = "",
        *,
        had_row_ids: bool = True,
    ) -> CanaryResult | None:
        """Read a bounded number of files that these snapshots added.

        The daemon's own reader reads first, because PyIceberg's reader does not check bounds.
        """
        # The import of PyArrow's file readers is slow.
        from maintainer.adapters.catalog.canary import read_canary  # noqa: PLC0415

        try:
            return read_canary(self._load(table), snapshot_ids, failure, had_row_ids=had_row_ids)
        except Exception:  # noqa: BLE001 - after any error the files prove nothing
            return None

    def ping(self) -> str:
        """Describe the catalog in one sentence; CatalogUnavailableError if it does not answer."""
        catalog = self._catalog()
        try:
            count = count_top_namespaces(catalog)
        except Exception as error:
            # Drivers and HTTP libraries raise many kinds of exceptions; all of them mean that the
            # catalog does not answer.
            raise CatalogUnavailableError(
                f"catalog {self.name} does not answer: {explain(error, self._secrets)}"
            ) from error
        kind = name_kind(catalog)
        return (
            f"{kind} catalog {self.name} answers, with {count} "
            f"namespace{'' if count == 1 else 's'} at the top level."
        )

    def close(self) -> None:
        """Close connections and threads; a later call connects again.

        A running inventory ends with CancelledError.
        """
        with self._lock:
            self._closings += 1
            loaded, self._loaded = self._loaded, None
            pool, self._pool = self._pool, None
            under_way = list(self._under_way)
            self._ios.clear()
        for future in under_way:
            future.cancel()
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        if self._owns_reader:
            self._reader.close()
        if loaded is not None:
            loaded.close()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        future = self._reader.loop.submit(work)
        with self._lock:
            self._under_way.add(future)
        future.add_done_callback(self._forget)
        return future

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._under_way.discard(future)

    def _catalog(self) -> Catalog:
        # Connecting may hang, so close() does not take this lock.
        with self._connecting:
            with self._lock:
                loaded, closings = self._loaded, self._closings
            if loaded is not None:
                return loaded
            loaded = open_catalog(self.name, self._properties)
            with self._lock:
                if self._closings == closings:
                    self._loaded = loaded
                    return loaded
        loaded.close()
        raise CatalogUnavailableError(f"catalog {self.name} was closed during its connection")

    def _load(self, table: TableIdentifier) -> Table:
        return load_table(self._catalog(), table, self._io_for, self._aliases)

    def _executor(self) -> Executor:
        with self._lock:
            if self._pool is None:
                self._pool = DaemonThreads(self._workers, f"polls-{self.name}")
            return self._pool

    def _io_for(self, catalog: Catalog, location: str) -> FileIO:
        """Return the FileIO of a storage, which is kept because of its connections."""
        location = self._aliases.resolve(location)
        scheme, _, rest = location.partition(":")  # an HDFS location may have no server: hdfs:/path
        key = (
            "file"
            if not rest or scheme.startswith("/")
            else f"{scheme}://{rest.removeprefix('//').partition('/')[0]}"
        )
        with self._lock:
            io = self._ios.get(key)
            if io is None:
                io = self._ios[key] = open_io(catalog.properties, location)
            return io

    def _listing_fault(self, namespace: tuple[str, ...], error: Exception) -> CatalogFault:
        where = (
            f"namespace {'.'.join(namespace)} of catalog {self.name}"
            if namespace
            else f"catalog {self.name}"
        )
        reason = f"{where} cannot be listed: {explain(error, self._secrets)}"
        return CatalogFault(self.name, namespace, reason, self._clock.now())
