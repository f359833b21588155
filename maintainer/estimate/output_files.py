"""How many files a rewrite writes for a group, as Iceberg and Spark split and pack the input.

Also the bytes of a data file besides its rows.

Sources: Iceberg 1.12's SizeBasedFileRewritePlanner (expected files, split size),
SparkBinPackFileRewriteRunner, TableScanUtil.planTaskGroups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from maintainer.domain.file_sizes import FileSizes, SizeRun
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import (
    NULL_TEXT,
    PartitionField,
    PartitionSpec,
    escape,
    read_partition,
)
from maintainer.estimate.bin_packing import weigh_bins
from maintainer.estimate.file_selection import NO_DELETES, DeleteBytes

# The bytes of each column: its part of the footer, its statistics, the headers and dictionaries of
# its pages. They were measured by the rewrites of small files that docs/health.md names.
BYTES_PER_COLUMN: Final[Mapping[str, int]] = {"parquet": 270, "orc": 220}
# Iceberg: a remainder is spread over the other files if they are then under 1.1 x target
FOLDED_REMAINDER_RATIO = 1.1
_SPLIT_OVERHEAD_BYTES = 5 * 1024  # Iceberg: SPLIT_OVERHEAD
_LOOKBACK = 10  # Iceberg: read.split.planning-lookback
_MAX_PACKED = 2048  # items that are packed one by one; of more items, a sample is packed
# Row groups that are packed one by one. A group of Iceberg's default 100 GiB has at most 800 row
# groups, and one more for each file.
_MAX_CHUNKS = 8192
_KEPT_COUNTS = 1024  # groups whose result is cached
# The lengths of times as text; shorter ones are prefixes: "2026-01-31-05", "2026-01-31", "2026-01".
_TIMES: Final = {"hour": 13, "day": 10, "month": 7, "year": 4}
_SizeClass = tuple[int, int]  # size in bytes, number of files in a row with this size
_DATES: Final = frozenset({"date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})


def find_overhead(health: TableHealth) -> int:
    """The bytes of one data file in addition to its rows; 0 if the schema or a format is unknown.

    In a large file they do not matter; a file of some kilobytes mostly consists of them.
    """
    of_formats = [BYTES_PER_COLUMN.get(name, 0) for name in health.formats]
    return min(of_formats, default=0) * (health.columns or 0)


def find_kept_rows(health: TableHealth) -> float:
    """The share of the rows that position deletes and deletion vectors leave.

    How many rows an equality delete deletes is unknown: it counts as none.
    """
    by_equality = sum(partition.equality_delete_records for partition in health.partitions)
    deleted = max(0, (health.delete_records or 0) - by_equality)
    return max(0.0, 1 - deleted / health.records) if health.records else 1.0


def predict_bytes(size: int, files: int, outputs: int, overhead: int, kept_rows: float) -> int:
    """The bytes of so many files after a rewrite, at least the overhead of the outputs."""
    rows = max(0, size - overhead * files)
    return min(size, round(rows * kept_rows) + overhead * outputs)


@dataclass(frozen=True, slots=True)
class Count:
    """A number of files, with its least and greatest possible value."""

    expected: int
    least: int
    most: int

    @classmethod
    def exactly(cls, number: int) -> Count:
        return cls(number, number, number)


@dataclass(frozen=True, slots=True)
class OutputSizes:
    """The size bounds of output files, all in bytes."""

    target: int
    small_below: int
    large_above: int
    chunk: int  # the largest unit in which a file is read, a row group

    @property
    def write_max(self) -> int:
        """The size at which a writer starts a new file.

        It is halfway between the target and the upper bound.
        """
        return int(self.target + (self.large_above - self.target) * 0.5)

    def expect(self, size: int) -> int:
        """The number of files that Iceberg aims at for this many bytes."""
        if size < self.target:
            return 1
        whole, remainder = divmod(size, self.target)
        if remainder > self.small_below:
            return whole + 1
        if size // whole < min(FOLDED_REMAINDER_RATIO * self.target, float(self.write_max)):
            return whole
        return whole + bool(remainder)

    def split(self, size: int) -> int:
        """Bytes per task, for a group of this many bytes."""
        even = size // self.expect(size) + _SPLIT_OVERHEAD_BYTES
        return self.target if even < self.target else min(even, self.write_max)


# The grade and the plan of a table need the same groups.
@lru_cache(maxsize=_KEPT_COUNTS)
def count_packed(
    files: FileSizes,
    sizes: OutputSizes,
    deletes: DeleteBytes = NO_DELETES,
    *,
    is_order_known: bool,
) -> Count:
    """The number of files that bin-packing writes.

    It is one for each task, and more if a part that cannot be split exceeds one output file. The
    bytes of a task include those of the delete files that Spark reads for it.
    """
    total = files.bytes
    split = sizes.split(total)
    if total + deletes.most <= split:
        return Count.exactly(1)
    classes, factor = _classify(files)
    largest = max(classes)[0]
    if deletes.listed:
        weights: Sequence[int] = deletes.listed
    else:
        weights = [deletes.expected // files.count] * len(classes)
    chunks = total // sizes.chunk + files.count  # an upper bound
    if chunks > _MAX_CHUNKS:
        chunks = sum(number * _count_chunks(size, sizes.chunk) for size, number in classes)
    expected = max(
        1,
        round(
            (
                _count_even(chunks, split, sizes)
                if chunks > _MAX_CHUNKS
                else _count_bins(classes, weights, split, sizes)
            )
            * factor
        ),
    )
    # Row groups of another size than the table's property result in other splits. A writer checks
    # the size only every thousand rows.
    if is_order_known and files.listed and deletes.is_known and largest <= min(sizes.chunk, split):
        return Count.exactly(expected)
    # Two bins that were started one after the other are, on average, more than half full.
    # Each part of a file carries all of the file's deletes.
    parts = -(-largest // sizes.chunk)
    most = max(expected, 2 * (total + deletes.most * parts) // split + 1)
    return Count(
        expected, 1 if largest > split else min(expected, -(-total // sizes.write_max)), most
    )


def _count_bins(
    classes: Sequence[_SizeClass], deletes: Sequence[int], split: int, sizes: OutputSizes
) -> int:
    bins = weigh_bins(_cut(classes, deletes, sizes.chunk), split, _LOOKBACK)
    # Deletes are read, and not written. A task above the split has only one part of a file.
    most = max(split, min(max(classes)[0], sizes.chunk))
    return sum(_count_written(min(weight, most), sizes) for weight in bins)


def _count_even(chunks: int, split: int, sizes: OutputSizes) -> int:
    """The count for too many row groups to pack one by one; all are assumed to be full."""
    in_bin = max(1, split // sizes.chunk)
    whole, rest = divmod(chunks, in_bin)
    return whole * _count_written(in_bin * sizes.chunk, sizes) + (
        _count_written(rest * sizes.chunk, sizes) if rest else 0
    )


def _count_written(weight: int, sizes: OutputSizes) -> int:
    """The number of files that one task writes for this many bytes."""
    return max(1, -(-weight // sizes.write_max))


def _classify(files: FileSizes) -> tuple[Sequence[_SizeClass], float]:
    """The classes of equal sizes, and how many files each file in them represents."""
    if files.listed:
        return [(size, 1) for size in files.listed], 1.0
    factor = max(1.0, files.count / _MAX_PACKED)
    return [one for run in files.runs for one in _sample(run, factor)], factor


def _sample(run: SizeRun, factor: float) -> Iterator[_SizeClass]:
    number = max(1, round(run.files / factor))
    mean, rest = divmod(run.bytes, run.files)
    if rest:
        yield mean + 1, min(rest, number)
    if number > rest:
        yield mean, number - rest


def _cut(classes: Iterable[_SizeClass], deletes: Iterable[int], chunk: int) -> Iterator[_SizeClass]:
    """Split files into the row groups in which they are read, with the deletes of their file."""
    for (size, number), more in zip(classes, deletes, strict=True):
        if size <= chunk:
            yield size + more, number
            continue
        whole = (size - 1) // chunk
        for _ in range(number):
            yield chunk + more, whole
            yield size - whole * chunk + more, 1


def _count_chunks(size: int, chunk: int) -> int:
    return max(1, -(-size // chunk))


def count_sorted(total: int, sizes: OutputSizes, compression: float) -> Count:
    """The number of files that a sort writes.

    It is one per shuffle partition, and more where a partition exceeds one output file.
    """
    expected = max(1, sizes.expect(int(total * compression)))
    return (
        Count.exactly(1)
        if expected == 1 and total <= sizes.write_max
        else Count(expected, 1, expected + total // sizes.write_max)
    )


def count_scattered(packed: Count, partitions: int | None, supposed: int, files: int) -> Count:
    """The number of files when a group is written into several partitions: at least one in each.

    If the number of partitions is unknown, the upper bound is the number of input files or more.
    """
    if partitions is None:
        return Count(max(packed.expected, supposed), 1, max(packed.most, supposed, files))
    return Count(
        max(packed.expected, partitions), max(partitions, 1), max(packed.most, 1) + partitions - 1
    )


def count_partitions(
    partitions: Iterable[tuple[int, str]], specs: Mapping[int, PartitionSpec], output: PartitionSpec
) -> int | None:
    """The number of partitions of the output spec for files of these (spec, partition).

    None when unknown.
    """
    found = set()
    for spec_id, text in partitions:
        translated = (
            text if spec_id == output.spec_id else _translate(text, specs.get(spec_id), output)
        )
        if translated is None:
            return None
        found.add(translated)
    return len(found)


def _translate(text: str, spec: PartitionSpec | None, output: PartitionSpec) -> str | None:
    values = read_partition(text, spec) if spec is not None else None
    if spec is None or values is None:
        return None
    parts = []
    for wanted in output.fields:
        if wanted.transform == "void":
            continue
        source = next((field for field in spec.fields if _tells(field, wanted)), None)
        if source is None:
            return None
        value = values[source.name]
        text = NULL_TEXT if value is None else escape(_shorten(value, wanted))
        parts.append(f"{escape(wanted.name)}={text}")
    return "/".join(parts)


def _tells(field: PartitionField, wanted: PartitionField) -> bool:
    if not field.column or field.column != wanted.column:
        return False
    if field.transform == wanted.transform:
        return True
    if field.transform == "identity":
        return wanted.transform in _TIMES and field.type_name in _DATES
    return _TIMES.get(field.transform, 0) > _TIMES.get(wanted.transform, len(_TIMES) * 10)


def _shorten(value: str, wanted: PartitionField) -> str:
    length = _TIMES.get(wanted.transform)
    return value.replace("T", "-")[:length] if length is not None else value
