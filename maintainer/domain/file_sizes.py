"""File sizes, few of them one by one, many of them in runs of like sizes: additive, and small
enough to keep for each partition of each manifest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MIN_LISTED_SIZES = 32  # in each partition, however many partitions there are
MAX_LISTED_SIZES = 1024  # shared by all partitions
# of a size after its first: eight runs to an octave, so that the sizes in a run differ by at most
# an eighth
FINEST_BITS = 3


class SizeRun(NamedTuple):
    """Files of like sizes: bytes of the smallest, of the largest, their number, their bytes
    together.
    """

    smallest: int
    largest: int
    files: int
    bytes: int


class DeletedFiles(NamedTuple):
    """Data files of like sizes with deletes, and of like shares of deleted records, as far as
    single files are known to lose them.
    """

    files: int
    bytes: int
    smallest: int
    largest: int
    least_ratio: float  # deleted records / records
    most_ratio: float
    delete_files: int  # that apply to each, at least
    more_delete_files: int = 0  # how many more may apply to some

    @property
    def most_delete_files(self) -> int:
        """That apply to any of them, at most."""
        return self.delete_files + self.more_delete_files


@dataclass(frozen=True, slots=True)
class FileSizes:
    """Sizes in bytes of some files: listed in the order of the manifest while they are few, else in
    runs, smallest first. One of both is empty.
    """

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


@dataclass(slots=True)
class GatheredSizes:
    """Sizes that come together part by part: listed, in the order in which they came, while every
    part lists its own and they are few.
    """

    listed: list[int] = field(default_factory=list)
    runs: dict[int, SizeRun] = field(default_factory=dict)  # by their ends

    def add(self, sizes: FileSizes, limit: int, bits: int = FINEST_BITS) -> None:
        """Take the sizes of more files; beyond the limit, or beside runs, they become runs."""
        self.listed += sizes.listed
        self._add_runs(sizes.runs, bits)
        self.shorten(limit, bits)

    def shorten(self, limit: int, bits: int) -> None:
        """Make runs of what is listed, where that is more than the limit now."""
        if self.runs or len(self.listed) > limit:
            self._add_runs(find_runs(sorted(self.listed)), bits)
            self.listed = []

    def widen(self, bits: int) -> None:
        """Make the runs fewer."""
        narrow, self.runs = self.runs, {}
        self._add_runs(narrow.values(), bits)

    def tell(self) -> FileSizes:
        """What there is now."""
        return FileSizes(tuple(self.listed), tuple(self.runs[end] for end in sorted(self.runs)))

    def _add_runs(self, runs: Iterable[SizeRun], bits: int) -> None:
        for run in runs:
            end = end_of_run(run.smallest, bits)
            known = self.runs.get(end)
            self.runs[end] = run if known is None else join_runs(known, run)


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
    gathered = GatheredSizes()
    gathered.add(FileSizes(runs=tuple(runs)), 0)
    return gathered.tell().runs


def join_runs(some: SizeRun, more: SizeRun) -> SizeRun:
    """One run of two."""
    return SizeRun(
        min(some.smallest, more.smallest),
        max(some.largest, more.largest),
        some.files + more.files,
        some.bytes + more.bytes,
    )


def end_of_run(size: int, bits: int = FINEST_BITS) -> int:
    """The first size above the run that a size belongs to, where so many bits after its first tell
    runs apart: with none a run is an octave.
    """
    shift = max(0, size.bit_length() - 1 - bits)
    return ((size >> shift) + 1) << shift
