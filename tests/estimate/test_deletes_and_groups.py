"""What Spark reads with a data file and how the files of a partition are divided, as the
conformance suite shows it on real tables.
"""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.file_sizes import DeletedFiles, FileSizes, find_runs
from maintainer.domain.health import PartitionHealth, TableHealth
from maintainer.domain.plan import Estimate
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import KIB, MIB
from maintainer.estimate.rewrite_data_files import (
    PlannerOptions,
    estimate_rewrite_data_files,
    plan_groups,
)
from tests.samples import health_of_partitions

TARGET = 400 * KIB


def table_of(*partitions: PartitionHealth) -> TableHealth:
    whole = health_of_partitions({"day=1": [1]}, TARGET)
    one_manifest = tuple(replace(group, count=1) for group in whole.manifest_groups)
    return replace(whole, partitions=partitions, manifest_groups=one_manifest)


def partition(listed: list[int], **fields: object) -> PartitionHealth:
    (made,) = health_of_partitions({"day=1": listed}, TARGET).partitions
    return replace(made, **fields)  # type: ignore[arg-type]


def deleted(size: int, ratio: float = 0.0, delete_files: int = 1, files: int = 1) -> DeletedFiles:
    return DeletedFiles(files, files * size, size, size, ratio, ratio, delete_files)


def estimate(table: TableHealth, **options: str) -> Estimate:
    given = tuple((name.replace("_", "-"), value) for name, value in options.items())
    return estimate_rewrite_data_files(table, RewriteDataFilesRule(options=given))


def test_each_task_carries_the_delete_files_that_its_data_files_share() -> None:
    sizes = [19 * KIB] * 20
    without = estimate(table_of(partition(sizes)))
    assert (without.items_after, without.error_bound) == (1, 0)
    shared = partition(
        sizes,
        deleted=tuple(deleted(19 * KIB) for _ in sizes),
        delete_files=1,
        position_delete_files=1,
        position_delete_bytes=2 * KIB,
    )
    found = estimate(table_of(shared))
    assert found.items_after == 2
    assert found.error_bound == 2, "the deletes may leave no row"
    assert found.note == "the deletes may leave no row, and then no file"


def test_whether_an_equality_delete_applies_is_not_known_and_the_sentence_says_so() -> None:
    sizes = [25 * KIB] * 12
    with_equality = partition(
        sizes,
        deleted=tuple(deleted(25 * KIB, delete_files=60) for _ in sizes),
        delete_files=60,
        equality_delete_bytes=60 * KIB,
    )
    found = estimate(table_of(with_equality))
    assert found.items_after == 3
    assert found.error_bound >= 2, "Spark made two"
    assert "Spark reads the deletes too" in found.note


def test_deletes_of_single_files_are_shared_out_among_them() -> None:
    sizes = [19 * KIB] * 20
    own = partition(
        sizes,
        deleted=tuple(deleted(19 * KIB, 0.5) for _ in sizes),
        delete_files=20,
        position_delete_files=20,
        position_delete_bytes=40 * KIB,
    )
    found = estimate(table_of(own))
    assert (found.items_after, found.error_bound) == (2, 1), "420 KiB are more than one task"


def test_equality_deletes_without_a_partition_weigh_in_each_partition() -> None:
    everywhere = replace(
        partition([]), spec_id=1, partition="", delete_files=1, equality_delete_bytes=30 * KIB
    )
    marked = partition([19 * KIB] * 20, deleted=tuple(deleted(19 * KIB) for _ in range(20)))
    found = estimate(table_of(marked, everywhere))
    assert found.items_after == 3
    assert found.error_bound > 0


def test_in_classes_of_files_the_deletes_are_weighed_together() -> None:
    sizes = [19 * KIB] * 40
    many = partition(
        sizes,
        sizes=FileSizes(runs=tuple(find_runs(sizes))),
        deleted=(deleted(19 * KIB, files=40),),
        delete_files=1,
        position_delete_files=1,
        position_delete_bytes=10 * KIB,
    )
    found = estimate(table_of(many))
    assert found.items_after > estimate(table_of(replace(many, deleted=()))).items_after
    assert "Spark reads the deletes too" in found.note


def test_of_several_groups_only_those_with_too_many_deletes_are_taken_for_them() -> None:
    sizes = [20 * KIB, 21 * KIB, 22 * KIB, 23 * KIB, 24 * KIB, 25 * KIB, 26 * KIB]
    own = partition(sizes, deleted=(deleted(21 * KIB, 0.5),), delete_files=1)
    found = estimate(table_of(own), max_file_group_input_files="3")
    assert (found.items_before, found.items_after, found.error_bound) == (3, 1, 0)


def test_where_the_deletes_cannot_be_assigned_to_a_file_the_groups_are_an_upper_bound() -> None:
    alike = partition([20 * KIB] * 7, deleted=(deleted(20 * KIB, 0.5),), delete_files=1)
    found = estimate(table_of(alike), max_file_group_input_files="3")
    assert found.items_before == 7
    assert found.error_bound >= found.items_removed, "Spark may take one group of three"
    assert "a partition has several groups" in found.note


def test_groups_of_files_in_an_unknown_order_may_not_be_taken() -> None:
    sizes = [20 * KIB, 200 * KIB] * 4
    ordered = table_of(partition(sizes))
    unordered = replace(
        ordered,
        manifest_groups=tuple(replace(group, count=2) for group in ordered.manifest_groups),
    )
    assert estimate(ordered, max_file_group_input_files="3").error_bound == 0
    found = estimate(unordered, max_file_group_input_files="3")
    assert found.items_before == 8
    assert "whether Iceberg takes it" in found.note
    enough = estimate(unordered, max_file_group_input_files="4", min_input_files="4")
    assert "whether Iceberg takes it" not in enough.note
    everything = estimate(unordered, max_file_group_input_files="3", rewrite_all="true")
    assert "whether Iceberg takes it" not in everything.note


def test_a_group_that_is_full_of_bytes_is_taken_in_any_order() -> None:
    sizes = [100 * KIB] * 25
    one = partition(sizes, sizes=FileSizes(runs=tuple(find_runs(sizes))))
    rule = RewriteDataFilesRule(options=(("max-file-group-size-bytes", str(MIB)),))
    table = table_of(one)
    groups = plan_groups(table, PlannerOptions.read(table, rule))
    assert [group.is_doubtful for group in groups] == [False, False, True]


def test_files_with_deletes_in_runs_are_shared_out_among_groups() -> None:
    sizes = [20 * KIB] * 40
    many = partition(
        sizes,
        sizes=FileSizes(runs=tuple(find_runs(sizes))),
        deleted=(deleted(20 * KIB, 0.5, files=3),),
        delete_files=3,
    )
    table = table_of(many)
    rule = RewriteDataFilesRule(options=(("max-file-group-input-files", "7"),))
    groups = plan_groups(table, PlannerOptions.read(table, rule))
    assert sum(group.files for group in groups) == 40
    assert all(group.deleted_files <= 3 for group in groups)


def test_the_files_of_old_specs_carry_their_deletes() -> None:
    old = replace(
        partition(
            [19 * KIB] * 10,
            deleted=tuple(deleted(19 * KIB, 0.5) for _ in range(10)),
            delete_files=10,
            position_delete_files=10,
            position_delete_bytes=40 * KIB,
        ),
        spec_id=7,
    )
    more = replace(partition([19 * KIB] * 10), spec_id=8)
    found = estimate(table_of(old, more))
    assert (found.items_before, found.items_after) == (20, 2)
