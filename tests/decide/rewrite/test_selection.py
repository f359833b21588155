from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.gain import find_gain
from maintainer.decide.plan import decide, on_request
from maintainer.decide.rewrite import selection as selection_module
from maintainer.decide.rewrite.limits import Fit, JobBounds
from maintainer.decide.rewrite.selection import Selection, select_groups
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.file_sizes import DeletedFiles
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.plan import RuleHistory, SkipCode
from maintainer.domain.policy import Budget, Mode, Policy, RuleName
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import MIB
from maintainer.estimate.file_selection import find_candidates, may_have_candidates
from maintainer.estimate.rewrite_data_files import (
    FileGroup,
    PlannerOptions,
    estimate_rewrite_data_files,
    plan_groups,
)
from tests.samples import NOW, health_of_partitions

RULE = RewriteDataFilesRule(cooldown=timedelta(0))
SPEC = PartitionSpec(0, (PartitionField("p", "identity", ("p",), "int"),))
MINUTE = timedelta(minutes=1)


def table(
    partitions: dict[str, list[int]],
    ages: dict[str, timedelta] | None = None,
    specs: tuple[PartitionSpec, ...] = (SPEC,),
) -> TableHealth:
    """Partitions p=... with files of these sizes in MiB, written so long ago; all others long
    ago.
    """
    health = health_of_partitions(
        {text: [size * MIB for size in sizes] for text, sizes in partitions.items()}
    )
    written: dict[str, datetime] = {text: NOW - age for text, age in (ages or {}).items()}
    return replace(
        health,
        specs=specs,
        partitions=tuple(
            replace(p, written_at=written.get(p.partition)) for p in health.partitions
        ),
    )


def places_of(selection: Selection) -> set[tuple[int, str]]:
    return {key for group in selection.groups for key in group.partitions}


THREE = {"p=1": [1] * 6, "p=2": [1] * 6, "p=3": [1] * 4}


def test_a_table_that_nobody_writes_to_is_taken_whole() -> None:
    selection = select_groups(RULE, table(THREE, {"p=1": 15 * MINUTE}), NOW)
    assert (selection.where, selection.sentence) == (None, "")
    assert places_of(selection) == {(0, "p=1"), (0, "p=2")}


def test_guard_14_hot_partitions_are_left_out_by_a_filter() -> None:
    health = table(THREE, {"p=1": 14 * MINUTE})
    gain = find_gain(RULE, health, None, NOW)
    assert gain is not None
    assert isinstance(gain.action, RewriteDataFiles)
    assert (gain.action.where, gain.estimate.items_before, gain.estimate.items_after) == (
        "(`p` = 2)",
        6,
        1,
    )
    assert gain.sentence.endswith(
        "1 partition now, 1 partition left out, because they were written to within 15 min"
    )


def test_a_hot_partition_without_anything_to_gain_is_no_reason_for_a_filter() -> None:
    assert select_groups(RULE, table(THREE, {"p=3": MINUTE}), NOW).where is None


def test_guard_14_where_all_that_would_gain_is_hot_the_rule_waits() -> None:
    health = table(THREE, {"p=1": 14 * MINUTE, "p=2": MINUTE})
    plan = decide(health, Policy(mode=Mode.ENFORCE, rules=(RULE,)), Circumstances(NOW))
    assert [(skipped.code, skipped.next_at) for skipped in plan.skipped] == [
        (SkipCode.HOT_PARTITION, NOW + MINUTE)
    ]
    assert "2 partitions that were written to within 15 min" in plan.skipped[0].reason


def test_a_person_who_asks_takes_hot_partitions_too() -> None:
    health = table(THREE, {"p=1": MINUTE, "p=2": MINUTE})
    plan = decide(
        health,
        on_request(Policy(rules=(RULE,)), (RuleName.REWRITE_DATA_FILES,)),
        Circumstances(NOW),
    )
    assert plan.planned[0].estimate.items_before == 12


