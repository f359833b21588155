"""Takes the inventory of one table, from the catalog's pointer to the digests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from pyiceberg.catalog import Catalog
from pyiceberg.io import FileIO

from maintainer.adapters.catalog.faults import (
    explain,
    kind_of_catalog_error,
    kind_of_storage_error,
    secrets_of,
)
from maintainer.adapters.catalog.files.access import Access
from maintainer.adapters.catalog.files.aliases import every_path
from maintainer.adapters.catalog.limits import (
    LASTING,
    MAX_PARTITIONS,
    UnreadableFileError,
    UnreadableLocationError,
)
from maintainer.adapters.catalog.loop import in_thread
from maintainer.adapters.catalog.manifests.manifest import ListedManifest, describe_manifest
from maintainer.adapters.catalog.manifests.metadata import (
    MetadataError,
    TableMetadata,
)
from maintainer.adapters.catalog.manifests.packed_digests import GatheredDigests
from maintainer.adapters.catalog.reader import (
    UNKNOWN_LENGTH_BYTES,
    MetadataReader,
    count_entries,
    explain_reading,
)
from maintainer.adapters.catalog.tables.loading import is_rest
from maintainer.adapters.catalog.tables.pointer import Pointer, locate
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    FaultKind,
    ManifestDigest,
    SizeClasses,
    TableFault,
    TableInventory,
    Unreadable,
)
from maintainer.domain.location import Aliases
from maintainer.domain.units import format_duration
from maintainer.ports.catalog import KeepDigests, KnownDigests, TargetOf
from maintainer.ports.clock import Clock

DEFAULT_TIMEOUT: Final = timedelta(minutes=10)
SLOWEST_ENTRIES_A_SECOND: Final = 5_000  # of manifests; one core reads 30 times as many
_REFUSED: Final = (*LASTING, UnreadableLocationError)
READ_ATTEMPTS: Final = 3  # attempts for a table that expires files during the read


@dataclass(frozen=True, slots=True)
class Opened:
    """A table's current metadata, its location and the access to its files."""

    location: str
    access: Access
    metadata: TableMetadata
    metadata_bytes: int


@dataclass(frozen=True, slots=True)
class TooMuch:
    """A table needs more reading than the caller allows."""

    entries: int


@dataclass(frozen=True, slots=True)
class Source:
    """The parts of a catalog that an inventory needs."""

    connect: Callable[[], Catalog]
    io_for: Callable[[Catalog, str], FileIO]
    properties: Mapping[str, str]
    aliases: Aliases


