"""Undoing a job: by a job of its own, and only where nobody else loses anything."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.action import Repair, RollBack
from maintainer.domain.admission import ScopePause
from maintainer.domain.audit import AuditQuery, Deed
from maintainer.domain.errors import InvalidTransitionError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, Ref, TableFault
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.requests.pause import pause_scope, request_rollback
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import start_pending, submit
from maintainer.steps.watch import watch
from tests.steps.world import World


def settle(world: World, job: Job) -> Job:
    watch(world.ports)
    review(world.ports)
    return world.stored(job)


def compacted(
    world: World, lost_rows: int = 0, name: str = "orders"
) -> tuple[TableIdentifier, Job]:
    table = world.put(name)
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 1
    (job,) = world.store.unfinished_jobs()
    world.runner.start(job.job_id)
    world.runner.finish(job.job_id, world.mend(world.runner.submitted[job.job_id], lost_rows))
    return table, settle(world, job)


def set_back(world: World, job: Job) -> None:
    """What CALL rollback_to_snapshot does: main points elsewhere, no snapshot goes."""
    assert isinstance(job.action, RollBack)
    entry = world.look(job.table)
    target = job.action.snapshot_id
    manifests = world.first_manifests[job.table]
    world.replace(
        replace(
            entry,
            current_snapshot_id=target,
            refs=(Ref("main", target, is_branch=True),),
            metadata_location=f"{entry.metadata_location}-back",
            manifests=manifests,
        )
    )


def rolled_back(world: World, job: Job) -> Job:
    undoing = request_rollback(world.ports, job, "person ada")
    assert start_pending(world.ports) == 1
    world.runner.start(undoing.job_id)
    submitted = world.runner.submitted[undoing.job_id]
    world.runner.finish(
        undoing.job_id, {"current_snapshot_id": 1}, effect=lambda _job: set_back(world, submitted)
    )
    return settle(world, undoing)


def test_a_rollback_pauses_its_own_table_even_if_the_name_reads_like_a_glob() -> None:
    world = World()
    table, job = compacted(world, name="a[b]")
    request_rollback(world.ports, job, "person ada")
    assert set(world.store.paused_tables()) == {table}
    assert not world.store.scope_pauses()


def test_guard_26_a_job_is_undone_by_a_job_of_its_own_and_proved_from_the_table() -> None:
    world = World()
    table, job = compacted(world, lost_rows=1)
    assert job.failure_reason is FailureReason.UNPROVED
    done = rolled_back(world, job)
    assert (done.state, done.failure_message, done.rule) == (
        JobState.SUCCEEDED,
        "",
        Repair.ROLL_BACK,
    )
    assert done.effect is not None
    assert done.effect.sentence == (
        f"Main is at snapshot 1 again, as before job {job.job_id}: 6,000 records in 60 data files."
    )
    assert world.look(table).current_snapshot_id == 1
    entries = world.store.audit(AuditQuery(job_id=done.job_id)).items
    assert {entry.deed for entry in entries} >= {
        Deed.JOB_REQUESTED,
        Deed.JOB_SUBMITTED,
        Deed.JOB_ENDED,
    }


def test_what_was_rolled_back_is_not_done_again_until_a_person_resumes_the_table() -> None:
    world = World()
    table, job = compacted(world)
    rolled_back(world, job)
    record = world.store.table(table)
    assert record is not None
    assert record.pause is not None
    assert (record.pause.by, job.job_id in record.pause.reason) == ("person ada", True)
    world.clock.advance(timedelta(days=3))
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 0
    world.store.set_pause(table, None)
    plan(world.ports)
    assert submit(world.ports) == 1


@pytest.mark.parametrize("scope", ["*", "lake.sales.orders"])
def test_guard_29_a_pause_after_a_rollback_was_asked_for_stops_it(scope: str) -> None:
    world = World()
    _, job = compacted(world)
    undoing = request_rollback(world.ports, job, "person ada")
    world.clock.advance(timedelta(seconds=1))
    pause_scope(
        world.ports, ScopePause(scope, "ben", world.clock.now(), "the owner wants to look first")
    )
    assert start_pending(world.ports) == 0
    ended = world.stored(undoing)
    assert ended.state is JobState.CANCELLED
    assert (
        ended.failure_message == f"not started: ben paused {scope}: the owner wants to look first"
    )


def test_a_rollback_starts_in_a_scope_that_was_paused_before_it_was_asked_for() -> None:
    world = World()
    _, job = compacted(world)
    pause_scope(
        world.ports,
        ScopePause("lake.*", "ben", world.clock.now(), "nothing more until this is undone"),
    )
    world.clock.advance(timedelta(seconds=1))
    assert rolled_back(world, job).state is JobState.SUCCEEDED


def refuse(world: World, job: Job) -> str:
    with pytest.raises(InvalidTransitionError) as caught:
        request_rollback(world.ports, job, "ada")
    assert (
        not world.store.unfinished_jobs()
        or world.store.unfinished_jobs()[0].rule is not Repair.ROLL_BACK
    )
    return str(caught.value)


def test_guard_26_commits_of_others_are_never_lost_by_a_rollback() -> None:
    world = World()
    table, job = compacted(world)
    world.commit(table)
    said = refuse(world, job)
    assert said == (
        f"job {job.job_id} cannot be rolled back: 1 commit of others, 3 (append by a "
        f"writer), would be lost: it is newer than snapshot 1"
    )
    record = world.store.table(table)
    assert record is not None
    assert record.pause is None, "what is refused changes nothing"


def test_a_commit_between_the_request_and_the_start_stops_the_rollback() -> None:
    world = World()
    table, job = compacted(world)
    undoing = request_rollback(world.ports, job, "ada")
    world.commit(table)
    assert start_pending(world.ports) == 0
    refused = world.store.job(undoing.job_id)
    assert refused is not None
    assert (refused.state, refused.failure_reason) == (JobState.FAILED, FailureReason.TABLE_CHANGED)
    assert refused.failure_message.startswith("main has changed from snapshot 2 to 3")


def test_a_commit_that_slips_in_at_the_very_moment_is_found_and_reported() -> None:
    world = World()
    table, job = compacted(world)
    undoing = request_rollback(world.ports, job, "ada")
    start_pending(world.ports)
    world.runner.start(undoing.job_id)
    world.commit(table)
    submitted = world.runner.submitted[undoing.job_id]
    world.runner.finish(undoing.job_id, {}, effect=lambda _job: set_back(world, submitted))
    done = settle(world, undoing)
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert "snapshot 3 of a writer was committed during the rollback" in done.failure_message


def test_a_rollback_whose_spark_is_lost_is_resolved_from_the_table() -> None:
    world = World()
    _, job = compacted(world)
    undoing = request_rollback(world.ports, job, "ada")
    start_pending(world.ports)
    set_back(world, world.runner.submitted[undoing.job_id])
    world.runner.lose(undoing.job_id)
    assert settle(world, undoing).state is JobState.SUCCEEDED


def test_one_job_at_a_time() -> None:
    world = World()
    _, job = compacted(world)
    first = request_rollback(world.ports, job, "ada")
    with pytest.raises(
        InvalidTransitionError, match=f"job {first.job_id} is working on the table, and a table"
    ):
        request_rollback(world.ports, job, "ada")


def test_a_table_that_cannot_be_looked_at_is_not_rolled_back() -> None:
    world = World()
    table, job = compacted(world)
    world.catalog.put(
        TableFault(table, FaultKind.METADATA_MISSING, "its metadata is gone", world.clock.now())
    )
    assert refuse(world, job).endswith("its metadata is gone")
