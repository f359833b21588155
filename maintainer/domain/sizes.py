"""File sizes, few of them one by one, many of them in runs of like sizes: additive, and small enough to keep for each partition of each manifest."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MIN_LISTED_SIZES = 32  # in each partition, however many partitions there are
MAX_LISTED_SIZES = 1024  # shared by all partitions
_BITS = 3  # of a size after its first: eight runs to an octave, so that the sizes in a run differ by at most an eighth


class SizeRun(NamedTuple):
    """Files of like sizes: bytes of the smallest, of the largest, their number, their bytes together."""

    smallest: int
    largest: int
    files: int
    bytes: int


class DeletedFiles(NamedTuple):
    """Data files of like sizes with deletes, and of like shares of deleted records, as far as single files are known to lose them."""

    files: int
    bytes: int
    smallest: int
    largest: int
    least_ratio: float  # deleted records / records
    most_ratio: float
    delete_files: int  # that apply to each


@dataclass(frozen=True, slots=True)
class FileSizes:
    """Sizes in bytes of some files: listed in the order of the manifest while they are few, else in runs, smallest first. One of both is empty."""

    listed: tuple[int, ...] = ()
    runs: tuple[SizeRun, ...] = ()

    @property
    def count(self) -> int:
        """How many files."""
        return len(self.listed) + sum(run.files for run in self.runs)

    @property
    def bytes(self) -> int:
        """How many bytes they have together."""
        return sum(self.listed) + sum(run.bytes for run in self.runs)


def list_limit(partitions: int) -> int:
    """How many sizes a partition may list when there are so many partitions."""
    return max(MIN_LISTED_SIZES, MAX_LISTED_SIZES // max(1, partitions))


def find_runs(ordered: Sequence[int]) -> list[SizeRun]:
    """The runs of sizes that are in ascending order."""
    runs = []
    start = 0
    while start < len(ordered):
        end = bisect_left(ordered, end_of_run(ordered[start]), start)
        runs.append(SizeRun(ordered[start], ordered[end - 1], end - start, sum(ordered[start:end])))
        start = end
    return runs


def merge_runs(runs: Iterable[SizeRun]) -> tuple[SizeRun, ...]:
    """Runs of like sizes made one, smallest first."""
    merged: dict[int, SizeRun] = {}
    for run in runs:
        key = end_of_run(run.smallest)
        known = merged.get(key, run)
        count, size = (known.files, known.bytes) if known is not run else (0, 0)
        merged[key] = SizeRun(min(known.smallest, run.smallest), max(known.largest, run.largest), count + run.files, size + run.bytes)
    return tuple(merged[key] for key in sorted(merged))


def merge_sizes(parts: Sequence[FileSizes], limit: int) -> FileSizes:
    """All sizes together, listed when every part lists its own and they are no more than the limit."""
    if len(parts) == 1 and len(parts[0].listed) <= limit:
        return parts[0]
    if all(not part.runs for part in parts) and sum(len(part.listed) for part in parts) <= limit:
        return FileSizes(tuple(size for part in parts for size in part.listed))
    listed = sorted(size for part in parts for size in part.listed)
    return FileSizes(runs=merge_runs([*find_runs(listed), *(run for part in parts for run in part.runs)]))


def end_of_run(size: int) -> int:
    """The first size above the run that a size belongs to."""
    shift = max(0, size.bit_length() - 1 - _BITS)
    return ((size >> shift) + 1) << shift
