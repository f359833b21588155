"""The packed files of a manifest, and file sizes: a list of few, runs of similar sizes of many.

They can be added up, and are small enough to keep for each partition of each manifest.
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from maintainer.domain.errors import InvalidValueError

WHOLE_PARTITION = 0  # key of a delete file that applies to a whole partition
_COLUMNS = 5
_WIDTHS = "BHIQ"  # the type codes of arrays for numbers with 1, 2, 4 and 8 bytes
_LEVEL = 1  # a higher level saves almost nothing
MIN_LISTED_SIZES = 32  # in each partition, for any number of partitions
MAX_LISTED_SIZES = 1024  # in one partition, and shared by all partitions of a manifest
# Bits after a size's leading bit. They give eight runs per octave: sizes in a run differ by
# at most an eighth.
FINEST_BITS = 3


class ListedFile(NamedTuple):
    """One live entry. `partition` is its position among the digest's partitions."""

    partition: int
    # of a data file: the key of its path; of a delete file: the key of its data file, or
    # WHOLE_PARTITION
    key: int
    size_bytes: int
    record_count: int
    sequence_number: int


class FileColumns(NamedTuple):
    """Live entries, as one column for each field of ListedFile; all columns are equally long."""

    partitions: array[int]
    keys: array[int]
    sizes_bytes: array[int]
    record_counts: array[int]
    sequence_numbers: array[int]

    def by_partition(self) -> Iterator[tuple[int, FileColumns]]:
        """Split the entries of unpack_columns: each partition's position, and its entries."""
        start = 0
        while start < len(self.partitions):
            position = self.partitions[start]
            end = bisect_right(self.partitions, position, start)
            yield position, FileColumns(*(column[start:end] for column in self))
            start = end


def path_key(path: bytes) -> int:
    """A number from 1 to 2**32 - 1 for a path.

    Two paths of a partition share a number with a chance of one in four billion.
    """
    return zlib.crc32(path) or 1


def pack_files(files: Iterable[tuple[int, int, int, int, int]]) -> bytes:
    """Pack the files (fields as of ListedFile) column by column, compressed; empty for no files.

    The first bytes name the width of each column, which is the least that holds its numbers.
    """
    columns = list(zip(*sorted(files), strict=True))
    if not columns:
        return b""
    arrays = [array(_width_of(max(column)), column) for column in columns]
    header = "".join(column.typecode for column in arrays).encode()
    return zlib.compress(b"".join((header, *(column.tobytes() for column in arrays))), _LEVEL)


def _width_of(largest: int) -> str:
    fitting = (width for width in _WIDTHS if largest >> (8 * array(width).itemsize) == 0)
    return next(fitting, _WIDTHS[-1])


def unpack_files(packed: bytes) -> Iterator[ListedFile]:
    """The packed files, in order; InvalidValueError for malformed input."""
    return map(ListedFile, *unpack_columns(packed))


def unpack_columns(packed: bytes) -> FileColumns:
    """The packed files by column, in order of all fields; InvalidValueError for malformed input."""
    if not packed:
        return FileColumns(*(array(_WIDTHS[0]) for _ in range(_COLUMNS)))
    try:
        plain = zlib.decompress(packed)
        columns = [array(width) for width in plain[:_COLUMNS].decode("ascii")]
        rows, rest = divmod(len(plain) - _COLUMNS, sum(column.itemsize for column in columns))
    except (zlib.error, ValueError, ZeroDivisionError) as error:
        raise InvalidValueError(f"{len(packed)} bytes are no list of files: {error}") from error
    if rest or len(columns) != _COLUMNS:
        raise InvalidValueError(
            f"{len(packed)} bytes are no list of files: {rest} of {len(plain)} are left over"
        )
    start = _COLUMNS
    for column in columns:
        end = start + rows * column.itemsize
        column.frombytes(plain[start:end])
        start = end
    return FileColumns(*columns)


class SizeRun(NamedTuple):
    """Files of similar sizes: smallest and largest in bytes, their number and their total bytes."""

    smallest: int
    largest: int
    files: int
    bytes: int


