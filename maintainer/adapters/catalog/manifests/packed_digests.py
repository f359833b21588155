"""A table's digests as they come together: those of a large table packed, each unpacked for as long
as somebody looks at it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, overload

import msgspec

from maintainer.adapters.catalog.limits import MAX_PARTITIONS
from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.domain.inventory import ManifestDigest

# a table from this size on has its digests packed: a share of a manifest takes about 900 bytes,
# packed 80
PACKED_ENTRIES: Final = 100_000
_LEVEL: Final = 1  # names and small figures that repeat: more effort hardly saves more
_DIGEST: Final = msgspec.msgpack.Decoder(ManifestDigest)


class GatheredDigests:
    """The digests of some of a snapshot's manifests, by path."""

    def __init__(self, entries: int) -> None:
        """Take about how many entries all the manifests have."""
        self.packs = entries >= PACKED_ENTRIES  # takes a millisecond or more for each digest
        self.is_over = False  # it has more partitions than a table may have: no more is kept
        self._kept: dict[str, ManifestDigest | bytes] = {}
        self._shares = 0
        self._partitions: set[int] = set()  # their hashes: one in a billion is taken for another

    def put(self, digests: Iterable[ManifestDigest]) -> None:
        """Keep some more; several threads may at once."""
        for digest in digests:
            self._shares += len(digest.partitions)
            self.packs = (
                self.packs or self._shares >= PACKED_ENTRIES
            )  # lists may claim less than there is
            self._partitions.update(
                hash((share.spec_id, share.partition)) for share in digest.partitions
            )
            self.is_over = self.is_over or len(self._partitions) > MAX_PARTITIONS
            if self.is_over:
                return
            self._kept[digest.path] = _pack(digest) if self.packs else digest

    def __contains__(self, path: object) -> bool:
        """Whether a manifest's digest is there."""
        return path in self._kept

    def tell(self, listed: Iterable[ListedManifest]) -> Sequence[ManifestDigest]:
        """Those that are there, in the order of the list."""
        there = [self._kept[manifest.path] for manifest in listed if manifest.path in self._kept]
        return PackedDigests(there) if self.packs else tuple(map(_unpack, there))


class PackedDigests(Sequence[ManifestDigest]):
    """Digests that take the memory of one at a time, and a pass over all of them the time to unpack
    them.
    """

    def __init__(self, packed: Sequence[ManifestDigest | bytes]) -> None:
        """Take them as they are kept."""
        self._packed = packed

    def __len__(self) -> int:
        """How many there are."""
        return len(self._packed)

    @overload
    def __getitem__(self, index: int) -> ManifestDigest: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ManifestDigest]: ...

    def __getitem__(self, index: int | slice) -> ManifestDigest | Sequence[ManifestDigest]:
        """One of them, or some."""
        return (
            PackedDigests(self._packed[index])
            if isinstance(index, slice)
            else _unpack(self._packed[index])
        )

    def __iter__(self) -> Iterator[ManifestDigest]:
        """One after the other."""
        return map(_unpack, self._packed)


def _pack(digest: ManifestDigest) -> ManifestDigest | bytes:
    try:
        return zlib.compress(msgspec.msgpack.encode(digest), _LEVEL)
    except OverflowError:  # what a corrupt manifest claims
        return digest


def _unpack(kept: ManifestDigest | bytes) -> ManifestDigest:
    return _DIGEST.decode(zlib.decompress(kept)) if isinstance(kept, bytes) else kept
