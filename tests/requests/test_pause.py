from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest

from maintainer.domain.admission import EVERYTHING, AdmissionRules, ScopePause, WaitCode
from maintainer.domain.audit import AuditQuery, Deed
from maintainer.domain.errors import UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault, TableInventory
from maintainer.domain.job import Job, JobState
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Budget, RuleName, Window
from maintainer.ports import Ports
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.tables import Pause
from maintainer.requests.pause import (
    cancel_scope,
    pause_scope,
    pause_table,
    read_pauses_in_force,
    resume_scope,
    resume_table,
)
from maintainer.requests.run import request_run
from maintainer.steps.admission import read_queue, waits_of
from maintainer.steps.kinds.dispatch import prepare
from maintainer.steps.kinds.results import Preparation, Ready
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import start_pending, submit
from maintainer.steps.table import Measured
from tests.samples import NOW
from tests.steps.world import World


@pytest.fixture
def world() -> World:
    return World()


def look(world: World) -> None:
    scan(world.ports)
    plan(world.ports)


def states(world: World) -> list[JobState]:
    return [job.state for job in world.store.jobs(JobQuery()).items]


@pytest.mark.parametrize("scope", ["*", "lake.*", "lake.sales.*", "lake.sales.orders"])
def test_nothing_starts_in_a_paused_scope_until_it_is_resumed(world: World, scope: str) -> None:
    table = world.put("orders")
    look(world)
    assert pause_scope(world.ports, ScopePause(scope, "ann", NOW, "a migration")) == 0
    assert submit(world.ports) == 0, "before anything is planned anew"
    look(world)
    record = world.store.table(table)
    assert record is not None
    assert record.plan is not None
    assert {
        skipped.code
        for skipped in record.plan.skipped
        if skipped.rule is RuleName.REWRITE_DATA_FILES
    } == {SkipCode.PAUSED}
    assert submit(world.ports) == 0

    assert resume_scope(world.ports, scope, "ben")
    assert not resume_scope(world.ports, scope, "ben")
    look(world)
    assert submit(world.ports) == 1
    assert [
        (entry.deed, entry.actor)
        for entry in world.store.audit(AuditQuery()).items
        if entry.deed in {Deed.WORK_PAUSED, Deed.WORK_RESUMED}
    ] == [
        (Deed.WORK_RESUMED, "person ben"),
        (Deed.WORK_PAUSED, "person ann"),
    ]


def test_the_wait_of_a_paused_table_says_who_paused_it_and_why(world: World) -> None:
    table = world.put("orders")
    look(world)
    pause_scope(world.ports, ScopePause("lake.*", "ann", NOW, "a migration"))
    (verdict, *_) = waits_of(world.ports, table)
    assert verdict.wait is not None
    assert (verdict.wait.code, verdict.wait.reason) == (
        WaitCode.PAUSED,
        "ann paused lake.*: a migration",
    )


def test_a_pause_of_a_table_whose_name_reads_like_a_glob_covers_no_other(world: World) -> None:
    odd, orders = world.put("or*"), world.put("orders")
    look(world)
    pause_table(world.ports, odd, Pause("ann", NOW, "a migration"))
    assert set(world.store.paused_tables()) == {odd}
    assert not world.store.scope_pauses()
    assert not resume_table(world.ports, orders, "ben")
    assert resume_table(world.ports, odd, "ben")
    assert not world.store.paused_tables()
    assert [
        (entry.deed, entry.actor, entry.table, entry.fields["scope"])
        for entry in world.store.audit(AuditQuery()).items
        if entry.deed in {Deed.WORK_PAUSED, Deed.WORK_RESUMED}
    ] == [
        (Deed.WORK_RESUMED, "person ben", odd, str(odd)),
        (Deed.WORK_PAUSED, "person ann", odd, str(odd)),
    ]


def test_only_the_jobs_of_a_paused_table_itself_count_as_running_on_it(world: World) -> None:
    odd = world.put("a[b]")
    look(world)
    _, job = request_run(world.ports, odd, (RuleName.REWRITE_DATA_FILES,), "person ann")
    assert job is not None
    pause_table(world.ports, odd, Pause("ann", NOW, "a migration"))
    assert [one.table for one in read_pauses_in_force(world.ports).running] == [odd]


