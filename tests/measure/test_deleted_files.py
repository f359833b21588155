from __future__ import annotations

from itertools import product

from hypothesis import example, given, settings
from hypothesis import strategies as st

from maintainer.domain.file_sizes import DeletedFiles
from maintainer.domain.inventory import SizeClasses
from maintainer.measure.deleted_files import NO_BOUNDS, DeletedTable, Grain
from tests.examples import examples

BOUNDS = SizeClasses(1000, 750, 1800)
DELETED = st.tuples(
    st.sampled_from((0, 1)),
    st.integers(0, 5000),
    st.sampled_from((0.0, 0.04, 0.1, 0.29, 0.3, 0.31, 0.7, 0.99, 1.0)),
    st.sampled_from((1, 2, 3, 4, 9)),
)
Files = list[tuple[int, int, float, int]]


def gather(
    files: Files, most_single: int, most_classes: int, limit: int = 4
) -> tuple[DeletedTable, dict[tuple[int, str], tuple[DeletedFiles, ...]]]:
    table = DeletedTable(limit, BOUNDS, most_single, most_classes)
    for partition, size, ratio, count in files:
        table.add((0, str(partition)), [(size, ratio, count)])
    return table, table.tell()


def holds(known: DeletedFiles, size: int, ratio: float, count: int) -> bool:
    return (
        known.smallest <= size <= known.largest
        and known.least_ratio <= ratio <= known.most_ratio
        and known.delete_files <= count <= known.most_delete_files
        and known.bytes <= known.files * known.largest
    )


@given(
    files=st.lists(DELETED, min_size=1, max_size=60),
    most_single=st.integers(0, 60),
    most_classes=st.integers(0, 40),
)
@example(
    files=[(0, 1000, 0.5, 3), (0, 1010, 0.5, 4), (0, 1020, 0.5, 3), (0, 1030, 0.5, 1)] * 12,
    most_single=0,
    most_classes=1,
)
@settings(max_examples=examples(150))
def test_classes_are_no_more_than_there_may_be_and_tell_the_truth_of_each_file(
    files: Files, most_single: int, most_classes: int
) -> None:
    table, found = gather(files, most_single, most_classes)
    for partition in (0, 1):
        there = [(size, ratio, count) for of, size, ratio, count in files if of == partition]
        known = found.get((0, str(partition)), ())
        assert (sum(one.files for one in known), sum(one.bytes for one in known)) == (
            len(there),
            sum(size for size, _, _ in there),
        )
        assert all(any(holds(one, *file) for one in known) for file in there)
    classes = [one for known in found.values() for one in known]
    assert (
        table.grain is Grain.COARSEST
        or len([one for one in classes if one.files > 1]) <= most_classes
    )
    assert len(files) <= most_single or len(classes) <= max(most_classes, 2 * 3 * 2 * 3), (
        "the coarsest has eighteen in a partition"
    )
    for one in classes:
        assert (one.smallest < 750, one.smallest > 1800) == (
            one.largest < 750,
            one.largest > 1800,
        ), "the table's own bounds stay exact"
        assert (one.least_ratio >= 0.3, one.least_ratio >= 1) == (
            one.most_ratio >= 0.3,
            one.most_ratio >= 1,
        ), "and so does Iceberg's threshold"


@given(
    files=st.lists(DELETED, min_size=1, max_size=60),
    most_single=st.integers(0, 60),
    most_classes=st.integers(0, 40),
    seed=st.randoms(use_true_random=False),
)
@settings(max_examples=examples(100))
def test_classes_are_the_same_for_files_in_any_order(
    files: Files, most_single: int, most_classes: int, seed: object
) -> None:
    shuffled = list(files)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    (table, found), (other, again) = (
        gather(files, most_single, most_classes),
        gather(shuffled, most_single, most_classes),
    )
    assert other.grain is table.grain
    assert {place: sorted(known) for place, known in again.items()} == {
        place: sorted(known) for place, known in found.items()
    }


def test_a_coarser_grain_is_taken_only_when_there_are_too_many_classes() -> None:
    files = [
        (0, size, ratio / 20, count)
        for size, ratio, count in product(range(100, 3000, 29), range(20), range(1, 9))
    ]
    grains, sizes = [], []
    for most in (10**9, 5_000, 500, 0):
        table, found = gather(files, 0, most)
        grains.append(table.grain)
        sizes.append(len(found[0, "0"]))
    assert grains == list(Grain)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 2 * 2 * 3, "nothing is deleted whole here"


def test_a_class_has_the_least_and_the_greatest_figure_of_its_files() -> None:
    files = [(0, 1020, 0.50, 3), (0, 1030, 0.51, 4), (0, 1010, 0.49, 2)]
    (known,) = gather(files, 0, 1)[1][0, "0"]
    assert (known.smallest, known.largest) == (1010, 1030)
    assert (known.least_ratio, known.most_ratio) == (0.49, 0.51)
    assert (known.delete_files, known.most_delete_files) == (2, 4)
    assert (known.files, known.bytes) == (3, 3060)


def test_while_files_are_few_each_is_kept_with_its_own_figures() -> None:
    files = [(0, 100 + number, 0.01 * number, 1) for number in range(4)]
    _, found = gather(files, 4, 0)
    assert [one.bytes for one in found[0, "0"]] == [100, 101, 102, 103]
    assert DeletedTable(4, NO_BOUNDS).tell() == {}


def test_of_too_many_files_none_is_kept_one_by_one_in_any_partition() -> None:
    files: Files = [(partition, 100, 0.1, 1) for partition in range(5) for _ in range(2)]
    for most_single, alike in ((10, 1), (9, 2)):
        _, found = gather(files, most_single, 10**9)
        assert {one.files for known in found.values() for one in known} == {alike}
