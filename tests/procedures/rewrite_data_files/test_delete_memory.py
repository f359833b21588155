"""Guard 18: the equality deletes that a rewrite applies must fit into memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import Content, PartitionField, PartitionSpec
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, Policy, RuleName
from maintainer.domain.rules import RULES, RewriteDataFilesRule
from maintainer.domain.units import GIB, MIB
from maintainer.measure.health import measure
from maintainer.procedures.rewrite_data_files.limits import (
    BYTES_PER_FILE_BYTE,
    BYTES_PER_ROW,
    GROUP_SIZE,
    GROUPS_AT_ONCE,
    USABLE_SHARE,
    fit_deletes,
    weigh_deletes,
)
from tests.samples import NOW, inventory, manifest, share

RULE = RewriteDataFilesRule()
ENFORCED = Policy(mode=Mode.ENFORCE, rules=(RULE,))
SPEC = PartitionSpec(0, (PartitionField("p", "identity", ("p",), "int"),))
NO_SPEC = PartitionSpec(1, ())
VOID_SPEC = PartitionSpec(2, (PartitionField("p", "void", ("p",), "int"),))


def table(deleted_rows: dict[str, int], everywhere: int = 0) -> TableHealth:
    """Partitions p=... of 60 small files, each with so many rows deleted by equality, and so many
    deleted in no partition.
    """
    data = manifest("m1", [share([1000] * 60, partition) for partition in deleted_rows])
    rows = [
        share([rows], partition, Content.EQUALITY_DELETES, records_each=rows)
        for partition, rows in deleted_rows.items()
        if rows
    ]
    if everywhere:
        rows.append(
            share([everywhere], "", Content.EQUALITY_DELETES, spec_id=1, records_each=everywhere)
        )
    return replace(
        measure(inventory((data, manifest("m2", rows)) if rows else (data,))),
        specs=(SPEC, NO_SPEC, VOID_SPEC),
    )


def weight(rows: int) -> int:
    """A row of ours takes a byte in the file."""
    return rows * (BYTES_PER_ROW + BYTES_PER_FILE_BYTE)


def memory_for(rows: float) -> float:
    return rows * (BYTES_PER_ROW + BYTES_PER_FILE_BYTE) / USABLE_SHARE / GIB


def test_guard_18_the_deletes_of_a_partition_and_those_of_none_apply_to_it() -> None:
    weights = weigh_deletes(table({"p=1": 1000, "p=2": 0}, everywhere=50))
    assert weights == {(0, "p=1"): weight(1050), (0, "p=2"): weight(50), (1, ""): weight(50)}


def test_guard_18_what_fits_in_every_task_is_left_as_it_is() -> None:
    health = table({"p=1": 1000})
    fit = fit_deletes({}, health, memory_for(2000), tasks_at_once=2)
    assert (fit.options, fit.too_heavy, fit.sentence) == ({}, frozenset(), "")


def test_guard_18_what_fits_only_once_is_rewritten_one_task_at_a_time() -> None:
    health = table({"p=1": 1000})
    fit = fit_deletes({}, health, memory_for(1999), tasks_at_once=2)
    assert fit.options == {GROUPS_AT_ONCE: "1", GROUP_SIZE: str(512 * MIB)}
    assert fit.too_heavy == frozenset()
    assert fit.sentence.startswith(
        "in groups of 512 MiB, one at a time, because the equality deletes of one take about "
    )


def test_guard_18_options_of_the_policy_are_narrowed_and_never_widened() -> None:
    own = {
        GROUPS_AT_ONCE: "9",
        GROUP_SIZE: str(MIB),
        "target-file-size-bytes": str(64 * MIB),
    }
    fit = fit_deletes(own, table({"p=1": 1000}), memory_for(1000), tasks_at_once=2)
    assert fit.options == {
        GROUPS_AT_ONCE: "1",
        GROUP_SIZE: str(MIB),
        "target-file-size-bytes": str(64 * MIB),
    }


def test_guard_18_a_partition_whose_deletes_fit_no_way_is_left_out() -> None:
    health = table({"p=1": 100, "p=2": 5000})
    plan = decide(health, ENFORCED, Circumstances(NOW, memory_gb=memory_for(4999)))
    action = plan.planned[0].action
    assert isinstance(action, RewriteDataFiles)
    assert action.where == "(`p` = 1)"
    assert (
        "1 partition left out, because their deletes need too much memory" in plan.planned[0].reason
    )


def test_guard_18_where_nothing_else_is_left_the_rewrite_is_refused_in_words() -> None:
    health = table({"p=1": 5000, "p=2": 6000})
    (skipped,) = decide(health, ENFORCED, Circumstances(NOW, memory_gb=memory_for(4999))).skipped
    assert skipped.code is SkipCode.UNSAFE
    assert skipped.reason == (
        "the equality deletes of 2 partitions take up to about 791.0 KiB of memory in each task, "
        "more than the 659.0 KiB that a job of 1.6 MiB has for them (spark.driver_memory, "
        "spark.max_jobs)"
    )


def test_guard_18_a_table_without_partitions_is_refused_the_same_way() -> None:
    health = replace(table({"": 5000}), specs=(PartitionSpec(0, ()),))
    (skipped,) = decide(health, ENFORCED, Circumstances(NOW, memory_gb=memory_for(4999))).skipped
    assert (skipped.code, "of 1 partition take" in skipped.reason) == (SkipCode.UNSAFE, True)


def test_guard_18_hot_partitions_beside_heavy_ones_are_waited_for() -> None:
    health = table({"p=1": 5000, "p=2": 0})
    written = tuple(
        replace(p, written_at=NOW) if p.partition == "p=2" else p for p in health.partitions
    )
    (skipped,) = decide(
        replace(health, partitions=written),
        ENFORCED,
        Circumstances(NOW, memory_gb=memory_for(4999)),
    ).skipped
    assert (skipped.code, skipped.next_at) == (SkipCode.HOT_PARTITION, NOW + timedelta(minutes=15))


def test_guard_18_deletes_where_there_is_no_data_file_weigh_nothing() -> None:
    health = table({"p=1": 10})
    stray = replace(
        health.partitions[0], partition="p=9", data_files=0, equality_delete_records=10**9
    )
    fit = fit_deletes(
        {},
        replace(health, partitions=(*health.partitions, stray)),
        memory_for(1000),
        tasks_at_once=2,
    )
    assert (fit.options, fit.too_heavy) == ({}, frozenset())


@pytest.mark.parametrize(
    "name",
    [RuleName.REWRITE_MANIFESTS, RuleName.EXPIRE_SNAPSHOTS, RuleName.REWRITE_POSITION_DELETE_FILES],
)
def test_guard_18_other_rules_apply_no_equality_deletes(name: RuleName) -> None:
    health = replace(table({"p=1": 10**9}), manifests=5_000, data_manifests=5_000)
    policy = replace(ENFORCED, rules=(RULES[name](),))
    ample, scarce = (
        decide(health, policy, Circumstances(NOW, memory_gb=memory_gb))
        for memory_gb in (1000.0, memory_for(1))
    )
    assert [planned.action for planned in scarce.planned] == [
        planned.action for planned in ample.planned
    ]
    assert scarce.skipped == ample.skipped


def test_guard_18_a_table_without_equality_deletes_needs_nothing() -> None:
    assert fit_deletes({}, table({"p=1": 0}), 0.0, tasks_at_once=8).options == {}
