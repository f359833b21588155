from __future__ import annotations

from datetime import datetime, timedelta

from maintainer.decide.rechecks import find_next_check
from maintainer.domain.action import RewriteManifests
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Estimate, Plan, PlannedAction, SkipCode, SkippedRule
from maintainer.domain.policy import Mode, Policy, RuleName, Window
from tests.samples import NOW

TABLE = TableIdentifier("lake", ("sales",), "orders")
MANIFESTS = RuleName.REWRITE_MANIFESTS
HOUR = timedelta(hours=1)
WORK = PlannedAction(MANIFESTS, RewriteManifests(0), (), Estimate(0, 0, 0, 0), "300 manifests")


def plan_of(*checks: datetime | None, planned: tuple[PlannedAction, ...] = ()) -> Plan:
    skipped = tuple(SkippedRule(MANIFESTS, SkipCode.COOLING_DOWN, "", at) for at in checks)
    return Plan(TABLE, "uuid", 1, "m.json", "v1", Mode.ENFORCE, 50, NOW, planned, skipped)


def test_the_earliest_check_that_a_rule_names_counts() -> None:
    soon = NOW + timedelta(minutes=5)
    assert find_next_check(plan_of(soon, soon + HOUR, None), Policy(), HOUR) == soon


def test_no_plan_is_trusted_for_longer_than_the_limit() -> None:
    assert find_next_check(plan_of(NOW + 2 * HOUR), Policy(), HOUR) == NOW + HOUR
    assert find_next_check(plan_of(), Policy(), HOUR) == NOW + HOUR


def test_a_plan_with_work_is_made_again_at_the_full_hour() -> None:
    full_hour = NOW.replace(minute=0, second=0, microsecond=0) + HOUR
    assert find_next_check(plan_of(planned=(WORK,)), Policy(), 2 * HOUR) == full_hour


def test_a_plan_with_work_is_made_again_at_once_where_a_window_can_close() -> None:
    closing = Policy(window=Window("0 1 * * *", 4 * HOUR))
    assert find_next_check(plan_of(planned=(WORK,)), closing, HOUR) == NOW
    assert find_next_check(plan_of(), closing, HOUR) == NOW + HOUR
