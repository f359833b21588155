"""A proof that fails ends in a pause: nothing that was there before goes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.action import RollBack
from maintainer.domain.audit import BY_PROOF, AuditQuery, Deed
from maintainer.domain.effect import ContentProof
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Unreadable
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.notice import NoticeKind
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import RuleName
from maintainer.requests.pause import request_rollback
from maintainer.requests.run import request_run
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.steps.world import ENFORCE, World, layer


def submitted(world: World) -> Job:
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 1
    (job,) = world.store.unfinished_jobs()
    world.runner.start(job.job_id)
    return world.runner.submitted[job.job_id]


def settled(world: World, job: Job) -> Job:
    watch(world.ports)
    review(world.ports)
    found = world.stored(job)
    assert found.state.is_final
    return found


def assert_paused(world: World, table: TableIdentifier, done: Job, words: str) -> None:
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert words in done.failure_message
    record = world.store.table(table)
    assert record is not None
    assert record.pause is not None
    assert done.job_id in record.pause.reason
    (paused,) = [
        entry
        for entry in world.store.audit(AuditQuery(table=table)).items
        if entry.deed is Deed.WORK_PAUSED
    ]
    assert (paused.actor, paused.job_id, paused.fields) == (
        BY_PROOF,
        done.job_id,
        {"scope": str(table), "reason": record.pause.reason},
    )
    assert [notice.kind for notice in world.notifier.news] == [NoticeKind.FAILED_PROOF]


def test_guard_25_a_file_that_cannot_be_read_fails_the_job_and_pauses_the_table() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    world.catalog.spoil(2, "data/1.parquet is not there")
    world.runner.finish(job.job_id, world.mend(job))
    done = settled(world, job)
    assert_paused(world, table, done, "data/1.parquet is not there")
    assert done.effect is not None
    assert done.effect.canary_files == 1
    reported = {event.name: event.fields for event in world.store.events(job.job_id)}
    assert reported["canary.read"] == {
        "files": 1,
        "problems": ["data/1.parquet is not there"],
        "unread": [],
    }


def test_guard_25_row_ids_that_are_given_twice_fail_the_job_and_pause_the_table() -> None:
    world = World()
    table = world.put("orders")
    world.replace(replace(world.look(table), format_version=3, next_row_id=1000))
    job = submitted(world)
    assert job.baseline is not None
    assert job.baseline.next_row_id == 1000
    result = world.mend(job)
    *older, ours = world.look(table).snapshots
    ours = replace(ours, first_row_id=0, added_rows=1000)
    world.replace(replace(world.look(table), snapshots=(*older, ours), next_row_id=1000))
    world.runner.finish(job.job_id, result)
    words = "gives row ids from 0 on, and those below 1000 were given before"
    assert_paused(world, table, settled(world, job), words)


@pytest.mark.parametrize(
    ("version", "next_row_id", "had_ids"), [(3, 1000, True), (3, 0, False), (2, None, False)]
)
def test_row_ids_are_asked_of_new_files_only_if_the_rows_had_some_when_the_job_began(
    version: int, next_row_id: int | None, had_ids: bool
) -> None:
    world = World()
    table = world.put("orders")
    world.replace(
        replace(world.look(table), format_version=version, next_row_id=next_row_id),
    )
    job = submitted(world)
    world.runner.finish(job.job_id, world.mend(job))
    assert settled(world, job).state is JobState.SUCCEEDED
    assert world.catalog.canaries == [had_ids]


def test_guard_25_contents_that_differ_fail_the_job_and_pause_the_table() -> None:
    world = World()
    world.policies.layers = (layer(ENFORCE + "checksum: full\n"),)
    table = world.put("orders")
    job = submitted(world)
    sums = [
        {"snapshot_id": 1, "row_count": 9, "xor": "1", "sum": "1"},
        {"snapshot_id": 2, "row_count": 9, "xor": "2", "sum": "1"},
    ]
    world.runner.finish(job.job_id, world.mend(job), checks={"checksums": json.dumps(sums)})
    done = settled(world, job)
    assert_paused(
        world, table, done, "the checksums of the rows before and after the job's commits differ"
    )
    assert done.effect is not None
    assert done.effect.contents is ContentProof.DIFFERENT


def test_guard_25_what_spark_cannot_read_fails_the_job_and_pauses_the_table() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    world.mend(job)
    world.runner.fail_check(job.job_id, "NotFoundException: data/2.parquet")
    assert_paused(
        world,
        table,
        settled(world, job),
        "Spark could not read the new files: NotFoundException: data/2.parquet",
    )


def test_a_file_that_was_gone_before_the_job_neither_fails_it_nor_pauses_the_table() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    world.mend(job)
    world.runner.fail_check(job.job_id, "NotFoundException: data/1.parquet")
    done = settled(world, job)
    assert done.state is JobState.SUCCEEDED
    assert done.effect is not None
    assert done.effect.sentence.endswith(
        "The table was damaged before this job, and another commit added the file: "
        "NotFoundException: data/1.parquet."
    )
    assert table not in world.store.paused_tables()


def test_a_check_that_failed_for_want_of_memory_leaves_the_job_as_it_is() -> None:
    world = World()
    world.put("orders")
    job = submitted(world)
    world.mend(job)
    world.runner.fail_check(
        job.job_id, "OutOfMemoryError: Java heap space", FailureReason.OUT_OF_MEMORY
    )
    assert settled(world, job).state is JobState.SUCCEEDED


@pytest.mark.parametrize("rules", [(), (RuleName.EXPIRE_SNAPSHOTS,)])
def test_guard_25_a_table_that_is_paused_so_keeps_everything_from_everybody(
    rules: tuple[RuleName, ...],
) -> None:
    world = World()
    table = world.put("orders")
    for _ in range(120):
        world.commit(table)
    world.clock.advance(timedelta(days=9))
    world.commit(table)
    job = submitted(world)
    world.runner.finish(job.job_id, world.mend(job, lost_rows=1))
    settled(world, job)
    before = world.look(table).snapshots
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 0
    made, asked = request_run(world.ports, table, rules, "person ada")
    assert asked is None
    assert SkipCode.PAUSED in {skipped.code for skipped in made.skipped}
    assert world.look(table).snapshots == before


def test_an_effect_that_is_not_the_predicted_one_says_why() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    world.commit(table)
    reported = {"deleted-data-files": "30", "added-data-files": "1", "removed-files-size": "30000"}
    world.commit(table, "replace", job.application, reported)
    world.runner.finish(job.job_id, {"rewritten_data_files_count": 30, "added_data_files_count": 1})
    effect = settled(world, job).effect
    assert effect is not None
    assert effect.difference == (
        "59 data files fewer were estimated, 29 fewer is the result: others committed 1 times, so "
        "that the table was another one than the measured one."
    )


def test_guard_26_the_job_knows_what_to_mark_and_for_how_long() -> None:
    world = World()
    table = world.put("orders")
    snapshot = world.look(table).snapshots[-1]
    job = submitted(world)
    assert job.safeguards.rollback_for == timedelta(days=1)
    assert job.baseline is not None
    assert (job.baseline.snapshot_id, job.baseline.snapshot_at) == (
        snapshot.snapshot_id,
        snapshot.committed_at,
    )


IN_PARTS = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {when: {average_file_size_below: 32MiB},
    options: {partial-progress.enabled: "true"}}
"""
READING = "Spark's canary of the new files."
A_PART = {"deleted-data-files": "6", "added-data-files": "1", "removed-files-size": "6000"}


