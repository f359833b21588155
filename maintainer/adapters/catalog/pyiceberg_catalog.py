"""A catalog read through PyIceberg, metadata files by our own readers."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from pyiceberg.catalog import Catalog
from pyiceberg.io import FileIO, load_file_io

from maintainer.adapters.catalog.changes import Poller, Unanswered
from maintainer.adapters.catalog.container import UnreadableFileError
from maintainer.adapters.catalog.fast import digest_manifest, read_manifest_list
from maintainer.adapters.catalog.faults import explain, kind_of_catalog_error, kind_of_storage_error, secrets_of
from maintainer.adapters.catalog.loading import open_catalog
from maintainer.adapters.catalog.manifest import ListedManifest, describe_manifest
from maintainer.adapters.catalog.metadata import MetadataError, TableMetadata, parse_metadata
from maintainer.adapters.catalog.pace import PollLimits
from maintainer.adapters.catalog.partition import Spec
from maintainer.adapters.catalog.pointer import NamespaceError, Pointer, count_top_namespaces, list_tables, locate
from maintainer.adapters.catalog.rows import count_by_reading, count_without_reading, has_equality_deletes
from maintainer.adapters.catalog.turns import map_in_turns
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, ManifestDigest, SizeClasses, Snapshot, TableFault, TableInventory, Unreadable
from maintainer.ports.catalog import KnownDigests, Polled, TargetOf
from maintainer.ports.clock import Clock

DEFAULT_WORKERS: Final = 4
DEFAULT_POLL_LIMITS: Final = PollLimits()
READ_ATTEMPTS: Final = 3  # a table that commits and expires while we read is read again, so often
_NO_TARGET: Final = SizeClasses(target_bytes=0, small_below_bytes=0, large_above_bytes=0)  # for counting rows alone


@dataclass(frozen=True, slots=True)
class _Opened:
    """A table's current metadata and where it was found."""

    pointer: Pointer
    metadata: TableMetadata
    metadata_bytes: int