def test_a_table_that_is_not_known_cannot_be_paused(world: World) -> None:
    with pytest.raises(UnknownTableError):
        pause_scope(world.ports, ScopePause("lake.sales.nobody", "ann", NOW))
    assert not resume_scope(world.ports, "lake.sales.nobody", "ann")


def test_what_waits_before_a_pause_has_waited_since_then(world: World) -> None:
    table = world.put("orders")
    look(world)
    began = waits_of(world.ports, table)[0].candidate.waiting_since
    pause_scope(world.ports, ScopePause(EVERYTHING, "ann", NOW))
    world.clock.advance(timedelta(hours=5))
    look(world)
    assert waits_of(world.ports, table) == ()
    resume_scope(world.ports, EVERYTHING, "ann")
    look(world)
    assert waits_of(world.ports, table)[0].candidate.waiting_since == began


def test_a_drain_lets_what_runs_end_and_starts_not_even_what_a_person_asks_for(
    world: World,
) -> None:
    running, other = world.put("orders"), world.put("returns")
    look(world)
    request_run(world.ports, running, (), "person")
    assert start_pending(world.ports) == 1
    request_run(world.ports, other, (), "person")
    assert pause_scope(world.ports, ScopePause(EVERYTHING, "ann", NOW, is_drain=True)) == 2

    assert start_pending(world.ports) == 0
    assert submit(world.ports) == 0
    found = read_pauses_in_force(world.ports)
    assert (found.is_draining, found.is_drained, len(found.running)) == (True, False, 2)

    resume_scope(world.ports, EVERYTHING, "ann")
    assert start_pending(world.ports) == 1, "what waited starts when the drain is over"


@pytest.mark.parametrize("scope", ["*", "lake.*", "lake.sales.*", "lake.sales.orders"])
def test_guard_29_a_pause_between_a_persons_request_and_its_start_counts(
    world: World, scope: str
) -> None:
    table = world.put("orders")
    _, job = request_run(
        world.ports, table, (RuleName.REWRITE_DATA_FILES, RuleName.EXPIRE_SNAPSHOTS), "person ann"
    )
    assert job is not None
    pause_scope(world.ports, ScopePause(scope, "ben", NOW, "a migration"))
    assert start_pending(world.ports) == 0
    ended = world.stored(job)
    assert (ended.state, world.runner.submitted) == (JobState.CANCELLED, {})
    assert ended.failure_message.startswith("not started: ben paused ")


