from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide, on_request
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
from maintainer.estimate.filters.filter_writer import MAX_WHERE_CHARACTERS
from maintainer.estimate.rewrite_data_files import (
    FileGroup,
    PlannerOptions,
    estimate_rewrite_data_files,
    plan_groups,
)
from maintainer.procedures.rewrite_data_files import selection as selection_module
from maintainer.procedures.rewrite_data_files.limits import Fit, JobBounds, Limit
from maintainer.procedures.rewrite_data_files.selection import Selection, select_groups
from tests.chapters import find_gain
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
    gain = find_gain(RULE, health)
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
    while (gain := find_gain(SLICED, table(left))) is not None and gain.is_worthwhile:
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
    gain = find_gain(replace(SLICED, where="a < 1 OR b"), table(MANY))
    assert gain is not None
    assert isinstance(gain.action, RewriteDataFiles)
    assert gain.action.where == "(a < 1 OR b) AND ((`p` = 6))"
    assert find_gain(replace(RULE, where="a < 1"), table(MANY)).action.where == "a < 1"  # type: ignore[union-attr]


def test_a_filter_that_would_set_the_partitions_aside_is_not_written() -> None:
    with pytest.raises(InvalidValueError, match=r"closes a bracket with \) at character 2"):
        find_gain(replace(SLICED, where="a) OR (b"), table(MANY))


def make_long_names() -> TableHealth:
    """Forty partitions with long names, and a hot one, so that a job needs a filter."""
    long = "x" * 300
    spec = PartitionSpec(0, (PartitionField("p", "identity", ("p",), "string"),))
    partitions = {f"p={n}{long}": [1] * 5 for n in range(40)} | {"p=0": [1] * 5}
    return table(partitions, {"p=0": MINUTE}, (spec,))


def test_a_filter_holds_no_more_partitions_than_a_statement_can() -> None:
    selection = select_groups(RULE, make_long_names(), NOW)
    assert 10 < len(places_of(selection)) < 40
    assert len(selection.where or "") <= MAX_WHERE_CHARACTERS


def test_the_policys_own_filter_takes_room_from_that_of_the_partitions() -> None:
    own = "a IN (" + ", ".join(map(str, range(1000))) + ")"
    selection = select_groups(replace(RULE, where=own), make_long_names(), NOW)
    assert 0 < len(places_of(selection)) < 20
    assert len(selection.where or "") + len(own) <= MAX_WHERE_CHARACTERS


OTHER = PartitionSpec(7, (PartitionField("q", "identity", ("q",), "int"),))


def with_other_spec(health: TableHealth, sizes: list[int], at: datetime | None) -> TableHealth:
    """The table with a partition q=1 of another spec, whose files may have any value of p."""
    other = table({"q=1": sizes}).partitions[0]
    return replace(
        health,
        specs=(SPEC, OTHER),
        partitions=(*health.partitions, replace(other, spec_id=7, written_at=at)),
    )


def test_files_of_other_specs_are_counted_where_they_come_along() -> None:
    health = table({"p=1": [1] * 6, "p=2": [1] * 6}, {"p=1": MINUTE})
    selection = select_groups(RULE, with_other_spec(health, [1] * 7, None), NOW)
    assert selection.where == "(`p` = 2)"
    assert places_of(selection) == {(0, "p=2"), (7, "q=1")}
    assert selection.estimate.items_before == 13
    assert [group.is_cut for group in selection.groups] == [False, True], "perhaps not all files"
    assert selection.sentence.endswith("with files of other specs whose values overlap")
    alone = select_groups(RULE, with_other_spec(health, [600], None), NOW)
    assert (places_of(alone), "other specs" in alone.sentence) == ({(0, "p=2")}, False)


def test_guard_14_a_filter_that_may_take_hot_files_of_another_spec_is_not_written() -> None:
    health = with_other_spec(table({"p=1": [1] * 6}), [1] * 7, NOW - MINUTE)
    selection = select_groups(RULE, health, NOW)
    assert (selection.code, selection.next_at) == (SkipCode.HOT_PARTITION, NOW + 14 * MINUTE)
    assert selection.sentence == (
        "the possible gain is in 1 partition that were written to within 15 min, and no filter "
        "can be written for the others"
    )


def test_a_filter_that_may_take_files_that_gather_is_not_written() -> None:
    """Such files wait until there are more of them, and a filter of another spec may take them."""
    health = with_other_spec(table({"p=1": [1] * 6}), [1] * 7, None)
    gathering = JobBounds(
        Fit({}), timedelta(0), gathering=frozenset({(7, "q=1")}), gathered_at=NOW + MINUTE
    )
    selection = select_groups(RULE, health, NOW, gathering)
    assert (selection.where, selection.code) == (None, SkipCode.NOTHING_TO_GAIN)
    assert selection.next_at == NOW + MINUTE
    assert selection.sentence == (
        "no filter can be written that leaves out 1 partition for a later job"
    )


NEARLY_FULL = [300, 300]  # two files that Iceberg selects, and that stay two


