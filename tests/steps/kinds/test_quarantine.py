"""Orphan files are put aside before they are deleted, and can be brought back as long as they
are.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.action import Disposal, RemoveOrphanFiles
from maintainer.domain.audit import AuditQuery, Deed
from maintainer.domain.errors import InvalidTransitionError
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.location import TableLocation
from maintainer.domain.orphan import OrphanList, OrphanListState, RemovedOrphans, quarantine_of
from maintainer.ports.store.jobs import JobQuery
from maintainer.requests.approval import approve_list, restore_list
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from tests.samples import NOW
from tests.steps.kinds.test_orphan_removal import (
    LIVE,
    PLACE,
    REQUIRED,
    STRAYS,
    TABLE,
    looked,
    refused,
    settle,
    the_list,
)
from tests.steps.world import World

DAY = timedelta(days=1)
POLICY = REQUIRED.replace("quarantine: off", "quarantine: 5d")


def aside(orphans: OrphanList, path: str) -> str:
    return quarantine_of(PLACE, orphans.list_id) + path.removeprefix(f"{PLACE}/")


def approved() -> World:
    world = looked(POLICY)
    approve_list(world.ports, TABLE, the_list(world).list_id, "ada")
    return world


def disposal_of(job: Job) -> Disposal:
    assert isinstance(job.action, RemoveOrphanFiles)
    assert job.action.approved is not None
    return job.action.approved.disposal


def move(
    world: World,
    job: Job,
    *,
    back: bool = False,
    but: tuple[str, ...] = (),
    reached: tuple[str, ...] | None = (LIVE,),
    loses: bool = False,
) -> None:
    """Spark moves what it was given into the quarantine or back, but for some files."""
    orphans = the_list(world)
    given = [file.path for file in world.runner.brought[job.job_id]]
    pairs = [
        (aside(orphans, path), path) if back else (path, aside(orphans, path)) for path in given
    ]
    for source, target in pairs:
        if source not in but:
            world.catalog.delete_file(source)
            if not loses:
                world.catalog.put_file(target, 70, NOW - 30 * DAY)
    world.runner.removed[job.job_id] = RemovedOrphans(
        tuple(source for source, _ in pairs), reached, tuple(target for _, target in pairs)
    )
    world.runner.finish(job.job_id)


def quarantined() -> World:
    world = approved()
    job = world.begin()
    move(world, job)
    assert settle(world, job).state is JobState.SUCCEEDED
    return world


def test_what_is_approved_is_put_aside_first_and_deleted_when_its_time_is_over() -> None:
    world = approved()
    job = world.begin()
    assert disposal_of(job) is Disposal.QUARANTINE
    assert job.reason.endswith(
        "would be moved to quarantine, except any that the table references by then"
    )
    move(world, job)
    done = settle(world, job)
    assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
    assert done.effect is not None
    assert done.effect.sentence.startswith("3 orphan files of 210 B are in quarantine; ")
    orphans = the_list(world)
    assert (orphans.state, orphans.removed_files, orphans.expires_at) == (
        OrphanListState.QUARANTINED,
        3,
        world.clock.now() + 5 * DAY,
    )
    world.clock.advance(4 * DAY)
    plan(world.ports)
    assert submit(world.ports) == 0, "its time is not over"
    world.clock.advance(DAY)
    emptying = world.begin()
    assert disposal_of(emptying) is Disposal.EMPTY
    assert [file.path for file in world.runner.brought[emptying.job_id]] == list(STRAYS)
    for path in STRAYS:
        world.catalog.delete_file(aside(orphans, path))
    world.runner.removed[emptying.job_id] = RemovedOrphans(
        tuple(aside(orphans, path) for path in STRAYS), (LIVE,)
    )
    world.runner.finish(emptying.job_id)
    over = settle(world, emptying)
    assert (over.state, over.failure_message) == (JobState.SUCCEEDED, "")
    assert over.effect is not None
    assert over.effect.sentence.startswith(
        "3 orphan files of 210 B are deleted from the quarantine; "
    )
    assert (the_list(world).state, the_list(world).removed_by) == (
        OrphanListState.EMPTIED,
        job.job_id,
    )


def test_what_is_in_quarantine_comes_back_when_somebody_wants_it() -> None:
    world = quarantined()
    restore_list(world.ports, TABLE, the_list(world).list_id, "bob")
    entry = world.store.audit(AuditQuery()).items[0]
    assert (entry.deed, entry.actor) == (Deed.ORPHANS_RESTORE_REQUESTED, "person bob")
    job = world.begin()
    assert disposal_of(job) is Disposal.RESTORE
    move(world, job, back=True)
    done = settle(world, job)
    assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
    assert done.effect is not None
    assert (done.effect.orphans_restored, done.effect.orphans_removed, done.effect.is_idle) == (
        3,
        0,
        False,
    )
    assert done.effect.sentence.startswith("3 orphan files of 210 B are brought back; ")
    assert the_list(world).state is OrphanListState.RESTORED
    with pytest.raises(InvalidTransitionError, match="is restored, not in quarantine"):
        restore_list(world.ports, TABLE, the_list(world).list_id, "bob")


def test_nothing_is_brought_back_over_something_that_is_there() -> None:
    world = quarantined()
    restore_list(world.ports, TABLE, the_list(world).list_id, "bob")
    world.catalog.put_file(STRAYS[1], 5)
    assert refused(world) == (
        f"{STRAYS[1]} exists already, so list {the_list(world).list_id} cannot be restored"
    )


def test_bringing_back_needs_no_place_of_its_own_and_no_leave_to_delete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = quarantined()
    restore_list(world.ports, TABLE, the_list(world).list_id, "bob")
    monkeypatch.setattr(
        world.store,
        "locations_near",
        lambda _: (
            TableLocation(f"{PLACE.removeprefix('file://')}/", "lake.sales.other", "another"),
        ),
    )
    world.catalog.put(replace(world.look(TABLE), properties={"gc.enabled": "false"}))
    scan(world.ports)
    assert disposal_of(world.begin()) is Disposal.RESTORE


def test_a_later_look_leaves_what_is_in_quarantine_alone() -> None:
    world = quarantined()
    first = the_list(world)
    world.store.add_orphan_list(
        replace(first, list_id="m-99", state=OrphanListState.WAITING, made_at=first.made_at + DAY),
        (),
    )
    found = world.store.orphan_list(first.list_id)
    assert found is not None
    assert found.state is OrphanListState.QUARANTINED


def test_a_file_that_is_neither_here_nor_there_fails_the_job_and_pauses_the_table() -> None:
    world = approved()
    job = world.begin()
    move(world, job, loses=True)
    done = settle(world, job)
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert (
        "3 files are missing that the table references or the quarantine should have"
        in done.failure_message
    )
    record = world.store.table(TABLE)
    assert record is not None
    assert record.pause is not None


def test_files_that_could_not_be_moved_stay_on_the_approved_list() -> None:
    world = approved()
    job = world.begin()
    move(world, job, but=STRAYS[:1])
    done = settle(world, job)
    assert done.failure_reason is FailureReason.UNPROVED
    assert the_list(world).state is OrphanListState.APPROVED
    world.clock.advance(DAY)
    again = world.begin()
    assert [file.path for file in world.runner.brought[again.job_id]] == [STRAYS[0]]


def test_an_emptying_takes_only_what_is_in_quarantine_as_it_was() -> None:
    world = quarantined()
    world.catalog.put_file(aside(the_list(world), STRAYS[0]), 71)
    world.catalog.delete_file(aside(the_list(world), STRAYS[1]))
    world.clock.advance(5 * DAY)
    job = world.begin()
    assert [file.path for file in world.runner.brought[job.job_id]] == [STRAYS[2]]


def test_what_waits_to_be_brought_back_is_never_emptied() -> None:
    world = quarantined()
    restore_list(world.ports, TABLE, the_list(world).list_id, "bob")
    world.clock.advance(30 * DAY)
    assert disposal_of(world.begin()) is Disposal.RESTORE
    assert world.stored(world.store.jobs(JobQuery()).items[0]).state is JobState.RUNNING
