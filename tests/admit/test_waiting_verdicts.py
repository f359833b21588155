from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.admit.admission import SPARE_SHARE, find_wait_changes
from maintainer.admit.budgets import AdmissionCircumstances, Running
from maintainer.domain.admission import AdmissionRules, Candidate, Wait, WaitCode
from maintainer.domain.plan import (
    PLANNED,
    StandingVerdict,
    is_waiting,
    key_while_waiting,
    planned_key,
)
from maintainer.domain.policy import Budget, Charge, RuleName, Spending, Window
from tests.admit.test_admission import candidate, circumstances, limited
from tests.samples import NOW

SPENT = "average_file_size_bytes|admission: gb_hours_per_day of the fleet"


def standing(
    one: Candidate, code: str = PLANNED, key: str = "average_file_size_bytes"
) -> StandingVerdict:
    return StandingVerdict(one.table, one.table_uuid, one.rule, code, key)


def find_one(one: Candidate, held: StandingVerdict, given: AdmissionCircumstances) -> Wait | None:
    (change,) = find_wait_changes([one], [held], given)
    assert change.standing == held
    return change.wait


def find_none(
    one: Candidate, held: StandingVerdict, given: AdmissionCircumstances
) -> Sequence[object]:
    return find_wait_changes([one], [held], given)


def fleet_of(gb_hours: float, spent: float, **changes: object) -> AdmissionCircumstances:
    return replace(limited(spent=Charge(0.0, spent), gb_hours_per_day=gb_hours), **changes)  # type: ignore[arg-type]


def test_what_fits_stays_planned_even_without_a_free_place() -> None:
    one = candidate()
    assert find_none(one, standing(one), circumstances(places=0)) == ()


def test_a_spent_budget_is_reported_once_with_any_figures() -> None:
    one = candidate(gb_hours=1.0)
    wait = find_one(one, standing(one), fleet_of(10.0, 9.5))
    assert wait is not None
    assert wait.code is WaitCode.OVER_BUDGET
    assert find_none(one, standing(one, "over_budget", SPENT), fleet_of(10.0, 9.9)) == ()


def test_what_is_kept_for_others_is_the_same_wait_as_what_is_spent() -> None:
    one = candidate(gb_hours=1.0)
    wait = find_one(one, standing(one), fleet_of(10.0, 8.5))
    assert wait is not None
    assert wait.code is WaitCode.RESERVED
    assert find_none(one, standing(one, "over_budget", SPENT), fleet_of(10.0, 8.5)) == ()


@pytest.mark.parametrize(("spent", "is_lifted"), [(6.6, False), (6.5, True), (0.0, True)])
def test_a_little_that_comes_back_does_not_lift_the_wait(spent: float, is_lifted: bool) -> None:
    one = candidate(gb_hours=1.0)
    given = fleet_of(
        10.0,
        spent,
        # 8.5 of it are for what is neither urgent nor unknown: up to 7.5 spent it fits, up to 6.5
        # with
        # a tenth to spare
    )
    assert SPARE_SHARE == 0.1
    assert find_none(one, standing(one), given) == ()
    if is_lifted:
        assert find_one(one, standing(one, "over_budget", SPENT), given) is None
    else:
        assert find_none(one, standing(one, "over_budget", SPENT), given) == ()


def test_what_takes_all_of_a_day_is_let_go_when_nothing_is_spent() -> None:
    one = candidate(gb_hours=8.5)
    assert find_one(one, standing(one, "over_budget", SPENT), fleet_of(10.0, 0.0)) is None


def test_what_no_day_would_do_for_is_another_wait() -> None:
    one = candidate(gb_hours=9.0)
    wait = find_one(one, standing(one, "over_budget", SPENT), fleet_of(10.0, 0.0))
    assert wait is not None
    assert wait.code is WaitCode.TOO_LARGE
    held = standing(
        one,
        "over_budget",
        "average_file_size_bytes|admission: too large for gb_hours_per_day of the fleet",
    )
    assert find_none(one, held, fleet_of(10.0, 0.0)) == ()


def test_another_budget_is_another_wait() -> None:
    own = Budget(gb_hours_per_day=0.0, name="policies/a.yaml")
    one = candidate(gb_hours=0.0, budget=own)
    wait = find_one(one, standing(one, "over_budget", SPENT), circumstances())
    assert wait is not None
    assert wait.budget is not None
    assert wait.budget.name == "policies/a.yaml"


def test_a_blackout_is_a_wait_with_an_end_and_goes_before_a_budget() -> None:
    one = candidate()
    window = Window("0 12 * * *", timedelta(hours=1), "UTC")
    dark = replace(
        fleet_of(10.0, 10.0),
        rules=AdmissionRules(
            fleet=Budget(name="the fleet", gb_hours_per_day=10.0), blackouts=(window,)
        ),
    )
    wait = find_one(one, standing(one, "over_budget", SPENT), dark)
    assert wait is not None
    assert (wait.code, wait.next_at) == (WaitCode.BLACKOUT, NOW + timedelta(hours=1))
    held = standing(
        one, "outside_window", key_while_waiting("average_file_size_bytes", wait.reason)
    )
    assert find_none(one, held, dark) == ()
    assert find_one(one, held, circumstances()) is None


def test_places_of_budgets_and_jobs_at_work_are_no_verdicts() -> None:
    one = candidate()
    crowded = replace(
        circumstances(),
        rules=AdmissionRules(fleet=Budget(max_jobs=1, name="the fleet")),
        running=(Running("another", one.table, RuleName.EXPIRE_SNAPSHOTS),),
    )
    assert find_none(one, standing(one), crowded) == ()
    busy = replace(fleet_of(10.0, 10.0), running=(Running(one.table_uuid, one.table, one.rule),))
    assert find_none(one, standing(one), busy) == ()


def test_a_table_or_rule_that_has_no_such_verdict_any_more_is_left_alone() -> None:
    one = candidate()
    spent = fleet_of(10.0, 10.0)
    assert find_wait_changes([one], [], spent) == ()
    assert find_none(one, replace(standing(one), table_uuid="another"), spent) == ()
    assert find_none(one, replace(standing(one), rule=RuleName.EXPIRE_SNAPSHOTS), spent) == ()


def test_only_what_counts_today_counts() -> None:
    one = candidate(gb_hours=1.0)
    yesterday = replace(fleet_of(10.0, 10.0), spending=Spending("2026-03-05"))
    assert find_one(one, standing(one, "over_budget", SPENT), yesterday) is None


def test_the_key_of_a_wait_holds_the_key_of_what_waits() -> None:
    key = key_while_waiting("a,b", "the budget")
    assert (planned_key(key), planned_key("a,b"), is_waiting(key), is_waiting("a,b")) == (
        "a,b",
        "a,b",
        True,
        False,
    )
    assert planned_key(key_while_waiting(key, "a blackout")) == "a,b"
