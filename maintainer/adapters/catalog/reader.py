"""Reads metadata files for all catalogs.

The limits of requests, bytes and processes apply to all tables together.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from maintainer.adapters.catalog.faults import explain, kind_of_storage_error
from maintainer.adapters.catalog.files.access import Access
from maintainer.adapters.catalog.files.storage import Storages
from maintainer.adapters.catalog.limits import (
    FREE_BYTES,
    LASTING,
    MAX_DOCUMENT_BYTES,
    MAX_STORED_BYTES,
    CostlyFileError,
    TooLargeError,
    UnreadableFileError,
)
from maintainer.adapters.catalog.loop import EventLoop, in_thread
from maintainer.adapters.catalog.manifests.decoding import (
    IDLE_SECONDS,
    Batch,
    Decoded,
    DecodingBounds,
    DecodingPool,
    DocumentKind,
    decode_batch,
    read_listed,
)
from maintainer.adapters.catalog.manifests.fast_reader import read_manifest_list
from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.adapters.catalog.manifests.metadata import (
    TableMetadata,
    accept_metadata,
    parse_metadata,
)
from maintainer.adapters.catalog.manifests.packed_digests import GatheredDigests
from maintainer.adapters.catalog.manifests.partition import Spec
from maintainer.domain.inventory import FaultKind, ManifestDigest, SizeClasses, Unreadable
from maintainer.domain.scan_cost import SlowRead
from maintainer.domain.units import KIB, MIB

BATCH_BYTES: Final = 4 * MIB  # of manifests that are fetched and decoded together
BATCH_ENTRIES: Final = 10_000  # the same, in entries: about 60 ms of decoding
BATCH_MANIFESTS: Final = 64
# For a manifest of unknown length, and its bound: twice Iceberg's target size.
UNKNOWN_LENGTH_BYTES: Final = 16 * MIB
GREATEST_ENTRY_BYTES: Final = KIB  # compressed, with statistics of about forty columns
# Other metadata up to this size is decoded on the event loop, in a millisecond at most.
INLINE_BYTES: Final = 64 * KIB
# Measured times: decoding an entry takes 6.4 us. Sending a batch to another process and receiving
# its digests takes 170 us of this process. Starting a process takes 230 ms.
INLINE_ENTRIES: Final = 100  # batches up to this size are decoded on the loop
POOLED_ENTRIES: Final = 200  # batches from this size on go to another process
INLINE_PLAIN_BYTES: Final = 2 * MIB  # the limit for a decompressed manifest on the loop
# A process is started only for tables from this size on, and for files that decompress to more than
# this process may decode in a thread.
STARTING_ENTRIES: Final = 50_000
THREAD_PLAIN_BYTES: Final = 8 * MIB

DECODED_FACTOR: Final = 3  # the memory for decoding a document, as a multiple of its length
# After so many manifests of a table that cannot be read, its others are not tried: each scan would
# ask for all of them again.
MAX_BROKEN: Final = 100
MAX_REFUSED: Final = 10_000  # files that are remembered as too costly

T = TypeVar("T")
TakePortion = Callable[[list[ManifestDigest]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """The limits of reading metadata, for all catalogs together."""

    decode_processes: int = 2
    manifest_bytes: int = 256 * MIB  # of manifests that are fetched and not yet decoded
    requests: int = 64
    locations: tuple[str, ...] = ()  # allowed locations of metadata; empty: all storages of tables
    decoding: DecodingBounds = field(default_factory=DecodingBounds)  # of each decoding process


@dataclass(slots=True)
class ReadCount:
    """Manifests and entries of all tables that were read since the start; always up to date."""

    manifests: int = 0
    entries: int = 0


class ByteBudget:
    """Lends bytes of a budget, in the order of the requests."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._free = total
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def lent(self) -> int:
        """The number of bytes that are lent now."""
        return self._total - self._free

    @asynccontextmanager
    async def lend(self, size: int) -> AsyncIterator[None]:
        """Wait for so many bytes, at most the whole budget; a larger request runs alone."""
        size = min(size, self._total)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(size)
            raise
        try:
            yield
        finally:
            self._give_back(size)

    def _give_back(self, size: int) -> None:
        self._free += size
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and (
            self._waiting[0][1].cancelled() or self._waiting[0][0] <= self._free
        ):
            size, turn = self._waiting.popleft()
            if not turn.cancelled():
                self._free -= size
                turn.set_result(None)


