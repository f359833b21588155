"""The trouble of one table, job or catalog, and everything else that must go on beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest

from maintainer.compare.row_proof import COUNT_LIMIT_BYTES
from maintainer.domain.action import ExpireSnapshots, RemoveOrphanFiles
from maintainer.domain.errors import InvalidTransitionError, StoreUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.notice import NoticeKind
from maintainer.domain.policy import RuleName
from maintainer.estimate.floors import NEWEST_FORMAT_VERSION
from maintainer.ports.store.jobs import JobQuery
from maintainer.requests.run import request_cancel, request_run
from maintainer.steps.isolation import each
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.samples import NOW
from tests.steps.world import ENFORCE, World, layer

R = TypeVar("R")


class UnforeseenError(Exception):
    """A bug that one table brings out."""


def breaking_for(name: str, call: Callable[..., R]) -> Callable[..., R]:
    """The call, but for one table, where it raises."""

    def broken(first: TableIdentifier | Job, *rest: object) -> R:
        table = first if isinstance(first, TableIdentifier) else first.table
        if table.name == name:
            raise UnforeseenError(name)
        return call(first, *rest)

    return broken


def two_tables() -> World:
    world = World()
    world.put("broken")
    world.put("orders")
    return world


def state_of(world: World, name: str) -> JobState | None:
    return next(
        (job.state for job in world.store.unfinished_jobs() if job.table.name == name), None
    )


def test_each_has_its_turn_and_the_first_error_is_reported_with_the_number_of_the_others() -> None:
    done: list[int] = []

    def halve(number: int) -> None:
        if number % 2:
            raise UnforeseenError(str(number))
        done.append(number // 2)

    with pytest.raises(UnforeseenError, match="1") as raised:
        each([1, 2, 3, 4], halve)
    assert done == [1, 2]
    assert raised.value.__notes__ == ["and 1 more of 4 failed"]


def test_without_a_store_nothing_goes_on() -> None:
    asked: list[int] = []

    def fail(number: int) -> None:
        asked.append(number)
        message = "disk full"
        raise StoreUnavailableError(message)

    with pytest.raises(StoreUnavailableError):
        each([1, 2], fail)
    assert asked == [1]


def test_a_table_that_breaks_its_measurement_leaves_the_others_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = two_tables()
    gone = world.put("gone")
    scan(world.ports)
    for name in ("broken", "orders"):
        world.commit(TableIdentifier("lake", ("sales",), name))
    world.catalog.drop(gone)
    monkeypatch.setattr(world.catalog, "inventory", breaking_for("broken", world.catalog.inventory))
    (fault,) = scan(world.ports).faults
    assert isinstance(fault, TableFault)
    assert (fault.table.name, fault.kind) == ("broken", FaultKind.FAILED)
    assert fault.reason == "measuring failed unexpectedly (see the log): UnforeseenError: broken"
    assert world.store.table(fault.table).fault == fault  # type: ignore[union-attr]
    assert world.telemetry.measured[-1][0].table.name == "orders"
    assert world.telemetry.gone == [gone], "the listing was whole"
    assert len(world.telemetry.scans) == 2


def test_a_table_that_breaks_its_decision_leaves_the_others_planned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = two_tables()
    scan(world.ports)
    monkeypatch.setattr(world.store, "table", breaking_for("broken", world.store.table))
    with pytest.raises(UnforeseenError):
        plan(world.ports)
    assert [made.table.name for made in world.store.plans()] == ["orders"]


def test_a_job_that_cannot_be_started_leaves_the_others_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = two_tables()
    scan(world.ports)
    plan(world.ports)
    monkeypatch.setattr(world.catalog, "inventory", breaking_for("broken", world.catalog.inventory))
    with pytest.raises(UnforeseenError):
        submit(world.ports)
    assert state_of(world, "orders") is JobState.SUBMITTED


def test_a_job_that_cannot_be_watched_or_reviewed_leaves_the_others_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = two_tables()
    scan(world.ports)
    plan(world.ports)
    submit(world.ports)
    for job in world.store.unfinished_jobs():
        world.runner.finish(job.job_id, world.mend(job))
    with monkeypatch.context() as patch:
        patch.setattr(world.runner, "report", breaking_for("broken", world.runner.report))
        with pytest.raises(UnforeseenError):
            watch(world.ports)
    watch(world.ports)
    monkeypatch.setattr(world.catalog, "inventory", breaking_for("broken", world.catalog.inventory))
    with pytest.raises(UnforeseenError):
        review(world.ports)
    assert state_of(world, "orders") is None
    assert state_of(world, "broken") is JobState.RUNNING


def test_tables_whose_job_waits_for_a_proof_that_cannot_be_had_do_not_starve_the_others() -> None:
    world = World()
    stuck = [world.put(name) for name in "ab"]
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == world.runner.capacity
    for job in world.store.unfinished_jobs():
        world.runner.finish(job.job_id, world.mend(job))
    for table in stuck:
        world.catalog.put(TableFault(table, FaultKind.METADATA_MISSING, "gone from the disk", NOW))
    watch(world.ports)
    review(world.ports)
    world.put("c")
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 1
    assert state_of(world, "c") is JobState.SUBMITTED


def test_a_table_that_became_a_view_ends_its_job() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    plan(world.ports)
    submit(world.ports)
    (job,) = world.store.unfinished_jobs()
    world.runner.fail(job.job_id, FailureReason.OTHER, "no such table")
    world.catalog.put(TableFault(table, FaultKind.VIEW, "a view", NOW))
    watch(world.ports)
    assert review(world.ports) == 1
    assert world.store.jobs(JobQuery()).items[0].failure_reason is FailureReason.TABLE_CHANGED


def without_catalogs(world: World) -> World:
    """The same store after a start under a configuration that has no catalog any more."""
    world.ports = replace(world.ports, catalogs={})
    return world


def test_nothing_is_started_in_a_catalog_that_is_not_configured_any_more() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    plan(world.ports)
    without_catalogs(world)
    assert submit(world.ports) == 0
    assert not world.store.jobs(JobQuery()).items


def test_a_pending_job_in_a_catalog_that_is_not_configured_any_more_ends() -> None:
    world = World()
    table = world.put("orders")
    _, job = request_run(world.ports, table, (), "ada")
    assert job is not None
    without_catalogs(world)
    assert submit(world.ports) == 0
    (ended,) = world.store.jobs(JobQuery()).items
    assert (ended.state, ended.failure_reason) == (
        JobState.FAILED,
        FailureReason.CATALOG_UNREACHABLE,
    )
    assert ended.failure_message == "catalog 'lake' is no longer configured"


def test_a_job_waits_for_its_proof_until_its_catalog_is_configured_again() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    plan(world.ports)
    submit(world.ports)
    (job,) = world.store.unfinished_jobs()
    world.runner.finish(job.job_id, world.mend(job))
    watch(world.ports)
    configured = world.ports
    assert review(without_catalogs(world).ports) == 0
    assert review(configured) == 1


def test_tables_of_a_catalog_that_is_not_configured_any_more_are_shown_as_such() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    scan(without_catalogs(world).ports)
    record = world.store.table(table)
    assert record is not None
    assert record.health is not None
    assert record.fault is not None
    assert record.fault.reason == "catalog 'lake' is no longer configured"


def test_a_job_carries_out_what_the_policy_says_when_it_starts_not_when_it_was_planned() -> None:
    world = World()
    table = world.put("orders", small_files=2)
    for _ in range(150):
        world.commit(table)
    world.clock.advance(timedelta(days=40))
    world.commit(table)
    scan(world.ports)
    plan(world.ports)
    world.policies.layers = (
        layer(ENFORCE.replace("max_age: 5d, keep: 10", "max_age: 30d, keep: 77")),
    )
    assert submit(world.ports) == 1
    (job,) = world.store.unfinished_jobs()
    assert job.rule is RuleName.EXPIRE_SNAPSHOTS
    assert job.action == ExpireSnapshots(
        world.clock.now().replace(minute=0) - timedelta(days=30), 77
    )
    assert job == world.runner.submitted[job.job_id]


def test_guard_27_a_table_that_another_engine_has_upgraded_beyond_what_is_known_gets_no_job() -> (
    None
):
    world = World()
    table = world.put("orders")
    scan(world.ports)
    plan(world.ports)
    world.replace(replace(world.look(table), format_version=NEWEST_FORMAT_VERSION + 1))
    assert submit(world.ports) == 0
    (job,) = world.store.jobs(JobQuery()).items
    assert (job.state, world.runner.submitted) == (JobState.CANCELLED, {})
    assert job.failure_message.endswith(
        "format version 4 is newer than 3, the newest that is supported"
    )


def test_a_condition_that_the_columns_do_not_fit_makes_no_job() -> None:
    world = World()
    world.policies.layers = (
        layer(
            'tables: "*"\nmode: enforce\n'
            'rules: {rewrite_data_files: {where: "id = 1 AND name = 5"}}\n'
        ),
    )
    table = world.put("orders")
    columns = ((("id",), "long"), (("name",), "string"))
    world.replace(replace(world.look(table), column_types=columns))
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 0
    assert not world.store.jobs(JobQuery()).items
    [made] = world.store.plans()
    [reason] = [skip.reason for skip in made.skipped if skip.rule is RuleName.REWRITE_DATA_FILES]
    assert reason.startswith("where compares the column name at character 12, which is a string")


def test_guard_27_a_table_that_was_moved_since_is_worked_on_where_it_is_now() -> None:
    world = World()
    world.policies.layers = (
        layer(
            'tables: "*"\nmode: enforce\nrules: {remove_orphan_files: {older_than: 7d}, '
            "rewrite_data_files: {enabled: false}}\n"
        ),
    )
    table = world.put("orders", small_files=600)
    scan(world.ports)
    world.clock.advance(timedelta(days=10))
    plan(world.ports)
    world.replace(replace(world.look(table), location="file:///elsewhere/orders"))
    assert submit(world.ports) == 1
    (job,) = world.runner.submitted.values()
    assert isinstance(job.action, RemoveOrphanFiles)
    assert job.action.location == "file:///elsewhere/orders"


def running(world: World) -> Job:
    """The one job, with Spark at work on it."""
    world.put("orders")
    scan(world.ports)
    return world.begin()


def test_a_cancel_that_comes_while_a_pending_job_is_started_reaches_it() -> None:
    world = World()
    _, pending = request_run(world.ports, world.put("orders"), (), "ada")
    assert pending is not None
    submit(world.ports)
    asked = request_cancel(
        world.ports, pending, "ada"
    )  # as it was read a moment before it was started
    assert (asked.state, asked.cancel_requested_by) == (JobState.SUBMITTED, "ada")
    assert world.runner.cancelled == [pending.job_id]


def test_a_cancel_that_comes_while_a_job_ends_does_not_undo_its_outcome() -> None:
    world = World()
    job = running(world)
    world.runner.finish(job.job_id, world.mend(job))
    watch(world.ports)
    request_cancel(world.ports, job, "ada")  # as it was read before it ended
    assert world.stored(job).outcome is not None
    assert world.stored(job).cancel_requested_by == "ada"
    review(world.ports)
    assert world.stored(job).state is JobState.SUCCEEDED


def test_a_look_at_a_job_does_not_undo_a_cancel_that_came_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    job = running(world)
    report = world.runner.report

    def cancelled_meanwhile(seen: Job) -> object:
        world.store.update_job(
            replace(world.stored(job), cancel_requested_by="ada"), JobState.RUNNING
        )  # by another process
        return report(seen)

    world.runner.start(job.job_id, tasks_done=3, tasks_total=9)
    with monkeypatch.context() as patch:
        patch.setattr(world.runner, "report", cancelled_meanwhile)
        watch(world.ports)
    assert (world.stored(job).cancel_requested_by, world.stored(job).progress.tasks_done) == (
        "ada",
        3,
    )


def test_a_cancel_of_a_job_that_never_holds_still_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    job = running(world)
    monkeypatch.setattr(world.store, "update_job", lambda job, expected: False)  # noqa: ARG005
    with pytest.raises(InvalidTransitionError, match="try again"):
        request_cancel(world.ports, job, "ada")
    watch(world.ports)


def test_a_table_whose_rows_differ_is_paused_even_when_we_end_at_that_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    job = running(world)
    world.runner.finish(job.job_id, world.mend(job, lost_rows=1))
    watch(world.ports)

    def fail(job: Job, expected: JobState, token: int | None = None) -> bool:
        del job, expected, token
        message = "disk full"
        raise StoreUnavailableError(message)

    with monkeypatch.context() as patch:
        patch.setattr(world.store, "update_job", fail)
        with pytest.raises(StoreUnavailableError):
            review(world.ports)
    record = world.store.table(job.table)
    assert record is not None
    assert record.pause is not None
    review(world.ports)
    assert world.stored(job).failure_reason is FailureReason.UNPROVED


def test_counting_rows_reads_no_more_than_its_bound_for_the_whole_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    job = running(world)
    rows = world.look(job.table).snapshots[-1].summary["total-records"]
    deletes = {"total-delete-files": "3", "total-position-deletes": "20"}
    for _ in range(2):
        world.commit(job.table, summary=deletes)  # a writer, between our commits
        world.commit(
            job.table,
            "replace",
            job.application,
            {"total-records": rows, "removed-delete-files": "3"} | deletes,
        )
    limits: list[int] = []
    monkeypatch.setattr(
        world.catalog,
        "count_rows",
        lambda table, snapshot_id, limit_bytes: limits.append(limit_bytes),  # noqa: ARG005
    )
    world.runner.finish(job.job_id)
    watch(world.ports)
    review(world.ports)
    assert limits == [COUNT_LIMIT_BYTES // 4] * 4


def test_a_job_under_which_spark_dies_waits_before_it_is_tried_again() -> None:
    world = World()
    job = running(world)
    world.runner.lose(job.job_id, FailureReason.OTHER, "Spark's JVM ended with exit code -9")
    watch(world.ports)
    review(world.ports)
    assert world.stored(job).failure_message.startswith("Spark's JVM ended with exit code -9")
    plan(world.ports)
    assert submit(world.ports) == 0
    world.clock.advance(timedelta(hours=1))
    plan(world.ports)
    assert submit(world.ports) == 1


def test_people_are_notified_at_once_of_a_job_whose_proof_failed() -> None:
    world = World()
    job = running(world)
    world.runner.finish(job.job_id, world.mend(job, lost_rows=1))
    watch(world.ports)
    review(world.ports)
    [reported] = world.notifier.news
    assert (reported.kind, reported.subject, reported.job_id) == (
        NoticeKind.FAILED_PROOF,
        str(job.table),
        job.job_id,
    )


def test_people_are_notified_of_the_third_failure_in_a_row() -> None:
    world = World()
    job = running(world)
    for attempt in range(3):
        world.runner.lose(job.job_id, FailureReason.OTHER, "Spark's JVM ended")
        watch(world.ports)
        review(world.ports)
        assert len(world.notifier.news) == (attempt == 2)
        world.clock.advance(timedelta(days=1))
        plan(world.ports)
        submit(world.ports)
        job = world.store.unfinished_jobs()[0]
    assert world.notifier.news[0].kind is NoticeKind.REPEATED_FAILURE
