"""The loop in a simulated world: what it starts, what it makes of what happened, and what it never
does.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.domain.action import ExpireSnapshots
from maintainer.domain.effect import RowProof
from maintainer.domain.errors import RunnerUnavailableError, UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.orphan import FoundFile, FoundOrphans
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Plan, SkipCode
from maintainer.domain.policy import RuleName
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.tables import Pause
from maintainer.requests.preview import preview
from maintainer.requests.run import describe_wait_of_cancelled, request_cancel, request_run
from maintainer.steps.plan import plan
from maintainer.steps.prune import prune
from maintainer.steps.review import WAITING_PHASE, review
from maintainer.steps.scan import scan
from maintainer.steps.submit import start_pending, submit
from maintainer.steps.table import measured_record
from maintainer.steps.watch import watch
from tests.examples import examples
from tests.samples import NOW
from tests.steps.world import World, layer


def submitted(world: World) -> Job:
    """Scan, plan and submit; the one job that runs then."""
    scan(world.ports)
    return world.begin()


def started(world: World) -> Job:
    """The one unfinished job, with Spark at work on it."""
    (job,) = world.store.unfinished_jobs()
    world.runner.start(job.job_id)
    watch(world.ports)
    return world.stored(job)


def settle(world: World) -> None:
    watch(world.ports)
    review(world.ports)


def code_of(
    world: World, table: TableIdentifier, rule: RuleName = RuleName.REWRITE_DATA_FILES
) -> SkipCode | None:
    record = world.store.table(table)
    assert record is not None
    assert record.plan is not None
    return next((skipped.code for skipped in record.plan.skipped if skipped.rule is rule), None)


def test_a_rotten_table_is_compacted_and_the_effect_is_proved() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    assert job.state is JobState.RUNNING
    assert job.baseline is not None
    assert job.baseline.snapshot_id == 1
    world.clock.advance(timedelta(seconds=9))
    world.runner.finish(job.job_id, world.mend(job))
    settle(world)
    done = world.stored(job)
    assert done.state is JobState.SUCCEEDED
    assert done.effect is not None
    assert (done.effect.files_removed, done.effect.own_commits, done.effect.other_commits) == (
        59,
        1,
        0,
    )
    assert done.effect.rows is RowProof.EQUAL
    assert (done.effect.rows_before, done.effect.after.data_files) == (6000, 1)
    assert code_of(world, table) is not None, "the table is planned anew at once"
    assert world.telemetry.jobs[-1][0].state is JobState.SUCCEEDED
    names = [event.name for event in world.store.events(job.job_id)]
    assert names[0] == "job.submitted"
    assert names[-1] == "job.reviewed"


def test_a_job_that_begins_and_ends_between_two_looks_has_its_true_duration() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    plan(world.ports)
    submit(world.ports)
    (job,) = world.store.unfinished_jobs()
    world.runner.start(job.job_id)
    world.clock.advance(timedelta(seconds=3))
    world.runner.finish(job.job_id, world.mend(job))
    world.clock.advance(timedelta(seconds=60))
    settle(world)
    assert world.stored(job).duration == timedelta(seconds=3)


def test_a_second_cycle_does_nothing_and_says_why() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    world.runner.finish(job.job_id, world.mend(job))
    settle(world)
    world.clock.advance(timedelta(days=2))
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 0
    assert code_of(world, table) is SkipCode.NOTHING_TO_GAIN


def test_the_actions_of_a_table_follow_each_other_in_the_fixed_order() -> None:
    world = World()
    table = world.put("orders", small_files=600, manifests=300)
    for _ in range(150):
        world.commit(table)
    world.clock.advance(timedelta(days=9))
    world.commit(table)
    rules: list[RuleName] = []
    scan(world.ports)
    plan(world.ports)
    while submit(world.ports):
        job = started(world)
        rules.append(job.policy_rule)
        world.runner.finish(job.job_id, world.mend(job))
        settle(world)
    # The rewrite of data files leaves one manifest, so the manifests need no rewrite of their own
    # any more.
    assert rules == [RuleName.REWRITE_DATA_FILES, RuleName.EXPIRE_SNAPSHOTS]
    last = world.store.jobs(JobQuery()).items[0]
    assert last.effect is not None
    assert last.effect.snapshots_removed == 143
    assert last.effect.rows is RowProof.NOT_NEEDED


def test_a_writer_in_between_is_counted_apart() -> None:
    world = World()
    job = submitted_with_writer(world)
    done = world.stored(job)
    assert done.state is JobState.SUCCEEDED
    assert done.effect is not None
    assert (done.effect.own_commits, done.effect.other_commits) == (1, 1)


def submitted_with_writer(world: World) -> Job:
    table = world.put("orders")
    job = submitted(world)
    world.commit(table, summary={"deleted-data-files": "500"})
    world.runner.finish(job.job_id, world.mend(job))
    settle(world)
    return job


def test_lost_rows_fail_the_job_and_pause_the_table() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    world.runner.finish(job.job_id, world.mend(job, lost_rows=1))
    settle(world)
    assert (world.stored(job).state, world.stored(job).failure_reason) == (
        JobState.FAILED,
        FailureReason.UNPROVED,
    )
    record = world.store.table(table)
    assert record is not None
    assert record.pause is not None
    assert job.job_id in record.pause.reason


def test_spark_saying_success_is_not_proof() -> None:
    world = World()
    world.put("orders")
    job = submitted(world)
    world.runner.finish(job.job_id, {"rewritten_data_files_count": 60, "added_data_files_count": 1})
    settle(world)
    assert world.stored(job).failure_reason is FailureReason.UNPROVED


def test_a_lost_runner_is_resolved_from_the_table() -> None:
    world = World()
    world.put("a")
    job = submitted(world)
    world.runner.lose(job.job_id)
    settle(world)
    assert (world.stored(job).state, world.stored(job).failure_reason) == (
        JobState.FAILED,
        FailureReason.LOST_RUNNER,
    )
    plan(world.ports)
    assert submit(world.ports) == 1, (
        "nothing was committed and nothing is wrong with the table: it may run again"
    )

    again = World()
    again.put("b")
    job = submitted(again)
    again.mend(job)
    again.runner.lose(job.job_id)
    watch(again.ports)
    assert again.stored(job).state is JobState.UNKNOWN
    review(again.ports)
    assert again.stored(job).state is JobState.SUCCEEDED


def test_a_restart_repeats_nothing_and_loses_nothing() -> None:
    world = World()
    world.put("orders")
    job = submitted(world)
    world.mend(job)  # committed, then the daemon is killed before it hears of it
    world.runner.lose(job.job_id)
    world.ports = world.restarted()
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 0, "the table has an unfinished job"
    settle(world)
    assert world.stored(job).state is JobState.SUCCEEDED
    assert submit(world.ports) == 0
    assert len(world.store.jobs(JobQuery()).items) == 1


def test_a_failure_waits_before_it_is_tried_again() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    world.runner.fail(job.job_id, FailureReason.CONFLICT, "a writer won")
    settle(world)
    done = world.stored(job)
    assert (done.state, done.failure_reason, done.failure_message) == (
        JobState.FAILED,
        FailureReason.CONFLICT,
        "a writer won",
    )
    assert submit(world.ports) == 0
    assert code_of(world, table) is SkipCode.COOLING_DOWN
    world.clock.advance(timedelta(hours=1))
    plan(world.ports)
    assert submit(world.ports) == 1


def test_a_table_that_was_mended_meanwhile_is_left_alone_and_not_tried_in_a_circle() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    plan(world.ports)
    world.put("orders", small_files=2)  # somebody else compacted it after the plan was made
    assert submit(world.ports) == 0
    (job,) = world.store.jobs(JobQuery()).items
    assert job.state is JobState.CANCELLED
    assert job.failure_message.startswith("no longer needed")
    assert submit(world.ports) == 0
    assert len(world.store.jobs(JobQuery()).items) == 1
    assert code_of(world, table) is SkipCode.NOTHING_TO_GAIN


def test_another_table_of_the_same_name_is_not_touched() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    plan(world.ports)
    world.catalog.put(replace(world.look(table), table_uuid="another"))
    assert submit(world.ports) == 0
    (job,) = world.store.jobs(JobQuery()).items
    assert (job.state, job.failure_reason) == (JobState.FAILED, FailureReason.TABLE_CHANGED)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (FaultKind.CATALOG_UNAVAILABLE, FailureReason.CATALOG_UNREACHABLE),
        (FaultKind.ACCESS_DENIED, FailureReason.PERMISSION),
        (FaultKind.METADATA_MISSING, FailureReason.MISSING_FILE),
        (FaultKind.DROPPED, FailureReason.TABLE_CHANGED),
    ],
)
def test_a_table_that_cannot_be_read_right_before_is_not_submitted_to(
    kind: FaultKind, reason: FailureReason
) -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    plan(world.ports)
    world.catalog.put(TableFault(table, kind, "no", NOW))
    assert submit(world.ports) == 0
    (job,) = world.store.jobs(JobQuery()).items
    assert (job.state, job.failure_reason, job.failure_message) == (JobState.FAILED, reason, "no")


def test_a_table_that_cannot_be_read_afterwards_keeps_its_job_waiting() -> None:
    world = World()
    world.put("orders")
    job = submitted(world)
    world.runner.finish(job.job_id, world.mend(job))
    world.catalog.fail("connection refused")
    settle(world)
    assert world.stored(job).state is JobState.RUNNING
    assert world.stored(job).progress.phase == WAITING_PHASE
    world.catalog.recover()
    settle(world)
    assert world.stored(job).state is JobState.SUCCEEDED


def test_a_table_dropped_or_replaced_meanwhile_ends_the_job() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    world.catalog.drop(table)
    world.runner.fail(job.job_id, FailureReason.OTHER, "no such table")
    settle(world)
    assert world.stored(job).failure_reason is FailureReason.TABLE_CHANGED

    other = World()
    table = other.put("orders")
    job = submitted(other)
    other.catalog.put(replace(other.look(table), table_uuid="another"))
    other.runner.finish(job.job_id, {})
    settle(other)
    assert other.stored(job).failure_reason is FailureReason.TABLE_CHANGED


def test_no_more_jobs_run_than_the_runner_takes() -> None:
    world = World()
    for name in "abcd":
        world.put(name)
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 2
    assert submit(world.ports) == 0
    assert len(world.store.unfinished_jobs()) == 2


def test_a_runner_that_cannot_start_fails_the_job_with_its_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    plan(world.ports)

    def refuse(job: Job) -> None:
        message = f"no Java for {job.job_id}"
        raise RunnerUnavailableError(message)

    monkeypatch.setattr(world.runner, "submit", refuse)
    assert submit(world.ports) == 0
    (job,) = world.store.jobs(JobQuery()).items
    assert (job.state, job.failure_reason, job.failure_message) == (
        JobState.FAILED,
        FailureReason.RUNNER_UNAVAILABLE,
        f"no Java for {job.job_id}",
    )
    assert submit(world.ports) == 0, "it waits before it tries again"


def test_another_process_that_took_the_job_first_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    plan(world.ports)
    monkeypatch.setattr(world.store, "submit_job", lambda *_values: None)
    assert submit(world.ports) == 0
    assert world.runner.submitted == {}


def test_a_cancelled_job_ends_cancelled_and_a_pending_one_at_once() -> None:
    world = World()
    world.put("orders")
    job = submitted(world)
    asked = request_cancel(world.ports, job, "ada")
    assert asked.cancel_requested_by == "ada"
    settle(world)
    assert world.stored(job).state is JobState.CANCELLED
    assert request_cancel(world.ports, world.stored(job), "ada").state is JobState.CANCELLED

    made, pending = request_run(world.ports, job.table, (), "ada")
    assert made.planned
    assert pending is not None
    assert request_cancel(world.ports, pending, "ada").state is JobState.CANCELLED
    assert list(world.store.unfinished_jobs()) == []


def test_what_a_cancelled_job_had_committed_is_proved_and_counted() -> None:
    world = World()
    table = world.put("orders", small_files=60)
    job = submitted(world)
    world.runner.late_effects[job.job_id] = world.mend
    request_cancel(world.ports, job, "ada")
    settle(world)
    ended = world.stored(job)
    assert ended.state is JobState.CANCELLED
    assert ended.effect is not None
    assert (ended.effect.own_commits, ended.effect.files_removed) == (1, 59)
    assert ended.effect.rows is RowProof.EQUAL
    assert ended.failure_message.startswith(
        "Its earlier commits stay: 60 data files became 1, 58.6 KiB rewritten"
    )
    assert sum(digest.entries_read for digest in world.look(table).manifests) == 1


def test_what_a_person_cancelled_is_not_planned_again_before_its_interval_is_over() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    request_cancel(world.ports, job, "person ada via page")
    settle(world)
    plan(world.ports)
    assert submit(world.ports) == 0
    assert code_of(world, table) is SkipCode.COOLING_DOWN
    until, sentence = describe_wait_of_cancelled(world.ports, job)
    assert until is not None
    assert f"`maintainer run {table}` starts it earlier" in sentence
    world.clock.advance(until - world.clock.now())
    plan(world.ports)
    assert submit(world.ports) == 1


def test_a_cancel_request_that_another_process_stored_reaches_the_runner() -> None:
    world = World()
    world.put("orders")
    job = submitted(world)
    world.store.update_job(replace(job, cancel_requested_by="ada"), job.state)
    settle(world)
    settle(world)
    assert world.stored(job).state is JobState.CANCELLED


def test_a_person_gets_what_they_asked_for_in_order_even_in_observe_mode() -> None:
    world = World()
    world.policies.layers = (layer("tables: '*'\nmode: observe\nrules: {rewrite_data_files: {}}"),)
    table = world.put("orders", small_files=600, manifests=300)
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 0
    rules = (RuleName.REWRITE_MANIFESTS, RuleName.REWRITE_DATA_FILES)
    made, job = request_run(world.ports, table, rules, "ada")
    assert [planned.rule for planned in made.planned] == [
        RuleName.REWRITE_DATA_FILES,
        RuleName.REWRITE_MANIFESTS,
    ]
    assert job is not None
    assert (job.requested_by, job.then) == ("ada", (RuleName.REWRITE_MANIFESTS,))
    assert submit(world.ports) == 1
    again, second = request_run(world.ports, table, rules, "bob")
    assert second is None
    assert {skipped.code for skipped in again.skipped} == {SkipCode.IN_FLIGHT}


def test_what_a_person_asked_for_beyond_the_first_job_follows_by_itself() -> None:
    world = World()
    world.policies.layers = (layer("tables: '*'\nmode: observe\nrules: {rewrite_data_files: {}}"),)
    table = world.put("orders", small_files=600, manifests=300)
    for _ in range(150):
        world.commit(table)
    world.clock.advance(timedelta(days=9))
    _, job = request_run(
        world.ports, table, (RuleName.REWRITE_DATA_FILES, RuleName.EXPIRE_SNAPSHOTS), "ada"
    )
    assert job is not None
    submit(world.ports)
    world.runner.finish(job.job_id, world.mend(started(world)))
    settle(world)
    (following,) = world.store.unfinished_jobs()
    assert (following.rule, following.requested_by) == (RuleName.EXPIRE_SNAPSHOTS, "ada")


def test_a_paused_table_is_not_worked_on() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    plan(world.ports)
    world.store.set_pause(table, Pause("ada", NOW))
    assert submit(world.ports) == 0, "the plan is older than the pause"
    assert code_of(world, table) is SkipCode.PAUSED


def test_plans_are_stored_and_counted_only_when_they_change() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    assert plan(world.ports) == 1
    world.clock.advance(timedelta(seconds=30))
    assert plan(world.ports) == 0
    assert len(world.telemetry.plans) == 1


def test_a_preview_stores_nothing_and_takes_a_candidate() -> None:
    world = World()
    table = world.put("orders")
    made = preview(world.ports, table, layer("tables: '*'\nmode: observe", "try.yaml"))
    assert isinstance(made, Plan)
    assert world.store.table(table) is None
    world.catalog.drop(table)
    assert isinstance(preview(world.ports, table), TableFault)


def test_a_table_without_a_measurement_says_why() -> None:
    world = World()
    table = world.put("orders")
    with pytest.raises(UnknownTableError, match="is not known"):
        measured_record(world.ports, table)
    world.catalog.put(TableFault(table, FaultKind.METADATA_CORRUPT, "not JSON", NOW))
    scan(world.ports)
    plan(world.ports)
    with pytest.raises(UnknownTableError, match="has not been measured: not JSON"):
        measured_record(world.ports, table)


def test_pruning_forgets_old_jobs_and_keeps_running_ones() -> None:
    world = World()
    world.put("orders")
    job = submitted(world)
    world.clock.advance(timedelta(days=400))
    prune(world.ports, timedelta(days=90), timedelta(days=365))
    assert world.store.job(job.job_id) is not None
    world.runner.finish(job.job_id, world.mend(job))
    settle(world)
    world.clock.advance(timedelta(days=400))
    assert prune(world.ports, timedelta(days=90), timedelta(days=365))["jobs"] == 0, (
        "the last job of a table that is there stays"
    )
    world.catalog.drop(job.table)
    scan(world.ports)
    assert prune(world.ports, timedelta(days=90), timedelta(days=365))["jobs"] == 1


ACTIONS = st.lists(
    st.sampled_from(
        [
            "scan",
            "plan",
            "submit",
            "watch",
            "review",
            "write",
            "finish",
            "idle",
            "fail",
            "lose",
            "commit-then-lose",
            "cancel",
            "hour",
        ]
    ),
    max_size=40,
)


@settings(max_examples=examples(150))
@given(ACTIONS)
def test_after_any_events_in_any_order_no_table_has_two_jobs_and_every_job_can_end(
    actions: list[str],
) -> None:
    world = World()
    tables = [world.put(name) for name in "ab"]
    for action in actions:
        act(world, tables, action)
        uuids = [job.table_uuid for job in world.store.unfinished_jobs()]
        assert len(uuids) == len(set(uuids))
        assert len(uuids) <= world.runner.capacity
    for job in world.store.unfinished_jobs():
        world.runner.lose(job.job_id)
    settle(world)
    for job in world.store.unfinished_jobs():
        assert job.state is JobState.PENDING
    for job in world.store.jobs(JobQuery()).items:
        if job.state is JobState.SUCCEEDED:
            assert job.effect is not None
            assert job.effect.rows in {RowProof.EQUAL, RowProof.NOT_NEEDED}


def act(world: World, tables: list[TableIdentifier], action: str) -> None:
    running = [
        job
        for job in world.store.unfinished_jobs()
        if job.state is not JobState.PENDING and job.outcome is None
    ]
    steps = {"scan": scan, "plan": plan, "submit": submit, "watch": watch, "review": review}
    if action in steps:
        steps[action](world.ports)  # type: ignore[operator]
    elif action == "write":
        world.commit(tables[0])
    elif action == "hour":
        world.clock.advance(timedelta(hours=1))
    elif running:
        job = running[0]
        match action:
            case "finish":
                world.runner.finish(job.job_id, world.mend(job))
            case "idle":
                world.runner.finish(job.job_id, {"rewritten_data_files_count": 0})
            case "fail":
                world.runner.fail(job.job_id, FailureReason.CONFLICT, "a writer won")
            case "commit-then-lose":
                world.mend(job)
                world.runner.lose(job.job_id)
            case "lose":
                world.runner.lose(job.job_id)
            case _:
                request_cancel(world.ports, job, "ada")


def test_guard_11_a_pin_that_comes_before_the_job_is_handed_over_holds_it_back() -> None:
    world = World()
    table = world.put("orders")
    for _ in range(150):
        world.clock.advance(timedelta(minutes=1))
        world.commit(table)
    world.clock.advance(timedelta(days=6))
    for _ in range(20):
        world.commit(table)
    scan(world.ports)
    made, job = request_run(world.ports, table, (RuleName.EXPIRE_SNAPSHOTS,), "person")
    assert job is not None, made.skipped
    assert job.estimate.items_removed > 100
    world.store.set_pin(job.table_uuid, Pin("replica", 5, "ada", world.clock.now()))
    start_pending(world.ports)
    handed = world.runner.submitted[job.job_id]
    assert isinstance(handed.action, ExpireSnapshots)
    assert handed.estimate.items_removed == 4
    assert handed.reason.endswith("are kept for pin replica of ada")


ORPHANS = """
tables: "*"
mode: enforce
rules: {remove_orphan_files: {older_than: 7d}, rewrite_data_files: {enabled: false}}
"""


def looked_for_orphans(world: World, found: FoundOrphans | None) -> Job:
    world.policies.layers = (layer(ORPHANS),)
    world.put("orders", small_files=600)
    scan(world.ports)
    world.clock.advance(timedelta(days=10))
    job = submitted(world)
    if found is not None:
        world.runner.orphans[job.job_id] = found
    world.runner.finish(job.job_id, {"rows": 0 if found is None else found.counted})
    settle(world)
    return world.stored(job)


def test_guard_5_what_a_dry_run_found_is_judged_and_kept() -> None:
    world = World()
    place = "file:///warehouse/sales/orders"
    world.catalog.put_file(f"{place}/data/x.parquet", 70)
    world.catalog.put_file(f"{place}/version-hint.text", 7)
    done = looked_for_orphans(
        world, FoundOrphans((f"{place}/data/x.parquet", f"{place}/version-hint.text"), 2, 0)
    )
    assert done.state is JobState.SUCCEEDED
    assert done.effect is not None
    assert (done.effect.orphans_listed, done.effect.is_idle) == (1, False)
    events = {event.name: event.fields for event in world.store.events(done.job_id)}
    assert world.store.orphan_files(done.job_id) == (FoundFile(f"{place}/data/x.parquet", 70),)
    assert events["orphans.judged"]["kept_files"] == 1
    assert events["orphans.judged"]["refusal"] is None


def test_guard_5_a_list_that_is_not_here_or_not_whole_lists_nothing() -> None:
    done = looked_for_orphans(World(), None)
    assert done.effect is not None
    assert done.effect.orphans_listed == 0
    assert done.effect.sentence.startswith("The result of the scan is missing or incomplete")
    world = World()
    world.catalog.put_file("file:///warehouse/sales/orders/x.parquet", 7)
    cut = looked_for_orphans(
        world, FoundOrphans(("file:///warehouse/sales/orders/x.parquet",), 9, 0)
    )
    assert cut.effect is not None
    assert "None of them may be deleted: 9 files were found and 1 listed" in cut.effect.sentence


def test_guard_1_while_one_table_cannot_be_measured_nobodys_orphans_are_looked_for() -> None:
    world = World()
    world.policies.layers = (layer(ORPHANS),)
    table = world.put("orders")
    scan(world.ports)
    world.catalog.put(
        TableFault(replace(table, name="broken"), FaultKind.METADATA_CORRUPT, "torn", NOW)
    )
    world.clock.advance(timedelta(days=10))
    scan(world.ports)
    plan(world.ports)
    assert code_of(world, table, RuleName.REMOVE_ORPHAN_FILES) is SkipCode.UNSAFE
    world.catalog.drop(replace(table, name="broken"))
    world.clock.advance(timedelta(hours=2))
    scan(world.ports)
    plan(world.ports)
    assert code_of(world, table, RuleName.REMOVE_ORPHAN_FILES) is None
