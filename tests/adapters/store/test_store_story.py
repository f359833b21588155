from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings

from maintainer.adapters.store.documents import read, write
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.cost import Benefit, Cost, Worth
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.plan import (
    PLANNED,
    Estimate,
    PlannedAction,
    RuleVerdict,
    SkipCode,
    StandingVerdict,
    Unenforced,
    key_while_waiting,
    planned_key,
)
from maintainer.domain.policy import RuleName
from maintainer.ports.store import Store
from tests.adapters.store.values import (
    MINUTE,
    NOW,
    ORDERS,
    ORDERS_UUID,
    any_of,
    make_grade,
    make_health,
    make_plan,
)

REWRITE, EXPIRE = RuleName.REWRITE_DATA_FILES, RuleName.EXPIRE_SNAPSHOTS


def decide(
    store: Store, at: datetime, *codes: tuple[RuleName, str, str], table_uuid: str = ORDERS_UUID
) -> None:
    """A plan of that time whose rules have these codes and keys."""
    verdicts = [RuleVerdict(rule, code, key, f"{code} for {key}", at) for rule, code, key in codes]
    store.record_plan(replace(make_plan(table_uuid=table_uuid), made_at=at), verdicts)


def reported(store: Store) -> list[tuple[str, str, datetime, datetime | None]]:
    return [
        (verdict.code, verdict.key, verdict.at, verdict.until)
        for verdict in store.verdicts(ORDERS).items
    ]


