from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.action import (
    ComputePartitionStats,
    ComputeTableStats,
    RewritePositionDeleteFiles,
)
from maintainer.domain.file_sizes import DeletedFiles
from maintainer.domain.health import PartitionHealth, TableHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Rule
from maintainer.domain.rules import (
    ComputePartitionStatsRule,
    ComputeTableStatsRule,
    RewriteDataFilesRule,
    RewritePositionDeleteFilesRule,
)
from maintainer.domain.units import MIB
from maintainer.estimate.rewrite_position_delete_files import estimate_rewrite_position_deletes
from maintainer.procedures.procedure import Gain
from tests.chapters import find_gain, refuse
from tests.samples import health_of_partitions

DELETES = RewritePositionDeleteFilesRule()
ALL = (("rewrite-all", "true"),)
BY_PARTITION = {"write.delete.granularity": "partition"}


def partition(
    name: str, data_files: int, delete_files: int, delete_bytes: int | None = None
) -> PartitionHealth:
    size = 1000 * delete_files if delete_bytes is None else delete_bytes
    return PartitionHealth(
        0,
        name,
        data_files,
        data_files * 1000,
        0,
        0,
        0,
        0,
        delete_files,
        position_delete_files=delete_files,
        position_delete_bytes=size,
    )


def table_of(
    *partitions: PartitionHealth, format_version: int = 2, properties: dict[str, str] | None = None
) -> TableHealth:
    plain = health_of_partitions({"a": [1000]}, properties=properties)
    deletes = sum(p.position_delete_files for p in partitions)
    return replace(
        plain,
        format_version=format_version,
        partitions=partitions,
        position_delete_files=deletes,
        dangling_delete_files=None,
    )


def known(
    *partitions: PartitionHealth, format_version: int = 2, properties: dict[str, str] | None = None
) -> TableHealth:
    """As table_of, with deletes that are joined to their data files."""
    days = PartitionSpec(0, (PartitionField("day", "identity", ("day",), "string"),))
    joined = replace(
        table_of(*partitions, format_version=format_version, properties=properties), specs=(days,)
    )
    return replace(joined, dangling_delete_files=sum(p.dangling_delete_files for p in partitions))


def joined(
    name: str, delete_files: int, dangling: int, deleted: int, data_files: int = 9
) -> PartitionHealth:
    files = (DeletedFiles(deleted, 1000 * deleted, 1000, 1000, 0.1, 0.1, 1),) if deleted else ()
    return replace(
        partition(f"day={name}", data_files, delete_files),
        dangling_delete_files=dangling,
        deleted=files,
    )


def gain_of(health: TableHealth, rule: Rule = DELETES) -> Gain:
    gain = find_gain(rule, health)
    assert gain is not None
    return gain


def test_file_scoped_deletes_that_are_as_many_as_the_data_files_are_left_alone() -> None:
    gain = gain_of(table_of(partition("a", data_files=500, delete_files=500)))
    assert not gain.is_worthwhile
    assert (gain.estimate.items_before, gain.estimate.items_after) == (500, 500)
    assert gain.sentence == (
        "500 position delete files would become up to 500: the rewrite writes one for each "
        "data file that has deletes"
    )


def test_a_rewrite_that_could_make_more_files_than_there_are_is_left_alone() -> None:
    assert not gain_of(table_of(partition("a", data_files=8, delete_files=6))).is_worthwhile


def test_many_deletes_a_data_file_become_at_most_one_each() -> None:
    gain = gain_of(
        table_of(
            partition("a", data_files=8, delete_files=60),
            partition("b", data_files=1, delete_files=4),
        )
    )
    assert gain.action == RewritePositionDeleteFiles()
    assert (gain.estimate.items_before, gain.estimate.items_after, gain.estimate.items_removed) == (
        60,
        8,
        52,
    ), "the other has fewer than min-input-files"
    assert gain.sentence == "60 position delete files in 1 partition would become 8 at most"


def test_deletes_that_all_dangle_become_none() -> None:
    gain = gain_of(known(joined("1", delete_files=846, dangling=846, deleted=0, data_files=62)))
    assert (gain.estimate.items_before, gain.estimate.items_after, gain.estimate.items_removed) == (
        846,
        0,
        846,
    )
    assert (gain.estimate.error_bound, gain.estimate.note) == (0, "")
    assert gain.sentence == "846 position delete files in 1 partition would become 0 at most", (
        "the planner takes them by itself"
    )


