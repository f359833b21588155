"""A list of orphan files from the look to the end: who lets it go, what is asked again right
before, and what the storage shows afterwards.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.audit import AuditQuery, Deed
from maintainer.domain.errors import (
    InvalidTransitionError,
    RunnerUnavailableError,
    UnknownTableError,
)
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.notice import NoticeKind
from maintainer.domain.orphan import (
    FoundFile,
    FoundOrphans,
    OrphanList,
    OrphanListState,
    RemovedOrphans,
)
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import RuleName
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.tables import Pause
from maintainer.requests.approval import approve_list, reject_list
from maintainer.requests.run import request_cancel
from maintainer.steps.kinds import orphan_removal
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.samples import NOW
from tests.steps.world import World, layer

TABLE = TableIdentifier("lake", ("sales",), "orders")
PLACE = "file:///warehouse/sales/orders"
STRAYS = tuple(f"{PLACE}/data/{name}.parquet" for name in "xyz")
LIVE = f"{PLACE}/data/live.parquet"
DAY = timedelta(days=1)
REQUIRED = """
tables: "*"
mode: enforce
rules:
  remove_orphan_files: {older_than: 7d, quarantine: off}
  rewrite_data_files: {enabled: false}
"""
AUTOMATIC = REQUIRED.replace("quarantine", "approval: automatic, quarantine")


def settle(world: World, job: Job) -> Job:
    watch(world.ports)
    review(world.ports)
    return world.stored(job)


def looked(policy: str = REQUIRED, paths: tuple[str, ...] = STRAYS) -> World:
    """A world in which a look has found these files, and the list is stored."""
    world = World()
    world.policies.layers = (layer(policy),)
    world.put("orders", small_files=600)
    for path in (*paths, LIVE):
        world.catalog.put_file(path, 70, NOW - 30 * DAY)
    scan(world.ports)
    world.clock.advance(10 * DAY)
    job = world.begin()
    world.runner.orphans[job.job_id] = FoundOrphans(paths, len(paths), 0)
    world.runner.finish(job.job_id, {"rows": len(paths)})
    assert settle(world, job).state is JobState.SUCCEEDED
    return world


def the_list(world: World) -> OrphanList:
    (orphans,) = world.store.orphan_lists(TABLE)
    return orphans


def approved() -> World:
    world = looked()
    approve_list(world.ports, TABLE, the_list(world).list_id, "ada", the_list(world).sha256)
    return world


def delete(
    world: World, job: Job, *, but: tuple[str, ...] = (), reached: tuple[str, ...] | None = (LIVE,)
) -> None:
    """Spark deletes what it was given, but for some files."""
    brought = tuple(file.path for file in world.runner.brought[job.job_id])
    for path in brought:
        if path not in but:
            world.catalog.delete_file(path)
    world.runner.removed[job.job_id] = RemovedOrphans(brought, reached)


def refused(world: World) -> str:
    """Why the removal that is planned is not handed over."""
    plan(world.ports)
    assert submit(world.ports) == 0
    job = world.store.jobs(JobQuery()).items[0]
    assert world.runner.brought == {}
    assert (job.state, job.failure_reason) == (JobState.FAILED, FailureReason.TABLE_CHANGED)
    return job.failure_message


def code_of(world: World) -> SkipCode:
    record = world.store.table(TABLE)
    assert record is not None
    assert record.plan is not None
    return next(
        skipped.code
        for skipped in record.plan.skipped
        if skipped.rule is RuleName.REMOVE_ORPHAN_FILES
    )


def test_guard_5_a_list_waits_and_people_are_notified_once() -> None:
    world = looked()
    orphans = the_list(world)
    assert (orphans.state, orphans.files, orphans.bytes) == (OrphanListState.WAITING, 3, 210)
    (notice,) = world.notifier.news
    assert (notice.kind, notice.subject, notice.job_id) == (
        NoticeKind.APPROVAL_NEEDED,
        str(TABLE),
        orphans.list_id,
    )
    assert notice.sentence.startswith(
        f"3 orphan files of 210 B wait for approval as list {orphans.list_id}, until "
    )
    world.clock.advance(timedelta(hours=1))
    plan(world.ports)
    assert submit(world.ports) == 0, "nothing goes without a word"
    assert code_of(world) is SkipCode.COOLING_DOWN
    assert len(world.notifier.news) == 1


def test_guard_5_exactly_the_approved_list_goes_and_the_storage_proves_it() -> None:
    world = approved()
    orphans = the_list(world)
    job = world.begin()
    assert isinstance(job.action, RemoveOrphanFiles)
    assert job.action.approved is not None
    assert (job.action.approved.list_id, job.action.approved.sha256) == (
        orphans.list_id,
        orphans.sha256,
    )
    assert [file.path for file in world.runner.brought[job.job_id]] == list(STRAYS)
    delete(world, job)
    world.runner.finish(job.job_id, {"rows": 3})
    done = settle(world, job)
    assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
    assert done.effect is not None
    assert (done.effect.orphans_removed, done.effect.orphan_bytes_removed, done.effect.is_idle) == (
        3,
        210,
        False,
    )
    assert (
        done.effect.sentence
        == "3 orphan files of 210 B are deleted; 1 files that the table references were checked."
    )
    carried_out = the_list(world)
    assert (carried_out.state, carried_out.removed_by, carried_out.removed_files) == (
        OrphanListState.REMOVED,
        job.job_id,
        3,
    )
    assert world.runner.brought == {}, "what was brought is forgotten"
    plan(world.ports)
    assert submit(world.ports) == 0


def test_the_audit_log_says_who_decided_and_when() -> None:
    world = approved()
    (entry,) = [
        entry
        for entry in world.store.audit(AuditQuery()).items
        if entry.deed is Deed.ORPHANS_APPROVED
    ]
    orphans = the_list(world)
    assert (entry.actor, entry.at, entry.table, entry.job_id) == (
        "person ada",
        world.clock.now(),
        TABLE,
        orphans.list_id,
    )
    assert entry.fields == {
        "list": orphans.list_id,
        "files": 3,
        "bytes": 210,
        "sha256": orphans.sha256,
    }


def test_a_policy_may_do_without_a_word_and_is_named_for_it() -> None:
    world = looked(AUTOMATIC)
    assert the_list(world).state is OrphanListState.APPROVED
    assert the_list(world).decided_by.startswith("policy ")
    assert world.notifier.news == []
    job = world.begin()
    delete(world, job)
    world.runner.finish(job.job_id)
    assert settle(world, job).state is JobState.SUCCEEDED


def test_guard_5_who_says_no_or_too_late_or_of_another_list_is_heard() -> None:
    world = looked()
    list_id = the_list(world).list_id
    with pytest.raises(UnknownTableError, match="has no list 'm-9'"):
        approve_list(world.ports, TABLE, "m-9", "ada")
    with pytest.raises(UnknownTableError, match="has no list"):
        approve_list(world.ports, replace(TABLE, name="other"), list_id, "ada")
    with pytest.raises(InvalidTransitionError, match="is for another list"):
        approve_list(world.ports, TABLE, list_id, "ada", "0123")
    world.clock.advance(7 * DAY)
    with pytest.raises(InvalidTransitionError, match="could be approved until"):
        approve_list(world.ports, TABLE, list_id, "ada")
    assert reject_list(world.ports, TABLE, list_id, "bob").state is OrphanListState.REJECTED
    with pytest.raises(InvalidTransitionError, match="is rejected already"):
        reject_list(world.ports, TABLE, list_id, "bob")


def test_two_words_at_the_same_time_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    world = looked()
    monkeypatch.setattr(world.store, "update_orphan_list", lambda *_: False)
    with pytest.raises(
        InvalidTransitionError, match="was changed by another person at the same time"
    ):
        approve_list(world.ports, TABLE, the_list(world).list_id, "ada")


def test_guard_5_a_word_that_is_taken_back_or_too_old_lets_nothing_go() -> None:
    world = approved()
    plan(world.ports)
    reject_list(world.ports, TABLE, the_list(world).list_id, "bob")
    assert submit(world.ports) == 0
    assert world.store.jobs(JobQuery()).items[0].state is JobState.CANCELLED, (
        "planned before the word was taken back"
    )
    late = approved()
    late.clock.advance(7 * DAY)
    job = late.begin()
    assert isinstance(job.action, RemoveOrphanFiles)
    assert job.action.approved is None, "the word has ended: it is looked anew"


def test_guard_5_an_approval_does_not_outlive_the_table() -> None:
    world = approved()
    plan(world.ports)
    world.catalog.put(replace(world.look(TABLE), table_uuid="another"))
    assert "the table was replaced" in refused(world)
    moved = approved()
    plan(moved.ports)
    moved.catalog.put(replace(moved.look(TABLE), location="file:///warehouse/sales/moved"))
    assert submit(moved.ports) == 0
    assert moved.store.jobs(JobQuery()).items[0].state is JobState.CANCELLED


def test_guard_1_a_table_that_came_since_the_last_scan_is_asked_for_right_before() -> None:
    world = approved()
    newcomer = world.put("newcomer")
    world.catalog.put(replace(world.look(newcomer), location="file:///warehouse/sales/newcomer"))
    assert refused(world) == (
        "table lake.sales.newcomer was not known until now: locations are checked again first"
    )
    world.clock.advance(timedelta(hours=2))
    assert isinstance(world.begin().action, RemoveOrphanFiles), (
        "it is known now, and lies elsewhere"
    )


def test_guard_1_a_view_is_none_to_wait_for_and_a_catalog_that_cannot_be_listed_is() -> None:
    world = approved()
    world.catalog.put(TableFault(replace(TABLE, name="gone"), FaultKind.DROPPED, "gone", NOW))
    world.catalog.fail_namespace(("broken",), "no listing today")
    assert refused(world) == "the other files in the location are unknown: no listing today"
    world.catalog.recover()
    world.clock.advance(timedelta(hours=2))
    assert world.begin().state is JobState.RUNNING


def test_guard_1_another_tables_place_right_before_is_refused_by_name() -> None:
    world = approved()
    plan(world.ports)
    nested = world.put("nested")
    world.catalog.put(replace(world.look(nested), location=f"{PLACE}/data"))
    scan(world.ports)
    assert submit(world.ports) == 0
    job = world.store.jobs(JobQuery()).items[0]
    assert job.state is JobState.CANCELLED
    assert "of table lake.sales.nested" in job.failure_message


def test_guard_5_what_changed_since_the_list_was_made_is_left_out() -> None:
    world = approved()
    world.catalog.put_file(STRAYS[0], 71, NOW - 30 * DAY)
    world.catalog.put_file(STRAYS[1], 70, world.clock.now())
    job = world.begin()
    assert [file.path for file in world.runner.brought[job.job_id]] == [STRAYS[2]]
    brought = next(
        event for event in world.store.events(job.job_id) if event.name == "orphans.brought"
    )
    assert (brought.fields["files"], brought.fields["left_out"], brought.fields["to_be"]) == (
        1,
        2,
        "deleted",
    )


def test_what_is_gone_already_is_not_claimed() -> None:
    world = approved()
    world.catalog.delete_file(STRAYS[0])
    job = world.begin()
    delete(world, job)
    world.runner.finish(job.job_id)
    done = settle(world, job)
    assert done.effect is not None
    assert done.effect.orphans_removed == 2


def test_guard_5_the_caps_hold_against_the_table_as_it_is_right_before() -> None:
    world = approved()
    plan(world.ports)
    world.put("orders", small_files=1)
    assert "is refused now: 3 files are more than 30%" in refused(world)


def test_guard_5_files_that_are_not_those_that_were_approved_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = approved()
    monkeypatch.setattr(world.store, "orphan_files", lambda *_: (FoundFile(STRAYS[0], 70, NOW),))
    assert "differ from the approved files" in refused(world)


def test_a_runner_that_cannot_keep_the_list_is_reported_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        message = "the disk is full"
        raise RunnerUnavailableError(message)

    world = approved()
    monkeypatch.setattr(world.runner, "write_list", fail)
    assert refused(world) == "the disk is full"


def test_a_file_that_became_live_is_left_and_reported() -> None:
    world = approved()
    job = world.begin()
    delete(world, job, but=(STRAYS[1],), reached=(LIVE, STRAYS[1]))
    world.runner.finish(job.job_id)
    done = settle(world, job)
    assert done.state is JobState.SUCCEEDED
    assert done.effect is not None
    assert done.effect.orphans_removed == 2
    assert (
        f"1 were kept, because the table references them now, the first: {STRAYS[1]}"
        in done.effect.sentence
    )


def test_guard_25_a_live_file_that_was_deleted_fails_the_job_and_pauses_the_table() -> None:
    world = approved()
    job = world.begin()
    delete(world, job, reached=(LIVE, STRAYS[1]))
    world.runner.finish(job.job_id)
    done = settle(world, job)
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert STRAYS[1] in done.failure_message
    record = world.store.table(TABLE)
    assert record is not None
    assert isinstance(record.pause, Pause)
    assert record.pause.reason == (
        f"job {job.job_id} deleted 1 files that the table needs; check the job before you resume"
    )
    assert Deed.WORK_PAUSED in {
        entry.deed for entry in world.store.audit(AuditQuery(job_id=job.job_id)).items
    }
    assert world.notifier.news[-1].kind is NoticeKind.FAILED_PROOF
    assert the_list(world).state is OrphanListState.APPROVED


def test_a_missing_file_that_was_never_on_the_list_is_reported_and_not_taken_for_ours() -> None:
    world = approved()
    job = world.begin()
    delete(world, job, reached=(LIVE, f"{PLACE}/data/lost-long-ago.parquet"))
    world.runner.finish(job.job_id)
    done = settle(world, job)
    assert done.state is JobState.SUCCEEDED
    assert done.effect is not None
    assert (
        "1 that the table references were not on the list and do not exist" in done.effect.sentence
    )


def test_files_that_spark_could_not_delete_are_no_success() -> None:
    world = approved()
    job = world.begin()
    delete(world, job, but=STRAYS[:1])
    world.runner.finish(job.job_id, {"rows": 3})
    done = settle(world, job)
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert (
        f"1 still exist, although nothing references them, the first: {STRAYS[0]}"
        in done.failure_message
    )
    world.clock.advance(timedelta(days=1))
    again = world.begin()
    assert [file.path for file in world.runner.brought[again.job_id]] == [STRAYS[0]], (
        "the approval still holds for what is left"
    )


def test_while_the_storage_does_not_answer_nothing_is_claimed() -> None:
    world = approved()
    job = world.begin()
    delete(world, job)
    world.catalog.delete_file(LIVE)
    world.runner.finish(job.job_id)
    assert settle(world, job).state is JobState.RUNNING
    world.catalog.put_file(LIVE, 70)
    assert settle(world, job).state is JobState.SUCCEEDED


@pytest.mark.parametrize("is_here", [True, False])
def test_a_lost_spark_leaves_the_list_to_be_looked_at_again(is_here: bool) -> None:
    world = approved()
    job = world.begin()
    delete(world, job, but=STRAYS[:2], reached=None)
    if not is_here:
        world.runner.remove(job)
        world.runner.removed.clear()
    world.runner.lose(job.job_id)
    done = settle(world, job)
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.LOST_RUNNER)
    assert ("1 orphan file of 70 B is deleted" in done.failure_message) is is_here
    assert the_list(world).state is OrphanListState.APPROVED
    assert [file.path for file in world.runner.brought[world.begin().job_id]] == list(STRAYS[:2])


def test_a_removal_that_was_asked_to_end_has_ended_where_spark_was_lost_over_it() -> None:
    world = approved()
    job = world.begin()
    delete(world, job, but=STRAYS[:2], reached=None)
    request_cancel(world.ports, job, "ada")
    world.runner.lose(job.job_id)
    done = settle(world, job)
    assert (done.state, done.failure_reason) == (JobState.CANCELLED, None)
    assert "1 orphan file of 70 B is deleted" in done.failure_message


@pytest.mark.parametrize("has_list", [True, False])
def test_spark_that_says_success_and_nothing_else_is_no_proof(has_list: bool) -> None:
    world = approved()
    job = world.begin()
    delete(world, job, reached=None)
    if not has_list:
        world.runner.removed.clear()
    world.runner.finish(job.job_id)
    assert settle(world, job).failure_reason is FailureReason.UNPROVED


def test_a_failed_removal_tells_what_was_deleted_before() -> None:
    world = approved()
    job = world.begin()
    delete(world, job, but=STRAYS[1:], reached=None)
    world.runner.fail(job.job_id, FailureReason.PERMISSION, "denied")
    done = settle(world, job)
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.PERMISSION)
    assert "denied" in done.failure_message
    assert "1 orphan file of 70 B is deleted" in done.failure_message


def test_of_a_very_long_list_some_are_looked_for_and_the_claim_is_at_least_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(orphan_removal, "MAX_CHECKED_FILES", 2)
    world = approved()
    job = world.begin()
    delete(world, job)
    world.runner.finish(job.job_id)
    done = settle(world, job)
    assert done.effect is not None
    assert done.effect.sentence.startswith("At least 2 orphan files of 140 B are deleted")


def test_a_list_that_the_judgement_refuses_is_kept_and_nobody_is_asked() -> None:
    world = looked(AUTOMATIC, tuple(f"{PLACE}/data/{n}.parquet" for n in range(600)))
    orphans = the_list(world)
    assert orphans.state is OrphanListState.REFUSED
    assert "are more than 30%" in (orphans.refusal or "")
    assert world.notifier.news == []
    with pytest.raises(InvalidTransitionError, match="is refused: 600 files"):
        approve_list(world.ports, TABLE, orphans.list_id, "ada")


def test_a_look_that_finds_nothing_makes_no_list() -> None:
    assert looked(paths=()).store.orphan_lists(TABLE) == ()


def test_a_crash_between_the_list_and_the_end_of_the_job_tells_the_same_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.policies.layers = (layer(REQUIRED),)
    world.put("orders", small_files=600)
    world.catalog.put_file(STRAYS[0], 70)
    scan(world.ports)
    world.clock.advance(10 * DAY)
    job = world.begin()
    world.runner.orphans[job.job_id] = FoundOrphans(STRAYS[:1], 1, 0)
    world.runner.finish(job.job_id)
    watch(world.ports)
    with monkeypatch.context() as patch:
        patch.setattr(world.store, "update_job", lambda *_: False)
        review(world.ports)
    review(world.ports)
    done = world.stored(job)
    assert done.state is JobState.SUCCEEDED
    assert done.effect is not None
    assert done.effect.orphans_listed == 1
    assert len(world.store.orphan_lists(TABLE)) == 1
    assert len(world.notifier.news) == 1


# -- a look whose files are listed before

IN_STORE = "s3://lake/sales/orders"
ON_HDFS = "hdfs://lake:8020/sales/orders"


def stored_far_away(place: str = IN_STORE, **options: str) -> World:
    """A table in an object store, or wherever else, with two files that are old enough and one that
    is not, about to be looked at.
    """
    world = World()
    given = "".join(f", options: {{{name}: {value}}}" for name, value in options.items())
    world.policies.layers = (layer(REQUIRED.replace("quarantine: off", "quarantine: off" + given)),)
    table = world.put("orders", small_files=600)
    world.replace(replace(world.look(table), location=place))
    for name, age in (("a", 30), ("b", 20), ("young", 0)):
        world.catalog.put_file(f"{place}/data/{name}.parquet", 70, NOW + (10 - age) * DAY)
    world.catalog.put_file(f"{place}_2/data/sibling.parquet", 70, NOW - 30 * DAY)
    scan(world.ports)
    world.clock.advance(10 * DAY)
    return world


@pytest.mark.parametrize(
    "place", [IN_STORE, ON_HDFS, "HDFS://lake/sales/orders", "viewfs://lake/sales/orders"]
)
def test_what_lies_in_an_object_store_or_on_hdfs_is_listed_here_and_brought_to_spark(
    place: str,
) -> None:
    world = stored_far_away(place)
    job = world.begin()
    assert isinstance(job.action, RemoveOrphanFiles)
    assert (job.action.is_listed, job.action.options) == (True, ())
    assert [file.path for file in world.runner.brought[job.job_id]] == [
        f"{place}/data/{name}.parquet" for name in "ab"
    ]
    (reported,) = [
        event for event in world.store.events(job.job_id) if event.name == "orphans.listed"
    ]
    assert reported.fields["files"] == 2


@pytest.mark.parametrize(
    ("place", "options"), [(IN_STORE, (("prefix_listing", "true"),)), (ON_HDFS, ())]
)
def test_a_storage_that_breaks_off_is_listed_by_spark(
    place: str, options: tuple[tuple[str, str], ...]
) -> None:
    world = stored_far_away(place)
    world.catalog.broken_listing = OSError("connection reset")
    job = world.begin()
    assert isinstance(job.action, RemoveOrphanFiles)
    assert (job.action.is_listed, job.action.options) == (False, options)
    assert world.runner.brought == {}


@pytest.mark.parametrize("place", [IN_STORE, ON_HDFS])
def test_where_the_policy_wants_hadoops_listing_spark_lists(place: str) -> None:
    job = stored_far_away(place, prefix_listing="false").begin()
    assert isinstance(job.action, RemoveOrphanFiles)
    assert (job.action.is_listed, job.action.options) == (False, (("prefix_listing", "false"),))