def test_guard_14_a_hot_partition_without_a_gain_is_left_out_too() -> None:
    health = table({"p=1": [1] * 60, "p=2": NEARLY_FULL}, {"p=2": MINUTE})
    selection = select_groups(RULE, health, NOW)
    assert (selection.where, places_of(selection)) == ("(`p` = 1)", {(0, "p=1")})
    assert selection.estimate.bytes_rewritten == 60 * MIB
    assert selection.sentence == (
        "1 partition now, 1 partition left out, because they were written to within 15 min"
    )


def test_partitions_where_nothing_is_gained_are_left_out_by_a_filter() -> None:
    health = table({f"p={n}": NEARLY_FULL for n in range(1, 101)} | {"p=0": [1] * 60})
    selection = select_groups(RULE, health, NOW)
    assert (selection.where, selection.estimate.bytes_rewritten) == ("(`p` = 0)", 60 * MIB)
    assert selection.sentence == (
        "1 partition now, 100 partitions left out, because nothing would be gained there"
    )


def test_groups_without_a_gain_in_a_partition_with_one_come_along() -> None:
    split = replace(RULE, options=(("max-file-group-size-bytes", str(600 * MIB)),))
    health = table({"p=1": [*NEARLY_FULL, *[20] * 20], "p=2": NEARLY_FULL})
    selection = select_groups(split, health, NOW)
    assert [group.removed > 0 for group in selection.groups] == [False, True]
    assert places_of(selection) == {(0, "p=1")}


def test_where_no_filter_can_be_written_what_comes_along_is_named() -> None:
    health = table({"p=1": [1] * 60, "p=2": NEARLY_FULL}, specs=())
    selection = select_groups(RULE, health, NOW)
    assert (selection.where, len(selection.groups)) == (None, 2)
    assert selection.sentence == (
        "including 1 partition where nothing is gained, because no filter can be written that "
        "leaves them out"
    )
    split = replace(RULE, options=(("max-file-group-size-bytes", str(600 * MIB)),))
    single = select_groups(split, table({"": [*NEARLY_FULL, *[20] * 20]}), NOW)
    assert (len(single.groups), single.where, single.sentence) == (2, None, "")


def test_guard_14_where_no_filter_leaves_out_what_is_hot_the_job_waits() -> None:
    health = table({"p=1": [1] * 60, "p=2": NEARLY_FULL}, {"p=2": MINUTE}, specs=())
    selection = select_groups(RULE, health, NOW)
    assert (selection.code, selection.next_at) == (SkipCode.HOT_PARTITION, NOW + 14 * MINUTE)
    assert selection.sentence == (
        "no filter can be written that leaves out 1 partition that were written to within 15 min"
    )


def test_a_table_where_nothing_is_gained_does_not_wait_for_hot_or_heavy_partitions() -> None:
    health = table({"p=1": NEARLY_FULL, "p=2": NEARLY_FULL}, {"p=2": MINUTE})
    heavy = JobBounds(Fit({}, frozenset({(0, "p=1")})), RULE.hot_partition_age)
    selection = select_groups(RULE, health, NOW, heavy)
    assert (selection.code, selection.is_worthwhile) == (None, False)


def test_where_no_filter_leaves_out_what_is_too_heavy_the_job_is_refused() -> None:
    health = table({"p=1": [1] * 60, "p=2": NEARLY_FULL}, specs=())
    heavy = JobBounds(Fit({}, frozenset({(0, "p=2")}), refusal="too heavy"), timedelta(0))
    selection = select_groups(RULE, health, NOW, heavy)
    assert (selection.code, selection.sentence) == (SkipCode.UNSAFE, "too heavy")


def test_what_comes_along_from_another_spec_counts_where_its_own_filter_is_longer() -> None:
    """The files of old specs are one group; a filter may take some of its partitions alone."""
    old = {f"q={n}": [1] * 3 for n in range(3)}
    health = table({"p=1": [1] * 6, "p=2": NEARLY_FULL})
    others = [replace(p, spec_id=7) for p in table(old).partitions]
    mixed = replace(health, specs=(SPEC, OTHER), partitions=(*health.partitions, *others))
    selection = select_groups(replace(RULE, max_bytes_per_job=6 * MIB), mixed, NOW)
    assert selection.where == "(`p` = 1)"
    assert places_of(selection) == {(0, "p=1"), (7, "q=0"), (7, "q=1"), (7, "q=2")}


def test_files_of_the_current_spec_come_along_with_those_of_an_old_one() -> None:
    health = with_other_spec(table({"p=1": [1] * 6, "p=2": [1] * 5}), [1] * 20, None)
    selection = select_groups(replace(RULE, max_bytes_per_job=26 * MIB), health, NOW)
    assert selection.where == "(`q` = 1) OR (`p` = 1)"
    assert places_of(selection) == {(0, "p=1"), (0, "p=2"), (7, "q=1")}