def test_only_data_files_that_have_deletes_get_one_each() -> None:
    estimate = gain_of(known(joined("1", delete_files=60, dangling=40, deleted=7))).estimate
    assert (estimate.items_before, estimate.items_after, estimate.error_bound) == (60, 7, 7)
    assert (
        estimate.note
        == "an upper bound: one is counted for each data file that has deletes, of any kind"
    )


def test_a_few_dangling_deletes_in_many_partitions_are_taken_from_these_alone() -> None:
    few = [joined(f"{number}", delete_files=3, dangling=3, deleted=0) for number in range(10)]
    everywhere = gain_of(known(*few))
    assert everywhere.action == RewritePositionDeleteFiles(options=ALL), (
        "there is no other partition to leave out"
    )
    assert everywhere.sentence == (
        "30 position delete files in 10 partitions would become 0 at most; 30 of them no "
        "longer apply to a data file"
    )
    live = joined("live", delete_files=4, dangling=0, deleted=4)
    some = gain_of(known(few[1], few[2], live))
    assert some.action == RewritePositionDeleteFiles("(`day` = '1') OR (`day` = '2')", ALL)
    assert (some.estimate.items_before, some.estimate.items_removed) == (6, 6)
    nothing = gain_of(known(live))
    assert (nothing.is_worthwhile, nothing.action) == (False, RewritePositionDeleteFiles())


def test_what_the_planner_takes_by_itself_is_not_narrowed_where_that_removes_more() -> None:
    many = joined("1", delete_files=60, dangling=0, deleted=5)
    few = joined("2", delete_files=3, dangling=3, deleted=0)
    assert gain_of(known(many, few)).action == RewritePositionDeleteFiles()
    more = joined("3", delete_files=99, dangling=99, deleted=0)
    assert gain_of(known(many, more)).action == RewritePositionDeleteFiles(), (
        "the planner takes both"
    )


def test_a_filter_or_an_option_of_the_policy_stays_as_it_is() -> None:
    health = known(joined("1", delete_files=3, dangling=3, deleted=0))
    for rule in (
        replace(DELETES, where="day = '1'"),
        replace(DELETES, options=(("rewrite-all", "false"),)),
    ):
        gain = gain_of(health, rule)
        assert gain.action == RewritePositionDeleteFiles(rule.where, rule.options)
        assert not gain.is_worthwhile


def test_partitions_that_no_filter_can_tell_apart_are_left_to_the_planner() -> None:
    odd, live = (
        joined("1", delete_files=3, dangling=3, deleted=0),
        joined("2", delete_files=4, dangling=0, deleted=4),
    )
    assert gain_of(replace(known(odd, live), specs=())).action == RewritePositionDeleteFiles()
    five = joined("3", delete_files=5, dangling=5, deleted=0)
    assert gain_of(replace(known(five, live), specs=())).estimate.items_removed == 5


def test_in_format_version_3_dangling_deletes_are_reported_and_the_options_of_the_policy_stay() -> (
    None
):
    health = known(joined("1", delete_files=3, dangling=2, deleted=1), format_version=3)
    assert gain_of(health).sentence == (
        "3 position delete files would become deletion vectors; 2 of them no longer apply "
        "to a data file"
    )
    by_policy = replace(DELETES, options=(("rewrite-all", "false"),))
    assert gain_of(health, by_policy).action == RewritePositionDeleteFiles(
        options=by_policy.options
    )


def test_with_partition_granularity_a_partitions_deletes_become_as_many_as_their_bytes_need() -> (
    None
):
    gain = gain_of(
        table_of(
            partition("a", 500, 500), partition("b", 500, 10, 130 * MIB), properties=BY_PARTITION
        )
    )
    assert (gain.estimate.items_before, gain.estimate.items_after) == (510, 4)
    assert gain.estimate.bytes_rewritten == 500_000 + 130 * MIB


def test_large_delete_files_are_not_taken() -> None:
    gain = gain_of(table_of(partition("a", 1, 10, 640 * MIB), properties=BY_PARTITION))
    assert not gain.is_worthwhile
    assert (
        gain.sentence
        == "no partition has enough of the 10 position delete files for a rewrite to take them"
    )
    smaller = replace(DELETES, options=(("rewrite-all", "true"),))
    assert (
        gain_of(
            table_of(partition("a", 1, 10, 640 * MIB), properties=BY_PARTITION), smaller
        ).estimate.items_before
        == 10
    )


