"""Instants that are later than now: a clock was ahead, ours or a writer's. They hold nothing back
until they come.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.decide.waiting.postponement import find_waiting_since
from maintainer.domain.health import Rewriter, TableHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.plan import FailureStreak, Plan, RuleHistory, SkipCode
from maintainer.domain.policy import Mode, Policy
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import CLOCK_TOLERANCE
from maintainer.procedures.rewrite_data_files.selection import select_groups
from tests.samples import NOW, health_of_partitions

FILES = RewriteDataFilesRule()
ENFORCED = Policy(mode=Mode.ENFORCE, rules=(FILES,))
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
SPEC = PartitionSpec(0, (PartitionField("p", "identity", ("p",), "int"),))
WHOLE = replace(health_of_partitions({"": [1000] * 60}), is_partitioned=False)
PARTED = replace(health_of_partitions({"p=1": [1000] * 60, "p=2": [1000] * 60}), specs=(SPEC,))


def look(health: TableHealth, history: RuleHistory | None = None, now: datetime = NOW) -> Plan:
    return decide(
        health, ENFORCED, Circumstances(now, {} if history is None else {FILES.name: history})
    )


def written(at: datetime) -> TableHealth:
    """The partition p=1, written at that time; the other long ago."""
    return replace(
        PARTED,
        partitions=tuple(
            replace(one, written_at=at if one.partition == "p=1" else None)
            for one in PARTED.partitions
        ),
    )


@pytest.mark.parametrize("ahead", [CLOCK_TOLERANCE + timedelta(seconds=1), 2 * HOUR, 400 * DAY])
def test_a_success_or_a_failure_in_the_future_does_not_hold_its_rule_back(ahead: timedelta) -> None:
    done = RuleHistory(FILES.name, last_success_at=NOW + ahead)
    failed = RuleHistory(
        FILES.name, consecutive_failures=9, streak=FailureStreak("other", 9, NOW + ahead)
    )
    assert look(PARTED, done).planned
    assert look(PARTED, failed).planned
    assert look(PARTED, done, NOW + ahead).skipped[0].code is SkipCode.COOLING_DOWN, (
        "from then on it is true"
    )
    assert look(PARTED, failed, NOW + ahead).skipped[0].code is SkipCode.COOLING_DOWN


def test_what_another_machine_did_just_now_counts_although_its_clock_is_a_little_ahead() -> None:
    plan = look(PARTED, RuleHistory(FILES.name, last_success_at=NOW + CLOCK_TOLERANCE))
    assert plan.skipped[0].code is SkipCode.COOLING_DOWN


@pytest.mark.parametrize("ahead", [15 * MINUTE, 2 * HOUR, 400 * DAY])
def test_a_partition_of_a_writer_whose_clock_is_far_ahead_is_not_hot(ahead: timedelta) -> None:
    assert select_groups(FILES, written(NOW + ahead), NOW).where is None


def test_a_partition_of_a_writer_whose_clock_is_a_little_ahead_is_hot() -> None:
    assert select_groups(FILES, written(NOW + 14 * MINUTE), NOW).where == "(`p` = 2)"


def test_where_all_that_gains_is_hot_a_partition_that_is_far_ahead_puts_nothing_off() -> None:
    merged = {"p=1": NOW - MINUTE, "p=2": NOW + 400 * DAY}
    health = replace(
        PARTED,
        partitions=tuple(
            replace(one, written_at=merged[one.partition]) for one in PARTED.partitions
        ),
    )
    selection = select_groups(FILES, health, NOW)
    assert selection.where == "(`p` = 2)"
    alone = replace(
        health, partitions=tuple(one for one in health.partitions if one.partition == "p=1")
    )
    assert select_groups(FILES, alone, NOW).next_at == NOW + 14 * MINUTE


def test_a_table_whose_rows_were_changed_in_the_future_is_not_waited_for() -> None:
    assert look(replace(WHOLE, last_change_at=NOW + DAY)).planned
    assert look(replace(WHOLE, last_change_at=NOW + MINUTE)).skipped[0].code is SkipCode.NOT_QUIET


def test_another_maintainer_of_the_future_is_not_left_the_table() -> None:
    assert look(replace(PARTED, rewriters=(Rewriter("glue", 3, NOW + 8 * DAY),))).planned
    assert (
        look(replace(PARTED, rewriters=(Rewriter("glue", 3, NOW + HOUR),))).skipped[0].code
        is SkipCode.OTHER_MAINTAINER
    )


def test_a_rule_waits_since_now_at_the_latest() -> None:
    before = look(PARTED, now=NOW + DAY)
    assert before.planned[0].waiting_since == NOW + DAY
    assert find_waiting_since(FILES.name, Circumstances(NOW, previous=before)) == NOW