class Inventories:
    """Takes inventories on the reader's event loop."""

    def __init__(
        self,
        source: Source,
        reader: MetadataReader,
        clock: Clock,
        timeout: timedelta = DEFAULT_TIMEOUT,
    ) -> None:
        """`timeout` is the limit for a table without its manifests."""
        self._timeout = timeout
        self._source = source
        self._reader = reader
        self._clock = clock
        self._secrets = secrets_of(source.properties)

    async def take(
        self, table: TableIdentifier, target_of: TargetOf, known: KnownDigests
    ) -> TableInventory | TableFault:
        """Take the table's inventory without a limit of entries."""
        outcome = await self.take_within(None, table, target_of, known)
        if isinstance(outcome, TooMuch):
            raise TypeError(f"reading {table} ended with {outcome}, although it has no limit")
        return outcome

    async def take_within(
        self,
        most_entries: int | None,
        table: TableIdentifier,
        target_of: TargetOf,
        known: KnownDigests,
        keep: KeepDigests | None = None,
    ) -> TableInventory | TableFault | TooMuch:
        """Take the inventory, unless it needs more than `most_entries` new manifest entries.

        None is no limit.
        """
        deadline = asyncio.timeout(self._timeout.total_seconds())
        try:
            async with deadline:
                return await self._take_within(
                    deadline, most_entries, table, target_of, known, keep
                )
        except TimeoutError:
            if not deadline.expired():
                raise
            return self._give_up(table)

    async def _take_within(  # noqa: PLR0913, PLR0917 - all arguments of the caller, and the time
        self,
        deadline: asyncio.Timeout,
        most_entries: int | None,
        table: TableIdentifier,
        target_of: TargetOf,
        known: KnownDigests,
        keep: KeepDigests | None,
    ) -> TableInventory | TableFault | TooMuch:
        opened = await self._open(table)
        for attempt in range(READ_ATTEMPTS):
            if isinstance(opened, TableFault):
                return opened
            inventory = await self._take(
                table, opened, target_of, known, keep, most_entries, deadline
            )
            if (
                isinstance(inventory, TableFault | TooMuch)
                or not inventory.unreadable
                or attempt == READ_ATTEMPTS - 1
            ):
                return inventory
            # Files may be missing only because the table expired them during the read.
            reopened = await self._open(table)
            if isinstance(reopened, Opened) and reopened.location == opened.location:
                return inventory
            opened = reopened
        raise AssertionError(f"{table} was read {READ_ATTEMPTS} times without an outcome")

    async def open(self, table: TableIdentifier) -> Opened | TableFault:
        """Read the pointer and its metadata; read again if the pointer changes meanwhile."""
        deadline = asyncio.timeout(self._timeout.total_seconds())
        try:
            async with deadline:
                return await self._open(table)
        except TimeoutError:
            if not deadline.expired():
                raise
            return self._give_up(table)

    async def _open(self, table: TableIdentifier) -> Opened | TableFault:
        location, outcome = await self._open_once(table)
        for _ in range(READ_ATTEMPTS - 1):
            if (
                not isinstance(outcome, TableFault)
                or outcome.kind is not FaultKind.METADATA_MISSING
            ):
                break
            previous = location
            location, outcome = await self._open_once(table)
            if location == previous:
                break
        return outcome

    async def _open_once(self, table: TableIdentifier) -> tuple[str, Opened | TableFault]:
        """Return the metadata's location ("" if the catalog names none) and its contents."""
        try:
            pointer, can_renew = await in_thread(self._locate, table)
        except MetadataError as error:
            return "", self._fault(table, error.kind, error.reason)
        except CatalogUnavailableError as error:
            return "", self._fault(table, FaultKind.CATALOG_UNAVAILABLE, str(error))
        # Any exception of a library becomes a fault of the table.
        except Exception as error:  # noqa: BLE001
            return "", self._fault(
                table, kind_of_catalog_error(error), explain(error, self._secrets)
            )
        access = self._access(table, pointer, can_renew=can_renew)
        try:
            metadata, length = await self._reader.read_metadata(access, pointer.location)
            return pointer.location, Opened(pointer.location, access, metadata, length)
        except MetadataError as error:
            return pointer.location, self._fault(
                table, error.kind, f"{pointer.location}: {error.reason}"
            )
        except UnreadableFileError as error:
            kind = (
                FaultKind.UNSUPPORTED if isinstance(error, _REFUSED) else FaultKind.METADATA_CORRUPT
            )
            return pointer.location, self._fault(table, kind, explain(error, access.secrets()))
        except Exception as error:  # noqa: BLE001 - as above, for libraries of storages
            secrets = (*access.secrets(), *self._secrets)
            return pointer.location, self._fault(
                table,
                kind_of_storage_error(error),
                f"{pointer.location}: {explain(error, secrets)}",
            )

    def _locate(self, table: TableIdentifier) -> tuple[Pointer, bool]:
        """Locate the table; the bool is True if a new request gives new credentials (REST only)."""
        catalog = self._source.connect()
        return locate(catalog, table, self._source.io_for), is_rest(catalog)

    def _access(self, table: TableIdentifier, pointer: Pointer, *, can_renew: bool) -> Access:
        async def renew() -> FileIO:
            return (await in_thread(self._locate, table))[0].io

        storages, renewal = self._reader.storages, renew if can_renew else None
        return Access(pointer.io, storages, self._clock, renewal, self._source.aliases)

    async def _take(  # noqa: PLR0913, PLR0917 - all arguments of the caller, and the opened table
        self,
        table: TableIdentifier,
        opened: Opened,
        target_of: TargetOf,
        known: KnownDigests,
        keep: KeepDigests | None,
        most_entries: int | None,
        deadline: asyncio.Timeout,
    ) -> TableInventory | TableFault | TooMuch:
        metadata = opened.metadata
        listed, unreadable = await self.list_manifests(opened, metadata.current_snapshot_id)
        gathered = GatheredDigests(sum(map(count_entries, listed)))
        classes = await in_thread(_recall, table, metadata, listed, target_of, known, gathered)
        missing = [manifest for manifest in listed if manifest.path not in gathered]
        entries = sum(map(count_entries, missing))
        if most_entries is not None and entries > most_entries:
            return TooMuch(entries)
        deadline.reschedule(
            asyncio.get_running_loop().time()
            + self._timeout.total_seconds()
            + entries / SLOWEST_ENTRIES_A_SECOND
        )

        async def keep_portion(digests: list[ManifestDigest]) -> None:
            if keep is not None:
                await in_thread(keep, metadata.table_uuid, classes.target_bytes, digests)

        broken = await self._reader.digest(
            opened.access, missing, metadata.specs, classes, gathered, keep_portion
        )
        if gathered.is_over:
            return self._fault(
                table,
                FaultKind.UNSUPPORTED,
                f"it has more than {MAX_PARTITIONS:,} partitions, which is the bound",
            )
        return TableInventory(
            table=table,
            table_uuid=metadata.table_uuid,
            format_version=metadata.format_version,
            location=metadata.location,
            paths=every_path(self._source.aliases, metadata.location, metadata.properties),
            metadata_location=opened.location,
            metadata_bytes=opened.metadata_bytes,
            properties=metadata.properties,
            size_classes=classes,
            current_snapshot_id=metadata.current_snapshot_id,
            default_spec_id=metadata.default_spec_id,
            default_spec_is_partitioned=metadata.is_partitioned,
            snapshots=metadata.snapshots,
            refs=metadata.refs,
            manifests=gathered.tell(listed),
            read_at=self._clock.now(),
            unreadable=(*unreadable, *broken),
            metadata_files=metadata.metadata_files,
            listed_files=_add_up([manifest.live_entries for manifest in listed]),
            statistics=metadata.statistics,
            partition_statistics=metadata.partition_statistics,
            sort_order=metadata.sort_order,
            next_row_id=metadata.next_row_id,
            columns=metadata.columns,
            column_types=metadata.column_types,
            specs=tuple(spec.describe() for _, spec in sorted(metadata.specs.items())),
        )

    async def digest_snapshot(
        self, opened: Opened, snapshot_id: int, classes: SizeClasses
    ) -> Sequence[ManifestDigest] | None:
        """Return the digests of one snapshot; None if a part of it cannot be read."""
        listed, unreadable = await self.list_manifests(opened, snapshot_id)
        gathered = GatheredDigests(sum(map(count_entries, listed)))
        broken = await self._reader.digest(
            opened.access, listed, opened.metadata.specs, classes, gathered
        )
        return None if unreadable or broken else gathered.tell(listed)

    async def list_manifests(
        self, opened: Opened, snapshot_id: int | None
    ) -> tuple[Sequence[ListedManifest], Sequence[Unreadable]]:
        """Return a snapshot's manifests and the errors that hid some of them."""
        if snapshot_id is None:
            return (), ()
        source = opened.metadata.sources[snapshot_id]
        if source.list_path is not None:
            try:
                return (await self._reader.read_list(opened.access, source.list_path))[0], ()
            except Exception as error:  # noqa: BLE001 - after any error the list is unknown
                return (), (
                    Unreadable(
                        source.list_path,
                        f"manifest list: {explain_reading(error, opened.access)}",
                        snapshot_id,
                    ),
                )
        listed, unreadable = [], []
        for path in source.paths:
            try:
                raw = await self._reader.fetch(opened.access, path, UNKNOWN_LENGTH_BYTES)
                listed.append(describe_manifest(path, raw))
            except Exception as error:  # noqa: BLE001 - as above
                unreadable.append(
                    Unreadable(path, f"manifest: {explain_reading(error, opened.access)}")
                )
        return listed, unreadable

    def _give_up(self, table: TableIdentifier) -> TableFault:
        allowed = format_duration(self._timeout)
        return self._fault(
            table,
            FaultKind.FAILED,
            f"reading its metadata took longer than {allowed} and the time for its manifests; the "
            f"manifests read so far are kept",
        )

    def _fault(self, table: TableIdentifier, kind: FaultKind, reason: str) -> TableFault:
        return TableFault(table, kind, reason, self._clock.now())


def _recall(  # noqa: PLR0913, PLR0917 - the table, its known state, and the output
    table: TableIdentifier,
    metadata: TableMetadata,
    listed: Sequence[ListedManifest],
    target_of: TargetOf,
    known: KnownDigests,
    gathered: GatheredDigests,
) -> SizeClasses:
    """Compute the table's size classes and gather the known digests with these classes."""
    classes = SizeClasses.around(target_of(table, metadata.properties))
    recalled = (
        known(metadata.table_uuid, [manifest.path for manifest in listed], classes.target_bytes)
        if listed
        else {}
    )
    found = ((recalled.get(manifest.path), manifest) for manifest in listed)
    gathered.put(
        replace(digest, entries_read=0)
        for digest, manifest in found
        if digest is not None and _is_same(digest, manifest)
    )
    return classes


def _add_up(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _is_same(digest: ManifestDigest, listed: ListedManifest) -> bool:
    """Return whether a known digest belongs to this manifest and is complete.

    Some writers use a path again; then length or spec differ. A digest from before the table's
    first deletes lacks the list of files, which is needed for deletes.
    """
    if digest.spec_id != listed.spec_id or listed.length_bytes not in {None, digest.length_bytes}:
        return False
    return digest.lists_files or not listed.lists_files
