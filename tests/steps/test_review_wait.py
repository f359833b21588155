"""A job whose table cannot be read after its work, and a table that cannot be read any more."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.compare.conclusion import LONGEST_WAIT, PATIENCE
from maintainer.decide.notices import MOST_NAMED
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.audit import BY_WAIT, AuditQuery, Deed
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.notice import Notice, NoticeKind
from maintainer.domain.policy import Budget
from maintainer.ports.store.tables import Pause
from maintainer.requests.run import request_cancel
from maintainer.steps.plan import plan
from maintainer.steps.review import WAITING_PHASE, review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.steps.world import World

SECOND = timedelta(seconds=1)


def lose_table(world: World, table: TableIdentifier) -> None:
    world.catalog.put(
        TableFault(table, FaultKind.METADATA_MISSING, "gone from the disk", world.clock.now())
    )


def finish_unreadable(world: World, name: str = "orders") -> Job:
    """A job that Spark has ended, on a table that cannot be read any more; a first review has seen
    it.
    """
    table = world.put(name)
    scan(world.ports)
    plan(world.ports)
    submit(world.ports)
    job = next(job for job in world.store.unfinished_jobs() if job.table == table)
    world.runner.finish(job.job_id, world.mend(job))
    lose_table(world, table)
    watch(world.ports)
    assert review(world.ports) == 0
    return world.stored(job)


def reported(world: World, kind: NoticeKind) -> list[Notice]:
    return [notice for notice in world.notifier.notices if notice.kind is kind]


def pause_of(world: World, job: Job) -> Pause | None:
    record = world.store.table(job.table)
    assert record is not None
    return record.pause


@pytest.fixture
def world() -> World:
    return World()


def test_after_a_quarter_of_an_hour_people_are_notified_once_and_the_table_is_paused(
    world: World,
) -> None:
    job = finish_unreadable(world)
    assert (job.state, job.progress.phase) == (JobState.RUNNING, WAITING_PHASE)
    world.clock.advance(PATIENCE - SECOND)
    review(world.ports)
    assert reported(world, NoticeKind.FAILED_PROOF) == []
    assert pause_of(world, job) is None

    world.clock.advance(SECOND)
    for _ in range(3):
        assert review(world.ports) == 0
    (notice,) = reported(world, NoticeKind.FAILED_PROOF)
    assert notice.job_id == job.job_id
    assert "gone from the disk; the table is paused" in notice.sentence
    pause = pause_of(world, job)
    assert pause is not None
    assert pause.by == BY_WAIT
    assert [
        entry.deed
        for entry in world.store.audit(AuditQuery(job_id=job.job_id, actor=BY_WAIT)).items
    ] == [Deed.WORK_PAUSED]


def test_a_table_that_somebody_paused_stays_paused_by_them(world: World) -> None:
    job = finish_unreadable(world)
    world.store.set_pause(job.table, Pause("ada", world.clock.now()))
    world.clock.advance(PATIENCE)
    review(world.ports)
    pause = pause_of(world, job)
    assert pause is not None
    assert pause.by == "ada"
    assert len(reported(world, NoticeKind.FAILED_PROOF)) == 1


def test_after_a_day_the_job_has_failed_and_the_table_is_paused(world: World) -> None:
    job = finish_unreadable(world)
    world.clock.advance(LONGEST_WAIT)
    assert review(world.ports) == 1
    settled = world.stored(job)
    assert (settled.state, settled.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert (
        settled.failure_message
        == "the job's effect is unknown: its table could not be read for 1 d (gone from the disk)"
    )
    assert pause_of(world, job) is not None
    assert world.store.leases() == ()
    world.catalog.put(replace(world.look(job.table), metadata_location="orders/later.json"))
    for _ in range(3):
        world.clock.advance(LONGEST_WAIT)
        scan(world.ports)
        plan(world.ports)
        assert submit(world.ports) == 0, "nobody has looked at it yet"


def test_a_cancel_ends_the_wait(world: World) -> None:
    job = finish_unreadable(world)
    request_cancel(world.ports, job, "ada")
    assert review(world.ports) == 1
    settled = world.stored(job)
    assert (settled.state, settled.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert "ada cancelled it" in settled.failure_message
    assert pause_of(world, job) is not None


def test_a_cancel_of_before_its_end_does_not_keep_the_job_from_being_proved(world: World) -> None:
    table = world.put("orders")
    scan(world.ports)
    job = world.begin()
    request_cancel(world.ports, job, "ada")
    world.runner.finish(job.job_id, world.mend(job))
    was = world.look(table)
    lose_table(world, table)
    watch(world.ports)
    assert review(world.ports) == 0
    world.catalog.put(was)
    assert review(world.ports) == 1
    assert world.stored(job).effect is not None


def test_a_table_that_can_be_read_again_is_proved_and_goes_on(world: World) -> None:
    job = finish_unreadable(world)
    world.clock.advance(PATIENCE)
    review(world.ports)
    world.catalog.put(world.look(job.table))
    assert review(world.ports) == 1
    assert world.stored(job).state is JobState.SUCCEEDED
    assert pause_of(world, job) is None
    deeds = [
        entry.deed
        for entry in world.store.audit(AuditQuery(job_id=job.job_id, actor=BY_WAIT)).items
    ]
    assert deeds == [Deed.WORK_RESUMED, Deed.WORK_PAUSED]


def test_a_job_of_a_catalog_that_is_configured_no_more_waits_for_a_day_too(world: World) -> None:
    table = world.put("orders")
    scan(world.ports)
    job = world.begin()
    world.runner.finish(job.job_id, world.mend(job))
    watch(world.ports)
    ports = replace(world.ports, catalogs={})
    assert review(ports) == 0
    world.clock.advance(LONGEST_WAIT)
    assert review(ports) == 1
    assert world.stored(job).failure_message.endswith(
        f"(catalog '{table.catalog}' is not configured)"
    )


def test_a_job_whose_table_brings_out_a_bug_waits_for_a_day_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = world.put("orders")
    scan(world.ports)
    job = world.begin()
    world.runner.finish(job.job_id, world.mend(job))
    watch(world.ports)

    def fail(*_: object) -> None:
        raise ZeroDivisionError(table.name)

    monkeypatch.setattr(world.catalog, "inventory", fail)
    with pytest.raises(ZeroDivisionError):
        review(world.ports)
    world.clock.advance(LONGEST_WAIT)
    with pytest.raises(ZeroDivisionError):
        review(world.ports)
    assert world.stored(job).state is JobState.FAILED


def test_jobs_that_wait_for_their_tables_take_no_place_of_the_fleet(world: World) -> None:
    world.ports = replace(
        world.ports,
        admission=AdmissionRules(
            fleet=Budget(max_jobs=2, name="the fleet"), urgent_share=0.0, explore_share=0.0
        ),
    )
    for name in "ab":
        finish_unreadable(world, name)
    world.put("c")
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 1
    assert [job.table.name for job in world.store.unfinished_jobs() if not job.awaits_review] == [
        "c"
    ]


def test_a_table_that_stops_being_readable_is_reported_once(world: World) -> None:
    table, broken = world.put("orders"), world.put("broken")
    lose_table(world, broken)
    scan(world.ports)
    assert reported(world, NoticeKind.TABLE_UNREADABLE) == [], "it was never readable"
    lose_table(world, table)
    for _ in range(3):
        scan(world.ports)
    (notice,) = reported(world, NoticeKind.TABLE_UNREADABLE)
    assert (notice.subject, notice.sentence) == (
        "lake.sales.orders",
        "metadata_missing: gone from the disk",
    )


def test_tables_of_a_catalog_that_does_not_answer_are_not_reported_of_one_by_one(
    world: World,
) -> None:
    table = world.put("orders")
    scan(world.ports)
    world.catalog.put(
        TableFault(table, FaultKind.CATALOG_UNAVAILABLE, "connection refused", world.clock.now())
    )
    scan(world.ports)
    assert reported(world, NoticeKind.TABLE_UNREADABLE) == []


def test_of_many_tables_that_stop_being_readable_in_one_scan_few_are_reported_by_name(
    world: World,
) -> None:
    tables = [world.put(f"t{number:02}", small_files=0) for number in range(MOST_NAMED + 7)]
    scan(world.ports)
    for table in tables:
        lose_table(world, table)
    scan(world.ports)
    notices = reported(world, NoticeKind.TABLE_UNREADABLE)
    assert len(notices) == MOST_NAMED + 1
    assert notices[-1].subject == "7 more tables of lake"
