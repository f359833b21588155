"""Bins of classes of equal items, against Iceberg's way of packing one item after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.file_sizes import FileSizes, find_runs
from maintainer.domain.units import MIB
from maintainer.estimate.bin_packing import pack, weigh_bins
from maintainer.estimate.output_files import OutputSizes, count_packed

CLASSES = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 30)), max_size=12)


def weigh_one_by_one(weights: Sequence[int], limit: int, lookback: int) -> Iterator[int]:
    """Iceberg's own procedure: the heaviest bin is closed when there are more than `lookback`."""
    bins: list[int] = []
    for weight in weights:
        for position, filled in enumerate(bins):
            if filled + weight <= limit:
                bins[position] += weight
                break
        else:
            bins.append(weight)
            if len(bins) > lookback:
                yield bins.pop(max(range(len(bins)), key=bins.__getitem__))
    yield from bins


def test_items_go_into_the_first_of_the_last_bins_that_has_room() -> None:
    assert list(pack([6, 5, 4, 5, 6], 10, 1)) == [[6], [5, 4], [5], [6]]
    assert list(pack([1, 1, 1], 10, 1, most_items=2)) == [[1, 1], [1]]
    assert list(pack([99], 10, 1)) == [[99]]


def test_the_heaviest_of_too_many_bins_is_closed() -> None:
    assert list(weigh_bins([(6, 1), (5, 1), (4, 1), (5, 1), (6, 1)], 10, 2)) == [10, 10, 6]
    assert list(weigh_bins([(3, 1), (9, 1), (8, 1)], 10, 1)) == [9, 8, 3]
    assert list(weigh_bins([(4, 5)], 10, 10)) == [8, 8, 4]
    assert list(weigh_bins([(99, 2)], 10, 1)) == [99, 99]


@given(CLASSES, st.integers(0, 40), st.integers(1, 4))
def test_a_class_is_packed_as_its_items_one_by_one(
    classes: list[tuple[int, int]], limit: int, lookback: int
) -> None:
    weights = [weight for weight, number in classes for _ in range(number)]
    expected = list(weigh_one_by_one(weights, limit, lookback))
    assert list(weigh_bins(classes, limit, lookback)) == expected


@given(
    st.lists(st.tuples(st.integers(0, 300 * MIB), st.integers(1, 60)), min_size=1, max_size=20),
    st.sampled_from((MIB, 64 * MIB, 128 * MIB)),
)
def test_the_outputs_of_files_in_runs_are_those_of_the_same_files_one_by_one(
    drawn: list[tuple[int, int]], chunk: int
) -> None:
    sizes = OutputSizes(512 * MIB, 384 * MIB, 921 * MIB, chunk)
    ordered = sorted(size for size, number in drawn for _ in range(number))
    runs = find_runs(ordered)
    # A run knows the mean of its files alone: the files one by one have that size.
    alike = []
    for run in runs:
        mean, rest = divmod(run.bytes, run.files)
        alike += [mean + 1] * rest + [mean] * (run.files - rest)
    grouped = count_packed(FileSizes(runs=tuple(runs)), sizes, is_order_known=False)
    assert grouped == count_packed(FileSizes(tuple(alike)), sizes, is_order_known=False)
