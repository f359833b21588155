"""Selection, grouping and outputs; what the conformance suite shows on real tables is pinned here
on small ones.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.file_sizes import DeletedFiles, FileSizes, SizeRun, find_runs
from maintainer.domain.health import PartitionHealth, TableHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import GIB, MIB
from maintainer.estimate.output_files import OutputSizes, count_packed, count_partitions
from maintainer.estimate.rewrite_data_files import (
    PlannerOptions,
    estimate_rewrite_data_files,
    plan_groups,
)
from maintainer.measure.health import measure
from tests.chapters import find_gain
from tests.samples import health_of_partitions, inventory, manifest, share

RULE = RewriteDataFilesRule()
TARGET = 100 * MIB


def with_options(**options: str) -> RewriteDataFilesRule:
    return replace(
        RULE, options=tuple((name.replace("_", "-"), value) for name, value in options.items())
    )


SIZES = OutputSizes(target=TARGET, small_below=75 * MIB, large_above=180 * MIB, chunk=128 * MIB)


@given(st.lists(st.integers(1, 200 * MIB), min_size=1, max_size=40))
def test_outputs_lie_between_their_bounds_for_any_sizes(sizes: list[int]) -> None:
    exact = count_packed(FileSizes(tuple(sizes)), SIZES, is_order_known=True)
    unordered = count_packed(FileSizes(tuple(sizes)), SIZES, is_order_known=False)
    shuffled = count_packed(FileSizes(tuple(sorted(sizes))), SIZES, is_order_known=True)
    assert exact.least <= exact.expected <= exact.most
    assert unordered.least <= exact.expected <= unordered.most
    assert unordered.least <= shuffled.expected <= unordered.most


def test_files_that_do_not_fit_together_stay_more_than_iceberg_aims_at() -> None:
    assert (
        count_packed(FileSizes((30 * MIB,) * 25), SIZES, is_order_known=True).expected == 9
    )  # 750 MiB, three files of 107 MiB at a time


def test_a_file_of_several_row_groups_is_split_between_them() -> None:
    large = replace(SIZES, chunk=64 * MIB)
    found = count_packed(FileSizes((256 * MIB,)), large, is_order_known=True)
    assert (found.expected, found.least, found.most) == (4, 1, 6)
    assert count_packed(FileSizes((60 * MIB,)), SIZES, is_order_known=True).most == 1


def test_of_very_many_files_a_sample_stands_for_all() -> None:
    sizes = [MIB + 1] * 10_000
    found = count_packed(FileSizes(runs=tuple(find_runs(sizes))), SIZES, is_order_known=False)
    assert abs(found.expected - 100) <= 5
    assert found.least <= 100 <= found.most


@pytest.mark.parametrize("chunk", [1, MIB, 128 * MIB, 2**63 - 1])
@pytest.mark.parametrize("size", [2**40, 2**63 - 1])
def test_files_of_any_size_are_counted_by_division(size: int, chunk: int) -> None:
    found = count_packed(FileSizes((size,) * 40), replace(SIZES, chunk=chunk), is_order_known=True)
    assert found.least <= found.expected <= found.most
    assert found.most >= 40 * size // SIZES.write_max


@given(st.lists(st.integers(1, 4000 * MIB), min_size=1, max_size=20))
def test_counting_by_division_comes_close_to_packing_one_by_one(sizes: list[int]) -> None:
    packed = count_packed(FileSizes(tuple(sizes)), SIZES, is_order_known=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("maintainer.estimate.output_files._MAX_CHUNKS", 0)
        divided = count_packed.__wrapped__(FileSizes(tuple(sizes)), SIZES, is_order_known=True)
    assert divided.least <= divided.expected <= divided.most
    assert packed.expected <= divided.expected <= 2 * packed.expected + len(sizes)


def test_a_partition_of_runs_is_divided_into_a_bounded_number_of_groups() -> None:
    huge = SizeRun(2**62, 2**62, 50_000, 50_000 * 2**62)
    health = health_of(
        partition([1], data_files=huge.files, data_bytes=huge.bytes, sizes=FileSizes(runs=(huge,)))
    )
    groups = plan_groups(health, PlannerOptions.read(health, with_options(rewrite_all="true")))
    assert len(groups) == 4096
    assert sum(group.files for group in groups) == 50_000


def test_of_many_files_that_all_but_one_have_the_larger_size_the_sample_has_only_that() -> None:
    size, files = 30 * MIB, 4096
    almost, exactly = (
        count_packed(
            FileSizes(runs=(SizeRun(size, size + 1, files, files * (size + 1) - fewer),)),
            SIZES,
            is_order_known=False,
        )
        for fewer in (1, 0)
    )
    assert almost == exactly


def partition(listed: list[int], **fields: object) -> PartitionHealth:
    made = health_of_partitions({"day=1": listed}, TARGET).partitions[0]
    return replace(made, **fields)  # type: ignore[arg-type]


def health_of(*partitions: PartitionHealth) -> TableHealth:
    return replace(health_of_partitions({"day=1": [1]}, TARGET), partitions=partitions)


def deleted(
    size: int, ratio: float, delete_files: int = 1, files: int = 1, most: float | None = None
) -> DeletedFiles:
    return DeletedFiles(
        files, files * size, size, size, ratio, ratio if most is None else most, delete_files
    )


def test_a_file_with_too_many_deletes_is_taken_alone() -> None:
    table = health_of(
        partition([100 * MIB] * 3, deleted=(deleted(100 * MIB, 0.3), deleted(100 * MIB, 0.29)))
    )
    found = estimate_rewrite_data_files(table, RULE)
    assert (
        found.items_before,
        found.items_after,
        found.items_removed,
        found.files_with_deletes,
    ) == (1, 1, 0, 1)
    assert (
        estimate_rewrite_data_files(table, with_options(delete_ratio_threshold="0.5")).items_before
        == 0
    )
    assert (
        estimate_rewrite_data_files(table, with_options(delete_file_threshold="1")).items_before
        == 2
    )


def test_a_small_file_with_too_many_deletes_counts_once_and_takes_its_group_along() -> None:
    table = health_of(partition([MIB] * 2, deleted=(deleted(MIB, 1.0),)))
    found = estimate_rewrite_data_files(table, RULE)
    assert (found.items_before, found.items_after, found.files_with_deletes) == (2, 1, 1)


def test_classes_of_files_that_lie_on_a_threshold_are_uncertain() -> None:
    table = health_of(
        partition([100 * MIB] * 50, deleted=(deleted(100 * MIB, 0.28, files=10, most=0.32),))
    )
    found = estimate_rewrite_data_files(table, RULE)
    assert (found.items_before, found.error_bound >= 10) == (10, True)
    assert "only classes" in found.note


def test_classes_of_files_are_certain_only_beyond_all_numbers_of_deletes() -> None:
    some = deleted(100 * MIB, 0.1, delete_files=4, files=10)._replace(more_delete_files=3)
    table = health_of(partition([100 * MIB] * 50, deleted=(some,)))
    found = [
        estimate_rewrite_data_files(table, with_options(delete_file_threshold=str(threshold)))
        for threshold in (4, 5, 7, 8)
    ]
    assert [(one.items_before, "only classes" in one.note) for one in found] == [
        (10, False),
        (10, True),
        (10, True),
        (0, False),
    ]
    emptied = deleted(100 * MIB, 1.0, files=10)
    for files, outputs in (
        (emptied, 0),
        (emptied._replace(more_delete_files=1), 1),
    ):  # some deletes may be of the same rows
        assert (
            estimate_rewrite_data_files(
                health_of(partition([100 * MIB] * 10, deleted=(files,))), RULE
            ).items_after
            > 0
        ) == bool(outputs)


def test_classes_of_files_with_deletes_on_both_sides_of_a_bound_are_uncertain() -> None:
    some = deleted(60 * MIB, 0.5, files=10)._replace(largest=90 * MIB)
    found = estimate_rewrite_data_files(
        health_of(partition([60 * MIB] * 5 + [90 * MIB] * 5, deleted=(some,))), RULE
    )
    assert "only classes" in found.note
    assert (
        "only classes"
        not in estimate_rewrite_data_files(
            health_of(partition([90 * MIB] * 10, deleted=(some._replace(smallest=80 * MIB),))), RULE
        ).note
    )


def runs_of(sizes: list[int]) -> FileSizes:
    return FileSizes(runs=tuple(find_runs(sorted(sizes))))


def test_the_tables_own_bounds_are_exact_in_runs_too() -> None:
    sizes = [74 * MIB, 74 * MIB, 75 * MIB, 76 * MIB] * 20 + [179 * MIB, 182 * MIB]
    listed, runs = partition(sizes), partition(sizes, sizes=runs_of(sizes))
    exact, known = (estimate_rewrite_data_files(health_of(one), RULE) for one in (listed, runs))
    assert (known.items_before, exact.items_before) == (41, 41)
    assert abs(known.bytes_rewritten - exact.bytes_rewritten) < exact.bytes_rewritten / 8


def test_other_bounds_in_runs_are_wrong_by_no_more_than_is_said() -> None:
    sizes = [size * MIB for size in range(20, 160)]
    for bound in ("43000000", "77000000", "99999999"):
        rule = with_options(min_file_size_bytes=bound)
        exact = estimate_rewrite_data_files(health_of(partition(sizes)), rule)
        known = estimate_rewrite_data_files(health_of(partition(sizes, sizes=runs_of(sizes))), rule)
        assert abs(known.items_before - exact.items_before) <= known.error_bound
        assert abs(known.items_removed - exact.items_removed) <= known.error_bound
    upper = with_options(max_file_size_bytes="150000000")
    known = estimate_rewrite_data_files(health_of(partition(sizes, sizes=runs_of(sizes))), upper)
    assert (
        abs(
            known.items_before
            - estimate_rewrite_data_files(health_of(partition(sizes)), upper).items_before
        )
        <= known.error_bound
    )


def test_a_bound_at_the_edge_of_a_run_takes_none_of_it() -> None:
    sizes = [1024, 1100, 1150]
    found = estimate_rewrite_data_files(
        health_of(partition(sizes, sizes=runs_of(sizes))), with_options(min_file_size_bytes="1025")
    )
    assert (found.items_before, found.error_bound) == (0, 0)


def test_runs_of_several_specs_are_taken_together() -> None:
    table = respecced(1, {(0, "at_day=2026-01-01"): [MIB] * 40, (1, "at_month=null"): [MIB] * 2})
    as_runs = replace(
        table,
        partitions=tuple(
            replace(p, sizes=runs_of(list(p.sizes.listed))) if p.spec_id == 0 else p
            for p in table.partitions
        ),
    )
    assert estimate_rewrite_data_files(as_runs, RULE).items_before == 42


def test_without_sizes_counts_alone_are_taken() -> None:
    known = partition([MIB] * 6 + [100 * MIB] * 2 + [200 * MIB], sizes=FileSizes())
    found = estimate_rewrite_data_files(health_of(known), RULE)
    assert (found.items_before, found.items_removed) == (7, 5)
    assert (
        estimate_rewrite_data_files(health_of(known), with_options(rewrite_all="true")).items_before
        == 9
    )


def test_runs_and_single_files_with_deletes_are_taken_together() -> None:
    sizes = [MIB] * 60 + [100 * MIB]
    known = partition(sizes, sizes=runs_of(sizes), deleted=(deleted(100 * MIB, 0.5),))
    assert estimate_rewrite_data_files(health_of(known), RULE).items_before == 61


def test_groups_hold_no_more_bytes_or_files_than_they_may() -> None:
    table = health_of(partition([10 * MIB] * 12))
    limited = with_options(max_file_group_size_bytes=str(50 * MIB))
    assert [group.files for group in plan_groups(table, PlannerOptions.read(table, limited))] == [
        5,
        5,
    ]  # the last two are too few
    few = with_options(max_file_group_input_files="6")
    assert [group.files for group in plan_groups(table, PlannerOptions.read(table, few))] == [6, 6]
    many = health_of(partition([10 * MIB] * 12, sizes=runs_of([10 * MIB] * 12)))
    assert [group.files for group in plan_groups(many, PlannerOptions.read(many, few))] == [6, 6]
    assert sum(group.files for group in plan_groups(many, PlannerOptions.read(many, limited))) in {
        0,
        12,
    }
    uneven = health_of(partition([1], sizes=runs_of([10 * MIB] * 11 + [MIB])))
    assert sum(group.files for group in plan_groups(uneven, PlannerOptions.read(uneven, few))) == 12
    sliced = with_options(max_file_group_input_files="1", rewrite_all="true")
    assert len(plan_groups(many, PlannerOptions.read(many, sliced))) == 12


def test_no_group_is_empty_or_larger_than_allowed_where_only_runs_of_sizes_are_known() -> None:
    """Each run has fewer files than there are groups."""
    sizes = [10 * MIB] * 3 + [40 * MIB] * 3 + [90 * MIB] * 3
    table = health_of(partition(sizes, sizes=runs_of(sizes)))
    options = with_options(max_file_group_input_files="2", rewrite_all="true")
    groups = plan_groups(table, PlannerOptions.read(table, options))
    assert sorted(group.files for group in groups) == [1, 2, 2, 2, 2]
    limited = with_options(
        max_file_group_input_files="2", rewrite_all="true", max_files_to_rewrite="20"
    )
    assert estimate_rewrite_data_files(table, limited).items_before == 9


def test_no_more_files_are_rewritten_than_the_option_allows() -> None:
    table = health_of_partitions(
        {"day=1": [MIB] * 6, "day=2": [MIB] * 6, "day=3": [MIB] * 6}, TARGET
    )
    found = estimate_rewrite_data_files(table, with_options(max_files_to_rewrite="8"))
    assert (found.items_before, found.items_after) == (8, 2)
    assert found.error_bound >= 1
    assert "hash map" in found.note
    assert (
        estimate_rewrite_data_files(table, with_options(max_files_to_rewrite="12")).items_before
        == 12
    )


def test_a_sort_writes_what_iceberg_aims_at() -> None:
    sort = replace(RULE, strategy="sort", sort_order="id")
    table = health_of(partition([30 * MIB] * 25))
    assert estimate_rewrite_data_files(table, sort).items_after == 7
    assert (
        estimate_rewrite_data_files(
            table, replace(sort, options=(("compression-factor", "0.5"),))
        ).items_after
        == 4
    )
    assert estimate_rewrite_data_files(health_of(partition([MIB] * 6)), sort).items_after == 1


DAY = PartitionSpec(0, (PartitionField("at_day", "day", ("at",), "timestamp"),))
MONTH = PartitionSpec(1, (PartitionField("at_month", "month", ("at",), "timestamp"),))
BUCKET = PartitionSpec(
    2,
    (
        PartitionField("id_bucket", "bucket[4]", ("id",), "long"),
        PartitionField("gone", "void", ("id",), "long"),
    ),
)
HOUR = PartitionSpec(3, (PartitionField("at_hour", "hour", ("at",), "timestamp"),))
PLAIN = PartitionSpec(4, (PartitionField("at", "identity", ("at",), "timestamp"),))
DROPPED = PartitionSpec(5, (PartitionField("old", "day"),))
SPECS = {spec.spec_id: spec for spec in (DAY, MONTH, BUCKET, HOUR, PLAIN, DROPPED)}


def test_coarser_times_follow_from_finer_ones() -> None:
    days = [
        (0, "at_day=2026-01-01"),
        (0, "at_day=2026-01-31"),
        (0, "at_day=2026-02-01"),
        (0, "at_day=null"),
    ]
    assert count_partitions(days, SPECS, MONTH) == 3
    assert count_partitions([(3, "at_hour=2026-01-31-05")], SPECS, DAY) == 1
    assert (
        count_partitions(
            [(4, "at=2026-01-31T05:00:00"), (4, "at=2026-01-31T05:30:00")], SPECS, HOUR
        )
        == 1
    )
    assert count_partitions([(1, "at_month=2026-01"), (0, "at_day=2026-01-01")], SPECS, MONTH) == 1


def test_what_the_values_do_not_tell_is_not_known() -> None:
    assert count_partitions([(1, "at_month=2026-01")], SPECS, DAY) is None
    assert count_partitions([(0, "at_day=2026-01-01")], SPECS, BUCKET) is None
    assert count_partitions([(5, "old=2026-01-01")], SPECS, MONTH) is None
    assert count_partitions([(9, "x=1")], SPECS, MONTH) is None
    assert count_partitions([(0, "other=1")], SPECS, MONTH) is None
    assert count_partitions([(2, "id_bucket=1")], SPECS, replace(BUCKET, spec_id=7)) == 1


def respecced(default_spec_id: int, shares: dict[tuple[int, str], list[int]]) -> TableHealth:
    made = [share(sizes, text, spec_id=spec_id) for (spec_id, text), sizes in shares.items()]
    return measure(
        replace(
            inventory((manifest("m", made),), target_bytes=TARGET),
            specs=tuple(SPECS.values()),
            default_spec_id=default_spec_id,
        )
    )


def test_files_of_other_specs_join_one_group_and_spread_over_the_new_partitions() -> None:
    old = {(0, f"at_day=2026-01-{day:02}"): [MIB] * 2 for day in range(1, 11)} | {
        (0, "at_day=2026-03-01"): [MIB]
    }
    table = respecced(
        1, {**old, (1, "at_month=null"): [MIB] * 2, (1, "at_month=2026-04"): [MIB] * 4}
    )
    found = estimate_rewrite_data_files(table, RULE)
    assert (found.items_before, found.items_after, found.partitions) == (
        23,
        3,
        1,
    )  # January, March, none
    assert "another spec" in found.note


def test_where_the_new_partitions_cannot_be_reported_those_that_are_there_are_supposed() -> None:
    old = {(1, "at_month=2026-01"): [MIB] * 12}
    table = respecced(0, old | {(0, f"at_day=2026-02-{day:02}"): [MIB] for day in range(1, 5)})
    found = estimate_rewrite_data_files(table, RULE)
    assert (found.items_before, found.items_after, found.error_bound) == (12, 4, 8)


def test_writing_an_old_spec_is_not_worth_it_once_each_partition_has_one_file() -> None:
    table = respecced(1, {(0, f"at_day=2026-01-{day:02}"): [MIB] for day in range(1, 11)})
    assert estimate_rewrite_data_files(table, with_options(output_spec_id="0")).items_removed == 0
    assert estimate_rewrite_data_files(table, RULE).items_removed == 9


def test_an_unpartitioned_table_and_an_unknown_spec_make_one_group_each() -> None:
    table = respecced(9, {(0, "at_day=2026-01-01"): [MIB] * 3, (1, "at_month=2026-01"): [MIB] * 3})
    assert estimate_rewrite_data_files(table, RULE).items_removed == 5


def test_an_estimate_of_some_partitions_leaves_out_the_others() -> None:
    table = health_of_partitions({"day=1": [MIB] * 6, "day=2": [MIB] * 8}, TARGET)
    assert estimate_rewrite_data_files(table, RULE, {(0, "day=2")}).items_before == 8
    assert estimate_rewrite_data_files(table, RULE, ()).items_before == 0


def test_huge_partitions_are_estimated_in_a_moment() -> None:
    sizes = [n % 50 * MIB + 1 for n in range(100_000)]
    found = estimate_rewrite_data_files(health_of(partition(sizes, sizes=runs_of(sizes))), RULE)
    assert found.items_before == 100_000
    assert 20_000 < found.items_after < 30_000
    assert found.bytes_rewritten < 100_000 * GIB


def test_files_that_have_lost_all_their_rows_leave_nothing() -> None:
    table = health_of(partition([100 * MIB] * 2, deleted=(deleted(100 * MIB, 1.0),)))
    found = estimate_rewrite_data_files(table, RULE)
    assert (found.items_before, found.items_after, found.items_removed) == (1, 0, 1)
    twice = health_of(
        partition([100 * MIB] * 2, deleted=(deleted(100 * MIB, 1.0, 2),))
    )  # of the same rows, perhaps
    assert (
        estimate_rewrite_data_files(twice, RULE).items_after,
        estimate_rewrite_data_files(twice, RULE).error_bound,
    ) == (1, 1)
    mixed = health_of(partition([30 * MIB] * 6, deleted=(deleted(30 * MIB, 1.0),)))
    assert estimate_rewrite_data_files(mixed, RULE).error_bound >= 1


def test_what_a_rewrite_would_gain_says_how_many_files_have_deletes() -> None:
    gain = find_gain(RULE, health_of(partition([MIB] * 2, deleted=(deleted(MIB, 1.0),))))
    assert gain is not None
    assert (
        "2 files in 1 group would become 1; 1 of them have deletes that would be applied"
        in gain.sentence
    )