def test_a_rewrite_of_which_a_part_was_committed_when_spark_was_lost_has_not_succeeded() -> None:
    world = World()
    world.policies.layers = (layer(IN_PARTS),)
    table = world.put("orders")
    job = submitted(world)
    world.commit(table, "replace", job.application, A_PART)
    world.runner.lose(job.job_id)
    done = settled(world, job)
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.LOST_RUNNER)
    assert done.failure_message.endswith(
        (
            "54 files were not rewritten, because Spark was lost before that. Requested "
            "but not possible: "
        )
        + READING
    )
    assert done.cost_sample is None
    history = world.store.rule_history(done.table_uuid)[RuleName.REWRITE_DATA_FILES]
    assert (history.last_success_at, history.streak is not None) == (None, True), (
        "there is no success to cool down from"
    )
    plan(world.ports)
    assert submit(world.ports) == 1, "the rest is worked on at once"


def test_checks_that_a_lost_spark_never_made_are_reported_in_the_effect() -> None:
    world = World()
    world.policies.layers = (layer(ENFORCE + "checksum: sample\n"),)
    world.put("orders")
    job = submitted(world)
    world.mend(job)
    world.runner.lose(job.job_id)
    done = settled(world, job)
    assert done.effect is not None
    assert (done.state, done.effect.contents) == (JobState.SUCCEEDED, ContentProof.UNKNOWN)
    assert done.effect.sentence.endswith(
        "Requested but not possible: Spark's canary of the new files and the checksums of the rows."
    )


