from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.adapters.catalog.manifests.packed_digests import (
    PACKED_ENTRIES,
    PACKED_SHARES,
    GatheredDigests,
    PackedDigests,
)
from maintainer.domain.file_sizes import FileSizes, ListedFile, SizeRun, pack_files
from maintainer.domain.inventory import Content, ManifestContent, ManifestDigest, PartitionDigest

SHARES = (
    PartitionDigest(1, "day=1", Content.DATA, 2, 30, 4, 1, 10, 0, 0, FileSizes((10, 20)), 7),
    PartitionDigest(
        1, "day=ä", Content.DATA, 2, 40, 4, 1, 10, 0, 0, FileSizes(runs=(SizeRun(10, 11, 2, 21),))
    ),
)
DIGESTS = [
    ManifestDigest(
        path,
        100,
        1,
        ManifestContent.DATA,
        9,
        SHARES,
        (1, 3),
        (("parquet", 4),),
        4,
        pack_files([ListedFile(0, 1, 10, 5, 7)]),
        lists_files=True,
    )
    for path in "abc"
]
LISTED = [ListedManifest(path, 100, 1, ManifestContent.DATA, 9) for path in "cxab"]


def test_digests_of_a_large_table_are_packed_and_come_back_as_they_were() -> None:
    small, large = GatheredDigests(PACKED_ENTRIES - 1), GatheredDigests(PACKED_ENTRIES)
    for gathered in (small, large):
        gathered.put(DIGESTS)
        assert ("a" in gathered, "x" in gathered) == (True, False)
    packed = large.tell(LISTED)
    assert tuple(packed) == small.tell(LISTED) == (DIGESTS[2], DIGESTS[0], DIGESTS[1])
    assert isinstance(packed, PackedDigests)
    assert (len(packed), packed[1], tuple(packed[1:]), tuple(reversed(packed))) == (
        3,
        DIGESTS[0],
        tuple(DIGESTS[:2]),
        (DIGESTS[1], DIGESTS[0], DIGESTS[2]),
    )
    assert not any(isinstance(kept, ManifestDigest) for kept in packed._packed), (
        "each is packed as long as nobody looks at it"
    )


@pytest.mark.parametrize(
    "first",
    [
        replace(DIGESTS[0], entries_read=PACKED_ENTRIES),
        replace(DIGESTS[0], partitions=SHARES * (PACKED_SHARES // 2)),
    ],
    ids=["entries", "partitions"],
)
def test_digests_are_packed_once_they_are_many_although_the_list_claims_few(
    first: ManifestDigest,
) -> None:
    gathered = GatheredDigests(0)
    gathered.put([first, DIGESTS[1]])
    assert gathered.packs
    assert tuple(gathered.tell(LISTED)) == (first, DIGESTS[1])


def test_a_figure_beyond_all_integers_is_kept_as_it_is() -> None:
    absurd = replace(DIGESTS[0], length_bytes=2**70)
    gathered = GatheredDigests(PACKED_ENTRIES)
    gathered.put([absurd])
    assert tuple(gathered.tell(LISTED)) == (absurd,)
