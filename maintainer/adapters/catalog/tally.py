"""Adding up what a manifest's live entries say."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from maintainer.domain.inventory import HISTOGRAM_BOUNDS_BYTES, Content, PartitionDigest, SizeClasses, histogram_bin

_FEW_SIZES = 16  # below this a bin for each size costs less than a search for each bound


@dataclass(slots=True)
class _Share:
    file_count: int = 0
    bytes: int = 0
    record_count: int = 0
    small_count: int = 0
    small_bytes: int = 0
    large_count: int = 0
    large_bytes: int = 0


@dataclass(slots=True)
class Tally:
    """The sums of one manifest so far."""

    classes: SizeClasses
    entries: int = 0
    shares: dict[tuple[str, Content], _Share] = field(default_factory=dict)
    histogram: list[int] = field(default_factory=lambda: [0] * (len(HISTOGRAM_BOUNDS_BYTES) + 1))
    formats: dict[str, int] = field(default_factory=dict)

    def add(self, partition: str, content: Content, size: int, records: int, file_format: str) -> None:
        """Add one file; size in bytes."""
        share = self._share(partition, content)
        share.file_count += 1
        share.bytes += size
        share.record_count += records
        if content is not Content.DATA:
            return
        self.histogram[histogram_bin(size)] += 1
        self.formats[file_format] = self.formats.get(file_format, 0) + 1
        if size < self.classes.small_below_bytes:
            share.small_count += 1
            share.small_bytes += size
        elif size > self.classes.large_above_bytes:
            share.large_count += 1
            share.large_bytes += size

    def add_files(self, partition: str, content: Content, sizes: list[int], records: Sequence[int], file_format: str) -> None:
        """Add many files of one kind; ValueError when one claims less than nothing. Sorts `sizes`, in bytes."""
        sizes.sort()
        if sizes[0] < 0 or min(records) < 0:
            message = f"{sizes[0]} bytes or {min(records)} records"
            raise ValueError(message)
        share = self._share(partition, content)
        share.file_count += len(sizes)
        share.bytes += sum(sizes)
        share.record_count += sum(records)
        if content is not Content.DATA:
            return
        self._classify(sizes)
        self.formats[file_format] = self.formats.get(file_format, 0) + len(sizes)
        small = bisect_left(sizes, self.classes.small_below_bytes)
        large = max(small, bisect_right(sizes, self.classes.large_above_bytes))
        share.small_count += small
        share.small_bytes += sum(sizes[:small])
        share.large_count += len(sizes) - large
        share.large_bytes += sum(sizes[large:])

    def partitions(self, spec_id: int) -> tuple[PartitionDigest, ...]:
        """The sums per partition and content, in order."""
        return tuple(_partition_digest(spec_id, key, self.shares[key]) for key in sorted(self.shares))

    def _share(self, partition: str, content: Content) -> _Share:
        share = self.shares.get((partition, content))
        if share is None:
            share = self.shares[partition, content] = _Share()
        return share

    def _classify(self, sizes: Sequence[int]) -> None:
        """Count sorted sizes into the histogram."""
        if len(sizes) < _FEW_SIZES:
            for size in sizes:
                self.histogram[histogram_bin(size)] += 1
            return
        below = [0, *(bisect_left(sizes, bound) for bound in HISTOGRAM_BOUNDS_BYTES), len(sizes)]
        for index, (start, end) in enumerate(pairwise(below)):
            self.histogram[index] += end - start


def _partition_digest(spec_id: int, key: tuple[str, Content], share: _Share) -> PartitionDigest:
    partition, content = key
    return PartitionDigest(
        spec_id=spec_id,
        partition=partition,
        content=content,
        file_count=share.file_count,
        bytes=share.bytes,
        record_count=share.record_count,
        small_count=share.small_count,
        small_bytes=share.small_bytes,
        large_count=share.large_count,
        large_bytes=share.large_bytes,
    )
