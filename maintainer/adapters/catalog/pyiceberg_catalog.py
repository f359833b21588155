"""A catalog read through PyIceberg, metadata files by our own readers."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any, Final, TypeVar

from pyiceberg.catalog import Catalog
from pyiceberg.io import FileIO, load_file_io

from maintainer.adapters.catalog.canary import read_canary
from maintainer.adapters.catalog.faults import explain, kind_of_catalog_error, secrets_of
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
from maintainer.adapters.catalog.tables.foreign_tables import ForeignPlaces
from maintainer.adapters.catalog.tables.loading import open_catalog
from maintainer.adapters.catalog.tables.pointer import (
    NamespaceError,
    count_top_namespaces,
    list_tables,
)
from maintainer.adapters.catalog.tables.request_rate import PollLimits
from maintainer.domain.canary import CanaryReading
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    CatalogFault,
    FaultKind,
    SizeClasses,
    Snapshot,
    TableFault,
    TableInventory,
)
from maintainer.domain.location import Place
from maintainer.domain.orphan import FoundFile, StoredFile
from maintainer.ports.catalog import KeepDigests, KnownDigests, Polled, Taken, TargetOf
from maintainer.ports.clock import Clock

DEFAULT_WORKERS: Final = 4
DEFAULT_POLL_LIMITS: Final = PollLimits()
HUGE_ENTRIES: Final = 60_000  # of new manifests: half a second of one core
_NO_TARGET: Final = SizeClasses(
    target_bytes=0, small_below_bytes=0, large_above_bytes=0
)  # for counting rows alone

T = TypeVar("T")
_Within = TableInventory | TableFault | TooMuch


class PyIcebergCatalog:
    """One configured catalog; constructing it touches nothing, the first question connects."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a catalog is and its bounds
        self,
        name: str,
        properties: Mapping[str, str],
        clock: Clock,
        workers: int = DEFAULT_WORKERS,
        limits: PollLimits = DEFAULT_POLL_LIMITS,
        reader: MetadataReader | None = None,
        timeout: timedelta = DEFAULT_TIMEOUT,
    ) -> None:
        """Take PyIceberg's own properties; `workers` tables are read at once, `limits` say how a
        poll asks table by table; catalogs may share a reader.
        """
        self._name = name
        self._properties = dict(properties)
        self._secrets = secrets_of(self._properties)
        self._clock = clock
        self._workers = workers
        self._poller = Poller(name, limits, clock)
        self._foreign = ForeignPlaces(name, clock)
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._closings = 0
        self._loaded: Catalog | None = None
        self._pool: Executor | None = None
        self._ios: dict[str, FileIO] = {}
        self._under_way: set[Future[Any]] = set()
        self._owns_reader = reader is None
        self._reader = reader or MetadataReader()
        self._inventories = Inventories(
            Source(self._catalog, self._io_for, self._properties), self._reader, clock, timeout
        )

    @property
    def name(self) -> str:
        """The name under which it stands in the configuration."""
        return self._name

    def tables(self) -> Iterator[TableIdentifier | CatalogFault]:
        """Every table of every namespace; a namespace (or the whole catalog) that cannot be listed
        yields its fault.
        """
        try:
            catalog = self._catalog()
        except CatalogUnavailableError as error:
            yield CatalogFault(self._name, (), str(error), self._clock.now())
            return
        for found in list_tables(catalog):
            match found:
                case NamespaceError(namespace, reason):
                    yield CatalogFault(
                        self._name,
                        namespace,
                        self._explain_listing(namespace, reason),
                        self._clock.now(),
                    )
                case (namespace, table):
                    yield TableIdentifier(self._name, namespace, table)

    def foreign_places(
        self, paths: Sequence[str], within: timedelta
    ) -> Iterator[Place | CatalogFault]:
        """Of Hive's and Glue's other tables: one listing, kept for so long."""
        try:
            catalog = self._catalog()
        except CatalogUnavailableError as error:
            yield CatalogFault(self._name, (), str(error), self._clock.now())
            return
        for found in self._foreign.near(catalog, paths, within):
            match found:
                case Place():
                    yield found
                case NamespaceError(namespace, reason):
                    yield CatalogFault(
                        self._name,
                        namespace,
                        self._explain_listing(namespace, reason),
                        self._clock.now(),
                    )

    def poll(
        self,
        known: Mapping[TableIdentifier, str],
        should_stop: Callable[[], bool] = never,
        within: timedelta | None = None,
    ) -> Iterator[Polled | TableFault | CatalogFault]:
        """Every table and whether it changed: one query of a SQL catalog, a conditional request a
        table of a REST catalog, else a load a table.
        """
        yield from iterate_aside(self._poll(known, within), should_stop)

    def _poll(
        self, known: Mapping[TableIdentifier, str], within: timedelta | None
    ) -> Iterator[Polled | TableFault | CatalogFault]:
        try:
            catalog = self._catalog()
        except CatalogUnavailableError as error:
            yield CatalogFault(self._name, (), str(error), self._clock.now())
            return
        for found in self._poller.poll(catalog, known, self._executor(), within):
            match found:
                case Polled():
                    yield found
                case Unanswered(table, reason):
                    yield self._fault(
                        table, kind_of_catalog_error(reason), explain(reason, self._secrets)
                    )
                case NamespaceError(namespace, reason):
                    yield CatalogFault(
                        self._name,
                        namespace,
                        self._explain_listing(namespace, reason),
                        self._clock.now(),
                    )

    def inventory(
        self, table: TableIdentifier, target_of: TargetOf, known: KnownDigests
    ) -> TableInventory | TableFault:
        """The table's metadata now; what is wrong with the table is a fault or an `unreadable`,
        never an exception.
        """
        return wait_for(self._submit(self._inventories.take(table, target_of, known)))

    def inventories(
        self,
        tables: Iterable[TableIdentifier],
        target_of: TargetOf,
        known: KnownDigests,
        should_stop: Callable[[], bool] = never,
        keep: KeepDigests | None = None,
    ) -> Iterator[Taken]:
        """Inventories of several tables, as many at once as there are workers; a huge one is left
        until it keeps no other waiting.
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
        except Exception as error:  # noqa: BLE001 - it is told with the table that brought it out
            outcome = error
        return (
            outcome
            if isinstance(outcome, TooMuch)
            else Taken(table, outcome, (self._clock.now() - started).total_seconds())
        )

    def snapshots(self, table: TableIdentifier) -> tuple[Snapshot, ...] | TableFault:
        """The table's snapshots now, oldest first."""
        opened = wait_for(self._submit(self._inventories.open(table)))
        return opened if isinstance(opened, TableFault) else opened.metadata.snapshots

    def count_rows(self, table: TableIdentifier, snapshot_id: int, limit_bytes: int) -> int | None:
        """Live rows at a snapshot, deletes applied; None when that needs reading more than
        limit_bytes, or cannot be done.
        """
        opened = wait_for(self._submit(self._inventories.open(table)))
        if isinstance(opened, TableFault) or snapshot_id not in opened.metadata.sources:
            return None
        # Our own reader first: PyIceberg's decoder does not check its bounds on a corrupt manifest.
        digests = wait_for(
            self._submit(self._inventories.digest_snapshot(opened, snapshot_id, _NO_TARGET))
        )
        if digests is None or has_equality_deletes(digests):
            return None
        total = count_without_reading(digests)
        if total is not None:
            return total
        try:
            return count_by_reading(
                self._catalog().load_table((*table.namespace, table.name)), snapshot_id, limit_bytes
            )
        except Exception:  # noqa: BLE001 - a count that cannot be had is unknown, whatever the reason
            return None

    def file_bytes(self, table: TableIdentifier, path: str) -> int | None:
        """How long a file of the table is; None when it is not there or cannot be looked at."""
        opened = wait_for(self._submit(self._inventories.open(table)))
        if isinstance(opened, TableFault):
            return None
        try:
            return len(opened.access.io.new_input(path))
        except Exception:  # noqa: BLE001 - whatever the storage's libraries raise: a file that cannot be seen proves nothing
            return None

    def look_at_files(
        self, table: TableIdentifier, paths: Sequence[str]
    ) -> Sequence[StoredFile | None]:
        """What the storage says of each file; as many are asked for at once as there are
        workers.
        """
        opened = wait_for(self._submit(self._inventories.open(table)))
        if isinstance(opened, TableFault):
            return [None] * len(paths)
        with ThreadPoolExecutor(self._workers, thread_name_prefix=f"looks-{self._name}") as pool:
            return list(pool.map(opened.access.look, paths))

    def list_files(
        self, table: TableIdentifier, location: str
    ) -> Iterator[Sequence[FoundFile]] | None:
        """Every file under a location, in portions; None when only Spark can list there."""
        opened = wait_for(self._submit(self._inventories.open(table)))
        return (
            None
            if isinstance(opened, TableFault)
            else opened.access.list_files(location, self._workers)
        )

    def read_canary(
        self, table: TableIdentifier, snapshot_ids: Sequence[int]
    ) -> CanaryReading | None:
        """A bounded look at files that these snapshots added. Our own reader has been there before:
        PyIceberg's does not check its bounds.
        """
        try:
            return read_canary(
                self._catalog().load_table((*table.namespace, table.name)), snapshot_ids
            )
        except Exception:  # noqa: BLE001 - what cannot be looked at proves nothing, whatever the reason
            return None

    def ping(self) -> str:
        """One sentence on what answers there; CatalogUnavailableError when nothing does."""
        catalog = self._catalog()
        try:
            count = count_top_namespaces(catalog)
        except Exception as error:
            # Drivers and HTTP libraries raise what they like; all of it means that the catalog does
            # not answer.
            message = f"catalog {self._name} does not answer: {explain(error, self._secrets)}"
            raise CatalogUnavailableError(message) from error
        kind = "REST" if "Rest" in type(catalog).__name__ else _name_kind(catalog)
        return (
            f"{kind} catalog {self._name} answers, with {count} "
            f"namespace{'' if count == 1 else 's'} at its top."
        )

    def close(self) -> None:
        """Let go of connections and threads; an inventory under way ends in CancelledError, a later
        question connects anew.
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
        # which may take as long as a catalog that does not answer: nobody closes behind this lock
        with self._connecting:
            with self._lock:
                loaded, closings = self._loaded, self._closings
            if loaded is not None:
                return loaded
            loaded = open_catalog(self._name, self._properties)
            with self._lock:
                if self._closings == closings:
                    self._loaded = loaded
                    return loaded
        loaded.close()
        message = f"catalog {self._name} was closed while it was connected to"
        raise CatalogUnavailableError(message)

    def _executor(self) -> Executor:
        with self._lock:
            if self._pool is None:
                self._pool = DaemonThreads(self._workers, f"polls-{self._name}")
            return self._pool

    def _io_for(self, catalog: Catalog, location: str) -> FileIO:
        """One FileIO for each storage, kept: its connections are worth more than the object."""
        scheme, _, rest = location.partition(
            ":"
        )  # HDFS may be written without a server: hdfs:/path
        key = (
            "file"
            if not rest or scheme.startswith("/")
            else f"{scheme}://{rest.removeprefix('//').partition('/')[0]}"
        )
        with self._lock:
            io = self._ios.get(key)
            if io is None:
                io = self._ios[key] = load_file_io(catalog.properties, location)
            return io

    def _explain_listing(self, namespace: tuple[str, ...], error: Exception) -> str:
        where = (
            f"namespace {'.'.join(namespace)} of catalog {self._name}"
            if namespace
            else f"catalog {self._name}"
        )
        return f"{where} cannot be listed: {explain(error, self._secrets)}"

    def _fault(self, table: TableIdentifier, kind: FaultKind, reason: str) -> TableFault:
        return TableFault(table, kind, reason, self._clock.now())


def _name_kind(catalog: Catalog) -> str:
    """As PyIceberg names it, whatever we have made of it."""
    theirs = next(
        (kind for kind in type(catalog).__mro__ if kind.__module__.startswith("pyiceberg.")),
        type(catalog),
    )
    return theirs.__name__.removesuffix("Catalog")
