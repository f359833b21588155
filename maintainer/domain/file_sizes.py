"""File sizes: a list while there are few, runs of similar sizes when there are many.

They can be added up, and are small enough to keep for each partition of each manifest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MIN_LISTED_SIZES = 32  # in each partition, for any number of partitions
MAX_LISTED_SIZES = 1024  # in one partition, and shared by all partitions of a manifest
# Bits after a size's leading bit. They give eight runs per octave: sizes in a run differ by
# at most an eighth.
FINEST_BITS = 3


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
