"""Which files of a partition Iceberg selects for a rewrite: by size, and by their deletes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from maintainer.domain.file_sizes import DeletedFiles, FileSizes, SizeRun, merge_runs
from maintainer.domain.health import PartitionHealth

_VECTOR_BYTES = 64  # of a deletion vector of a few rows; health has no sizes of vectors


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
class DeleteBytes:
    """The bytes of the delete files that Spark reads with data files.

    Spark adds them to the weight of each data file to which they apply.
    """

    listed: tuple[int, ...] = ()  # of each data file that is listed; empty: none has any
    expected: int = 0  # of all data files together
    most: int = 0
    is_known: bool = True  # False: which delete files apply to which data file is not known


NO_DELETES = DeleteBytes()


@dataclass(frozen=True, slots=True)
class Candidates:
    """The files of one partition that a rewrite would select."""

    files: FileSizes
    deleted: int = 0  # files with too many deletes, among these files
    uncertain: int = 0  # files that may be candidates or not
    emptied: int = 0  # files without live rows
    depleted: int = 0  # files of which the deletes may leave no row
    deletes: DeleteBytes = NO_DELETES
    # the positions in the list of files of those with too many deletes; None: not known
    marked: frozenset[int] | None = frozenset()


def may_have_candidates(partition: PartitionHealth, bounds: Bounds) -> bool:
    """False when the counts alone show that a partition has no candidates."""
    return (
        bounds.takes_all
        or not bounds.are_measured
        or bool(partition.small_files or partition.large_files or partition.deleted)
    )


def find_candidates(
    partition: PartitionHealth, bounds: Bounds, common: DeleteBytes = NO_DELETES
) -> Candidates:
    """Select the files; `common` are the equality deletes that apply to all partitions."""
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
    weigh = _DeleteScale.read(partition, common)
    if partition.deleted and not sizes.runs and all(one.files == 1 for one in partition.deleted):
        return _select_listed(sizes.listed, partition, bounds, weigh)
    listed = bounds.take_sizes(sizes.listed)
    runs, unsure = _select_runs(sizes.runs, partition, bounds)
    count = sum(files.files for files in deleted)
    depleted = sum(files.files for files in partition.deleted if _may_be_empty(files))
    emptied = sum(
        files.files for files in deleted if files.least_ratio >= 1 and files.most_delete_files == 1
    )
    taken = FileSizes(listed, tuple(runs))
    if further:  # otherwise the runs have one entry for each size
        taken = FileSizes(
            runs=merge_runs(
                [
                    *(SizeRun(size, size, 1, size) for size in listed),
                    *runs,
                    *(_as_run(files) for files in further),
                ]
            )
        )
    return Candidates(
        taken,
        count,
        uncertain + unsure,
        emptied,
        depleted,
        weigh.weigh_all(partition.deleted),
        None if count else frozenset(),
    )


def _may_be_empty(files: DeletedFiles) -> bool:
    """False when a single delete file applies, which is this data file's own and leaves rows.

    How many rows of a data file the shared and the equality deletes delete is unknown.
    """
    return files.most_ratio >= 1 or not (files.most_delete_files == 1 and files.least_ratio)


@dataclass(frozen=True, slots=True)
class _DeleteScale:
    """The delete files of a partition, to weigh those that apply to one data file."""

    files: int
    bytes: int
    is_exact: bool  # all of them apply wherever as many apply

    @classmethod
    def read(cls, partition: PartitionHealth, common: DeleteBytes) -> _DeleteScale:
        size = partition.position_delete_bytes + partition.equality_delete_bytes
        if common.most and partition.partition:
            # How many these are is unknown: they count as one.
            return cls(partition.delete_files + 1, size + common.most, is_exact=False)
        # The size of deletion vectors is unknown, and whether an equality delete applies depends
        # on column bounds too.
        is_exact = (
            partition.position_delete_files == partition.delete_files
            and not partition.equality_delete_bytes
        )
        return cls(partition.delete_files, size, is_exact)

    def weigh(self, files: DeletedFiles) -> int:
        """The expected bytes of the delete files that apply to one of these data files."""
        return self.bytes * min(files.delete_files, self.files) // self.files if self.files else 0

    def weigh_all(
        self, deleted: Iterable[DeletedFiles], listed: tuple[int, ...] = (), *, known: bool = False
    ) -> DeleteBytes:
        """The bytes of the delete files of all these data files."""
        expected = most = alone = 0
        for files in deleted:
            expected += files.files * self.weigh(files)
            # Only deletes of a single file have a known share. No two files have the same ones.
            if files.most_delete_files == 1 and files.least_ratio:
                alone = self.bytes
            else:
                most += files.files * self.bytes
            if not self.is_exact:
                most += files.files * _VECTOR_BYTES
            known &= self.is_exact and files.delete_files == self.files
        return DeleteBytes(listed, expected, max(expected, most + alone), known)


def _select_listed(
    sizes: Sequence[int], partition: PartitionHealth, bounds: Bounds, scale: _DeleteScale
) -> Candidates:
    """The candidates in the manifest's order, where each file's size and deletes are listed."""
    by_size: dict[int, list[DeletedFiles]] = defaultdict(list)
    for one in partition.deleted:
        by_size[one.bytes].append(one)
    numbers = Counter(sizes)
    # Sizes and deletes are listed apart. A size that several files have is certain if their
    # deletes are alike.
    is_certain = all(
        len(found) == numbers[size] and len(set(found)) == 1 for size, found in by_size.items()
    )
    taken: list[int] = []
    weights: list[int] = []
    with_deletes: list[DeletedFiles] = []
    marked: set[int] = set()
    emptied = depleted = 0
    for size in sizes:
        there = by_size[size].pop() if by_size.get(size) else None
        is_marked = there is not None and bounds.takes_deletes(there)
        if not (is_marked or bounds.takes_size(size)):
            continue
        if is_marked:
            marked.add(len(taken))
        taken.append(size)
        weights.append(scale.weigh(there) if there is not None else 0)
        if there is not None:
            with_deletes.append(there)
            emptied += is_marked and there.least_ratio >= 1 and there.delete_files == 1
            depleted += _may_be_empty(there)
    return Candidates(
        FileSizes(tuple(taken)),
        len(marked),
        0,
        emptied,
        depleted,
        scale.weigh_all(with_deletes, tuple(weights), known=is_certain),
        frozenset(marked) if is_certain or not marked else None,
    )


def merge_candidates(found: Sequence[Candidates]) -> Candidates:
    """Combine the candidates of several partitions."""
    if len(found) == 1:
        return found[0]
    deleted, uncertain, emptied, depleted = (
        sum(column)
        for column in zip(
            *((one.deleted, one.uncertain, one.emptied, one.depleted) for one in found), strict=True
        )
    )
    is_listed = not any(one.files.runs for one in found)
    deletes = DeleteBytes(
        tuple(
            weight for one in found for weight in one.deletes.listed or (0,) * len(one.files.listed)
        )
        if is_listed
        else (),
        sum(one.deletes.expected for one in found),
        sum(one.deletes.most for one in found),
        is_listed and all(one.deletes.is_known for one in found),
    )
    # Iceberg reads the partitions in an order of its own.
    marked = None if any(one.deleted for one in found) else frozenset[int]()
    files = FileSizes(tuple(size for one in found for size in one.files.listed))
    if not is_listed:
        runs = [
            run
            for one in found
            for run in (
                *one.files.runs,
                *(SizeRun(size, size, 1, size) for size in one.files.listed),
            )
        ]
        files = FileSizes(runs=merge_runs(runs))
    return Candidates(files, deleted, uncertain, emptied, depleted, deletes, marked)


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