def test_the_age_is_the_rules_own() -> None:
    health = table(THREE, {"p=1": MINUTE})
    assert select_groups(replace(RULE, hot_partition_age=timedelta(0)), health, NOW).where is None
    assert select_groups(replace(RULE, hot_partition_age=MINUTE / 2), health, NOW).where is None
    assert (
        select_groups(replace(RULE, hot_partition_age=2 * MINUTE), health, NOW).where == "(`p` = 2)"
    )


def test_a_table_without_partitions_has_none_to_leave_out() -> None:
    assert select_groups(RULE, table({"": [1] * 6}, {"": MINUTE}), NOW).where is None


def test_a_filter_that_cannot_be_written_leaves_hot_partitions_alone_all_the_same() -> None:
    health = table(THREE, {"p=1": MINUTE}, specs=())
    selection = select_groups(RULE, health, NOW)
    assert selection.code is SkipCode.HOT_PARTITION
    assert selection.sentence.endswith("and no filter can be written for the others")


SLICED = replace(RULE, max_bytes_per_job=12 * MIB)
MANY = {f"p={n}": [1] * (4 + n) for n in range(1, 7)}  # 5 to 10 files of 1 MiB


def test_a_job_takes_the_partitions_with_the_most_to_gain_for_each_byte() -> None:
    selection = select_groups(SLICED, table(MANY), NOW)
    assert places_of(selection) == {(0, "p=6")}
    assert selection.where == "(`p` = 6)"
    assert selection.sentence == "1 partition now, 5 partitions in later jobs"


def test_slices_end_when_nothing_is_left() -> None:
    left = dict(MANY)
    jobs = 0
    while (gain := find_gain(SLICED, table(left), None, NOW)) is not None and gain.is_worthwhile:
        selection = select_groups(SLICED, table(left), NOW)
        taken = {text for _, text in places_of(selection)}
        assert gain.estimate.bytes_rewritten <= 12 * MIB
        left = {text: [sum(sizes)] if text in taken else sizes for text, sizes in left.items()}
        jobs += 1
    assert jobs == 6 - 1  # the last job takes two: five and six files are eleven
    assert all(len(sizes) == 1 for sizes in left.values())


def test_the_best_partition_is_taken_even_when_it_alone_is_more_than_a_job_may_rewrite() -> None:
    selection = select_groups(replace(RULE, max_bytes_per_job=MIB), table(MANY), NOW)
    assert places_of(selection) == {(0, "p=6")}


def test_what_fits_one_job_needs_no_filter() -> None:
    assert select_groups(replace(RULE, max_bytes_per_job=10**12), table(MANY), NOW).where is None


def test_without_a_filter_the_whole_table_is_taken_at_once() -> None:
    selection = select_groups(SLICED, table(MANY, specs=()), NOW)
    assert (selection.where, selection.code) == (None, None)
    assert "no filter can be written" in selection.sentence


def test_the_policys_own_filter_stands_beside_that_of_the_partitions() -> None:
    gain = find_gain(replace(SLICED, where="a < 1 OR b"), table(MANY), None, NOW)
    assert gain is not None
    assert isinstance(gain.action, RewriteDataFiles)
    assert gain.action.where == "(a < 1 OR b) AND ((`p` = 6))"
    assert find_gain(replace(RULE, where="a < 1"), table(MANY), None, NOW).action.where == "a < 1"  # type: ignore[union-attr]


def test_a_filter_that_would_set_the_partitions_aside_is_not_written() -> None:
    with pytest.raises(InvalidValueError, match=r"closes a bracket with \) at character 2"):
        find_gain(replace(SLICED, where="a) OR (b"), table(MANY), None, NOW)


def test_a_filter_holds_no_more_partitions_than_a_statement_can() -> None:
    long = "x" * 300
    spec = PartitionSpec(0, (PartitionField("p", "identity", ("p",), "string"),))
    health = table(
        {f"p={n}{long}": [1] * 5 for n in range(40)} | {"p=0": [1] * 5}, {"p=0": MINUTE}, (spec,)
    )
    selection = select_groups(RULE, health, NOW)
    assert 10 < len(places_of(selection)) < 40
    assert len(selection.where or "") <= 8000