def test_a_verdict_is_kept_when_its_code_or_its_key_changes_and_not_else(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    for minute, (code, key) in enumerate(
        [("a", "x"), ("a", "x"), ("a", "y"), ("b", "y"), ("b", "y")]
    ):
        decide(store, NOW + minute * MINUTE, (REWRITE, code, key))

    second, third = NOW + 2 * MINUTE, NOW + 3 * MINUTE
    assert reported(store) == [
        ("b", "y", third, None),
        ("a", "y", second, third),
        ("a", "x", NOW, second),
    ]
    assert store.verdicts(ORDERS).items[-1].sentence == "a for x"


def test_each_rule_has_an_activity_of_its_own(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    decide(store, NOW, (REWRITE, "a", ""), (EXPIRE, PLANNED, ""))
    decide(store, NOW + MINUTE, (REWRITE, "b", ""), (EXPIRE, PLANNED, ""))

    page = store.verdicts(ORDERS)
    assert [(verdict.rule, verdict.code, verdict.until) for verdict in page.items] == [
        (REWRITE, "b", None), (REWRITE, "a", NOW + MINUTE), (EXPIRE, PLANNED, None),
    ]  # fmt: skip
    assert page.total == 3


def test_a_rule_that_the_policy_drops_ends_its_verdict(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    decide(store, NOW, (REWRITE, "a", ""), (EXPIRE, "a", ""))
    decide(store, NOW + MINUTE, (REWRITE, "a", ""))
    store.record_plan(make_plan())  # says nothing of verdicts

    assert {verdict.rule: verdict.until for verdict in store.verdicts(ORDERS).items} == {
        REWRITE: None,
        EXPIRE: NOW + MINUTE,
    }


def test_a_verdict_that_stood_for_no_time_is_replaced(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    for code in ("a", "b", "c"):
        decide(store, NOW, (REWRITE, code, ""))

    assert reported(store) == [("c", "", NOW, None)]


def test_another_table_of_the_same_name_has_an_activity_of_its_own(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    decide(store, NOW, (REWRITE, "a", ""))
    store.record_health(make_health(table_uuid="another", at=NOW + MINUTE), make_grade())
    decide(store, NOW + MINUTE, (REWRITE, "a", ""), table_uuid="another")
    decide(store, NOW + 2 * MINUTE, (REWRITE, "late", ""))  # of the table that is gone

    assert reported(store) == [("a", "", NOW + MINUTE, None)]


WANTED = replace(
    make_plan(),
    planned=(
        PlannedAction(
            REWRITE,
            RewriteDataFiles(),
            (),
            Estimate(9, 1, 8, 100),
            "small",
            Cost(0.5, 0.75, 30.0),
            None,
            Worth(Benefit(9)),
            NOW,
        ),
    ),
)


def want(store: Store, at: datetime, *codes: tuple[RuleName, str, str]) -> None:
    """A plan of that time that wants a rewrite."""
    store.record_plan(
        replace(WANTED, made_at=at),
        [RuleVerdict(rule, code, key, f"{code} for {key}", at) for rule, code, key in codes],
    )


def wait(store: Store, at: datetime, code: str = "over_budget", cause: str = "the fleet") -> int:
    """Admission holds back (None: lets go) each planned verdict; how many changed."""
    held = [
        RuleVerdict(
            one.rule,
            code,
            key_while_waiting(one.key, cause) if cause else planned_key(one.key),
            code,
            at,
        )
        for one in store.standing_verdicts()
    ]
    return len(store.replace_verdicts(list(zip(store.standing_verdicts(), held, strict=True))))


def test_a_wait_stands_while_the_plans_want_the_same(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    want(store, NOW, (REWRITE, PLANNED, "a"), (EXPIRE, "below_threshold", "|x"))
    assert store.standing_verdicts() == (
        StandingVerdict(ORDERS, ORDERS_UUID, REWRITE, PLANNED, "a"),
    )
    assert wait(store, NOW + MINUTE) == 1
    for minute in (2, 3, 4):
        want(
            store, NOW + minute * MINUTE, (REWRITE, PLANNED, "a"), (EXPIRE, "below_threshold", "|x")
        )
    held = StandingVerdict(ORDERS, ORDERS_UUID, REWRITE, "over_budget", "a|admission: the fleet")
    assert store.standing_verdicts() == (held,)
    assert wait(store, NOW + 5 * MINUTE, PLANNED, "") == 1

    of_rewrite = [
        (one.code, one.at, one.until) for one in store.verdicts(ORDERS).items if one.rule is REWRITE
    ]
    assert of_rewrite == [
        (PLANNED, NOW + 5 * MINUTE, None),
        ("over_budget", NOW + MINUTE, NOW + 5 * MINUTE),
        (PLANNED, NOW, NOW + MINUTE),
    ]


@pytest.mark.parametrize(
    "verdict",
    [(REWRITE, PLANNED, "b"), (REWRITE, "paused", "a|ann"), (REWRITE, "over_budget", "a")],
)
def test_a_plan_that_says_something_else_ends_the_wait(
    store: Store, verdict: tuple[RuleName, str, str]
) -> None:
    store.record_health(make_health(), make_grade())
    want(store, NOW, (REWRITE, PLANNED, "a"))
    wait(store, NOW + MINUTE)
    want(store, NOW + 2 * MINUTE, verdict)
    assert reported(store)[:2] == [
        (*verdict[1:], NOW + 2 * MINUTE, None),
        ("over_budget", "a|admission: the fleet", NOW + MINUTE, NOW + 2 * MINUTE),
    ]


def test_a_verdict_that_does_not_stand_any_more_is_not_replaced(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    want(store, NOW, (REWRITE, PLANNED, "a"))
    (standing,) = store.standing_verdicts()
    fresh = RuleVerdict(REWRITE, "over_budget", "a|admission: x", "x", NOW + MINUTE)
    assert store.replace_verdicts([(standing, fresh)]) == (fresh,)
    assert (
        store.replace_verdicts(
            [(standing, fresh), (replace(standing, table_uuid="another"), fresh)]
        )
        == ()
    )
    assert len(reported(store)) == 2


def test_a_wait_from_the_very_moment_of_the_plan_takes_its_place(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    want(store, NOW, (REWRITE, PLANNED, "a"))
    wait(store, NOW)
    assert reported(store) == [("over_budget", "a|admission: the fleet", NOW, None)]


def test_only_tables_with_candidates_are_read(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    decide(store, NOW, (REWRITE, PLANNED, "a"))  # a plan that wants nothing that could be admitted
    assert store.standing_verdicts() == ()


def test_verdicts_are_read_page_by_page(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    for minute in range(5):
        decide(store, NOW + minute * MINUTE, (REWRITE, str(minute), ""))
    codes = []
    verdicts = store.verdicts(ORDERS, 2)
    while verdicts.next_cursor is not None:
        codes += [verdict.code for verdict in verdicts.items]
        verdicts = store.verdicts(ORDERS, 2, verdicts.next_cursor)

    assert [*codes, *(verdict.code for verdict in verdicts.items)] == ["4", "3", "2", "1", "0"]
    assert verdicts.total == 5
    with pytest.raises(InvalidValueError, match="cursor"):
        store.verdicts(ORDERS, 2, "stolen")
    with pytest.raises(InvalidValueError, match="limit 0"):
        store.verdicts(ORDERS, 0)


def test_prune_forgets_ended_verdicts(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    for minute in range(4):
        decide(store, NOW + minute * MINUTE, (REWRITE, str(minute), ""))
    counts = store.prune(NOW + MINUTE, NOW + 2 * MINUTE)

    assert counts["verdicts"] == 1
    assert [code for code, *_ in reported(store)] == ["3", "2", "1"]
    assert store.prune(NOW, NOW + timedelta(days=400))["verdicts"] == 2
    assert [code for code, *_ in reported(store)] == ["3"]


def test_prune_forgets_what_stood_when_a_table_was_dropped(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    decide(store, NOW, (REWRITE, "a", ""))
    store.forget_tables_except("lake", [])

    assert store.prune(NOW, NOW)["verdicts"] == 0
    assert store.prune(NOW, NOW + MINUTE)["verdicts"] == 1


def test_the_last_grade_is_that_of_the_same_table(store: Store) -> None:
    assert store.grade(ORDERS, ORDERS_UUID) is None
    store.record_health(make_health(), make_grade())

    assert store.grade(ORDERS, ORDERS_UUID) == make_grade()
    assert store.grade(ORDERS, "another") is None


@given(verdict=any_of(RuleVerdict))
@settings(max_examples=20)
def test_any_verdict_is_read_as_it_was_written(verdict: RuleVerdict) -> None:
    assert read(RuleVerdict, write(verdict)) == verdict


def observe(
    store: Store, table: TableIdentifier, table_uuid: str, *rules: RuleName, at: datetime = NOW
) -> None:
    store.record_health(make_health(table, table_uuid), make_grade())
    verdicts = [
        RuleVerdict(
            rule,
            SkipCode.OBSERVE_ONLY,
            "",
            "it observes",
            at,
            estimate=Estimate(10, 1, 9, 1000),
            cost=Cost(0.5, 1.0, 60.0),
        )
        for rule in rules
    ]
    store.record_plan(replace(make_plan(table, table_uuid), made_at=at), verdicts)


def test_what_observe_mode_holds_back_is_summed_up_over_the_known_tables(store: Store) -> None:
    other = TableIdentifier("lake", ("sales",), "returns")
    assert store.unenforced(10) == Unenforced(0, 0, 0.0)
    observe(store, ORDERS, ORDERS_UUID, REWRITE, EXPIRE)
    observe(store, other, "uuid-2", REWRITE)
    assert store.unenforced(10) == Unenforced(2, 18, 1.5)
    assert store.unenforced(1) == Unenforced(2, 0, 0.5, is_whole=False)

    decide(store, NOW + MINUTE, (REWRITE, PLANNED, "x"))
    assert store.unenforced(10) == Unenforced(1, 9, 0.5)
    store.record_fault(TableFault(other, FaultKind.DROPPED, "gone", NOW))
    assert store.unenforced(10) == Unenforced(0, 0, 0.0)
