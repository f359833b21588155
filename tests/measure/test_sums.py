from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.domain.file_sizes import (
    MAX_LISTED_SIZES,
    MIN_LISTED_SIZES,
    FileSizes,
    SizeRun,
    find_runs,
)
from maintainer.domain.inventory import Content, PartitionDigest
from maintainer.measure.sums import MOST_EXACT, MOST_LISTED, PartitionSums
from tests.examples import examples

SIZES = st.lists(st.integers(1, 2**20), min_size=1, max_size=80)
FILLERS = MIN_LISTED_SIZES  # so many partitions that each may list only the fewest


def share(partition: str, sizes: FileSizes, content: Content = Content.DATA) -> PartitionDigest:
    return PartitionDigest(0, partition, content, sizes.count, sizes.bytes, 1, 0, 0, 0, 0, sizes)


def sums_of(
    shares: list[PartitionDigest],
    most_runs: int,
    most_listed: int = MOST_LISTED,
    most_exact: int = MAX_LISTED_SIZES,
) -> tuple[int, dict[str, FileSizes]]:
    sums = PartitionSums(most_runs, most_listed, most_exact)
    for one in shares:
        sums.add(one)
    reported = {key[1]: known.sizes for key, known, _ in sums.tell()}
    return sums.bits, reported


@given(
    parts=st.lists(st.tuples(st.sampled_from("ab"), SIZES), min_size=1, max_size=8),
    most_runs=st.integers(0, 60),
    fillers=st.sampled_from((0, FILLERS)),
)
@settings(max_examples=examples(60))
def test_runs_of_sizes_are_no_more_than_there_may_be_in_any_order(
    parts: list[tuple[str, list[int]]], most_runs: int, fillers: int
) -> None:
    shares = [share(partition, FileSizes(tuple(sizes))) for partition, sizes in parts]
    shares += [share(f"filler-{number}", FileSizes((1,))) for number in range(fillers)]
    bits, found = sums_of(shares, most_runs)
    assert bits == 0 or sum(len(sizes.runs) for sizes in found.values()) <= most_runs
    for partition in "ab":
        sizes = sorted(size for of, some in parts if of == partition for size in some)
        known = found.get(partition, FileSizes())
        assert (known.count, known.bytes) == (len(sizes), sum(sizes))
        assert all(run.largest - run.smallest <= run.smallest / 2**bits for run in known.runs)
        assert all(one.largest < other.smallest for one, other in pairwise(known.runs))
        if bits == 3 and known.runs:
            assert known.runs == tuple(find_runs(sizes))
    again = sums_of(shares[::-1], most_runs)
    assert again[0] == bits
    assert {key: sizes.runs for key, sizes in again[1].items()} == {
        key: sizes.runs for key, sizes in found.items()
    }


@given(
    parts=st.lists(st.tuples(st.sampled_from("ab"), SIZES), min_size=1, max_size=8),
    most_runs=st.integers(0, 60),
    most_listed=st.integers(0, 200),
)
def test_it_does_not_matter_when_runs_are_found(
    parts: list[tuple[str, list[int]]], most_runs: int, most_listed: int
) -> None:
    shares = [share(partition, FileSizes(tuple(sizes))) for partition, sizes in parts]
    shares += [share(f"filler-{number}", FileSizes((1,))) for number in range(FILLERS)]
    at_the_end = sums_of(shares, most_runs)
    assert sums_of(shares, most_runs, most_listed) == at_the_end
    assert sums_of(shares, most_runs, 0) == at_the_end  # share by share


def test_sizes_wait_in_lists_only_up_to_their_limit() -> None:
    sums = PartitionSums(most_listed=100)
    listed = [0]
    for number in range(50):
        sums.add(share("a", FileSizes(tuple(range(number * 50, number * 50 + 50)))))
        listed.append(len(sums.partitions[0, "a"].sizes.listed))
    assert max(listed) == MAX_LISTED_SIZES - MAX_LISTED_SIZES % 50
    assert listed[-1] <= 100


def test_a_partition_lists_fewer_sizes_when_many_partitions_came_after_it() -> None:
    few, many = (
        FileSizes(tuple(range(100, 100 + MIN_LISTED_SIZES))),
        FileSizes(tuple(range(100, 101 + MIN_LISTED_SIZES))),
    )
    shares = [
        share("few", few),
        share("many", many),
        *(share(f"filler-{number}", FileSizes((1,))) for number in range(FILLERS)),
    ]
    _, found = sums_of(shares, 10**9)
    assert (found["few"], found["many"].listed) == (few, ())
    assert found["many"].runs == tuple(find_runs(sorted(many.listed)))


def test_a_table_keeps_the_sizes_of_250_000_files_as_lists() -> None:
    most = FileSizes(tuple(range(1, 1 + MAX_LISTED_SIZES)))
    partitions = MOST_EXACT // MAX_LISTED_SIZES
    shares = [share(str(number), most) for number in range(partitions)]
    _, found = sums_of(shares, 10**9, most_exact=MOST_EXACT)
    assert set(found.values()) == {most}
    shares += [share("one more", FileSizes((1,)))] * 2
    _, found = sums_of(shares, 10**9, most_exact=MOST_EXACT)
    assert found["one more"].listed == (1, 1)
    assert found["0"].runs == tuple(find_runs(most.listed))


def test_sizes_are_those_of_data_files_alone() -> None:
    _, found = sums_of(
        [
            share("a", FileSizes((5,))),
            share("a", FileSizes(runs=(SizeRun(1, 1, 2, 2),)), Content.POSITION_DELETES),
        ],
        10,
    )
    assert found == {"a": FileSizes((5,))}


def test_more_runs_than_there_may_be_make_all_of_them_wider() -> None:
    runs = FileSizes(runs=tuple(find_runs([2**power for power in range(20)])))
    few, _ = sums_of([share("a", runs), share("b", runs)], most_runs=8)
    many, _ = sums_of([share("a", runs), share("b", runs)], most_runs=1000)
    assert few < many
