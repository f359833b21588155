"""What people are notified of, also after a crash or a start that fails."""

from __future__ import annotations

from datetime import timedelta

import pytest

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.notice import Notice, NoticeKind
from maintainer.domain.orphan import OrphanList
from maintainer.ports.store.tables import Pause
from maintainer.requests.approval import reject_list
from maintainer.steps.notices import DELIVERED, record_delivery, resend_notices
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.fakes.adapters.notifier import FakeNotifier
from tests.steps.kinds.test_orphan_removal import looked, the_list
from tests.steps.world import World


def reported(world: World) -> list[tuple[NoticeKind, str]]:
    return [(notice.kind, notice.subject) for notice in world.notifier.notices]


def test_a_table_that_is_critical_at_its_first_scan_is_reported() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    assert reported(world) == [(NoticeKind.TABLE_CRITICAL, str(table))]
    world.put("new")
    scan(world.ports)
    assert reported(world)[1:] == [(NoticeKind.TABLE_CRITICAL, "lake.sales.new")]


def test_a_first_start_on_a_neglected_lake_is_one_piece_of_news() -> None:
    world = World()
    for number in range(40):
        world.put(f"t{number:02}")
    scan(world.ports)
    assert reported(world) == [
        *((NoticeKind.TABLE_CRITICAL, f"lake.sales.t{number:02}") for number in range(5)),
        (NoticeKind.TABLE_CRITICAL, "35 more tables of lake"),
    ]
    scan(world.ports)
    assert len(reported(world)) == 6, "they are no news any more"


@pytest.mark.parametrize("why", ["spark", "catalog"])
def test_a_job_that_never_starts_is_reported_at_the_third_time(why: str) -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    for attempt in range(3):
        plan(world.ports)
        if why == "spark":
            world.runner.become_unavailable("no Java")
        else:
            world.catalog.fail("connection refused")
        assert submit(world.ports) == 0
        assert len(world.notifier.news) == (attempt == 2)
        world.catalog.recover()
        world.clock.advance(timedelta(days=1))
        scan(world.ports)
    (notice,) = world.notifier.news
    assert (notice.kind, notice.subject) == (NoticeKind.REPEATED_FAILURE, str(table))
    assert ("no Java" if why == "spark" else "connection refused") in notice.sentence


def test_a_spark_that_is_lost_again_and_again_is_reported() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    for attempt in range(3):
        job = world.begin()
        world.runner.lose(job.job_id)
        watch(world.ports)
        review(world.ports)
        assert world.stored(job).failure_reason is FailureReason.LOST_RUNNER
        assert len(world.notifier.news) == (attempt == 2)
        world.clock.advance(timedelta(days=1))


def unproved(world: World) -> tuple[TableIdentifier, Job]:
    """A table that lost a row, the job that did it, and the process that ended before it reported
    anybody.
    """
    table = world.put("orders")
    scan(world.ports)
    job = world.begin()
    world.runner.finish(job.job_id, world.mend(job, lost_rows=1))
    watch(world.ports)
    review(world.ports)
    assert world.stored(job).state is JobState.FAILED
    world.notifier = FakeNotifier()
    world.ports = world.restarted()
    return table, world.stored(job)


def test_a_failed_proof_of_which_nobody_was_notified_is_reported_at_the_next_start() -> None:
    world = World()
    table, job = unproved(world)
    assert resend_notices(world.ports) == 1
    (notice,) = world.notifier.notices
    assert (notice.kind, notice.subject, notice.job_id) == (
        NoticeKind.FAILED_PROOF,
        str(table),
        job.job_id,
    )
    record_delivery(world.store, world.clock, notice)
    assert [event.name for event in world.store.events(job.job_id)][-1] == DELIVERED
    assert resend_notices(world.ports) == 0


def test_what_a_person_has_resumed_or_paused_is_not_reported_again() -> None:
    world = World()
    table, _ = unproved(world)
    world.store.set_pause(table, Pause("person ada", world.clock.now(), "I look at it"))
    assert resend_notices(world.ports) == 0
    world.store.set_pause(table, None)
    assert resend_notices(world.ports) == 0


def test_a_notice_that_is_of_no_job_leaves_no_trace_in_any() -> None:
    world = World()
    _, job = unproved(world)
    before = world.store.events(job.job_id)
    record_delivery(
        world.store,
        world.clock,
        Notice(
            NoticeKind.TABLE_CRITICAL, str(job.table), "average file size 1 KiB", world.clock.now()
        ),
    )
    assert world.store.events(job.job_id) == before


def waiting() -> tuple[World, OrphanList]:
    """A list waits for somebody's word; the process that made it ended before that."""
    world = looked()
    world.notifier = FakeNotifier()
    world.ports = world.restarted()
    return world, the_list(world)


def test_a_waiting_list_is_reported_again_until_a_notice_is_delivered() -> None:
    world, made = waiting()
    assert resend_notices(world.ports) == 1
    (notice,) = world.notifier.notices
    assert (notice.kind, notice.subject, notice.job_id) == (
        NoticeKind.APPROVAL_NEEDED,
        str(made.table),
        made.list_id,
    )
    assert resend_notices(world.ports) == 1, "it reached nobody yet"
    record_delivery(world.store, world.clock, notice)
    assert resend_notices(world.ports) == 0


def test_a_list_whose_time_is_over_or_that_somebody_has_decided_on_is_not_reported() -> None:
    world, made = waiting()
    reject_list(world.ports, made.table, made.list_id, "bob")
    assert resend_notices(world.ports) == 0
    late, _ = waiting()
    late.clock.advance(timedelta(days=7))
    assert resend_notices(late.ports) == 0
