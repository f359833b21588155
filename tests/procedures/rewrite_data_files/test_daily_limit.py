"""What takes much of a day's budgets is done in slices, so that nothing waits for ever."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.admit.admission import admit
from maintainer.admit.budgets import AdmissionCircumstances
from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.admission import AdmissionRules, find_candidates
from maintainer.domain.cost import Calibration
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.plan import Plan, PlannedAction
from maintainer.domain.policy import Budget, Mode, Policy, RuleName
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.domain.rules import RewriteDataFilesRule, RewriteManifestsRule
from maintainer.domain.units import GIB, MIB
from maintainer.estimate.cost import most_work
from maintainer.procedures.rewrite_data_files import chapter
from maintainer.procedures.rewrite_data_files.limits import (
    FIRST_PACE,
    MOST_FILES,
    Fit,
    JobBounds,
    Limit,
)
from maintainer.procedures.rewrite_data_files.selection import select_groups
from tests.chapters import predict
from tests.samples import NOW, health_of_partitions

FILES = RuleName.REWRITE_DATA_FILES
POLICY = Policy(mode=Mode.ENFORCE, rules=(RewriteDataFilesRule(),))
BY_DAY = {f"day={day}": [16 * MIB] * 64 for day in range(40)}  # 1 GiB each
WHOLE = {"": [MIB] * 10_000}
TIGHT = AdmissionRules(fleet=Budget(bytes_per_day=10 * GIB, name="the fleet"))


def plan_of(
    health: TableHealth,
    rules: AdmissionRules | None,
    policy: Policy = POLICY,
    *,
    is_requested: bool = False,
) -> Plan:
    return decide(health, policy, Circumstances(NOW, admission=rules, is_requested=is_requested))


def planned_of(plan: Plan) -> PlannedAction:
    (planned,) = plan.planned
    return planned


def starts(plan: Plan, rules: AdmissionRules) -> bool:
    (candidate,) = find_candidates(plan)
    (verdict,) = admit(
        [candidate], AdmissionCircumstances(NOW, free_slots={DEFAULT_POOL: 1}, rules=rules)
    )
    return verdict.is_admitted


def test_of_a_table_with_partitions_as_many_are_taken_as_a_day_has_room_for() -> None:
    spec = PartitionSpec(0, (PartitionField("day", "identity", ("day",), "int"),))
    plan = plan_of(replace(health_of_partitions(BY_DAY), specs=(spec,)), TIGHT)
    planned = planned_of(plan)
    assert isinstance(planned.action, RewriteDataFiles)
    assert planned.action.where is not None
    assert 1 * GIB <= planned.estimate.bytes_rewritten <= 10 * GIB * 0.85 * 0.25
    assert planned.reason.endswith(
        "at once, because all of 40 GiB is more than a quarter of the budgets of a day"
    )
    assert starts(plan, TIGHT)


def test_of_a_table_without_partitions_as_many_files_are_taken() -> None:
    rules = AdmissionRules(fleet=Budget(bytes_per_day=1 * GIB, name="the fleet"))
    plan = plan_of(health_of_partitions(WHOLE), rules)
    action = planned_of(plan).action
    assert isinstance(action, RewriteDataFiles)
    assert int(dict(action.options)[MOST_FILES]) <= 220
    assert starts(plan, rules)


@pytest.mark.parametrize(
    "rules",
    [
        AdmissionRules(fleet=Budget(gb_hours_per_day=2.0, name="the fleet")),
        AdmissionRules(per_catalog={"lake": Budget(gb_hours_per_day=2.0, name="catalog lake")}),
        AdmissionRules(
            fleet=Budget(bytes_per_day=400 * GIB, gb_hours_per_day=2.0, name="the fleet"),
            urgent_share=0.5,
        ),
    ],
    ids=["the_fleets", "the_catalogs", "what_is_kept_for_others"],
)
def test_hours_of_memory_count_as_bytes_do(rules: AdmissionRules) -> None:
    health = health_of_partitions(BY_DAY)
    everything = planned_of(plan_of(health, None))
    plan = plan_of(health, rules)
    planned = planned_of(plan)
    assert everything.cost is not None
    assert planned.cost is not None
    assert planned.cost.gb_hours_p90 < 0.5
    assert everything.cost.gb_hours_p90 > 2.0
    assert not starts(plan_of(health, None), rules), "it would wait for ever"
    assert starts(plan, rules)


def test_a_policys_own_budget_bounds_too() -> None:
    health = health_of_partitions(BY_DAY)
    bounded = planned_of(
        plan_of(
            health,
            AdmissionRules(),
            replace(POLICY, budget=Budget(bytes_per_day=20 * GIB, name="policies/cdc.yaml")),
        )
    )
    assert bounded.estimate.bytes_rewritten <= 5 * GIB


def test_what_fits_what_a_person_asks_for_and_what_nothing_bounds_is_done_at_once() -> None:
    health = health_of_partitions(BY_DAY)
    everything = planned_of(plan_of(health, None))
    assert planned_of(plan_of(health, AdmissionRules())) == everything
    assert (
        planned_of(
            plan_of(health, AdmissionRules(fleet=Budget(bytes_per_day=400 * GIB, name="the fleet")))
        )
        == everything
    )
    assert planned_of(plan_of(health, TIGHT, is_requested=True)) == everything


def test_a_budget_that_does_not_even_have_room_for_the_start_bounds_nothing() -> None:
    health = health_of_partitions(BY_DAY)
    starved = AdmissionRules(fleet=Budget(gb_hours_per_day=0.001, name="the fleet"))
    assert planned_of(plan_of(health, starved)) == planned_of(plan_of(health, None))


def test_what_was_no_use_for_shortness_does_not_bound_the_slice_of_a_day(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first files of the table gain nothing, and no filter can be written for the others."""
    large = {f"p={number}": [380 * MIB] * 2 for number in (1, 2, 3)}
    health = health_of_partitions({**large, "p=4": [MIB] * 600})
    health = replace(health, partitions=tuple(sorted(health.partitions, key=lambda p: p.partition)))
    rules = AdmissionRules(fleet=Budget(bytes_per_day=12 * GIB, name="the fleet"))
    expected = planned_of(plan_of(health, rules))
    assert expected.reason.endswith("of the budgets of a day")
    short = Limit(MIB, is_of_groups=True, reason=lambda *_: "")
    assert not select_groups(
        RewriteDataFilesRule(), health, NOW, JobBounds(Fit({}), timedelta(0), (short,))
    ).limit, "of which nothing would be gained"
    monkeypatch.setattr(chapter, "limit_between_commits", lambda *_: short)
    assert planned_of(plan_of(health, rules)) == expected


def test_other_rules_are_not_parted() -> None:
    health = replace(health_of_partitions(BY_DAY), data_manifests=5_000, manifests=5_000)
    policy = Policy(mode=Mode.ENFORCE, rules=(RewriteManifestsRule(),))
    assert plan_of(health, TIGHT, policy) == plan_of(health, None, policy)


@given(limit=st.floats(0.5, 1e4), memory=st.floats(0.5, 64))
def test_so_much_work_takes_so_many_hours(limit: float, memory: float) -> None:
    work = most_work(FIRST_PACE, limit, memory)
    if work > 0:
        assert predict(FILES, work, Calibration(), memory).gb_hours_p90 == pytest.approx(
            limit, rel=0.01
        )
