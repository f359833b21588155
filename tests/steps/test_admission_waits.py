"""What admission holds back, in the history of verdicts: budgets and blackouts of everything, on
one simulated world.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from maintainer.admit.admission import find_wait_changes
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import PLANNED, RuleVerdict
from maintainer.domain.policy import Budget, RuleName, Window
from maintainer.ports import Ports
from maintainer.steps import admission
from maintainer.steps.admission import record_waits
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from tests.samples import NOW
from tests.steps.world import World

HOUR = timedelta(hours=1)
NOTHING_KEPT = {"urgent_share": 0.0, "explore_share": 0.0}


def history(world: World, table: TableIdentifier) -> list[RuleVerdict]:
    """What was decided on compaction, oldest first."""
    return [
        verdict
        for verdict in reversed(world.store.verdicts(table).items)
        if verdict.rule is RuleName.REWRITE_DATA_FILES
    ]


def story(world: World, table: TableIdentifier) -> list[tuple[str, object, object]]:
    """The codes, and from which to which hour each stood."""
    hours = [
        (one.code, (one.at - NOW) // HOUR, None if one.until is None else (one.until - NOW) // HOUR)
        for one in history(world, table)
    ]
    return [*hours]


def budget_for(world: World, jobs: float) -> Ports:
    """The ports under a daily budget of the fleet that so many of the planned actions fit in."""
    costs = [candidate.cost.gb_hours_p90 for candidate in world.store.candidates()]
    fleet = Budget(name="the fleet", gb_hours_per_day=jobs * max(costs))
    return replace(world.ports, admission=AdmissionRules(fleet=fleet, **NOTHING_KEPT))  # type: ignore[arg-type]


def look(ports: Ports) -> None:
    scan(ports)
    plan(ports)


def spend_on_one_of_two(world: World) -> tuple[Ports, TableIdentifier, TableIdentifier]:
    """The first of two tables has had the day's budget, the second was planned an hour ago and
    waits.
    """
    tables = world.put("a"), world.put("b")
    look(world.ports)
    world.clock.advance(HOUR)
    ports = budget_for(world, jobs=1.5)
    assert submit(ports) == 1
    (job,) = world.store.unfinished_jobs()
    waiting = next(table for table in tables if table != job.table)
    return ports, job.table, waiting


def test_a_budget_that_is_spent_is_one_entry_until_the_day_is_over() -> None:
    world = World()
    ports, started, waiting = spend_on_one_of_two(world)
    assert record_waits(ports) == 1
    for _ in range(3):
        world.clock.advance(HOUR)
        world.commit(waiting)
        look(ports)
        assert record_waits(ports) == 0
    world.clock.advance(8 * HOUR)
    assert record_waits(ports) == 1

    assert story(world, waiting) == [
        ("planned", 0, 1),
        ("over_budget", 1, 12),
        ("planned", 12, None),
    ]
    first, held, again = history(world, waiting)
    assert held.sentence.startswith("Compacting data files is due and waits for the budget: ")
    assert "of the fleet are spent today, and this needs up to" in held.sentence
    assert held.sentence.endswith(first.sentence.partition(": ")[2])
    assert held.next_at == datetime(2026, 3, 5, tzinfo=UTC)
    assert (again.sentence, again.key, again.next_at) == (first.sentence, first.key, again.at)
    assert [verdict.code for verdict in world.telemetry.verdicts] == ["over_budget", PLANNED]
    assert {"over_budget": 1} in world.telemetry.queues
    assert "over_budget" not in {code for code, *_ in story(world, started)}


def test_what_a_job_gives_back_is_reported_when_it_is_worth_telling() -> None:
    world = World()
    ports, _, waiting = spend_on_one_of_two(world)
    record_waits(ports)
    (job,) = world.store.unfinished_jobs()
    assert job.cost is not None
    budget = ports.admission.fleet.gb_hours_per_day
    assert budget is not None
    barely = replace(
        ports,
        admission=replace(
            ports.admission,
            fleet=replace(ports.admission.fleet, gb_hours_per_day=2.05 * job.cost.gb_hours_p90),
        ),
    )
    amply = replace(
        ports,
        admission=replace(
            ports.admission,
            fleet=replace(ports.admission.fleet, gb_hours_per_day=2.5 * job.cost.gb_hours_p90),
        ),
    )
    world.clock.advance(HOUR)

    assert record_waits(barely) == 0
    assert record_waits(amply) == 1
    assert story(world, waiting) == [("planned", 0, 1), ("over_budget", 1, 2), ("planned", 2, None)]


def test_a_blackout_of_everything_is_an_entry_from_when_until_when() -> None:
    world = World()
    table = world.put("a")
    look(world.ports)
    window = Window("0 13 * * *", timedelta(hours=2), "UTC")
    ports = replace(world.ports, admission=AdmissionRules(blackouts=(window,)))
    assert record_waits(ports) == 0
    for _ in range(3):
        world.clock.advance(HOUR)
        look(ports)
        record_waits(ports)

    assert story(world, table) == [
        ("planned", 0, 1),
        ("outside_window", 1, 3),
        ("planned", 3, None),
    ]
    assert history(world, table)[1].next_at == NOW + 3 * HOUR


def test_every_daemon_comes_to_the_same_with_any_number_of_slots() -> None:
    world = World()
    ports, _, waiting = spend_on_one_of_two(world)
    other = replace(ports, runner=type(world.runner)(world.clock, capacity=0))
    assert record_waits(other) == 1
    assert record_waits(ports) == record_waits(other) == 0
    assert story(world, waiting)[-1] == ("over_budget", 1, None)


def test_a_plan_that_wants_it_no_more_ends_the_wait() -> None:
    world = World()
    ports, _, waiting = spend_on_one_of_two(world)
    record_waits(ports)
    world.clock.advance(HOUR)
    world.commit(waiting, manifests=())
    look(ports)
    record_waits(ports)
    assert [code for code, *_ in story(world, waiting)][:2] == ["planned", "over_budget"]
    assert story(world, waiting)[1][2] == 2
    assert story(world, waiting)[-1][0] != "over_budget"


def test_a_table_planned_again_between_two_readings_is_left_for_the_next_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    ports, _, waiting = spend_on_one_of_two(world)
    found = find_wait_changes

    def find_late(*given: object) -> object:
        changes = found(*given)  # type: ignore[arg-type]
        world.commit(waiting, manifests=())
        look(ports)
        return changes

    monkeypatch.setattr(admission, "find_wait_changes", find_late)
    assert record_waits(ports) == 0
    assert "over_budget" not in [code for code, *_ in story(world, waiting)]


def test_many_changes_are_made_batch_by_batch_and_over_several_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    for number in range(7):
        world.put(f"t{number}")
    look(world.ports)
    world.clock.advance(HOUR)
    ports = replace(
        world.ports, admission=AdmissionRules(fleet=Budget(name="the fleet", gb_hours_per_day=0.0))
    )
    monkeypatch.setattr(admission, "BATCH", 2)
    monkeypatch.setattr(admission, "MOST_CHANGES", 5)
    assert [record_waits(ports) for _ in range(3)] == [5, 2, 0]
    assert len(world.telemetry.verdicts) == 7
