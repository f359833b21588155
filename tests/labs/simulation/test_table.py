"""A simulated table rots and is mended as a real one would."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import MIB
from maintainer.estimate.rewrite_data_files import estimate_rewrite_data_files
from tests.labs.simulation.fleet import Layout, Traits, Writer
from tests.labs.simulation.table import Partition, SimulatedTable, draw_count
from tests.labs.simulation.trial import STARTS_AT, _commit
from tests.samples import TABLE

TRAITS = Traits(
    TABLE,
    Layout.BY_DAY,
    Writer.APPEND,
    commits_per_hour=10,
    files_per_commit=4,
    file_bytes=MIB,
    files_at_start=600,
)


def begin(traits: Traits = TRAITS) -> SimulatedTable:
    table = SimulatedTable(traits, STARTS_AT)
    table.fill(Random(1))
    return table


@pytest.mark.parametrize("layout", Layout)
def test_a_table_begins_with_the_files_that_it_was_drawn_with(layout: Layout) -> None:
    health = begin(replace(TRAITS, layout=layout)).measure(STARTS_AT)
    assert health.data_files == TRAITS.files_at_start
    assert sum(partition.data_files for partition in health.partitions) == TRAITS.files_at_start


def test_writers_of_a_table_by_day_write_to_today_and_a_little_to_yesterday() -> None:
    table = begin()
    before = {name: partition.files for name, partition in table.partitions.items()}
    commits = table.write(STARTS_AT + timedelta(hours=6), 6, Random(2))
    grown = {
        name: partition.files - before.get(name, 0)
        for name, partition in table.partitions.items()
        if partition.files != before.get(name, 0)
    }
    assert sum(grown.values()) == commits * TRAITS.files_per_commit
    assert set(grown) == {"day=2026-01-05", "day=2026-01-04"}
    assert grown["day=2026-01-05"] > 10 * grown["day=2026-01-04"]


def test_a_rewrite_keeps_every_byte_and_leaves_files_of_the_target_size() -> None:
    table = begin(replace(TRAITS, layout=Layout.UNPARTITIONED, files_at_start=3000))
    before = table.measure(STARTS_AT)
    done = table.rewrite()
    after = table.measure(STARTS_AT)
    assert (before.data_bytes, before.data_files) == (after.data_bytes, 3000)
    assert (done.files_before, done.files_after) == (3000, after.data_files)
    assert after.average_file_size_bytes is not None
    assert 400 * MIB < after.average_file_size_bytes < 600 * MIB
    assert table.rewrite().files_removed == 0, "nothing is left to do"


def test_a_dry_rewrite_changes_nothing() -> None:
    table = begin()
    before = table.measure(STARTS_AT)
    assert table.rewrite(is_dry=True).files_removed > 0
    assert table.measure(STARTS_AT) == before


def test_only_the_named_partitions_are_rewritten() -> None:
    table = begin()
    first = next(iter(table.partitions))
    assert table.rewrite(frozenset({first})).partitions == (table.partitions[first].files == 1)


def test_of_so_many_files_the_last_partition_gives_a_part() -> None:
    table = begin(replace(TRAITS, layout=Layout.BY_BUCKET, files_at_start=160))
    planned = table.plan(most_files=25)
    assert [(name, share.files, share.files_after) for name, share in planned.items()] == [
        ("bucket=0", 10, 1),
        ("bucket=1", 10, 1),
        ("bucket=2", 5, 1),
    ]
    size = sum(partition.bytes for partition in table.partitions.values())
    assert table.replace({"bucket=2": planned["bucket=2"]}).files_removed == 4
    assert [table.partitions[f"bucket={number}"].files for number in range(4)] == [10, 10, 6, 10]
    assert sum(partition.bytes for partition in table.partitions.values()) == size
    assert list(table.plan(frozenset({"bucket=2", "bucket=9"}), most_files=6)) == ["bucket=2"]


@given(st.integers(0, 40), st.integers(0, 10), st.integers(1, 60))
@settings(max_examples=50)
def test_some_files_of_a_partition_are_small_and_large_ones_as_they_come_and_no_byte_is_lost(
    small: int, large: int, most: int
) -> None:
    table = SimulatedTable(TRAITS, STARTS_AT)
    table.partitions["day=1"] = partition = Partition()
    partition.add(small, 7 * MIB + 1, table.classes)
    partition.add(large, 1000 * MIB + 3, table.classes)
    files, size = partition.files, partition.bytes
    for share in table.plan(most_files=most).values():
        assert share.files == min(most, files)
        assert share.bytes <= share.small_files * (7 * MIB + 1) + share.large_files * (
            1000 * MIB + 3
        )
        assert (0 <= share.small_files <= small, 0 <= share.large_files <= large) == (True, True)
        done = table.replace({"day=1": share})
        assert partition.files == files - done.files_removed
    assert partition.bytes == size
    assert (
        min(
            partition.small_files,
            partition.small_bytes,
            partition.large_files,
            partition.large_bytes,
        )
        >= 0
    )


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 1500)), min_size=1, max_size=8))
@settings(max_examples=50)
def test_the_estimate_of_a_rewrite_is_what_the_simulated_rewrite_does(
    batches: list[tuple[int, int]],
) -> None:
    """Two pieces of code, both after Iceberg's planner: the decision's estimate and the
    simulation's truth.
    """
    table = SimulatedTable(TRAITS, STARTS_AT)
    for number, (files, mebibytes) in enumerate(batches):
        table.partitions[f"day={number % 3}"] = partition = table.partitions.get(
            f"day={number % 3}", Partition()
        )
        partition.add(files, mebibytes * MIB, table.classes)
    estimate = estimate_rewrite_data_files(table.measure(STARTS_AT), RewriteDataFilesRule())
    done = table.rewrite(is_dry=True)
    assert (estimate.items_before, estimate.bytes_rewritten, estimate.partitions) == (
        done.files_before,
        done.bytes,
        done.partitions,
    )
    truths = [
        table.rewrite(frozenset({name}), is_dry=True).files_removed for name in table.partitions
    ]
    assert (
        abs(estimate.items_removed - sum(max(0, removed) for removed in truths))
        <= estimate.error_bound
    )


def test_appends_never_conflict_and_a_merge_only_where_it_writes() -> None:
    append, merge = begin(), begin(replace(TRAITS, writer=Writer.MERGE))
    for table in (append, merge):
        table.write(STARTS_AT + timedelta(hours=1), 1, Random(1))
    cold = frozenset({next(iter(merge.partitions))})
    assert append.conflict_chance(3600) == 0
    assert merge.conflict_chance(3600) == pytest.approx(1 - 2.718281828**-10)
    assert merge.conflict_chance(3600, cold) == 0
    assert (
        begin(replace(TRAITS, writer=Writer.MERGE, layout=Layout.BY_BUCKET)).conflict_chance(
            3600, cold
        )
        > 0
    )


def test_a_job_that_commits_as_it_goes_keeps_what_no_writer_was_faster_than() -> None:
    traits = replace(
        TRAITS,
        writer=Writer.MERGE,
        layout=Layout.BY_BUCKET,
        commits_per_hour=60.0,
        files_at_start=1600,
        file_bytes=64 * MIB,
    )
    removed = dict.fromkeys((False, True), 0)
    for is_partial in removed:
        for seed in range(40):
            table = begin(traits)
            removed[is_partial] += len(
                _commit(table, list(table.plan()), 120.0, Random(seed), is_partial=is_partial)
            )
    assert 0 < removed[False] < removed[True] < 40 * 16


@pytest.mark.parametrize("expected", [0.0, 0.5, 20.0, 500.0])
def test_counts_are_drawn_around_what_is_expected(expected: float) -> None:
    random = Random(7)
    counts = [draw_count(expected, random) for _ in range(400)]
    assert sum(counts) / 400 == pytest.approx(expected, rel=0.15, abs=0.01)
    assert min(counts) >= 0