def test_files_of_other_specs_are_said_to_come_along() -> None:
    health = table({"p=1": [1] * 6, "p=2": [1] * 6}, {"p=1": MINUTE})
    old = replace(health.partitions[0], spec_id=7, partition="q=1", data_files=1)
    selection = select_groups(
        RULE,
        replace(
            health,
            partitions=(
                *health.partitions,
                replace(old, sizes=replace(old.sizes, listed=(600 * MIB,))),
            ),
        ),
        NOW,
    )
    assert "other specs" in selection.sentence


def test_the_estimate_is_of_the_chosen_partitions_alone() -> None:
    health = table(MANY)
    gain = find_gain(SLICED, health, None, NOW)
    assert gain is not None
    assert gain.estimate == estimate_rewrite_data_files(health, RULE, {(0, "p=6")})


def test_partitions_that_counts_alone_rule_out_have_no_candidates() -> None:
    sizes = [[], [400 * MIB], [383 * MIB], [384 * MIB], [922 * MIB], [921 * MIB], [MIB, 400 * MIB]]
    health = health_of_partitions({f"p={number}": files for number, files in enumerate(sizes)})
    bounds = PlannerOptions.read(health, RULE).bounds
    reported = {
        p.partition: (may_have_candidates(p, bounds), find_candidates(p, bounds).files.count)
        for p in health.partitions
    }
    assert all(may == bool(count) for may, count in reported.values()), reported
    assert sum(may for may, _ in reported.values()) == 3
    with_deletes = replace(
        health.partitions[0],
        small_files=0,
        large_files=0,
        deleted=(DeletedFiles(1, 1, 1, 1, 1.0, 1.0, 1),),
    )
    assert may_have_candidates(with_deletes, bounds)
    other = PlannerOptions.read(
        health, replace(RULE, options=(("target-file-size-bytes", "1000"),))
    ).bounds
    assert all(may_have_candidates(p, other) for p in health.partitions), (
        "counted by other bounds, counts tell nothing"
    )


def test_the_groups_of_a_decision_are_planned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hot and heavy partitions, a lost race with a writer and a small budget for the day."""
    planned = []

    def count(health: TableHealth, options: PlannerOptions) -> list[FileGroup]:
        planned.append(options)
        return plan_groups(health, options)

    monkeypatch.setattr(selection_module, "plan_groups", count)
    partitions = {f"p={n}": [1] * 20 for n in range(40)}
    health = replace(table(partitions, {"p=1": MINUTE}), commits_per_hour=30.0)
    rules = AdmissionRules(fleet=Budget(bytes_per_day=200 * MIB, name="the fleet"))
    history = {RULE.name: RuleHistory(RULE.name, recent_conflicts=1)}
    policy = Policy(mode=Mode.ENFORCE, rules=(replace(RULE, max_bytes_per_job=500 * MIB),))
    (made,) = decide(health, policy, Circumstances(NOW, history, admission=rules)).planned
    assert made.estimate.bytes_rewritten == 40 * MIB
    assert "1 partition left out, because they were written to within 15 min" in made.reason
    assert made.reason.endswith("is more than a quarter of the budgets of a day")
    assert len(planned) == 1


def test_a_hot_partition_is_not_counted_among_the_heavy_ones_too() -> None:
    health = table(MANY, {"p=1": MINUTE})
    heavy = frozenset({(0, "p=1"), (0, "p=2")})
    selection = select_groups(RULE, health, NOW, JobBounds(Fit({}, heavy), RULE.hot_partition_age))
    assert selection.sentence == (
        "4 partitions now, 1 partition left out, because they were written to within 15 min, "
        "1 partition left out, because their deletes need too much memory"
    )


def test_a_partition_is_not_counted_as_later_when_the_filter_takes_all_its_groups() -> None:
    parted = replace(SLICED, options=(("max-file-group-size-bytes", str(6 * MIB)),))
    selection = select_groups(parted, table({"p=1": [1] * 12, "p=2": [1] * 6}), NOW)
    assert (selection.where, len(selection.groups)) == ("(`p` = 1)", 2)
    assert selection.sentence == "1 partition now, 1 partition in later jobs"