class Refused:
    """Files that have passed a limit, with the reason: reading them again would cost the same.

    A metadata file never changes, so a table is read again as soon as it points to another one.
    """

    def __init__(self) -> None:
        self._reasons: OrderedDict[str, str] = OrderedDict()

    def check(self, location: str) -> None:
        """CostlyFileError if the file is known to pass a limit."""
        reason = self._reasons.get(location)
        if reason is not None:
            self._reasons.move_to_end(location)
            raise CostlyFileError(reason)

    def add(self, location: str, reason: str) -> None:
        """Remember a file; beyond MAX_REFUSED, forget the one that was asked for longest ago."""
        self._reasons[location] = reason
        if len(self._reasons) > MAX_REFUSED:
            self._reasons.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _Reading(Generic[T]):
    """How a document is decoded in this process, and how the content of another process is read."""

    kind: DocumentKind
    decode: Callable[[bytes, int], T]
    accept: Callable[[bytes], T]


class MetadataReader:
    """Fetches and decodes metadata for all tables. The constructor starts nothing."""

    def __init__(
        self,
        limits: ReadLimits | None = None,
        on_slow: Callable[[SlowRead, int], None] = lambda _reason, _manifests: None,
    ) -> None:
        """`on_slow` is called, from any thread, with the reason and number of slow reads."""
        self.limits = limits or ReadLimits()
        self.count = ReadCount()
        self._on_slow = on_slow
        self.loop = EventLoop()
        self.storages = Storages(self.limits.locations)
        self.pool = DecodingPool(self.limits.decode_processes, self.limits.decoding)
        self._open_gates()

    def _open_gates(self) -> None:
        self.budget = ByteBudget(self.limits.manifest_bytes)
        self.documents = ByteBudget(MAX_STORED_BYTES)
        self.refused = Refused()
        self._requests = asyncio.Semaphore(self.limits.requests)
        self._decoding = asyncio.Semaphore(max(1, self.limits.decode_processes))
        self._retiring: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Cancel work, end processes and close connections; a later call starts them again."""
        self.loop.close()
        self.pool.close()
        self.storages.clear()
        self._open_gates()

    async def fetch(
        self, access: Access, location: str, most_bytes: int = MAX_STORED_BYTES
    ) -> bytes:
        """Fetch a whole file in its turn; TooLargeError if it has more than `most_bytes`."""
        async with self._requests:
            return await access.read(location, most_bytes)

    async def read_metadata(self, access: Access, location: str) -> tuple[TableMetadata, int]:
        """Read a metadata.json; return it and its length in bytes.

        MetadataError and UnreadableFileError as of `parse_metadata`; CostlyFileError if it passes
        a limit, also from memory: a metadata file never changes.
        """
        return await self._read_document(
            access, location, _Reading(DocumentKind.METADATA, parse_metadata, accept_metadata)
        )

    async def read_list(
        self, access: Access, location: str
    ) -> tuple[tuple[ListedManifest, ...], int]:
        """Read a manifest list, as `read_metadata` reads its file."""

        def decode(raw: bytes, most_bytes: int) -> tuple[ListedManifest, ...]:
            return read_manifest_list(raw, self._count_slow, most_bytes)

        return await self._read_document(
            access, location, _Reading(DocumentKind.MANIFEST_LIST, decode, read_listed)
        )

    async def _read_document(
        self, access: Access, location: str, reading: _Reading[T]
    ) -> tuple[T, int]:
        self.refused.check(location)
        try:
            return await self._read_in_turn(access, location, reading)
        except LASTING as error:
            self.refused.add(location, str(error))
            raise

    async def _read_in_turn(
        self, access: Access, location: str, reading: _Reading[T]
    ) -> tuple[T, int]:
        """Read a small file at once; a large one waits for its part of the shared budget."""
        length: int | None = FREE_BYTES
        try:
            raw = await self.fetch(access, location, FREE_BYTES)
        except TooLargeError as error:
            length = error.size
        else:
            return await self._decode_document(raw, reading), len(raw)
        # The error is gone here, and with it what it had read.
        if length is not None and length > MAX_STORED_BYTES:
            raise TooLargeError(location, length, MAX_STORED_BYTES)
        async with self.documents.lend(
            MAX_STORED_BYTES if length is None else DECODED_FACTOR * length
        ):
            raw = await self.fetch(access, location, MAX_STORED_BYTES)
            return await self._decode_document(raw, reading), len(raw)

    async def _decode_document(self, raw: bytes, reading: _Reading[T]) -> T:
        if len(raw) <= INLINE_BYTES:
            with suppress(TooLargeError):  # as for manifests
                return reading.decode(raw, INLINE_PLAIN_BYTES)
        async with self._decoding:
            if len(raw) <= FREE_BYTES:
                with suppress(TooLargeError):
                    return await in_thread(reading.decode, raw, FREE_BYTES)
            try:
                content = await in_thread(
                    self.pool.decode_document,
                    reading.kind,
                    raw,
                    self._count_slow,
                    MAX_DOCUMENT_BYTES,
                )
                del raw
                return await in_thread(reading.accept, content)
            finally:
                self._retire_later()

    def _count_slow(self, reason: SlowRead) -> None:
        self._on_slow(reason, 1)

    async def digest(  # noqa: PLR0913, PLR0917 - the input, the way to read it, and the output
        self,
        access: Access,
        listed: Sequence[ListedManifest],
        specs: Mapping[int, Spec],
        classes: SizeClasses,
        gathered: GatheredDigests,
        on_portion: TakePortion | None = None,
    ) -> list[Unreadable]:
        """Gather the digests of the manifests; return the manifests that cannot be read.

        After MAX_BROKEN of them the others are left out, with one entry for all. A few batches run
        at the same time, in turn with the batches of other tables. `on_portion` is called after
        every few batches.
        """
        broken = {
            manifest.path: Unreadable(manifest.path, "manifest: it is encrypted")
            for manifest in listed
            if manifest.is_encrypted
        }
        readable = [manifest for manifest in listed if not manifest.is_encrypted]
        is_large = sum(map(count_entries, readable)) >= STARTING_ENTRIES
        window = asyncio.Semaphore(2 * max(1, self.limits.decode_processes) + 1)
        batches = list(split(readable))

        async def take(batch: list[ListedManifest]) -> None:
            try:
                async with self.budget.lend(sum(map(length_of, batch))):
                    outcomes = await self._digest_batch(
                        access, batch, dict(specs), classes, is_large=is_large
                    )
                broken.update(
                    {
                        outcome.path: outcome
                        for outcome in outcomes
                        if isinstance(outcome, Unreadable)
                    }
                )
                digests = [outcome for outcome in outcomes if isinstance(outcome, ManifestDigest)]
                if gathered.packs:
                    await in_thread(gathered.put, digests)
                else:
                    gathered.put(digests)
                if on_portion is not None and len(batches) > 1:
                    await on_portion(digests)
            finally:
                window.release()

        skipped: list[ListedManifest] = []
        async with asyncio.TaskGroup() as tasks:
            for batch in batches:
                await window.acquire()
                if len(broken) >= MAX_BROKEN:
                    window.release()
                    skipped += batch
                else:
                    tasks.create_task(take(batch))
        found = [broken[manifest.path] for manifest in listed if manifest.path in broken]
        if skipped:
            reason = (
                f"manifest: this one and {len(skipped) - 1:,} others were not read, because "
                f"{len(found):,} cannot be read"
            )
            found.append(Unreadable(skipped[0].path, reason))
        return found

    async def _digest_batch(
        self,
        access: Access,
        batch: Sequence[ListedManifest],
        specs: dict[int, Spec],
        classes: SizeClasses,
        *,
        is_large: bool,
    ) -> list[ManifestDigest | Unreadable]:
        raws = await asyncio.gather(*[self._fetch_manifest(access, manifest) for manifest in batch])
        unreadable: list[ManifestDigest | Unreadable] = [
            raw for raw in raws if isinstance(raw, Unreadable)
        ]
        fetched = [
            (manifest, raw)
            for manifest, raw in zip(batch, raws, strict=True)
            if isinstance(raw, bytes)
        ]
        decoded = await self._decode_batch(Batch(fetched, specs, classes), is_large=is_large)
        for digest in decoded.outcomes:
            if isinstance(digest, ManifestDigest):
                self.count.manifests += 1
                self.count.entries += digest.entries_read
        for reason, manifests in decoded.slow.items():
            self._on_slow(reason, manifests)
        for position in decoded.costly:
            self.refused.add(fetched[position][0].path, str(decoded.outcomes[position]))
        outcomes = [
            Unreadable(manifest.path, f"manifest: {explain(UnreadableFileError(outcome))}")
            if isinstance(outcome, str)
            else outcome
            for (manifest, _), outcome in zip(fetched, decoded.outcomes, strict=True)
        ]
        return [*unreadable, *outcomes]

    async def _fetch_manifest(self, access: Access, manifest: ListedManifest) -> bytes | Unreadable:
        try:
            self.refused.check(manifest.path)
            return await self.fetch(
                access, manifest.path, min(length_of(manifest), MAX_STORED_BYTES)
            )
        # If one manifest cannot be read, the others must still be read.
        except Exception as error:  # noqa: BLE001
            return Unreadable(manifest.path, f"manifest: {explain_reading(error, access)}")

    async def _decode_batch(self, batch: Batch, *, is_large: bool) -> Decoded:
        entries = sum(count_entries(manifest) for manifest, _ in batch.manifests)
        if entries <= INLINE_ENTRIES:
            # A manifest with more contents than its list says would block the loop.
            with suppress(TooLargeError):
                return decode_batch(batch, INLINE_PLAIN_BYTES)
        is_pooled = (
            self.limits.decode_processes > 0
            and entries >= POOLED_ENTRIES
            and (is_large or bool(self.pool.ids()))
        )
        async with self._decoding:
            if not is_pooled:
                is_bounded = self.limits.decode_processes > 0
                with suppress(TooLargeError):
                    return await in_thread(
                        decode_batch, batch, THREAD_PLAIN_BYTES if is_bounded else None
                    )
            try:
                return await in_thread(self.pool.decode, batch)
            finally:
                self._retire_later()

    def _retire_later(self) -> None:
        if self._retiring is not None:
            self._retiring.cancel()
        self._retiring = asyncio.get_running_loop().call_later(IDLE_SECONDS + 1, self.pool.end_idle)


def length_of(manifest: ListedManifest) -> int:
    """Return the manifest's length in bytes, by its manifest list."""
    return UNKNOWN_LENGTH_BYTES if manifest.length_bytes is None else manifest.length_bytes


def count_entries(manifest: ListedManifest) -> int:
    """Estimate the entries to decode, too low: lists omit deleted entries, and old lists all."""
    return max(manifest.live_entries or 0, length_of(manifest) // GREATEST_ENTRY_BYTES)


def split(listed: Sequence[ListedManifest]) -> Iterator[list[ListedManifest]]:
    """Split the manifests into batches within all three limits; a larger manifest is one batch."""
    batch: list[ListedManifest] = []
    size = entries = 0
    for manifest in listed:
        size += length_of(manifest)
        entries += count_entries(manifest)
        if batch and (
            size > BATCH_BYTES or entries > BATCH_ENTRIES or len(batch) >= BATCH_MANIFESTS
        ):
            yield batch
            batch, size, entries = [], length_of(manifest), count_entries(manifest)
        batch.append(manifest)
    if batch:
        yield batch


def explain_reading(error: Exception, access: Access) -> str:
    """Return one line without secrets that says why a file could not be read."""
    if isinstance(error, UnreadableFileError):
        return explain(error)
    if kind_of_storage_error(error) is FaultKind.METADATA_MISSING:
        return "the file does not exist"
    return explain(error, access.secrets())
