"""Collects a table's digests. Those of a large table are packed, and unpacked at their use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, overload

import msgspec
import zstandard

from maintainer.adapters.catalog.limits import MAX_PARTITIONS
from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.domain.inventory import ManifestDigest

# A table has packed digests if it reaches one of these sizes. A partition of a manifest takes about
# 900 bytes, and 40 bytes for each listed size; packed, 80 bytes and 3 bytes.
PACKED_SHARES: Final = 100_000  # partitions of manifests
PACKED_ENTRIES: Final = 500_000
_LEVEL: Final = 1  # names and small numbers are repeated, so a higher level saves little
_DIGEST: Final = msgspec.msgpack.Decoder(ManifestDigest)


class GatheredDigests:
    """The digests of a snapshot's manifests that are known so far, by path."""

    def __init__(self, entries: int) -> None:
        """``entries`` is the approximate number of entries in all manifests."""
        self.packs = entries >= PACKED_ENTRIES  # packing a digest takes a millisecond or more
        self.is_over = False  # there are more partitions than allowed, so no more digests are kept
        self._kept: dict[str, ManifestDigest | bytes] = {}
        self._entries = 0
        self._shares = 0
        self._partitions: set[int] = set()  # hashes, of which one in a billion collides

    def put(self, digests: Iterable[ManifestDigest]) -> None:
        """Add digests; thread-safe."""
        for digest in digests:
            self._shares += len(digest.partitions)
            self._entries += digest.entries_read  # manifest lists may have too low numbers
            self.packs = (
                self.packs or self._shares >= PACKED_SHARES or self._entries >= PACKED_ENTRIES
            )
            self._partitions.update(
                hash((share.spec_id, share.partition)) for share in digest.partitions
            )
            self.is_over = self.is_over or len(self._partitions) > MAX_PARTITIONS
            if self.is_over:
                return
            self._kept[digest.path] = _pack(digest) if self.packs else digest

    def __contains__(self, path: object) -> bool:
        """Return whether a manifest's digest is known."""
        return path in self._kept

    def tell(self, listed: Iterable[ListedManifest]) -> Sequence[ManifestDigest]:
        """Return the known digests in the list's order."""
        there = [self._kept[manifest.path] for manifest in listed if manifest.path in self._kept]
        return PackedDigests(there) if self.packs else tuple(map(_unpack, there))


class PackedDigests(Sequence[ManifestDigest]):
    """Digests that are unpacked one at a time, so that only one unpacked digest is in memory."""

    def __init__(self, packed: Sequence[ManifestDigest | bytes]) -> None:
        self._packed = packed

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, index: int) -> ManifestDigest: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ManifestDigest]: ...

    def __getitem__(self, index: int | slice) -> ManifestDigest | Sequence[ManifestDigest]:
        return (
            PackedDigests(self._packed[index])
            if isinstance(index, slice)
            else _unpack(self._packed[index])
        )

    def __iter__(self) -> Iterator[ManifestDigest]:
        """Unpack one digest after the other."""
        return map(_unpack, self._packed)


def _pack(digest: ManifestDigest) -> ManifestDigest | bytes:
    try:
        return zstandard.compress(msgspec.msgpack.encode(digest), _LEVEL)
    except OverflowError:  # the number of a corrupt manifest is too large
        return digest


def _unpack(kept: ManifestDigest | bytes) -> ManifestDigest:
    return _DIGEST.decode(zstandard.decompress(kept)) if isinstance(kept, bytes) else kept
