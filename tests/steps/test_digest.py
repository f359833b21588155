"""Very large tables: read on Spark by a job, measured from what it found."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.admission import Halt
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.reading import DigestManifests, FoundManifest, Reading
from maintainer.ports.store import JobQuery, Pause
from maintainer.steps.digest import RETRY, defer
from maintainer.steps.plan import plan
from maintainer.steps.record import Measured
from maintainer.steps.review import review
from maintainer.steps.scan import ScannedTable, ScanOptions, ScanResult, find_unread, scan
from maintainer.steps.submit import request_cancel, start_pending, submit
from maintainer.steps.watch import watch
from tests.steps.world import World

LARGE = ScanOptions(most_files=100)


@pytest.fixture
def world() -> World:
    return World()


def scanned(world: World) -> tuple[ScanResult, list[ScannedTable]]:
    seen: list[ScannedTable] = []
    return scan(world.ports, seen.append, options=LARGE), seen


def deferred(world: World) -> tuple[TableIdentifier, Job]:
    """A table of 120 files in four manifests that a scan has left to Spark, and the job, which
    Spark works on.
    """
    table = world.put("huge", small_files=120, manifests=4)
    result, seen = scanned(world)
    assert (result.deferred, seen) == ([table], [])
    (job,) = world.store.unfinished_jobs()
    assert start_pending(world.ports) == 1
    world.runner.start(job.job_id)
    return table, job


def found(world: World, table: TableIdentifier, manifests: int = 4) -> list[FoundManifest]:
    return [
        FoundManifest(digest.path, digest.spec_id, 0, {}, ())
        for digest in world.look(table).manifests[:manifests]
    ]


def settle(world: World, job: Job) -> Job:
    watch(world.ports)
    review(world.ports)
    settled = world.store.job(job.job_id)
    assert settled is not None
    return settled


def test_a_large_table_is_left_to_a_job_that_is_no_rule_of_any_policy(world: World) -> None:
    table, job = deferred(world)
    assert (job.table, job.rule, job.requested_by) == (table, Reading.DIGEST_MANIFESTS, "scan")
    assert job.action == DigestManifests(1, 512 * 1024**2, is_partitioned=True, lists_files=False)
    assert job.reason == "120 files in 4 manifests are to be read to measure the table"
    assert world.store.table(table) is None


def test_where_spark_cannot_reach_the_catalog_a_large_table_is_read_here(world: World) -> None:
    world.put("huge", small_files=120)
    ports = replace(
        world.ports,
        no_runner={"lake": "catalog lake: property s3.anonymous cannot be translated for Spark"},
    )
    result = scan(ports, options=LARGE)
    assert (result.deferred, result.measured, world.store.unfinished_jobs()) == ([], 1, ())


def test_on_a_halted_table_nothing_is_started_and_nothing_read_until_that_is_lifted(
    world: World,
) -> None:
    table = world.put("huge", small_files=120)
    world.store.set_halt(Halt("lake.sales.*", "ops", world.clock.now()))
    result, seen = scanned(world)
    assert (result.deferred, seen, world.store.unfinished_jobs()) == ([table], [], ())
    world.store.lift_halt("lake.sales.*")
    scanned(world)
    (job,) = world.store.unfinished_jobs()
    world.store.set_halt(Halt("*", "ops", world.clock.now()))
    assert start_pending(world.ports) == 0
    world.store.lift_halt("*")
    assert start_pending(world.ports) == 1
    assert job.table == table


def test_what_a_person_asked_for_starts_on_a_halted_table_too(world: World) -> None:
    table = world.put("huge", small_files=120)
    world.store.set_halt(Halt("*", "ops", world.clock.now()))
    unread = find_unread(world.ports, table)
    assert unread is not None
    assert defer(world.ports, unread, "person") is not None
    assert start_pending(world.ports) == 1


def test_a_paused_table_waits_too(world: World) -> None:
    table = world.put("huge", small_files=60)
    scan(world.ports, options=LARGE)
    world.store.set_pause(table, Pause("ops", world.clock.now()))
    world.commit(
        table, manifests=world.look(world.put("other", small_files=400, manifests=4)).manifests
    )
    assert table in scan(world.ports, options=LARGE).deferred
    assert [job for job in world.store.unfinished_jobs() if job.table == table] == []


def test_small_tables_beside_it_are_measured_here(world: World) -> None:
    world.put("huge", small_files=120)
    small = world.put("small", small_files=100)
    result, seen = scanned(world)
    assert [one.health.table for one in seen if isinstance(one, Measured)] == [small]
    assert (result.measured, len(result.deferred), result.is_complete) == (1, 1, True)


def test_what_spark_found_is_measured_by_the_next_scan_without_reading_an_entry(
    world: World,
) -> None:
    table, job = deferred(world)
    world.runner.findings[job.job_id] = found(world, table)
    world.runner.finish(job.job_id, {"rows": 4})
    assert settle(world, job).state is JobState.SUCCEEDED
    assert world.store.events(job.job_id)[-1].fields["message"] == "manifests read: 4"
    assert job.job_id not in world.runner.findings
    result, (measured,) = scanned(world)
    assert isinstance(measured, Measured)
    assert (measured.health.data_files, result.entries_read, result.manifests_reused) == (120, 0, 4)
    assert world.store.unfinished_jobs() == ()


def test_while_the_job_runs_no_other_is_made_and_the_old_health_stays(world: World) -> None:
    table = world.put("growing", small_files=60)
    scan(world.ports, options=LARGE)
    world.commit(
        table, manifests=world.look(world.put("other", small_files=400, manifests=4)).manifests
    )
    for _ in range(3):
        world.clock.advance(timedelta(minutes=5))
        assert table in scan(world.ports, options=LARGE).deferred
    (job,) = [job for job in world.store.unfinished_jobs() if job.table == table]
    assert isinstance(job.action, DigestManifests)
    record = world.store.table(table)
    assert record is not None
    assert record.health is not None
    assert record.health.data_files == 60


def test_a_table_with_another_job_under_way_is_measured_after_it(world: World) -> None:
    table = world.put("busy", small_files=60)
    scan(world.ports)
    plan(world.ports)
    submit(world.ports)
    (job,) = world.store.unfinished_jobs()
    world.commit(
        table, manifests=world.look(world.put("other", small_files=400, manifests=4)).manifests
    )
    assert table in scan(world.ports, options=LARGE).deferred
    assert [one.job_id for one in world.store.unfinished_jobs() if one.table == table] == [
        job.job_id
    ]


def test_without_spark_the_table_is_read_here_and_the_job_says_why(world: World) -> None:
    table = world.put("huge", small_files=120)
    scan(world.ports, options=LARGE)
    world.runner.become_unavailable("no Java was found")
    start_pending(world.ports)
    (job,) = world.store.jobs(JobQuery(table=table)).items
    assert (job.state, job.failure_reason, job.failure_message) == (
        JobState.FAILED,
        FailureReason.RUNNER_UNAVAILABLE,
        "no Java was found",
    )
    result, (measured,) = scanned(world)
    assert isinstance(measured, Measured)
    assert (measured.health.data_files, result.deferred, result.is_complete) == (120, [], True)


def test_a_failure_is_not_repeated_for_six_hours(world: World) -> None:
    table, job = deferred(world)
    world.runner.fail(job.job_id, FailureReason.OUT_OF_MEMORY, "Java heap space")
    failed = settle(world, job)
    assert (failed.state, failed.failure_reason, failed.failure_message) == (
        JobState.FAILED,
        FailureReason.OUT_OF_MEMORY,
        "Java heap space",
    )
    unread = find_unread(world.ports, table)
    assert unread is not None
    world.clock.advance(RETRY - timedelta(seconds=1))
    assert defer(world.ports, unread) is None
    world.clock.advance(timedelta(seconds=2))
    assert defer(world.ports, unread) is not None


def test_a_person_may_ask_again_at_once(world: World) -> None:
    table, job = deferred(world)
    world.runner.fail(job.job_id)
    settle(world, job)
    unread = find_unread(world.ports, table)
    assert unread is not None
    again = defer(world.ports, unread, "person")
    assert again is not None
    assert (again.job_id, again.requested_by) != (job.job_id, "scan")


def test_what_a_killed_job_had_read_is_kept_and_the_next_one_begins_at_once(world: World) -> None:
    table, job = deferred(world)
    world.runner.findings[job.job_id] = found(world, table, manifests=1)
    world.runner.lose(job.job_id)
    lost = settle(world, job)
    assert (lost.state, lost.failure_reason) == (JobState.FAILED, FailureReason.LOST_RUNNER)
    assert (
        lost.failure_message
        == "its process is gone; manifests that it had read and that are kept: 1"
    )
    unread = find_unread(world.ports, table)
    assert unread is not None
    assert (unread.manifests, unread.files) == (3, 90)
    assert defer(world.ports, unread) is not None


def test_what_remains_within_the_bound_is_read_here(world: World) -> None:
    table, job = deferred(world)
    world.runner.findings[job.job_id] = found(world, table, manifests=1)
    world.runner.lose(job.job_id)
    settle(world, job)
    result, (measured,) = scanned(world)
    assert isinstance(measured, Measured)
    assert (measured.health.data_files, result.manifests_reused, result.manifests_read) == (
        120,
        1,
        3,
    )


def test_manifests_that_cannot_be_told_as_ours_fail_the_job_and_are_read_here(world: World) -> None:
    table, job = deferred(world)
    world.runner.findings[job.job_id] = [
        *found(world, table, manifests=1),
        FoundManifest("elsewhere", 0, 0, {}, ()),
    ]
    world.runner.finish(job.job_id)
    failed = settle(world, job)
    assert (failed.state, failed.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert failed.failure_message.startswith(
        "of 2 manifests that Spark read 1 can be told as our own readers would"
    )
    assert table not in scan(world.ports, options=LARGE).deferred


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_job_that_found_nothing_is_no_success(world: World, *, is_empty: bool) -> None:
    _, job = deferred(world)
    if is_empty:
        world.runner.findings[job.job_id] = []
    world.runner.finish(job.job_id)
    failed = settle(world, job)
    assert (failed.state, failed.failure_reason) == (JobState.FAILED, FailureReason.TABLE_CHANGED)


def test_a_cancelled_job_ends_cancelled_with_what_it_had_read(world: World) -> None:
    table, job = deferred(world)
    world.runner.findings[job.job_id] = found(world, table, manifests=2)
    running = world.store.job(job.job_id)
    assert running is not None
    request_cancel(world.ports, running, "person")
    cancelled = settle(world, job)
    assert (cancelled.state, cancelled.failure_message) == (
        JobState.CANCELLED,
        "cancelled; manifests that it had read and that are kept: 2",
    )


def test_while_the_catalog_does_not_answer_the_job_waits_with_what_it_found(world: World) -> None:
    table, job = deferred(world)
    world.runner.findings[job.job_id] = found(world, table)
    world.runner.finish(job.job_id)
    world.catalog.fail("away")
    assert settle(world, job).state is JobState.RUNNING
    assert len(world.runner.findings[job.job_id]) == 4
    world.catalog.recover()
    assert settle(world, job).state is JobState.SUCCEEDED


def test_of_a_table_that_is_gone_nothing_is_kept(world: World) -> None:
    table, job = deferred(world)
    world.runner.findings[job.job_id] = found(world, table)
    world.runner.finish(job.job_id)
    world.catalog.put(TableFault(table, FaultKind.DROPPED, "dropped", world.clock.now()))
    assert settle(world, job).state is JobState.FAILED
    assert world.runner.findings == {}


def test_a_reading_leaves_no_cool_down_and_saves_nothing(world: World) -> None:
    table, job = deferred(world)
    world.runner.findings[job.job_id] = found(world, table)
    world.runner.finish(job.job_id)
    settle(world, job)
    assert world.store.rule_history(job.table_uuid) == {}
    assert world.store.overview().files_removed == 0
    scan(world.ports, options=LARGE)
    plan(world.ports)
    record = world.store.table(table)
    assert record is not None
    assert record.plan is not None
    assert record.plan.planned


def test_a_snapshot_that_spark_has_read_in_vain_is_read_here(world: World) -> None:
    table, job = deferred(world)
    world.runner.findings[job.job_id] = found(world, table)
    world.runner.finish(job.job_id)
    settle(world, job)
    world.store.record_digests(job.table_uuid, 512 * 1024**2, ())  # as if they had been lost
    unread = find_unread(world.ports, table)
    assert unread is not None
    assert defer(world.ports, unread) is None
