"""Tests a catalog and its storage on a few tables, in the same way as scans and orphan scans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import closing
from functools import partial
from itertools import chain, islice, zip_longest
from typing import Final

from pyiceberg.catalog import Catalog
from pyiceberg.io import FileIO

from maintainer.adapters.catalog.faults import explain, secrets_of
from maintainer.adapters.catalog.files.access import Access
from maintainer.adapters.catalog.files.deferred_io import open_io
from maintainer.adapters.catalog.inventories import Inventories, Opened, Source
from maintainer.adapters.catalog.limits import UnreadableLocationError, check_location
from maintainer.adapters.catalog.loop import DaemonThreads
from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.adapters.catalog.manifests.metadata import MetadataError
from maintainer.adapters.catalog.manifests.packed_digests import GatheredDigests
from maintainer.adapters.catalog.reader import MetadataReader, count_entries, length_of
from maintainer.adapters.catalog.remedies import advise
from maintainer.adapters.catalog.tables.loading import open_catalog
from maintainer.adapters.catalog.tables.pointer import (
    Namespace,
    NamespaceError,
    Pointer,
    count_top_namespaces,
    list_tables,
    locate,
)
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    DEFAULT_TARGET_FILE_SIZE_BYTES,
    FaultKind,
    SizeClasses,
    TableFault,
    Unreadable,
)
from maintainer.domain.location import Aliases
from maintainer.domain.units import format_count
from maintainer.ports.clock import Clock

MAX_TABLES: Final = 5  # tables that are read, in as many namespaces as possible
MAX_LISTED: Final = 1_000  # listed tables; a listing takes a request for each namespace
MAX_NAMESPACE_ERRORS: Final = 5  # reported errors of namespaces
_UNEXPLAINED: Final = "HTTP status"  # PyArrow's text for an answer without an explanation
_FIRST_STEP: Final = "reach the catalog"
_CLASSES: Final = SizeClasses.around(DEFAULT_TARGET_FILE_SIZE_BYTES)

Result = tuple[bool, str]  # whether it worked, and a sentence


class Trial:
    """A trial of one catalog, which is listed and read; nothing is changed."""

    def __init__(
        self,
        name: str,
        properties: Mapping[str, str],
        aliases: Aliases,
        reader: MetadataReader,
        clock: Clock,
    ) -> None:
        """``properties`` are PyIceberg's; ``reader`` is made like that of the daemon."""
        self._name = name
        self._properties = {key: str(value) for key, value in properties.items()}
        self._aliases = aliases
        self._reader = reader
        self._clock = clock
        self._under_way = {"": _FIRST_STEP}  # the current step by table, "" for the catalog itself
        self.locations: list[str] = []  # of the metadata files of the found tables

    def step(self) -> str:
        """Return the current step, such as "reach the catalog"; "" between two steps."""
        return "; ".join(sorted(filter(None, list(self._under_way.values()))))

    def run(self) -> Iterator[Result]:
        """Yield each failure with its remedy, and what works.

        If a table cannot be read, the other tables are still tried.
        """
        self._begin(_FIRST_STEP)
        try:
            with closing(open_catalog(self._name, self._properties)) as catalog:
                yield from self._try(catalog)
        except CatalogUnavailableError as error:
            reason = str(error)
            yield False, f"{reason}. To fix: {advise(reason, self._properties)}"
        finally:
            self._begin("")

    def _try(self, catalog: Catalog) -> Iterator[Result]:
        try:
            tops = count_top_namespaces(catalog)
        # Libraries of catalogs raise many kinds of exceptions.
        except Exception as error:  # noqa: BLE001
            yield self._fail(_FIRST_STEP, error)
            return
        self._begin("list its namespaces and tables")
        faults: list[NamespaceError] = []
        tables: list[TableIdentifier] = []
        for found in islice(list_tables(catalog), MAX_LISTED + 1):
            if isinstance(found, NamespaceError):
                faults.append(found)
            else:
                tables.append(TableIdentifier(self._name, *found))
        for fault in faults[:MAX_NAMESPACE_ERRORS]:
            where = f"namespace {'.'.join(fault.namespace)}" if fault.namespace else "its tables"
            yield self._fail(f"list {where}", fault.error)
        if not tables:
            if not faults:
                spaces = format_count(tops, "namespace")
                yield True, f"it answers and has {spaces} and no table, so no file was read"
            return
        yield from self._try_tables(catalog, tables)

    def _try_tables(self, catalog: Catalog, tables: Sequence[TableIdentifier]) -> Iterator[Result]:
        count = f"more than {MAX_LISTED:,} tables"
        if len(tables) <= MAX_LISTED:
            count = format_count(len(tables), "table")
        spaces = format_count(len({table.namespace for table in tables}), "namespace")
        source = Source(lambda: catalog, self._io_for, self._properties, self._aliases)
        inventories = Inventories(source, self._reader, self._clock)
        chosen = choose(tables)
        self._begin("")
        pool = DaemonThreads(MAX_TABLES, f"tries-{self._name}")
        try:
            futures = [
                pool.submit(partial(self._try_table, catalog, inventories, table))
                for table in chosen
            ]
            read = listed = 0
            for future in as_completed(futures):
                failure, is_read, is_listed = future.result()
                read += is_read
                listed += is_listed
                if failure is not None:
                    yield failure
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        by_spark = "" if listed == read else f"; Spark alone can list {read - listed} of them"
        if read:
            sentence = (
                f"it answers and has {count} in {spaces}; {read} of {len(chosen)} tried were read: "
                f"metadata file, manifest list, a manifest, list of files{by_spark}"
            )
            yield True, sentence

    def _try_table(
        self, catalog: Catalog, inventories: Inventories, table: TableIdentifier
    ) -> tuple[Result | None, bool, bool]:
        """Return a failure, whether the table was read, and whether its files can be listed."""
        name = f"{'.'.join(table.namespace)}.{table.name}"
        try:
            return self._read_table(catalog, inventories, table, name)
        # As above, also for libraries of storages.
        except Exception as error:  # noqa: BLE001
            return self._fail(self._under_way[name], error), False, False
        finally:
            self._under_way.pop(name, None)

    def _read_table(
        self, catalog: Catalog, inventories: Inventories, table: TableIdentifier, name: str
    ) -> tuple[Result | None, bool, bool]:
        self._under_way[name] = f"load table {name}"
        try:
            pointer = locate(catalog, table, self._io_for)
        except MetadataError as error:
            if error.kind in {FaultKind.DROPPED, FaultKind.VIEW}:
                return None, False, False
            return self._refuse(f"load table {name}", error.reason, error.kind), False, False
        self.locations.append(pointer.location)
        self._under_way[name] = f"read the metadata file of {name}"
        resolved = self._aliases.resolve(pointer.location)
        try:
            check_location(resolved, self._reader.storages.locations)
        except UnreadableLocationError as error:
            # The reason of a fault is cut at a maximum length, which a long path can exceed.
            remedy = advise(str(error), self._properties, None, resolved)
            sentence = f"cannot {self._under_way[name]}: {explain(error)}. To fix: {remedy}"
            return (False, sentence), False, False
        opened = self._reader.loop.run(inventories.open(table))
        if isinstance(opened, TableFault):
            reason = self._explain_fault(opened, pointer)
            step = self._under_way[name]
            return self._refuse(step, reason, opened.kind, pointer.location), False, False
        broken = self._read_manifests(inventories, opened, name)
        if broken is not None:
            sentence = f"{broken.path}: {broken.reason}"
            return self._refuse(self._under_way[name], sentence, None, broken.path), False, False
        self._under_way[name] = f"list the files of {name} in {opened.metadata.location}"
        try:
            files = opened.access.count_first(opened.metadata.location)
        except Exception as error:  # noqa: BLE001 - as above
            reason = explain(error, opened.access.secrets())
            location = opened.metadata.location
            return self._refuse(self._under_way[name], reason, None, location), False, False
        return None, True, files is not None

    def _explain_fault(self, fault: TableFault, pointer: Pointer) -> str:
        """Explain a missing file, or an error of the storage, by a listing.

        The library that reads the file asks the storage for its length, and the storage answers
        such a request without an explanation.
        """
        is_missing = fault.kind is FaultKind.METADATA_MISSING
        if not is_missing and _UNEXPLAINED not in fault.reason:
            return fault.reason
        access = Access(pointer.io, self._reader.storages, self._clock, None, self._aliases)
        try:
            access.count_first(pointer.location.rpartition("/")[0])
        except Exception as error:  # noqa: BLE001 - as above
            return f"{pointer.location}: {explain(error, access.secrets())}"
        return f"{pointer.location}: the file does not exist" if is_missing else fault.reason

    def _read_manifests(
        self, inventories: Inventories, opened: Opened, name: str
    ) -> Unreadable | None:
        """Return the manifest list or the manifest that cannot be read, if any."""
        self._under_way[name] = f"read the manifest list of {name}"
        run, current = self._reader.loop.run, opened.metadata.current_snapshot_id
        listed, unreadable = run(inventories.list_manifests(opened, current))
        if not unreadable:
            self._under_way[name] = f"read a manifest of {name}"
            unreadable = run(self._digest_smallest(opened, listed))
        return next(iter(unreadable), None)

    async def _digest_smallest(
        self, opened: Opened, listed: Sequence[ListedManifest]
    ) -> Sequence[Unreadable]:
        smallest = sorted(listed, key=length_of)[:1]
        gathered = GatheredDigests(sum(map(count_entries, smallest)))
        return await self._reader.digest(
            opened.access, smallest, opened.metadata.specs, _CLASSES, gathered
        )

    def _io_for(self, catalog: Catalog, location: str) -> FileIO:
        return open_io(catalog.properties, self._aliases.resolve(location))

    def _begin(self, step: str) -> None:
        self._under_way[""] = step

    def _fail(self, step: str, error: Exception) -> Result:
        return self._refuse(step, explain(error, secrets_of(self._properties)))

    def _refuse(
        self, step: str, reason: str, kind: FaultKind | None = None, location: str = ""
    ) -> Result:
        remedy = advise(reason, self._properties, kind, location)
        return False, f"cannot {step}: {reason.rstrip('.')}. To fix: {remedy}"


def choose(tables: Sequence[TableIdentifier]) -> list[TableIdentifier]:
    """Choose MAX_TABLES tables in as many namespaces as possible."""
    by_namespace: dict[Namespace, list[TableIdentifier]] = defaultdict(list)
    for table in tables:
        by_namespace[table.namespace].append(table)
    turns = chain.from_iterable(zip_longest(*by_namespace.values()))
    return list(islice((table for table in turns if table is not None), MAX_TABLES))