class DeletedFiles(NamedTuple):
    """Data files with deletes, of similar sizes and similar shares of deleted records.

    Only deletes that are known per file count.
    """

    files: int
    bytes: int
    smallest: int
    largest: int
    least_ratio: float  # deleted records / records
    most_ratio: float
    delete_files: int  # the least number of delete files that apply to a file
    more_delete_files: int = 0  # so many more may apply to some of the files

    @property
    def most_delete_files(self) -> int:
        """The largest number of delete files that apply to one of them."""
        return self.delete_files + self.more_delete_files


@dataclass(frozen=True, slots=True)
class FileSizes:
    """Sizes of files in bytes, as a list or as runs; one of the two is empty.

    The list is in the manifest's order, the runs are smallest first. Many files become runs.
    """

    listed: tuple[int, ...] = ()
    runs: tuple[SizeRun, ...] = ()

    @property
    def count(self) -> int:
        """The number of files."""
        return len(self.listed) + sum([run.files for run in self.runs])

    @property
    def bytes(self) -> int:
        return sum(self.listed) + sum([run.bytes for run in self.runs])


@dataclass(slots=True)
class GatheredSizes:
    """Sizes that are collected part by part: those that came as runs, and a list of the others.

    The list is in order of arrival. To find runs in one long list is faster than in many short
    ones.
    """

    listed: list[int] = field(default_factory=list)
    runs: dict[int, SizeRun] = field(default_factory=dict)  # by the upper end of the run

    def add(self, sizes: FileSizes, bits: int = FINEST_BITS) -> None:
        """Add the sizes of more files."""
        self.listed += sizes.listed
        self._add_runs(sizes.runs, bits)

    def shorten(self, limit: int, bits: int = FINEST_BITS) -> None:
        """Turn the list into runs if it is longer than the limit, or if there are runs."""
        if self.runs or len(self.listed) > limit:
            self._add_runs(find_runs(sorted(self.listed)), bits)
            self.listed = []

    def widen(self, bits: int) -> None:
        """Merge runs into fewer, wider ones."""
        narrow, self.runs = self.runs, {}
        self._add_runs(narrow.values(), bits)

    def tell(self) -> FileSizes:
        """The sizes collected so far."""
        return FileSizes(tuple(self.listed), tuple(self.runs[end] for end in sorted(self.runs)))

    def _add_runs(self, runs: Iterable[SizeRun], bits: int) -> None:
        for run in runs:
            end = end_of_run(run.smallest, bits)
            known = self.runs.get(end)
            self.runs[end] = run if known is None else join_runs(known, run)


def list_limit(partitions: int, together: int = MAX_LISTED_SIZES) -> int:
    """The number of sizes that each partition may list, from the number they share."""
    return max(MIN_LISTED_SIZES, min(MAX_LISTED_SIZES, together // max(1, partitions)))


def find_runs(ordered: Sequence[int]) -> list[SizeRun]:
    runs = []
    start = 0
    while start < len(ordered):
        end = bisect_left(ordered, end_of_run(ordered[start]), start)
        runs.append(SizeRun(ordered[start], ordered[end - 1], end - start, sum(ordered[start:end])))
        start = end
    return runs


def merge_runs(runs: Iterable[SizeRun]) -> tuple[SizeRun, ...]:
    """Merge runs of similar sizes; smallest first."""
    gathered = GatheredSizes()
    gathered.add(FileSizes(runs=tuple(runs)))
    return gathered.tell().runs


def join_runs(some: SizeRun, more: SizeRun) -> SizeRun:
    return SizeRun(
        min(some.smallest, more.smallest),
        max(some.largest, more.largest),
        some.files + more.files,
        some.bytes + more.bytes,
    )


def end_of_run(size: int, bits: int = FINEST_BITS) -> int:
    """The first size above the run that a size belongs to.

    `bits` after the leading bit separate runs; with 0 bits a run is an octave.
    """
    shift = size.bit_length() - 1 - bits
    return ((size >> shift) + 1) << shift if shift > 0 else size + 1