def test_partitions_of_another_spec_with_other_values_do_not_come_along() -> None:
    both = PartitionSpec(7, (*SPEC.fields, *OTHER.fields))
    health = table({"p=3": [1] * 7}, {"p=3": MINUTE})
    old = table({"p=1/q=1": [1] * 3, "p=2/q=1": [1] * 3}).partitions
    mixed = replace(
        health,
        specs=(SPEC, both),
        partitions=(*health.partitions, *(replace(p, spec_id=7) for p in old)),
    )
    selection = select_groups(RULE, mixed, NOW)
    assert selection.where == "(`p` = 1 AND `q` = 1) OR (`p` = 2 AND `q` = 1)"
    assert places_of(selection) == {(7, "p=1/q=1"), (7, "p=2/q=1")}


def test_a_value_that_reads_like_a_filter_is_only_a_value() -> None:
    spec = PartitionSpec(0, (PartitionField("p", "identity", ("p",), "string"),))
    health = with_other_spec(table({"p=a' OR 'b": [1] * 6}), [1] * 7, None)
    selection = select_groups(
        replace(RULE, max_bytes_per_job=6 * MIB), replace(health, specs=(spec, OTHER)), NOW
    )
    assert len(places_of(selection)) == 2


SIZES = st.lists(st.sampled_from([1, 20, 300, 400, 1000]), max_size=12)
AGES = st.sampled_from([None, MINUTE, 20 * MINUTE])


@given(
    current=st.lists(st.tuples(SIZES, AGES), min_size=1, max_size=5),
    other=st.lists(st.tuples(SIZES, AGES), max_size=3),
    max_bytes=st.sampled_from([None, 100 * MIB, 2000 * MIB]),
    heavy=st.sets(st.integers(0, 4), max_size=2),
    is_written=st.booleans(),
)
def test_the_statement_that_is_written_takes_nothing_hot_and_nothing_in_vain(
    current: list[tuple[list[int], timedelta | None]],
    other: list[tuple[list[int], timedelta | None]],
    max_bytes: int | None,
    heavy: set[int],
    is_written: bool,
) -> None:
    """The statement is read again as Iceberg reads it, and its groups are planned anew."""
    made = [(0, f"p={n}", *one) for n, one in enumerate(current)]
    made += [(7, f"q={n}", *one) for n, one in enumerate(other)]
    parts = [
        replace(
            table({text: sizes}).partitions[0],
            spec_id=spec_id,
            written_at=None if age is None else NOW - age,
        )
        for spec_id, text, sizes, age in made
        if sizes
    ]
    health = replace(
        table({"p=0": [1]}), specs=(SPEC, OTHER) if is_written else (), partitions=tuple(parts)
    )
    too_heavy = frozenset((0, f"p={n}") for n in heavy)
    rule = replace(RULE, max_bytes_per_job=max_bytes)
    bounds = JobBounds(Fit({}, too_heavy), rule.hot_partition_age)
    selection = select_groups(rule, health, NOW, bounds)
    if not selection.is_worthwhile:
        return
    taken = plan_groups(
        health, PlannerOptions.read(health, rule), select_by(selection.where, health)
    )
    assert [(g.partitions, g.files) for g in selection.groups] == [
        (g.partitions, g.files) for g in taken
    ]
    barred = {
        (p.spec_id, p.partition)
        for p in health.partitions
        if p.written_at is not None and p.written_at > NOW - rule.hot_partition_age
    } | too_heavy
    places = places_of(selection)
    assert barred.isdisjoint(places)
    gaining = {key for group in taken if group.removed for key in group.partitions}
    wanted_specs = {spec_id for spec_id, _ in gaining}
    if is_written:
        assert all(key in gaining or wanted_specs - {key[0]} for key in places)


def select_by(where: str | None, health: TableHealth) -> set[tuple[int, str]]:
    """The partitions with files that may have a matching row, by their values."""
    every = {(p.spec_id, p.partition) for p in health.partitions}
    if where is None:
        return every
    named = {
        (0 if name == "p" else 7, f"{name}={value}")
        for name, value in re.findall(r"\(`([pq])` = (\d+)\)", where)
    }
    return {key for key in every if key in named or {spec for spec, _ in named} - {key[0]}}


def test_a_limit_makes_no_job_larger_than_the_policy_does() -> None:
    """A filter takes all groups of a partition, and so more than the policy's bytes."""
    rule = replace(
        RULE,
        max_bytes_per_job=500 * MIB,
        options=(("max-file-group-size-bytes", str(600 * MIB)),),
    )
    health = table(
        {"p=1": [*NEARLY_FULL * 4, *[5] * 20], "p=2": [20] * 21, "p=3": [21] * 20, "p=4": [22] * 20}
    )
    limit = Limit(2000 * MIB, is_of_groups=True, reason=lambda *_: "")
    bounds = JobBounds(Fit(dict(rule.options)), timedelta(0), (limit,))
    free, limited = select_groups(rule, health, NOW), select_groups(rule, health, NOW, bounds)
    assert places_of(free) == places_of(limited) == {(0, "p=1")}
    assert limited.estimate.bytes_rewritten < free.estimate.bytes_rewritten


def test_the_estimate_is_of_the_chosen_partitions_alone() -> None:
    health = table(MANY)
    gain = find_gain(SLICED, health)
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