class PyIcebergCatalog:
    """One configured catalog; constructing it touches nothing, the first question connects."""

    def __init__(
        self, name: str, properties: Mapping[str, str], clock: Clock, workers: int = DEFAULT_WORKERS, limits: PollLimits = DEFAULT_POLL_LIMITS
    ) -> None:
        """Take PyIceberg's own properties; `workers` bounds how many manifests are read at once, `limits` how a poll asks table by table."""
        self._name = name
        self._properties = dict(properties)
        self._secrets = secrets_of(self._properties)
        self._clock = clock
        self._workers = workers
        self._poller = Poller(name, limits, clock)
        self._lock = threading.Lock()
        self._loaded: Catalog | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._ios: dict[str, FileIO] = {}

    @property
    def name(self) -> str:
        """The name under which it stands in the configuration."""
        return self._name

    def tables(self) -> Iterator[TableIdentifier | CatalogFault]:
        """Every table of every namespace; a namespace (or the whole catalog) that cannot be listed yields its fault."""
        try:
            catalog = self._catalog()
        except CatalogUnavailableError as error:
            yield CatalogFault(self._name, (), str(error), self._clock.now())
            return
        for found in list_tables(catalog):
            match found:
                case NamespaceError(namespace, reason):
                    yield CatalogFault(self._name, namespace, self._explain_listing(namespace, reason), self._clock.now())
                case (namespace, table):
                    yield TableIdentifier(self._name, namespace, table)

    def poll(self, known: Mapping[TableIdentifier, str]) -> Iterator[Polled | TableFault | CatalogFault]:
        """Every table and whether it changed: one query of a SQL catalog, a conditional request a table of a REST catalog, else a load a table."""
        try:
            catalog = self._catalog()
        except CatalogUnavailableError as error:
            yield CatalogFault(self._name, (), str(error), self._clock.now())
            return
        for found in self._poller.poll(catalog, known, self._executor()):
            match found:
                case Polled():
                    yield found
                case Unanswered(table, reason):
                    yield self._fault(table, kind_of_catalog_error(reason), explain(reason, self._secrets))
                case NamespaceError(namespace, reason):
                    yield CatalogFault(self._name, namespace, self._explain_listing(namespace, reason), self._clock.now())

    def inventory(self, table: TableIdentifier, target_of: TargetOf, known: KnownDigests) -> TableInventory | TableFault:
        """The table's metadata now; what is wrong with the table is a fault or an `unreadable`, never an exception."""
        opened = self._open(table)
        for attempt in range(READ_ATTEMPTS):
            if isinstance(opened, TableFault):
                return opened
            inventory = self._take_inventory(table, opened, target_of, known)
            if not inventory.unreadable or attempt == READ_ATTEMPTS - 1:
                return inventory
            # Files may be gone only because the table moved on and expired them meanwhile.
            reopened = self._open(table)
            if isinstance(reopened, _Opened) and reopened.pointer.location == opened.pointer.location:
                return inventory
            opened = reopened
        message = f"{table} was read {READ_ATTEMPTS} times without an outcome"
        raise AssertionError(message)

    def snapshots(self, table: TableIdentifier) -> tuple[Snapshot, ...] | TableFault:
        """The table's snapshots now, oldest first."""
        opened = self._open(table)
        return opened if isinstance(opened, TableFault) else opened.metadata.snapshots

    def count_rows(self, table: TableIdentifier, snapshot_id: int, limit_bytes: int) -> int | None:
        """Live rows at a snapshot, deletes applied; None when that needs reading more than limit_bytes, or cannot be done."""
        opened = self._open(table)
        if isinstance(opened, TableFault) or snapshot_id not in opened.metadata.sources:
            return None
        # Our own reader first: PyIceberg's decoder does not check its bounds on a corrupt manifest.
        listed, unreadable = self._list_manifests(opened, snapshot_id)
        digests, broken = self._read_manifests(opened, listed, _NO_TARGET)
        if unreadable or broken or has_equality_deletes(digests):
            return None
        total = count_without_reading(digests)
        if total is not None:
            return total
        try:
            return count_by_reading(self._catalog().load_table((*table.namespace, table.name)), snapshot_id, limit_bytes)
        except Exception:  # noqa: BLE001 - a count that cannot be had is unknown, whatever the reason
            return None

    def ping(self) -> str:
        """One sentence on what answers there; CatalogUnavailableError when nothing does."""
        catalog = self._catalog()
        try:
            count = count_top_namespaces(catalog)
        except Exception as error:
            # Drivers and HTTP libraries raise what they like; all of it means that the catalog does not answer.
            message = f"catalog {self._name} does not answer: {explain(error, self._secrets)}"
            raise CatalogUnavailableError(message) from error
        kind = "REST" if "Rest" in type(catalog).__name__ else type(catalog).__name__.removesuffix("Catalog")
        return f"{kind} catalog {self._name} answers, with {count} namespace{'' if count == 1 else 's'} at its top."

    def close(self) -> None:
        """Let go of connections and threads; an inventory under way ends in CancelledError, a later question connects anew."""
        with self._lock:
            loaded, self._loaded = self._loaded, None
            pool, self._pool = self._pool, None
            self._ios.clear()
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)
        if loaded is not None:
            loaded.close()

    def _catalog(self) -> Catalog:
        with self._lock:
            if self._loaded is None:
                self._loaded = open_catalog(self._name, self._properties)
            return self._loaded

    def _executor(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(max_workers=self._workers, thread_name_prefix=f"manifests-{self._name}")
            return self._pool

    def _open(self, table: TableIdentifier) -> _Opened | TableFault:
        """Read the catalog's pointer anew and the metadata it points to; a pointer that moved on meanwhile is followed."""
        location, outcome = self._open_once(table)
        for _ in range(READ_ATTEMPTS - 1):
            if not isinstance(outcome, TableFault) or outcome.kind is not FaultKind.METADATA_MISSING:
                break
            previous = location
            location, outcome = self._open_once(table)
            if location == previous:
                break
        return outcome

    def _open_once(self, table: TableIdentifier) -> tuple[str, _Opened | TableFault]:
        """The metadata's location ("" when the catalog names none) and what was found there."""
        try:
            pointer = locate(self._catalog(), table, self._io_for)
        except MetadataError as error:
            return "", self._fault(table, error.kind, error.reason)
        except CatalogUnavailableError as error:
            return "", self._fault(table, FaultKind.CATALOG_UNAVAILABLE, str(error))
        except Exception as error:  # noqa: BLE001 - every library's exceptions become a fault of the table
            return "", self._fault(table, kind_of_catalog_error(error), explain(error, self._secrets))
        try:
            raw = _read_file(pointer.io, pointer.location)
            return pointer.location, _Opened(pointer, parse_metadata(raw), len(raw))
        except MetadataError as error:
            return pointer.location, self._fault(table, error.kind, f"{pointer.location}: {error.reason}")
        except Exception as error:  # noqa: BLE001 - as above, from the storage's libraries
            return pointer.location, self._fault(table, kind_of_storage_error(error), f"{pointer.location}: {explain(error, self._secrets)}")

    def _io_for(self, catalog: Catalog, location: str) -> FileIO:
        """One FileIO for each storage, kept: its connections are worth more than the object."""
        scheme, _, rest = location.partition("://")
        key = f"{scheme}://{rest.partition('/')[0]}" if rest else "file"
        with self._lock:
            io = self._ios.get(key)
            if io is None:
                io = self._ios[key] = load_file_io(catalog.properties, location)
            return io

    def _take_inventory(self, table: TableIdentifier, opened: _Opened, target_of: TargetOf, known: KnownDigests) -> TableInventory:
        metadata = opened.metadata
        classes = SizeClasses.around(target_of(table, metadata.properties))
        listed, unreadable = self._list_manifests(opened, metadata.current_snapshot_id)
        recalled = known(metadata.table_uuid, [manifest.path for manifest in listed], classes.target_bytes) if listed else {}
        recalled = {manifest.path: recalled[manifest.path] for manifest in listed if _is_same(recalled.get(manifest.path), manifest)}
        read, broken = self._read_manifests(opened, [manifest for manifest in listed if manifest.path not in recalled], classes)
        fresh = {digest.path: digest for digest in read}
        digests = {**fresh, **{path: replace(digest, entries_read=0) for path, digest in recalled.items()}}
        return TableInventory(
            table=table,
            table_uuid=metadata.table_uuid,
            format_version=metadata.format_version,
            location=metadata.location,
            metadata_location=opened.pointer.location,
            metadata_bytes=opened.metadata_bytes,
            properties=metadata.properties,
            size_classes=classes,
            current_snapshot_id=metadata.current_snapshot_id,
            default_spec_id=metadata.default_spec_id,
            default_spec_is_partitioned=metadata.is_partitioned,
            snapshots=metadata.snapshots,
            refs=metadata.refs,
            manifests=tuple(digests[manifest.path] for manifest in listed if manifest.path in digests),
            read_at=self._clock.now(),
            unreadable=(*unreadable, *broken),
            metadata_files=metadata.metadata_files,
            listed_files=_add_up([manifest.live_entries for manifest in listed]),
        )

    def _list_manifests(self, opened: _Opened, snapshot_id: int | None) -> tuple[Sequence[ListedManifest], Sequence[Unreadable]]:
        if snapshot_id is None:
            return (), ()
        source = opened.metadata.sources[snapshot_id]
        if source.list_path is not None:
            try:
                return read_manifest_list(_read_file(opened.pointer.io, source.list_path)), ()
            except Exception as error:  # noqa: BLE001 - whatever stands in the way, the list is a fact that we lack
                return (), (Unreadable(source.list_path, f"manifest list: {self._explain_reading(error)}"),)
        listed, unreadable = [], []
        for path in source.paths:
            try:
                listed.append(describe_manifest(path, _read_file(opened.pointer.io, path)))
            except Exception as error:  # noqa: BLE001 - as above
                unreadable.append(Unreadable(path, f"manifest: {self._explain_reading(error)}"))
        return listed, unreadable

    def _read_manifests(self, opened: _Opened, listed: Sequence[ListedManifest], classes: SizeClasses) -> tuple[list[ManifestDigest], list[Unreadable]]:
        """Digest manifests, several at once; each one's bytes are dropped as soon as it is digested."""

        def read(manifest: ListedManifest) -> ManifestDigest | Unreadable:
            return self._digest(opened.pointer.io, manifest, opened.metadata.specs, classes)

        outcomes = list(map(read, listed)) if len(listed) <= 1 else map_in_turns(self._executor(), read, listed, self._workers)
        return [found for found in outcomes if isinstance(found, ManifestDigest)], [found for found in outcomes if isinstance(found, Unreadable)]

    def _digest(self, io: FileIO, manifest: ListedManifest, specs: Mapping[int, Spec], classes: SizeClasses) -> ManifestDigest | Unreadable:
        if manifest.is_encrypted:
            return Unreadable(manifest.path, "manifest: it is encrypted")
        try:
            return digest_manifest(_read_file(io, manifest.path), manifest, specs, classes)
        except Exception as error:  # noqa: BLE001 - one manifest that cannot be read must not hide the others
            return Unreadable(manifest.path, f"manifest: {self._explain_reading(error)}")

    def _explain_reading(self, error: Exception) -> str:
        if isinstance(error, UnreadableFileError):
            return explain(error)
        if kind_of_storage_error(error) is FaultKind.METADATA_MISSING:
            return "the file does not exist"
        return explain(error, self._secrets)

    def _explain_listing(self, namespace: tuple[str, ...], error: Exception) -> str:
        where = f"namespace {'.'.join(namespace)} of catalog {self._name}" if namespace else f"catalog {self._name}"
        return f"{where} cannot be listed: {explain(error, self._secrets)}"

    def _fault(self, table: TableIdentifier, kind: FaultKind, reason: str) -> TableFault:
        return TableFault(table, kind, reason, self._clock.now())


def _read_file(io: FileIO, location: str) -> bytes:
    with io.new_input(location).open() as stream:
        return stream.read()


def _add_up(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _is_same(digest: ManifestDigest | None, listed: ListedManifest) -> bool:
    """Paths can be reused by careless writers; length and spec betray it."""
    return digest is not None and digest.spec_id == listed.spec_id and listed.length_bytes in {None, digest.length_bytes}
