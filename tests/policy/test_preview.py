"""Policies that are tried out: where they lie among the others, whom they can concern, and which
verdicts they change.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.domain.cost import Cost
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import VerdictChange
from maintainer.domain.policy import Mode, PolicyLayer, PolicySet, RuleName
from maintainer.policy.effective import effective
from maintainer.policy.versions import compare_plans, find_affected, with_candidate, with_file
from tests.examples import examples
from tests.policy.test_effective import EXPIRE, ORDERS, _layers, layer
from tests.samples import NOW, health_of_partitions

ITEMS, PEOPLE = TableIdentifier.parse("lake.sales.items"), TableIdentifier.parse("lake.hr.people")
FILE = layer("a.yaml", "lake.sales.*", priority=1)


def test_a_candidate_takes_the_place_of_a_file_of_its_name() -> None:
    candidate = layer("a.yaml", "lake.sales.*", priority=2)
    assert with_candidate(PolicySet((FILE,)), candidate).layers == (candidate,)
    assert with_candidate(PolicySet((FILE,)), None).layers == (FILE,)


def test_a_candidate_of_another_name_is_laid_over_what_is_equally_narrow_and_no_more() -> None:
    tried = with_candidate(PolicySet((FILE,)), layer("new.yaml", "lake.sales.*", priority=2))
    assert (effective(tried, ORDERS, {}).priority, effective(tried, ORDERS, {}).ambiguities) == (
        2,
        (),
    )
    assert (
        effective(
            with_candidate(PolicySet((FILE,)), layer("new.yaml", "lake.*", priority=2)), ORDERS, {}
        ).priority
        == 1
    )


def test_a_new_file_beside_the_others_can_disagree_with_them() -> None:
    assert effective(
        with_file(PolicySet((FILE,)), layer("new.yaml", "lake.sales.*", priority=2)), ORDERS, {}
    ).ambiguities


def test_only_tables_of_layers_that_differ_are_concerned() -> None:
    same, old, new = (
        layer("s.yaml", "*", priority=5),
        layer("a.yaml", "lake.sales.i*", priority=1),
        layer("a.yaml", "lake.hr.*", priority=1),
    )
    assert find_affected(
        PolicySet((same, old)), PolicySet((new, same)), [ORDERS, ITEMS, PEOPLE]
    ) == [ITEMS, PEOPLE]
    assert (
        find_affected(PolicySet((same, old)), PolicySet((old, same)), [ORDERS, ITEMS, PEOPLE]) == []
    )


def test_every_rule_that_is_judged_otherwise_is_reported_with_both_reasons() -> None:
    rotten = replace(health_of_partitions({"a": [1000] * 600}), table=ORDERS)
    observed, enforced = (
        layer("a.yaml", "*", mode=mode, rules__rewrite_manifests=True)
        for mode in (Mode.OBSERVE, Mode.ENFORCE)
    )
    off = layer(
        "a.yaml",
        "*",
        mode=Mode.ENFORCE,
        rules__rewrite_data_files__enabled=False,
        rules__remove_orphan_files=True,
    )
    before, after, without = (
        decide(rotten, effective((one,), ORDERS, {}), Circumstances(NOW))
        for one in (observed, enforced, off)
    )
    (change,) = compare_plans(before, after)
    assert (change.rule, change.before, change.after) == (
        RuleName.REWRITE_DATA_FILES,
        "observe_only",
        "planned",
    )
    assert change.why_before.startswith(
        "the policy is in observe mode; enforce mode would start it, because 600 files "
    )
    assert "600 files" in change.why_after
    reported = {one.rule: one for one in compare_plans(after, without)}
    assert reported[RuleName.REWRITE_DATA_FILES].after == "disabled"
    orphans = reported[RuleName.REMOVE_ORPHAN_FILES]
    assert (orphans.before, orphans.why_before) == (None, "the policy has no such rule")
    assert compare_plans(after, after) == ()
    priced, unpriced = (
        replace(after, planned=tuple(replace(one, cost=cost) for one in after.planned))
        for cost in (Cost(0.5, 1.0, 30.0), None)
    )
    assert [change.gb_hours for change in compare_plans(before, priced)] == [0.5]
    assert [change.gb_hours for change in compare_plans(before, unpriced)] == [None]
    assert [change.gb_hours for change in compare_plans(priced, before)] == [None]


def test_work_that_would_be_done_otherwise_is_a_change_too() -> None:
    rotten = replace(health_of_partitions({"a": [1000] * 600}), table=ORDERS)
    plain, limited = (
        layer("a.yaml", "*", mode=Mode.ENFORCE, **more)
        for more in ({}, {"rules__rewrite_data_files__where": "day > 1"})
    )
    first, second = (
        decide(rotten, effective((one,), ORDERS, {}), Circumstances(NOW))
        for one in (plain, limited)
    )
    assert [(change.before, change.after) for change in compare_plans(first, second)] == [
        ("planned", "planned")
    ]


@settings(max_examples=examples(30))
@given(_layers(), _layers())
def test_no_verdict_changes_for_a_table_that_is_not_concerned(
    before: tuple[PolicyLayer, ...], after: tuple[PolicyLayer, ...]
) -> None:
    concerned = find_affected(PolicySet(before), PolicySet(after), [ORDERS])
    if not concerned:
        assert effective(before, ORDERS, {}) == effective(after, ORDERS, {})


def test_a_change_names_its_rule() -> None:
    assert VerdictChange(RuleName.EXPIRE_SNAPSHOTS, None, "planned", "", "").rule in EXPIRE
