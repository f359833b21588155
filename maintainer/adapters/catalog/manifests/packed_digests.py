"""Collects a table's digests; those of a large table are packed and unpacked on use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, overload

import msgspec
import zstandard

from maintainer.adapters.catalog.limits import MAX_PARTITIONS
from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.domain.inventory import ManifestDigest

# Tables from either size on have packed digests: a partition of a manifest takes about 900 bytes
# and 40 for each listed size, packed 80 and 3.
PACKED_SHARES: Final = 100_000  # partitions of manifests
PACKED_ENTRIES: Final = 500_000
_LEVEL: Final = 1  # names and small numbers repeat, so a higher level hardly saves more
_DIGEST: Final = msgspec.msgpack.Decoder(ManifestDigest)


class GatheredDigests:
    """The digests of a snapshot's manifests so far, by path."""

    def __init__(self, entries: int) -> None:
        """Take the approximate number of entries in all manifests."""
        self.packs = entries >= PACKED_ENTRIES  # a millisecond or more for each digest
        self.is_over = False  # more partitions than a table may have: no more are kept
        self._kept: dict[str, ManifestDigest | bytes] = {}
        self._entries = 0
        self._shares = 0
        self._partitions: set[int] = set()  # hashes; one in a billion collides

    def put(self, digests: Iterable[ManifestDigest]) -> None:
        """Add digests; thread-safe."""
        for digest in digests:
            self._shares += len(digest.partitions)
            self._entries += digest.entries_read  # lists may claim too few
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
        """Say whether a manifest's digest is known."""
        return path in self._kept

    def tell(self, listed: Iterable[ListedManifest]) -> Sequence[ManifestDigest]:
        """Return the known digests in the list's order."""
        there = [self._kept[manifest.path] for manifest in listed if manifest.path in self._kept]
        return PackedDigests(there) if self.packs else tuple(map(_unpack, there))


class PackedDigests(Sequence[ManifestDigest]):
    """Digests that are unpacked one at a time, so that only one takes memory."""

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
    except OverflowError:  # a corrupt manifest claims too large a number
        return digest


def _unpack(kept: ManifestDigest | bytes) -> ManifestDigest:
    return _DIGEST.decode(zstandard.decompress(kept)) if isinstance(kept, bytes) else kept
