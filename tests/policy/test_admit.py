from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.action import ExpireSnapshots, RewriteDataFiles, RewriteManifests
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Estimate, Plan, PlannedAction
from maintainer.domain.policy import Mode, RuleName
from maintainer.policy.admit import admit
from maintainer.policy.guard import check_before_submit
from tests.samples import NOW, UUID, health_of_partitions

FILES = PlannedAction(RuleName.REWRITE_DATA_FILES, RewriteDataFiles(), (), Estimate(100, 10, 90, 10**9), "")
MANIFESTS = PlannedAction(RuleName.REWRITE_MANIFESTS, RewriteManifests(0), (), Estimate(300, 1, 299, 10**6), "")


def plan_of(name: str, *planned: PlannedAction, priority: int = 50) -> Plan:
    return Plan(TableIdentifier("lake", ("a",), name), f"uuid-{name}", 1, "m", "v", Mode.ENFORCE, priority, NOW, planned, ())


def names(plans: list[Plan], busy: frozenset[str] = frozenset(), slots: int = 10) -> list[str]:
    return [admission.plan.table.name for admission in admit(plans, busy, slots)]


def test_of_a_tables_actions_the_first_in_the_fixed_order_goes_first() -> None:
    assert admit([plan_of("t", MANIFESTS, FILES)], frozenset(), 5)[0].planned is FILES


def test_busy_tables_and_empty_plans_wait() -> None:
    assert names([plan_of("a", FILES), plan_of("b"), plan_of("c", FILES)], frozenset({"uuid-a"})) == ["c"]


def test_priority_goes_before_gain_and_gain_per_byte_before_the_name() -> None:
    cheap = replace(FILES, estimate=Estimate(100, 10, 90, 10**6))
    assert names([plan_of("a", FILES), plan_of("b", cheap), plan_of("c", FILES, priority=90), plan_of("d", FILES)]) == ["c", "b", "a", "d"]


@given(st.lists(st.integers(0, 100), max_size=20), st.integers(-3, 30))
def test_never_more_than_the_free_slots_and_never_a_table_twice(priorities: list[int], slots: int) -> None:
    admitted = names([plan_of(f"t{i}", FILES, priority=priority) for i, priority in enumerate(priorities)], slots=slots)
    assert len(admitted) == min(max(0, slots), len(priorities))
    assert len(set(admitted)) == len(admitted)


def test_a_table_that_was_replaced_is_not_submitted_to() -> None:
    health = health_of_partitions({})
    assert check_before_submit(FILES.action, health, UUID) is None
    refusal = check_before_submit(FILES.action, health, "another")
    assert refusal is not None
    assert "its UUID was another" in refusal


def test_expiry_is_not_submitted_to_a_table_that_forbids_deleting() -> None:
    health = health_of_partitions({}, properties={"gc.enabled": "FALSE"})
    refusal = check_before_submit(ExpireSnapshots(NOW, 10), health, UUID)
    assert refusal == "the table has gc.enabled=false since this was planned"
    assert check_before_submit(FILES.action, health, UUID) is None