def test_guard_29_a_drain_that_begins_while_a_job_is_looked_at_lets_it_wait(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = world.put("orders")
    _, job = request_run(world.ports, table, (RuleName.REWRITE_DATA_FILES,), "person ann")
    assert job is not None
    with monkeypatch.context() as during:
        during.setattr(
            world.ports.catalog_of(table),
            "inventory",
            _halting(world, table, ScopePause(EVERYTHING, "ben", NOW, is_drain=True)),
        )
        assert start_pending(world.ports) == 0
    assert world.stored(job).state is JobState.PENDING
    resume_scope(world.ports, EVERYTHING, "ben")
    assert start_pending(world.ports) == 1


@pytest.mark.parametrize("scope", ["lake.*", "lake.sales.orders"])
@pytest.mark.parametrize("requested_by", ["person", "policy"])
def test_guard_29_a_pause_during_the_last_preparations_counts(
    world: World, monkeypatch: pytest.MonkeyPatch, scope: str, requested_by: str
) -> None:
    world.put("orders")
    look(world)
    if requested_by == "person":
        request_run(world.ports, world.put("orders"), (RuleName.REWRITE_DATA_FILES,), "person")

    def prepare_long(ports: Ports, job: Job, scanned: Measured) -> Preparation:
        prepared = prepare(ports, job, scanned)
        assert isinstance(prepared, Ready)
        pause_scope(ports, ScopePause(scope, "ben", NOW))
        return prepared

    monkeypatch.setattr("maintainer.steps.submit.prepare", prepare_long)
    assert submit(world.ports) == 0
    (ended,) = world.store.jobs(JobQuery()).items
    assert (ended.state, ended.failure_message) == (
        JobState.CANCELLED,
        f"not started: ben paused {scope}",
    )
    assert world.runner.submitted == {}


def _halting(
    world: World, table: TableIdentifier, pause: ScopePause
) -> Callable[..., TableInventory | TableFault]:
    """Measures the table, and somebody asks for the pause meanwhile."""
    read = world.ports.catalog_of(table).inventory

    def inventory(*given: Any, **named: Any) -> TableInventory | TableFault:
        pause_scope(world.ports, pause)
        return read(*given, **named)

    return inventory


def test_a_fleet_with_nothing_running_is_drained(world: World) -> None:
    pause_scope(world.ports, ScopePause(EVERYTHING, "ann", NOW, is_drain=True))
    assert read_pauses_in_force(world.ports).is_drained


def test_the_kill_switch_asks_every_job_of_the_scope_to_end(world: World) -> None:
    for name in ("orders", "returns"):
        request_run(world.ports, world.put(name), (), "person")
    start_pending(world.ports)
    assert cancel_scope(world.ports, "lake.sales.orders", "ann") == 1
    assert sorted(job.cancel_requested_by for job in world.store.unfinished_jobs()) == ["", "ann"]


def test_single_tables_and_scopes_stand_in_one_list(world: World) -> None:
    world.put("orders")
    look(world)
    pause_scope(world.ports, ScopePause("lake.sales.orders", "ann", NOW, "one"))
    pause_scope(world.ports, ScopePause("lake.*", "ben", NOW, "all"))
    assert [
        (one.scope, one.by, one.reason) for one in read_pauses_in_force(world.ports).pauses
    ] == [
        ("lake.*", "ben", "all"),
        ("lake.sales.orders", "ann", "one"),
    ]


# -- admission in the loop


def test_what_a_day_may_cost_ends_the_day_and_is_whole_again_on_the_next(world: World) -> None:
    for name in ("a", "b", "c"):
        world.put(name, small_files=5)
    world.ports = replace(
        world.ports,
        admission=AdmissionRules(
            fleet=Budget(bytes_per_day=8_000, name="the fleet"), explore_share=0.0
        ),
    )
    look(world)
    assert submit(world.ports) == 1, "each rewrites 5,000 bytes, in files too few to be parted"
    restarted = replace(world.restarted(), admission=world.ports.admission)
    waits = [verdict.wait for verdict in read_queue(restarted) if verdict.wait is not None]
    assert WaitCode.OVER_BUDGET in {wait.code for wait in waits}, (
        "what was spent survives a restart"
    )
    world.clock.advance(timedelta(days=1))
    assert submit(world.ports) == 1


def test_a_job_knows_what_it_was_expected_to_take_and_by_what_score_it_started(
    world: World,
) -> None:
    world.put("orders")
    look(world)
    submit(world.ports)
    (job,) = world.store.unfinished_jobs()
    assert job.cost is not None
    assert job.score is not None
    assert "waiting" in dict(job.score.terms)
    assert job.memory_gb == 1.0


def test_in_a_blackout_of_all_tables_nothing_starts(world: World) -> None:
    world.put("orders")
    world.ports = replace(
        world.ports, admission=AdmissionRules(blackouts=(Window("0 12 * * *", timedelta(hours=1)),))
    )
    look(world)
    assert submit(world.ports) == 0
    world.clock.advance(timedelta(hours=1))
    assert submit(world.ports) == 1


def test_a_job_that_a_crash_left_pending_waits_for_the_end_of_a_blackout_of_all_tables(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put("orders")
    look(world)
    with monkeypatch.context() as broken:
        broken.setattr("maintainer.steps.submit.start_pending", Mock(side_effect=MemoryError))
        with pytest.raises(MemoryError):
            submit(world.ports)
    assert states(world) == [JobState.PENDING], "stored, and not handed over"

    world.clock.advance(timedelta(minutes=1))
    world.ports = replace(
        world.restarted(),
        admission=AdmissionRules(blackouts=(Window("0 12 * * *", timedelta(hours=1)),)),
    )
    assert submit(world.ports) == 0
    assert states(world) == [JobState.PENDING]
    world.clock.advance(timedelta(hours=1))
    assert submit(world.ports) == 1


def test_what_a_person_asks_for_starts_in_a_blackout_of_all_tables(world: World) -> None:
    table = world.put("orders")
    world.ports = replace(
        world.ports, admission=AdmissionRules(blackouts=(Window("0 12 * * *", timedelta(hours=1)),))
    )
    _, job = request_run(world.ports, table, (RuleName.REWRITE_DATA_FILES,), "person ann")
    assert job is not None
    assert start_pending(world.ports) == 1
