"""The candidates of partitions whose files are known by classes of sizes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.file_sizes import FileSizes, GatheredSizes, find_runs, merge_runs
from maintainer.domain.health import PartitionHealth
from maintainer.estimate.file_selection import Bounds, find_candidates

SMALL, LARGE = 3_000, 7_200


@given(
    st.lists(st.integers(1, 12_000), min_size=1, max_size=300),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
)
def test_the_candidates_of_a_partition_without_deletes_are_one_run_for_each_class(
    sizes: list[int], bits: int, takes_all: bool, are_measured: bool
) -> None:
    gathered = GatheredSizes()
    gathered.add(FileSizes(runs=tuple(find_runs(sorted(sizes)))))
    gathered.widen(bits)
    small = [size for size in sizes if size < SMALL]
    large = [size for size in sizes if size > LARGE]
    partition = PartitionHealth(
        0, "", len(sizes), sum(sizes), len(small), sum(small), len(large), sum(large), 0,
        sizes=gathered.tell(),
    )  # fmt: skip
    bounds = Bounds(takes_all, SMALL, LARGE, 2**31 - 1, 0.3, are_measured)
    found = find_candidates(partition, bounds).files
    assert found == FileSizes(runs=merge_runs(found.runs))
    if are_measured or takes_all:
        assert found.count == (len(sizes) if takes_all else len(small) + len(large))