@pytest.mark.parametrize("target", ["", "none", "0", "-4"])
def test_a_malformed_target_of_the_table_is_icebergs_default(target: str) -> None:
    properties = BY_PARTITION | {"write.delete.target-file-size-bytes": target}
    assert (
        gain_of(
            table_of(partition("a", 1, 10, 100 * MIB), properties=properties)
        ).estimate.items_after
        == 2
    )


def test_the_tables_and_the_policys_target_count() -> None:
    properties = BY_PARTITION | {"write.delete.target-file-size-bytes": str(20 * MIB)}
    health = table_of(partition("a", 1, 100, 100 * MIB), properties=properties)
    assert gain_of(health).estimate.items_after == 5
    assert (
        gain_of(
            health, replace(DELETES, options=(("target-file-size-bytes", str(50 * MIB)),))
        ).estimate.items_after
        == 2
    )


def test_in_format_version_3_every_position_delete_file_becomes_deletion_vectors() -> None:
    gain = gain_of(table_of(partition("a", 500, 1), partition("b", 500, 500), format_version=3))
    assert gain.is_worthwhile
    assert gain.action == RewritePositionDeleteFiles(options=(("rewrite-all", "true"),))
    assert (gain.estimate.items_before, gain.estimate.items_after) == (501, 0)
    assert gain.sentence == "501 position delete files would become deletion vectors"
    filtered = estimate_rewrite_position_deletes(
        table_of(partition("a", 1, 1), format_version=3), RewritePositionDeleteFiles(where="p = 1")
    )
    assert filtered.note == (
        "they become deletion vectors, at most one for each data file; an upper bound: the filter "
        "is not applied in the estimate"
    )


def test_without_position_deletes_there_is_nothing_to_do() -> None:
    assert find_gain(DELETES, table_of(partition("a", 5, 0))) is None


@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=6),
    st.sampled_from(["file", "partition"]),
)
def test_a_promised_gain_is_never_more_than_there_is(
    version: int, shapes: list[tuple[int, int]], granularity: str
) -> None:
    health = table_of(
        *(partition(str(n), data, deletes) for n, (data, deletes) in enumerate(shapes)),
        format_version=version,
        properties={"write.delete.granularity": granularity},
    )
    estimate = estimate_rewrite_position_deletes(health, RewritePositionDeleteFiles())
    assert estimate.items_removed == estimate.items_before - estimate.items_after
    assert 0 <= estimate.items_before <= sum(deletes for _, deletes in shapes)
    assert estimate.items_after >= 0


STATISTICS = ComputeTableStatsRule(columns=("id",))


def test_statistics_are_computed_when_the_current_snapshot_has_none() -> None:
    health = health_of_partitions({"a": [1000]})
    fresh = gain_of(health, STATISTICS)
    assert (fresh.is_worthwhile, fresh.action) == (True, ComputeTableStats(1, ("id",)))
    assert fresh.sentence == "statistics of snapshot 1 would be computed; there are none yet"
    assert gain_of(replace(health, statistics_snapshot_id=9), STATISTICS).sentence.endswith(
        "the last are of snapshot 9"
    )
    done = gain_of(replace(health, statistics_snapshot_id=1), STATISTICS)
    assert (done.is_worthwhile, done.sentence) == (
        False,
        "the statistics are those of the current snapshot",
    )


def test_statistics_of_partitions_need_partitions() -> None:
    rule = ComputePartitionStatsRule()
    health = health_of_partitions({"a": [1000]})
    assert gain_of(health, rule).action == ComputePartitionStats(1)
    refusal = refuse(rule, replace(health, is_partitioned=False))
    assert refusal is not None
    assert (refusal.code, "not partitioned" in refusal.reason) == (SkipCode.UNSUPPORTED, True)


@pytest.mark.parametrize(
    ("written_as", "is_refused"),
    [("orc", True), ("ORC", True), ("parquet", False), ("avro", False)],
)
def test_statistics_of_partitions_cannot_be_written_as_orc(
    written_as: str, is_refused: bool
) -> None:
    health = replace(
        health_of_partitions({"a": [1000]}), properties={"write.format.default": written_as}
    )
    assert (refuse(ComputePartitionStatsRule(), health) is not None) is is_refused
    assert refuse(ComputeTableStatsRule(), health) is None


def test_sorting_by_the_tables_own_order_needs_one() -> None:
    rule = RewriteDataFilesRule(strategy="sort")
    health = replace(health_of_partitions({"a": [1000]}), sort_order="")
    refusal = refuse(rule, health)
    assert refusal is not None
    assert "the table has none" in refusal.reason
    assert refuse(replace(rule, sort_order="id"), health) is None
    assert refuse(rule, replace(health, sort_order="a")) is None