def test_guard_25_without_the_requested_full_checksum_nothing_is_proved_or_paused() -> None:
    world = World()
    world.policies.layers = (layer(ENFORCE + "checksum: full\n"),)
    table = world.put("orders")
    job = submitted(world)
    world.mend(job)
    world.runner.lose(job.job_id)
    done = settled(world, job)
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.LOST_RUNNER)
    record = world.store.table(table)
    assert record is not None
    assert record.pause is None, "nothing is known to be wrong with it"


def test_the_audit_log_has_the_statements_of_a_job_whose_spark_reported_nothing() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 1
    (job,) = world.store.unfinished_jobs()
    world.mend(job)
    world.runner.lose(job.job_id)
    assert settled(world, job).state is JobState.SUCCEEDED
    reported = {
        entry.deed: entry.fields for entry in world.store.audit(AuditQuery(job_id=job.job_id)).items
    }
    assert Deed.STATEMENT_STARTED not in reported
    assert reported[Deed.JOB_SUBMITTED]["statements"] == list(world.runner.statements(job))


@pytest.mark.parametrize("has_writer", [False, True])
def test_guard_25_a_commit_that_spark_took_for_a_failure_and_cleaned_up_behind_pauses_the_table(
    has_writer: bool,
) -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    if has_writer:
        world.commit(table)
    world.mend(job)
    own = world.look(table).snapshots[-1]
    lost = Unreadable(
        f"snap-{own.snapshot_id}.avro",
        "manifest list: the file does not exist",
        of_snapshot=own.snapshot_id,
    )
    world.replace(replace(world.look(table), manifests=(), unreadable=(lost,)))
    world.runner.fail(
        job.job_id,
        FailureReason.OTHER,
        "ValidationException: could not be found in the latest snapshot",
    )
    done = settled(world, job)
    assert_paused(world, table, done, f"`maintainer rollback {job.job_id}` sets the table back")
    assert f"rollback_to_snapshot('sales.orders', {own.parent_id})" in done.failure_message
    undoing = request_rollback(world.ports, done, "person ada")
    assert isinstance(undoing.action, RollBack)
    assert undoing.action.snapshot_id == own.parent_id, "what a writer committed before it stays"


def test_a_list_of_somebody_elses_snapshot_is_not_ours_to_answer_for() -> None:
    world = World()
    table = world.put("orders")
    job = submitted(world)
    result = world.mend(job)
    world.commit(table)
    theirs = world.look(table).snapshots[-1].snapshot_id
    world.replace(
        replace(
            world.look(table),
            unreadable=(
                Unreadable(
                    "snap.avro", "manifest list: the file does not exist", of_snapshot=theirs
                ),
            ),
        )
    )
    world.runner.finish(job.job_id, result)
    assert settled(world, job).state is JobState.SUCCEEDED


def test_damage_that_a_checksum_alone_met_does_not_pause_the_table_either() -> None:
    world = World()
    world.policies.layers = (layer(ENFORCE + "checksum: full\ncanary: off\n"),)
    table = world.put("orders")
    job = submitted(world)
    world.mend(job)
    world.runner.fail_check(job.job_id, "NotFoundException: data/1.parquet")
    done = settled(world, job)
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.MISSING_FILE)
    assert "The table was damaged before this job" in (done.failure_message or "")
    assert done.effect is not None
    assert (done.effect.canary_files, done.effect.failed_proofs) == (None, ())
    assert table not in world.store.paused_tables()
