"""Which files of a partition Iceberg selects for a rewrite: by size, and by their deletes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from maintainer.domain.file_sizes import DeletedFiles, FileSizes, SizeRun, merge_runs
from maintainer.domain.health import PartitionHealth


def pack(
    weights: Iterable[int], limit: int, lookback: int, *, most_items: int | None = None
) -> Iterator[list[int]]:
    """The bins in the order in which Iceberg closes them, oldest first.

    An item above the limit has a bin of its own.
    """
    bins: list[_Bin] = []
    for weight in weights:
        fitting = next(
            (
                found
                for found in bins
                if found.weight + weight <= limit
                and (most_items is None or len(found.items) < most_items)
            ),
            None,
        )
        if fitting is not None:
            fitting.add(weight)
            continue
        bins.append(_Bin(weight))
        if len(bins) > lookback:
            yield bins.pop(0).items
    yield from (left.items for left in bins)


class _Bin:
    """The items of one bin so far."""

    __slots__ = ("items", "weight")

    def __init__(self, weight: int) -> None:
        self.items = [weight]
        self.weight = weight

    def add(self, weight: int) -> None:
        self.items.append(weight)
        self.weight += weight


def weigh_bins(classes: Iterable[tuple[int, int]], limit: int, lookback: int) -> Iterator[int]:
    """The weights of the bins for classes of equal items, each (weight, number), heaviest first.

    Equal items in a row fill one bin after the other, so each bin takes its share at once.
    """
    bins: list[int] = []
    for weight, number in classes:
        left = number
        room = limit - weight
        for position, filled in enumerate(bins):
            if filled <= room:
                taken = 1 if left == 1 else _count_fitting(weight, left, limit - filled)
                bins[position] = filled + taken * weight
                left -= taken
                if not left:
                    break
        while left:  # no open bin has room for another item
            bins.append(weight)
            left -= 1
            if len(bins) > lookback:
                heaviest = bins.index(max(bins))
                yield bins.pop(heaviest)
                if heaviest == len(bins):
                    continue
            if left and 2 * weight <= limit:
                taken = _count_fitting(weight, left, limit - weight)
                bins[-1] += taken * weight
                left -= taken
    yield from bins


def _count_fitting(weight: int, number: int, room: int) -> int:
    return min(number, room // weight) if weight else number


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds from which a file is a candidate. Sizes are in bytes."""

    takes_all: bool
    small_below: int
    large_above: int
    delete_files: int
    delete_ratio: float
    are_measured: bool  # True: the numbers of small and large files were measured with these bounds

    def takes_size(self, size: int) -> bool:
        return self.takes_all or size < self.small_below or size > self.large_above

    def take_sizes(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The sizes of the files that are candidates, in order."""
        if self.takes_all:
            return sizes
        small, large = self.small_below, self.large_above
        return tuple([size for size in sizes if size < small or size > large])

    def takes_deletes(self, files: DeletedFiles) -> bool:
        """True when each of the files is a candidate because of its deletes."""
        return files.delete_files >= self.delete_files or files.least_ratio >= self.delete_ratio

    def are_across(self, files: DeletedFiles) -> bool:
        """True when some of the files may be candidates by size and others not."""
        return self.takes_size(files.smallest) != self.takes_size(files.largest)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The files of one partition that a rewrite would select."""

    files: FileSizes
    deleted: int = 0  # files with too many deletes, among these files
    uncertain: int = 0  # files that may be candidates or not
    emptied: int = 0  # files without live rows
    # files with at least as many deletes as rows: no row is left, unless some deletes are for the
    # same row
    depleted: int = 0


def may_have_candidates(partition: PartitionHealth, bounds: Bounds) -> bool:
    """False when the counts alone show that a partition has no candidates."""
    return (
        bounds.takes_all
        or not bounds.are_measured
        or bool(partition.small_files or partition.large_files or partition.deleted)
    )


def find_candidates(partition: PartitionHealth, bounds: Bounds) -> Candidates:
    sizes = (
        partition.sizes
        if partition.sizes.count or not partition.data_files
        else _suppose_sizes(partition)
    )
    deleted = [
        files
        for files in partition.deleted
        if files.most_delete_files >= bounds.delete_files or files.most_ratio >= bounds.delete_ratio
    ]
    uncertain = sum(
        files.files
        for files in deleted
        if not bounds.takes_deletes(files) or bounds.are_across(files)
    )
    further = [files for files in deleted if not bounds.takes_size(files.smallest)]
    listed = bounds.take_sizes(sizes.listed)
    runs, unsure = _select_runs(sizes.runs, partition, bounds)
    count, depleted = (
        sum(files.files for files in deleted),
        sum(files.files for files in deleted if files.least_ratio >= 1),
    )
    emptied = sum(
        files.files for files in deleted if files.least_ratio >= 1 and files.most_delete_files == 1
    )
    if partition.sizes.runs and not further:  # the runs have one entry for each size
        return Candidates(FileSizes(runs=tuple(runs)), count, uncertain + unsure, emptied, depleted)
    if sizes.runs or any(files.files > 1 for files in further):
        merged = merge_runs(
            [
                *(SizeRun(size, size, 1, size) for size in listed),
                *runs,
                *(_as_run(files) for files in further),
            ]
        )
        return Candidates(FileSizes(runs=merged), count, uncertain + unsure, emptied, depleted)
    return Candidates(
        FileSizes((*listed, *(files.bytes for files in further))),
        count,
        uncertain + unsure,
        emptied,
        depleted,
    )


def merge_candidates(found: Sequence[Candidates]) -> Candidates:
    """Combine the candidates of several partitions."""
    if len(found) == 1:
        return found[0]
    sums = [
        sum(column)
        for column in zip(
            *((one.deleted, one.uncertain, one.emptied, one.depleted) for one in found), strict=True
        )
    ]
    if any(one.files.runs for one in found):
        runs = [
            run
            for one in found
            for run in (
                *one.files.runs,
                *(SizeRun(size, size, 1, size) for size in one.files.listed),
            )
        ]
        return Candidates(FileSizes(runs=merge_runs(runs)), *sums)
    return Candidates(FileSizes(tuple(size for one in found for size in one.files.listed)), *sums)


def _as_run(files: DeletedFiles) -> SizeRun:
    return SizeRun(files.smallest, files.largest, files.files, files.bytes)


def _suppose_sizes(partition: PartitionHealth) -> FileSizes:
    """Assumed sizes for a partition with counts only.

    Small, large and other files each have one common size.
    """
    small, large = (
        (partition.small_files, partition.small_bytes),
        (partition.large_files, partition.large_bytes),
    )
    others = (
        partition.data_files - small[0] - large[0],
        partition.data_bytes - small[1] - large[1],
    )
    return FileSizes(
        runs=tuple(
            SizeRun(size // files, -(-size // files), files, size)
            for files, size in (small, others, large)
            if files
        )
    )


def _select_runs(
    runs: Sequence[SizeRun], partition: PartitionHealth, bounds: Bounds
) -> tuple[list[SizeRun], int]:
    """The runs with candidates, and how many of their files may not be candidates."""
    if bounds.takes_all:
        return list(runs), 0
    taken, unsure = [], 0
    known = (
        {True: partition.small_files, False: partition.large_files} if bounds.are_measured else {}
    )
    for run in runs:
        is_small = run.smallest < bounds.small_below
        if run.largest < bounds.small_below or run.smallest > bounds.large_above:
            taken.append(run)
        elif is_small or run.largest > bounds.large_above:
            there = sum(
                other.files
                for other in runs
                if (
                    other.largest < bounds.small_below
                    if is_small
                    else other.smallest > bounds.large_above
                )
            )
            part, error = _part_of(
                run, bounds, is_small=is_small, number=known[is_small] - there if known else None
            )
            taken += part
            unsure += error
    return taken, unsure


def _part_of(
    run: SizeRun, bounds: Bounds, *, is_small: bool, number: int | None
) -> tuple[Iterator[SizeRun] | list[SizeRun], int]:
    """The part of a run beyond a bound that lies inside the run.

    It has the known number of files, else sizes are assumed to be spread evenly.
    """
    share = (
        bounds.small_below - run.smallest if is_small else run.largest - bounds.large_above
    ) / max(1, run.largest - run.smallest)
    files = round(run.files * min(1.0, share)) if number is None else number
    error = 0 if number is not None else max(files, run.files - files)
    if files <= 0:
        return [], error
    low, high = (
        (run.smallest, bounds.small_below - 1)
        if is_small
        else (bounds.large_above + 1, run.largest)
    )
    return [SizeRun(low, high, files, min(run.bytes, files * (low + high) // 2))], error
