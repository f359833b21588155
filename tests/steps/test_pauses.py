"""A pause stands until somebody lifts it, even if a catalog lists other tables meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.domain.admission import ScopePause
from maintainer.domain.audit import BY_PROOF, AuditEntry, AuditQuery, Deed
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import JobState
from maintainer.domain.notice import Notice, NoticeKind
from maintainer.domain.pin import Pin
from maintainer.requests.pause import pause_scope, read_pauses_in_force, resume_scope
from maintainer.steps.pauses import pause_table
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from tests.samples import NOW
from tests.steps.world import World


@pytest.fixture
def world() -> World:
    return World()


def look(world: World) -> None:
    scan(world.ports)
    plan(world.ports)


def reported_gone(world: World) -> list[Notice]:
    return [
        notice for notice in world.notifier.notices if notice.kind is NoticeKind.PAUSED_TABLE_GONE
    ]


def logged_gone(world: World) -> list[AuditEntry]:
    return [
        entry
        for entry in world.store.audit(AuditQuery()).items
        if entry.deed is Deed.PAUSED_TABLE_GONE
    ]


def hide(world: World, table: TableIdentifier, how: str) -> None:
    if how == "listing":
        world.catalog.drop(table)
    else:
        kind = {"dropped": FaultKind.DROPPED, "view": FaultKind.VIEW}[how]
        world.catalog.put(
            TableFault(table, kind, f"table {table} does not exist", world.clock.now())
        )


@pytest.mark.parametrize("how", ["listing", "dropped", "view"])
@pytest.mark.parametrize("by", ["person", "proof"])
def test_guard_29_one_listing_without_a_paused_table_does_not_start_work_on_it(
    world: World, how: str, by: str
) -> None:
    table = world.put("orders")
    look(world)
    if by == "person":
        pause_scope(world.ports, ScopePause(str(table), "ann", NOW, "a migration"))
    else:
        assert submit(world.ports) == 1
        (job,) = world.store.unfinished_jobs()
        pause_table(world.ports, job, BY_PROOF, "the rows differ")
        world.store.update_job(job.advance(JobState.CANCELLED, finished_at=NOW), job.state)
    here = world.look(table)
    hide(world, table, how)
    look(world)
    assert world.store.table(table) is None
    world.replace(here)
    look(world)
    look(world)
    assert submit(world.ports) == 0
    assert resume_scope(world.ports, str(table), "ann")
    look(world)
    assert submit(world.ports) == (1 if by == "person" else 0), (
        "after a job that was cancelled the rule waits"
    )


@pytest.mark.parametrize("how", ["listing", "dropped", "view"])
def test_people_are_notified_once_that_a_paused_table_is_gone(world: World, how: str) -> None:
    table, other = world.put("orders"), world.put("returns")
    look(world)
    pause_scope(world.ports, ScopePause(str(table), "ann", NOW, "a migration"))
    hide(world, table, how)
    hide(world, other, how)
    for _ in range(3):
        look(world)
    (entry,), (notice,) = logged_gone(world), reported_gone(world)
    assert (entry.table, entry.table_uuid, entry.actor, entry.fields["paused_by"]) == (
        table,
        "uuid-orders",
        "a scan",
        "ann",
    )
    assert notice.subject == str(table)
    assert "ann paused it: a migration. The pause lasts" in notice.sentence


def test_nothing_is_reported_about_a_paused_table_while_its_catalog_is_away(world: World) -> None:
    table = world.put("orders")
    look(world)
    pause_scope(world.ports, ScopePause(str(table), "ann", NOW))
    world.catalog.fail("no answer")
    look(world)
    assert (logged_gone(world), reported_gone(world)) == ([], [])
    assert world.store.table(table) is not None


def test_a_renamed_table_stays_paused_and_is_resumed_under_either_name(world: World) -> None:
    table = world.put("orders")
    look(world)
    pause_scope(world.ports, ScopePause(str(table), "ann", NOW, "a migration"))
    renamed = TableIdentifier("lake", ("archive",), "orders")
    here = world.look(table)
    world.catalog.drop(table)
    world.replace(replace(here, table=renamed))
    look(world)
    assert submit(world.ports) == 0
    assert [one.scope for one in read_pauses_in_force(world.ports).pauses] == [
        str(renamed),
        str(table),
    ]
    assert resume_scope(world.ports, str(table), "ann")
    assert read_pauses_in_force(world.ports).pauses == ()
    look(world)
    assert submit(world.ports) == 1


def test_a_failed_proof_pauses_a_table_that_was_forgotten_meanwhile(world: World) -> None:
    table = world.put("orders")
    look(world)
    assert submit(world.ports) == 1
    (job,) = world.store.unfinished_jobs()
    here = world.look(table)
    world.catalog.drop(table)
    scan(world.ports)
    pause_table(world.ports, job, BY_PROOF, "the rows differ")
    world.replace(here)
    scan(world.ports)
    record = world.store.table(table)
    assert record is not None
    assert record.pause is not None
    assert (record.pause.by, record.pause.reason) == (BY_PROOF, "the rows differ")


def test_a_table_that_comes_back_has_its_history_and_its_pins(world: World) -> None:
    table = world.put("orders")
    look(world)
    world.store.set_pin("uuid-orders", Pin("replica", 1, "ann", NOW))
    here = world.look(table)
    world.catalog.drop(table)
    look(world)
    assert world.store.history(table, "data_files", NOW, NOW) == ()
    world.replace(here)
    look(world)
    assert len(world.store.history(table, "data_files", NOW, NOW)) == 1
    assert [pin.name for pin in world.store.pins("uuid-orders")] == ["replica"]
