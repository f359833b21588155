"""Writers are waited for, and no longer than is allowed; other maintainers are not fought."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide, on_request
from maintainer.domain.health import Rewriter, TableHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.plan import Plan, SkipCode, SkippedRule
from maintainer.domain.policy import Mode, Others, Policy, RuleName, Window
from maintainer.domain.rules import ExpireSnapshotsRule, RewriteDataFilesRule
from tests.samples import NOW, health_of_partitions

FILES = RewriteDataFilesRule()
ENFORCED = Policy(mode=Mode.ENFORCE, rules=(FILES,))
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
OURS = "iceberg-maintainer-7"
WHOLE = replace(health_of_partitions({"": [1000] * 60}), is_partitioned=False)
PARTED = replace(
    health_of_partitions({"p=1": [1000] * 60}),
    specs=(PartitionSpec(0, (PartitionField("p", "identity", ("p",), "int"),)),),
)


def look(health: TableHealth = WHOLE, policy: Policy = ENFORCED, **changes: object) -> Plan:
    return decide(health, policy, replace(Circumstances(NOW, application=OURS), **changes))  # type: ignore[arg-type]


def with_rule(**changes: object) -> Policy:
    return replace(ENFORCED, rules=(replace(FILES, **changes),))  # type: ignore[arg-type]


def held(plan: Plan) -> SkippedRule:
    (skipped,) = plan.skipped
    return skipped


def changed(ago: timedelta, health: TableHealth = WHOLE) -> TableHealth:
    return replace(health, last_write_at=NOW - ago, last_change_at=NOW - ago)


# -- guard 14: a table without partitions


def test_guard_14_a_table_without_partitions_waits_until_nobody_changes_its_rows() -> None:
    waiting = held(look(changed(14 * MINUTE)))
    assert (waiting.code, waiting.next_at, waiting.waiting_since) == (
        SkipCode.NOT_QUIET,
        NOW + MINUTE,
        NOW,
    )
    assert waiting.would_do is not None
    assert waiting.reason == (
        "the table has no partitions to leave out, and its rows were last changed at 2026-03-04 "
        "11:46 UTC; "
        "it waits for a quiet period of 15 min, until 2026-03-05 12:00 UTC at most"
    )
    assert look(changed(15 * MINUTE)).planned


def test_guard_14_writers_that_only_append_are_not_waited_for() -> None:
    assert look(replace(WHOLE, last_write_at=NOW, last_change_at=NOW - HOUR)).planned


def test_guard_14_inside_a_window_of_the_operators_nothing_is_waited_for() -> None:
    always = replace(ENFORCED, window=Window("* * * * *", HOUR))
    assert look(changed(MINUTE), always).planned


def test_guard_14_a_table_with_partitions_leaves_the_hot_ones_out_instead() -> None:
    assert look(changed(MINUTE, PARTED)).planned


def test_guard_14_other_rules_than_the_rewrite_of_data_files_do_not_wait_by_themselves() -> None:
    expiry = Policy(mode=Mode.ENFORCE, rules=(ExpireSnapshotsRule(),))
    assert {skipped.code for skipped in look(changed(MINUTE), expiry).skipped} == {
        SkipCode.NOTHING_TO_GAIN
    }


@pytest.mark.parametrize("age", [timedelta(0), 30 * MINUTE])
def test_guard_14_how_long_is_the_rules_own(age: timedelta) -> None:
    plan = look(changed(20 * MINUTE), with_rule(hot_partition_age=age))
    assert bool(plan.planned) is not bool(age)


# -- the quiet period


def test_a_quiet_period_waits_until_others_have_committed_nothing_for_so_long() -> None:
    appended = replace(PARTED, last_write_at=NOW - 20 * MINUTE)
    waiting = held(look(appended, with_rule(quiet_period=HOUR)))
    assert (waiting.code, waiting.next_at) == (SkipCode.NOT_QUIET, NOW + 40 * MINUTE)
    assert waiting.reason.startswith(
        "others last committed at 2026-03-04 11:40 UTC; it waits for a quiet period of 1 h"
    )
    assert look(replace(PARTED, last_write_at=NOW - HOUR), with_rule(quiet_period=HOUR)).planned
    assert look(replace(PARTED, last_write_at=None), with_rule(quiet_period=HOUR)).planned


def test_a_quiet_period_of_nothing_waits_for_nobody() -> None:
    assert look(changed(timedelta(0)), with_rule(quiet_period=timedelta(0))).planned


def test_when_it_has_waited_long_enough_it_acts_all_the_same_and_says_so() -> None:
    busy = replace(PARTED, last_write_at=NOW)
    policy = with_rule(quiet_period=HOUR, wait_for_quiet=2 * HOUR)
    first = look(busy, policy)
    assert held(first).next_at == NOW + HOUR
    later = replace(busy, last_write_at=NOW + 90 * MINUTE)
    second = decide(later, policy, Circumstances(NOW + 90 * MINUTE, previous=first))
    assert (held(second).next_at, held(second).waiting_since) == (NOW + 2 * HOUR, NOW), (
        "never later than its patience ends"
    )
    third = decide(
        replace(busy, last_write_at=NOW + 2 * HOUR),
        policy,
        Circumstances(NOW + 2 * HOUR, previous=second),
    )
    assert third.planned[0].reason.endswith(
        "others last committed at 2026-03-04 14:00 UTC, and it has waited for a quiet "
        "period of 1 h since 2026-03-04 12:00 UTC"
    )


def test_hot_partitions_are_waited_for_no_longer_than_that_either() -> None:
    hot = replace(
        PARTED,
        partitions=tuple(replace(partition, written_at=NOW) for partition in PARTED.partitions),
    )
    first = look(hot)
    assert (held(first).code, held(first).next_at, held(first).waiting_since) == (
        SkipCode.HOT_PARTITION,
        NOW + 15 * MINUTE,
        NOW,
    )
    nearly = NOW + RewriteDataFilesRule().wait_for_quiet - MINUTE
    still_hot = replace(
        hot, partitions=tuple(replace(partition, written_at=nearly) for partition in hot.partitions)
    )
    second = decide(still_hot, ENFORCED, Circumstances(nearly, previous=first))
    assert held(second).next_at == NOW + RewriteDataFilesRule().wait_for_quiet
    assert decide(
        still_hot,
        ENFORCED,
        Circumstances(NOW + RewriteDataFilesRule().wait_for_quiet, previous=second),
    ).planned


def test_a_person_who_asks_waits_for_no_writer() -> None:
    asked = on_request(ENFORCED, (RuleName.REWRITE_DATA_FILES,))
    assert look(changed(timedelta(0)), asked).planned


# -- guard 17


def test_guard_17_while_a_pipeline_that_updates_has_its_blackout_nothing_starts() -> None:
    merge = Window("0 11 * * *", 2 * HOUR)
    waiting = held(look(policy=replace(ENFORCED, blackouts=(merge,))))
    assert (waiting.code, waiting.next_at) == (SkipCode.OUTSIDE_WINDOW, NOW + HOUR)
    assert decide(WHOLE, replace(ENFORCED, blackouts=(merge,)), Circumstances(NOW + HOUR)).planned


# -- guard 28: other maintainers


GLUE = Rewriter("glue-compaction", 3, NOW - HOUR)


def test_guard_28_a_table_that_somebody_else_keeps_rewriting_is_left_to_that_one() -> None:
    left = held(look(replace(WHOLE, rewriters=(Rewriter(OURS, 9, NOW), GLUE))))
    assert (left.code, left.next_at) == (SkipCode.OTHER_MAINTAINER, NOW - HOUR + 7 * DAY)
    assert left.reason == (
        "glue-compaction, another maintainer, rewrote this table 3 times in 7 days, last at "
        "2026-03-04 11:00 UTC; "
        "rewrites are left to it (with others: ignore in the policy they would run too)"
    )


def test_guard_28_another_instance_of_this_program_is_another_maintainer() -> None:
    left = held(look(replace(WHOLE, rewriters=(Rewriter("iceberg-maintainer-8", 2, NOW),))))
    assert left.reason.startswith(
        "iceberg-maintainer-8, another instance of this program, rewrote this table 2 times"
    )


@pytest.mark.parametrize(
    "rewriter",
    [
        Rewriter(OURS, 50, NOW),
        Rewriter("somebody once, by hand", 1, NOW),
        Rewriter("gone", 9, NOW - 7 * DAY),
    ],
)
def test_guard_28_nobody_is_feared_without_need(rewriter: Rewriter) -> None:
    assert look(replace(WHOLE, rewriters=(rewriter,))).planned


def test_guard_28_what_rewrites_nothing_goes_on() -> None:
    expiry = Policy(mode=Mode.ENFORCE, rules=(ExpireSnapshotsRule(),))
    assert held(look(replace(WHOLE, rewriters=(GLUE,)), expiry)).code is SkipCode.NOTHING_TO_GAIN


def test_guard_28_the_policy_or_a_person_may_work_beside_the_other() -> None:
    shared = replace(WHOLE, rewriters=(GLUE,))
    assert look(shared, replace(ENFORCED, others=Others.IGNORE)).planned
    assert look(shared, on_request(ENFORCED, (RuleName.REWRITE_DATA_FILES,))).planned
