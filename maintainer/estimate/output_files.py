"""How many files a rewrite writes for a group of files, as Iceberg and Spark split and pack what
they read.

Sources: Iceberg 1.12's SizeBasedFileRewritePlanner (expected files, split size),
SparkBinPackFileRewriteRunner, TableScanUtil.planTaskGroups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from maintainer.domain.file_sizes import FileSizes, SizeRun
from maintainer.estimate.bin_packing import pack

FOLDED_REMAINDER_RATIO = (
    1.1  # Iceberg: a remainder is folded into the others while they stay under 1.1 x target
)
_SPLIT_OVERHEAD_BYTES = 5 * 1024  # Iceberg: SPLIT_OVERHEAD
_LOOKBACK = 10  # Iceberg: read.split.planning-lookback
_MAX_PACKED = 2048  # items that are packed one by one; of more, a sample stands for all
# row groups that are packed one by one: a group of Iceberg's default 100 GiB has at most 800 beside
# one a file
_MAX_CHUNKS = 8192
_KEPT_COUNTS = 1024  # groups whose count is remembered


@dataclass(frozen=True, slots=True)
class Count:
    """A number of files with the least and the most that it can be."""

    expected: int
    least: int
    most: int

    @classmethod
    def exactly(cls, number: int) -> Count:
        """A number that is certain."""
        return cls(number, number, number)


@dataclass(frozen=True, slots=True)
class OutputSizes:
    """The bounds that output files are held to; all in bytes."""

    target: int
    small_below: int
    large_above: int
    chunk: int  # what a file is read in at most: its row groups

    @property
    def write_max(self) -> int:
        """Where a writer begins another file: halfway between the target and the upper bound."""
        return int(self.target + (self.large_above - self.target) * 0.5)

    def expect(self, size: int) -> int:
        """Files that Iceberg aims at for so many bytes."""
        if size < self.target:
            return 1
        whole, remainder = divmod(size, self.target)
        if remainder > self.small_below:
            return whole + 1
        if size // whole < min(FOLDED_REMAINDER_RATIO * self.target, float(self.write_max)):
            return whole
        return whole + bool(remainder)

    def split(self, size: int) -> int:
        """Bytes that one task reads, of a group of so many."""
        even = size // self.expect(size) + _SPLIT_OVERHEAD_BYTES
        return self.target if even < self.target else min(even, self.write_max)


# One decision asks the same of a group several times: for the band, for the scope, for the
# estimate.
@lru_cache(maxsize=_KEPT_COUNTS)
def count_packed(files: FileSizes, sizes: OutputSizes, *, is_order_known: bool) -> Count:
    """Files that bin-packing writes: one for each task, more where what a task cannot split is
    beyond what a writer puts in one file.
    """
    total = files.bytes
    split = sizes.split(total)
    if total <= split:
        return Count.exactly(1)
    items, factor = _expand(files)
    chunks = sum(_count_chunks(size, sizes.chunk) for size in items)
    expected = max(
        1,
        round(
            (
                _count_even(chunks, split, sizes)
                if chunks > _MAX_CHUNKS
                else _count_bins(items, split, sizes)
            )
            * factor
        ),
    )
    # Row groups of another size than the table's property says make other splits; a writer looks at
    # the size every thousand rows only.
    if is_order_known and files.listed and max(items) <= min(sizes.chunk, split):
        return Count.exactly(expected)
    # Any two bins that were begun one after the other have more than half the limit each on
    # average.
    most = max(expected, 2 * total // split + 1)
    return Count(
        expected, 1 if max(items) > split else min(expected, -(-total // sizes.write_max)), most
    )


def _count_bins(items: Iterable[int], split: int, sizes: OutputSizes) -> int:
    bins = pack(_cut(items, sizes.chunk), split, _LOOKBACK, largest_first=True)
    return sum(_count_written(sum(one), sizes) for one in bins)


def _count_even(chunks: int, split: int, sizes: OutputSizes) -> int:
    """Of so many row groups that packing them one by one takes too long: all as if they were
    whole.
    """
    in_bin = max(1, split // sizes.chunk)
    whole, rest = divmod(chunks, in_bin)
    return whole * _count_written(in_bin * sizes.chunk, sizes) + (
        _count_written(rest * sizes.chunk, sizes) if rest else 0
    )


def _count_written(weight: int, sizes: OutputSizes) -> int:
    """Files that one task writes for so many bytes."""
    return max(1, -(-weight // sizes.write_max))


def _expand(files: FileSizes) -> tuple[Sequence[int], float]:
    """Sizes of single files, and for how many files each stands."""
    if files.listed:
        return files.listed, 1.0
    factor = max(1.0, files.count / _MAX_PACKED)
    return [size for run in files.runs for size in _sample(run, factor)], factor


def _sample(run: SizeRun, factor: float) -> Iterator[int]:
    number = max(1, round(run.files / factor))
    mean, rest = divmod(run.bytes, run.files)
    yield from (mean + (position < rest) for position in range(number))


def _cut(items: Iterable[int], chunk: int) -> Iterator[int]:
    """Files as they are read: row group by row group."""
    for size in items:
        whole = _count_chunks(size, chunk) - 1
        yield from (chunk for _ in range(whole))
        yield size - whole * chunk


def _count_chunks(size: int, chunk: int) -> int:
    return max(1, -(-size // chunk))


def count_sorted(total: int, sizes: OutputSizes, compression: float) -> Count:
    """Files that a sort writes: one for each shuffle partition, more where one is beyond what a
    writer puts in one file.
    """
    expected = max(1, sizes.expect(int(total * compression)))
    return (
        Count.exactly(1)
        if expected == 1 and total <= sizes.write_max
        else Count(expected, 1, expected + total // sizes.write_max)
    )


def count_scattered(packed: Count, partitions: int | None, supposed: int, files: int) -> Count:
    """Files that are written into several partitions: at least one in each; where their number is
    not known, up to as many as were read and more.
    """
    if partitions is None:
        return Count(max(packed.expected, supposed), 1, max(packed.most, supposed, files))
    return Count(
        max(packed.expected, partitions), max(partitions, 1), max(packed.most, 1) + partitions - 1
    )
