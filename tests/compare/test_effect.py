from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.compare.conclusion import Conclusion, conclude, describe_timeout, find_statistics
from maintainer.compare.effect import compare, describe_effect, split_commits
from maintainer.compare.row_proof import prove_rows, rows_to_count, spread_counts
from maintainer.domain.action import (
    Action,
    Checksum,
    ComputePartitionStats,
    ComputeTableStats,
    ExpireSnapshots,
    Procedure,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
    Safeguards,
)
from maintainer.domain.conflict import CONFLICT_WORDS, ConflictKind
from maintainer.domain.effect import ContentProof, Effect, RowProof
from maintainer.domain.inventory import Snapshot, StatisticsFile
from maintainer.domain.job import Baseline, FailureReason, Job, JobState, Outcome
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName
from maintainer.measure.health import measure, summarise
from tests.samples import NOW, TABLE, UUID, inventory, manifest, share, snapshot

APPLICATION = "maintainer-7"


def total(
    records: int, deletes: int = 0, delete_files: int = 0, more: dict[str, str] | None = None
) -> dict[str, str]:
    return {
        "total-records": str(records),
        "total-position-deletes": str(deletes),
        "total-delete-files": str(delete_files),
    } | (more or {})


def ours(snapshot_id: int, parent_id: int, summary: dict[str, str]) -> Snapshot:
    return snapshot(
        snapshot_id,
        parent_id=parent_id,
        operation="replace",
        summary={"app-name": APPLICATION} | summary,
    )


def baseline(snapshot_id: int = 1, snapshots: int = 1) -> Baseline:
    before = summarise(measure(inventory((manifest("m1", [share([10] * 20)]),))))
    return Baseline(snapshot_id, snapshot_id, NOW, "old.json", replace(before, snapshots=snapshots))


def make_job(action: Action | None = None, outcome: Outcome | None = None) -> Job:
    chosen = action or RewriteDataFiles()
    return Job(
        "m-1", TABLE, UUID, RuleName(chosen.procedure.value), chosen, (), Estimate(20, 1, 19, 200),
        "", "v", 50, "policy", NOW,
        state=JobState.RUNNING, application=APPLICATION, outcome=outcome, started_at=NOW,
        ended_at=NOW + timedelta(seconds=9),
    )  # fmt: skip


def test_only_replacements_with_our_application_name_after_the_baseline_are_ours() -> None:
    old = ours(1, 0, {})
    other = snapshot(2, parent_id=1)
    mine = ours(3, 2, {})
    foreign = replace(ours(4, 3, {}), summary={"app-name": "somebody"})
    append_of_ours = replace(ours(5, 4, {}), operation="append")
    commits = split_commits(
        baseline(1), APPLICATION, "m-1", [append_of_ours, foreign, mine, other, old]
    )
    assert commits.own == (mine,)
    assert commits.others == (other, foreign, append_of_ours)


def test_of_our_applications_snapshots_those_that_name_the_job_are_its_own() -> None:
    mine, beside = (
        ours(2, 1, {"maintainer.jobs": "m-1"}),
        ours(3, 2, {"maintainer.jobs": "m-0,m-1"}),
    )
    another, longer = (
        ours(4, 3, {"maintainer.jobs": "m-2"}),
        ours(5, 4, {"maintainer.jobs": "m-10"}),
    )
    unmarked = ours(6, 5, {})
    commits = split_commits(
        baseline(1), APPLICATION, "m-1", [mine, beside, another, longer, unmarked]
    )
    assert commits.own == (mine, beside, unmarked)
    assert commits.others == (another, longer)


def test_without_sequence_numbers_the_commit_time_tells_what_is_new() -> None:
    old = snapshot(8, timedelta(hours=1), sequence_number=0)
    new = snapshot(9, timedelta(0), sequence_number=0)
    start = replace(baseline(), sequence_number=0, newest_snapshot_at=NOW - timedelta(minutes=5))
    assert split_commits(start, APPLICATION, "m-1", [old, new]).others == (new,)
    assert split_commits(
        replace(start, newest_snapshot_at=None), APPLICATION, "m-1", [old]
    ).others == (old,)


def prove(
    parent: dict[str, str], mine: dict[str, str], counted: dict[int, int | None] | None = None
) -> RowProof:
    snapshots = [snapshot(1, summary=parent), ours(2, 1, mine)]
    return prove_rows(snapshots[1:], snapshots, counted or {})


def test_without_deletes_rows_are_proved_by_equal_totals() -> None:
    assert prove(total(500), total(500)) is RowProof.EQUAL
    assert prove(total(500), total(499)) is RowProof.DIFFERENT
    assert prove(total(500), total(501)) is RowProof.DIFFERENT


def test_applied_deletes_may_take_away_no_more_rows_than_there_were_deletes() -> None:
    removed = {"removed-delete-files": "3"}
    assert prove(total(500, 20, 3), total(480, more=removed)) is RowProof.BOUNDED
    assert prove(total(500, 20, 3), total(479, more=removed)) is RowProof.DIFFERENT
    assert prove(total(500, 20, 3), total(501, more=removed)) is RowProof.DIFFERENT
    assert (
        prove(total(500, 20, 3) | {"total-equality-deletes": "1"}, total(100, more=removed))
        is RowProof.BOUNDED
    )


def test_totals_without_a_count_of_delete_files_prove_equality_but_no_loss() -> None:
    assert prove({"total-records": "500"}, {"total-records": "500"}) is RowProof.EQUAL
    assert prove({"total-records": "500"}, {"total-records": "480"}) is RowProof.UNKNOWN
    assert prove({"total-records": "500"}, total(480)) is RowProof.UNKNOWN
    parent, mine = (
        snapshot(1, summary={"total-records": "500"}),
        ours(2, 1, {"total-records": "480"}),
    )
    assert rows_to_count([mine], [parent, mine]) == (1, 2)
    assert (
        prove({"total-records": "500"}, {"total-records": "480"}, {1: 480, 2: 480})
        is RowProof.COUNTED
    )
    assert rows_to_count([mine], [mine]) == (), "there is nothing to compare it with"


def test_delete_files_that_stay_beside_unchanged_records_are_equal() -> None:
    assert prove(total(500, 20, 3), total(500, 20, 3)) is RowProof.EQUAL


def test_rows_that_come_back_because_deletes_were_not_applied_are_counted() -> None:
    """Files with deletes are rewritten, and no row is dropped: their deletes apply to no file."""
    parent, mine = total(100, 30, 3), total(100, 30, 3, more={"deleted-data-files": "4"})
    snapshots = [snapshot(1, summary=parent), ours(2, 1, mine)]
    assert rows_to_count(snapshots[1:], snapshots) == (1, 2)
    assert prove(parent, mine, {1: 70, 2: 100}) is RowProof.DIFFERENT
    assert prove(parent, mine, {1: 70, 2: 70}) is RowProof.COUNTED
    assert prove(parent, mine) is RowProof.BOUNDED, "the rows could not be counted"
    assert prove(total(100), total(100, more={"deleted-data-files": "4"})) is RowProof.EQUAL


def test_dropping_deletes_without_dropping_rows_is_not_taken_for_equal() -> None:
    parent, mine = total(500, 20, 3), total(500, more={"removed-delete-files": "3"})
    assert prove(parent, mine) is RowProof.BOUNDED
    assert prove(parent, mine, {1: 480, 2: 500}) is RowProof.DIFFERENT


def test_counted_rows_settle_what_summaries_cannot() -> None:
    parent, mine = total(500, 20, 3), total(480, more={"removed-delete-files": "3"})
    assert prove(parent, mine, {1: 480, 2: 480}) is RowProof.COUNTED
    assert prove(parent, mine, {1: 480, 2: 479}) is RowProof.DIFFERENT
    assert prove(parent, mine, {1: None, 2: 480}) is RowProof.BOUNDED


def test_a_missing_parent_or_total_proves_nothing() -> None:
    assert prove_rows([ours(2, 1, total(5))], [ours(2, 1, total(5))], {}) is RowProof.UNKNOWN
    assert prove_rows([replace(ours(2, 1, total(5)), parent_id=None)], [], {}) is RowProof.UNKNOWN
    assert prove({}, total(5)) is RowProof.UNKNOWN
    assert prove(total(5), {"total-records": "many"}) is RowProof.UNKNOWN


def test_the_worst_of_several_commits_counts_and_no_commit_needs_no_proof() -> None:
    snapshots = [snapshot(1, summary=total(5)), ours(2, 1, total(5)), ours(3, 2, total(4))]
    assert prove_rows(snapshots[1:], snapshots, {}) is RowProof.DIFFERENT
    assert prove_rows([], snapshots, {}) is RowProof.NOT_NEEDED


def test_a_chain_of_our_commits_is_counted_at_its_two_ends() -> None:
    gone = {"removed-delete-files": "1"}
    chain = [
        snapshot(1, summary=total(500, 20, 3)),
        ours(2, 1, total(490, 10, 2, more=gone)),
        ours(3, 2, total(480, 0, 0, more=gone)),
    ]
    assert rows_to_count(chain[1:], chain) == (1, 3)
    assert rows_to_count([], chain) == ()
    equal = {1: 480, 3: 480}
    assert prove_rows(chain[1:], chain, spread_counts(chain[1:], equal)) is RowProof.COUNTED
    lost = {1: 480, 3: 470}
    assert prove_rows(chain[1:], chain, spread_counts(chain[1:], lost)) is RowProof.DIFFERENT
    assert spread_counts(chain[1:], {1: 480, 3: None}) == {1: 480, 3: None}


def test_a_chain_that_others_broke_is_counted_at_every_commit() -> None:
    gone = {"removed-delete-files": "1"}
    chain = [
        snapshot(1, summary=total(500, 20, 3)),
        ours(2, 1, total(490, 10, 2, more=gone)),
        snapshot(3, parent_id=2, summary=total(600, 10, 2)),
        ours(4, 3, total(590, 0, 0, more=gone)),
    ]
    assert rows_to_count([chain[1], chain[3]], chain) == (1, 2, 3, 4)


FINISHED = Outcome("finished", NOW)


def effect_of(
    action: Action, snapshots: list[Snapshot], snapshots_before: int = 1, snapshots_after: int = 2
) -> Effect:
    start = baseline(snapshots=snapshots_before)
    commits = split_commits(start, APPLICATION, "m-1", snapshots)
    after = replace(
        summarise(measure(inventory((manifest("m9", [share([200])]),)))),
        snapshots=snapshots_after,
        snapshot_id=2,
    )
    rows = prove_rows(commits.own, snapshots, {})
    return compare(
        make_job(action, replace(FINISHED, result={"rewritten_data_files_count": 20})),
        start,
        after,
        commits,
        rows,
        {},
    )


def test_an_effect_claims_only_what_our_commits_did() -> None:
    mine = {
        "deleted-data-files": "20",
        "added-data-files": "1",
        "removed-files-size": "200",
        "removed-delete-files": "2",
    }
    history = [
        snapshot(1, summary=total(2000)),
        ours(2, 1, total(2000, more=mine)),
        snapshot(3, parent_id=2, summary={"deleted-data-files": "900"}),
    ]
    effect = effect_of(RewriteDataFiles(), history)
    assert (effect.own_commits, effect.other_commits) == (1, 1)
    assert (effect.files_removed, effect.bytes_rewritten, effect.delete_files_removed) == (
        19,
        200,
        2,
    )
    assert effect.duration_seconds == 9
    assert effect.rows is RowProof.EQUAL
    assert effect.rows_before is None, (
        "another's commit lies in between, so the totals do not belong to ours"
    )
    assert effect.sentence == (
        "20 data files became 1, 200 B rewritten; average file size 10 B -> 200 B. Others "
        "committed 1 times meanwhile."
    )


def test_a_rewrite_nobody_disturbed_reports_its_rows() -> None:
    effect = effect_of(
        RewriteDataFiles(), [snapshot(1, summary=total(2000)), ours(2, 1, total(2000))]
    )
    assert (effect.rows_before, effect.rows_after) == (2000, 100)


def test_manifests_and_snapshots_are_counted_for_their_own_actions() -> None:
    mine = {"manifests-replaced": "300", "manifests-created": "2"}
    effect = effect_of(
        RewriteManifests(0), [snapshot(1, summary=total(2000)), ours(2, 1, total(2000, more=mine))]
    )
    assert (effect.manifests_removed, effect.files_removed, effect.snapshots_removed) == (298, 0, 0)
    assert effect.sentence == "1 manifests became 1."
    expiry = effect_of(
        ExpireSnapshots(NOW, 10),
        [snapshot(1), snapshot(2, parent_id=1)],
        snapshots_before=300,
        snapshots_after=11,
    )
    assert (expiry.snapshots_removed, expiry.own_commits, expiry.other_commits) == (290, 0, 1)
    assert expiry.rows is RowProof.NOT_NEEDED
    assert expiry.sentence == "300 snapshots became 11. Others committed 1 times meanwhile."


def test_an_idle_effect_says_so() -> None:
    effect = effect_of(RewriteDataFiles(), [snapshot(1)])
    assert effect.is_idle
    assert effect.sentence == "Nothing changed."


def test_the_average_is_left_out_where_it_is_unknown() -> None:
    effect = effect_of(RewriteDataFiles(), [snapshot(1, summary=total(1)), ours(2, 1, total(1))])
    start = replace(effect.before, average_file_size_bytes=None)
    empty = compare(
        make_job(outcome=FINISHED),
        replace(baseline(), measurement=start),
        effect.after,
        split_commits(baseline(), APPLICATION, "m-1", [ours(2, 1, total(1))]),
        effect.rows,
        {},
    )
    assert "average" not in empty.sentence


@pytest.mark.parametrize(
    ("procedure", "sentence"),
    [
        (Procedure.REWRITE_DATA_FILES, "an unknown number of data files became an unknown number"),
        (
            Procedure.REWRITE_POSITION_DELETE_FILES,
            "an unknown number of delete files became an unknown number",
        ),
        (Procedure.REWRITE_MANIFESTS, "an unknown number of manifests became an unknown number"),
        (Procedure.COMPUTE_PARTITION_STATS, "Statistics of snapshot 1 are written."),
    ],
)
def test_figures_that_nobody_can_read_are_said_to_be_unknown(
    procedure: Procedure, sentence: str
) -> None:
    unread = replace(DONE.before, data_files=None, delete_files=None, manifests=None)
    effect = replace(DONE, before=unread, after=unread)
    assert describe_effect(effect, procedure).startswith(sentence)


IDLE = effect_of(RewriteDataFiles(), [snapshot(1)])
DONE = effect_of(RewriteDataFiles(), [snapshot(1, summary=total(2000)), ours(2, 1, total(2000))])


@pytest.mark.parametrize(
    ("outcome", "effect", "state", "reason"),
    [
        (
            Outcome("finished", NOW, {"rewritten_data_files_count": 20}),
            DONE,
            JobState.SUCCEEDED,
            None,
        ),
        (
            Outcome("finished", NOW, {"rewritten_data_files_count": 0}),
            IDLE,
            JobState.SUCCEEDED,
            None,
        ),
        (Outcome("finished", NOW, {}), IDLE, JobState.SUCCEEDED, None),
        (
            Outcome("finished", NOW, {"rewritten_data_files_count": 20}),
            IDLE,
            JobState.FAILED,
            FailureReason.UNPROVED,
        ),
        (
            Outcome("finished", NOW, {}),
            replace(DONE, rows=RowProof.DIFFERENT),
            JobState.FAILED,
            FailureReason.UNPROVED,
        ),
        (Outcome("cancelled", NOW), IDLE, JobState.CANCELLED, None),
        (
            Outcome("failed", NOW, reason=FailureReason.CONFLICT, message="a writer won"),
            IDLE,
            JobState.FAILED,
            FailureReason.CONFLICT,
        ),
        (Outcome("failed", NOW), DONE, JobState.FAILED, FailureReason.OTHER),
        (Outcome("lost", NOW), IDLE, JobState.FAILED, FailureReason.LOST_RUNNER),
        (None, IDLE, JobState.FAILED, FailureReason.LOST_RUNNER),
    ],
)
def test_the_table_has_the_last_word_on_what_spark_claimed(
    outcome: Outcome | None, effect: Effect, state: JobState, reason: FailureReason | None
) -> None:
    verdict = conclude(make_job(outcome=outcome), effect)
    assert (verdict.state, verdict.reason) == (state, reason)


def test_a_claim_of_manifests_needs_a_snapshot_too() -> None:
    verdict = conclude(
        make_job(RewriteManifests(0), Outcome("finished", NOW, {"rewritten_manifests_count": 300})),
        IDLE,
    )
    assert verdict.reason is FailureReason.UNPROVED
    assert (
        verdict.message
        == "Spark reported 300 rewritten manifests, but the table has no snapshot of this job"
    )


def test_an_expiry_writes_no_snapshot_to_prove_it_by() -> None:
    idle = conclude(
        make_job(
            ExpireSnapshots(NOW, 10), Outcome("finished", NOW, {"deleted_data_files_count": 5})
        ),
        IDLE,
    )
    assert idle.state is JobState.SUCCEEDED


def test_spark_dying_of_a_job_is_reported_in_its_words_and_with_its_reason() -> None:
    died = Outcome(
        "lost", NOW, reason=FailureReason.OTHER, message="Spark's JVM ended with exit code -9"
    )
    verdict = conclude(make_job(outcome=died), IDLE)
    assert verdict.reason is FailureReason.OTHER
    assert verdict.message == (
        "Spark's JVM ended with exit code -9; the table shows that nothing of this job was "
        "committed"
    )


def test_a_claim_of_manifests_is_not_held_against_data_files() -> None:
    job = make_job(RewriteManifests(0), Outcome("finished", NOW, {"rewritten_data_files_count": 5}))
    assert conclude(job, IDLE).state is JobState.SUCCEEDED


def test_what_was_committed_before_a_failure_is_reported() -> None:
    verdict = conclude(
        make_job(
            outcome=Outcome("failed", NOW, reason=FailureReason.CONFLICT, message="a writer won")
        ),
        DONE,
    )
    assert verdict.message.startswith(
        "a writer won Its earlier commits stay: 20 data files became 1"
    )


REMOVED = {"removed-delete-files": "12", "removed-files-size": "16000"}


def test_a_rewrite_of_position_deletes_is_reported_by_its_delete_files() -> None:
    mine = ours(2, 1, total(2000, 96, 2, REMOVED | {"added-delete-files": "2"}))
    effect = effect_of(
        RewritePositionDeleteFiles(), [snapshot(1, summary=total(2000, 96, 12)), mine]
    )
    assert (effect.delete_files_removed, effect.files_removed, effect.bytes_rewritten) == (
        10,
        0,
        16000,
    )
    assert effect.sentence == "0 delete files became 0, 15.6 KiB rewritten."
    assert (
        conclude(
            make_job(
                RewritePositionDeleteFiles(),
                Outcome("finished", NOW, {"rewritten_delete_files_count": 12}),
            ),
            effect,
        ).state
        is JobState.SUCCEEDED
    )


def test_a_rewrite_of_position_deletes_that_touches_data_files_has_failed() -> None:
    mine = ours(
        2, 1, total(2000, 96, 2, REMOVED | {"deleted-data-files": "3", "added-data-files": "3"})
    )
    effect = effect_of(
        RewritePositionDeleteFiles(), [snapshot(1, summary=total(2000, 96, 12)), mine]
    )
    verdict = conclude(make_job(RewritePositionDeleteFiles(), Outcome("finished", NOW)), effect)
    assert verdict.reason is FailureReason.UNPROVED
    assert (
        verdict.message
        == "a rewrite of delete files must leave the data files alone, but 3 of them are gone"
    )


def test_a_claim_of_delete_files_needs_a_snapshot_too() -> None:
    verdict = conclude(
        make_job(
            RewritePositionDeleteFiles(),
            Outcome("finished", NOW, {"rewritten_delete_files_count": 12}),
        ),
        IDLE,
    )
    assert (
        verdict.message
        == "Spark reported 12 rewritten delete files, but the table has no snapshot of this job"
    )


PUFFIN = StatisticsFile(7, "s3://b/t/metadata/7.stats", 900)
STATISTICS = replace(
    inventory(), statistics=(PUFFIN,), partition_statistics=(replace(PUFFIN, path="p.parquet"),)
)
CLAIMED = Outcome("finished", NOW, {"statistics_file": PUFFIN.path})


def test_statistics_are_proved_by_the_tables_own_entry_for_the_snapshot() -> None:
    assert find_statistics(make_job(ComputeTableStats(7), CLAIMED), STATISTICS) == PUFFIN
    assert find_statistics(make_job(ComputeTableStats(8), CLAIMED), STATISTICS) is None
    assert (
        find_statistics(
            make_job(
                ComputeTableStats(7), Outcome("finished", NOW, {"statistics_file": "elsewhere"})
            ),
            STATISTICS,
        )
        is None
    )
    assert (
        find_statistics(make_job(ComputeTableStats(7), Outcome("lost", NOW)), STATISTICS) == PUFFIN
    )
    assert (
        find_statistics(
            make_job(
                ComputePartitionStats(7),
                Outcome("finished", NOW, {"partition_statistics_file": "p.parquet"}),
            ),
            STATISTICS,
        )
        is not None
    )
    assert find_statistics(make_job(RewriteManifests(0), CLAIMED), STATISTICS) is None


def test_statistics_that_the_table_does_not_have_are_unproved() -> None:
    job = make_job(ComputeTableStats(7), CLAIMED)
    verdict = conclude(job, IDLE)
    assert (verdict.state, verdict.reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert PUFFIN.path in verdict.message
    start = baseline()
    done = compare(
        job,
        start,
        start.measurement,
        split_commits(start, APPLICATION, "m-1", ()),
        RowProof.NOT_NEEDED,
        {},
        statistics_written=1,
    )
    assert not done.is_idle
    assert done.sentence == f"Statistics of snapshot {start.measurement.snapshot_id} are written."
    assert conclude(job, done).state is JobState.SUCCEEDED
    assert (
        conclude(make_job(ComputeTableStats(7), Outcome("finished", NOW)), IDLE).state
        is JobState.SUCCEEDED
    ), "an empty table has none to write"


def test_an_orphan_scan_says_that_nothing_was_deleted() -> None:
    assert (
        describe_effect(replace(IDLE, orphans_listed=3), Procedure.REMOVE_ORPHAN_FILES)
        == "Orphan files were listed; nothing was deleted."
    )


IN_PARTS = RewriteDataFiles(options=(("partial-progress.enabled", "true"),))
AT_ONCE = RewriteDataFiles(options=(("partial-progress.enabled", "false"),))
OTHERS = [
    snapshot(1, summary=total(2000)),
    snapshot(3, parent_id=2, summary=total(2000)),
    ours(2, 1, total(2000)),
]


@pytest.mark.parametrize(
    ("action", "result", "snapshots", "lost"),
    [
        (IN_PARTS, {"rewritten_data_files_count": 12}, OTHERS, 8),
        (IN_PARTS, {"rewritten_data_files_count": 12, "failed_data_files_count": 3}, OTHERS, 5),
        (
            IN_PARTS,
            {"rewritten_data_files_count": 12},
            [OTHERS[0], OTHERS[2]],
            0,
        ),  # nobody else committed
        (IN_PARTS, {"rewritten_data_files_count": 20}, OTHERS, 0),
        (
            IN_PARTS,
            {"rewritten_data_files_count": 18},
            OTHERS,
            0,
        ),  # within what the estimate may be wrong by
        (RewriteDataFiles(), {"rewritten_data_files_count": 12}, OTHERS, 8),  # in parts by default
        (AT_ONCE, {"rewritten_data_files_count": 12}, OTHERS, 0),
        (RewritePositionDeleteFiles(), {"rewritten_delete_files_count": 12}, OTHERS, 0),
        (
            RewritePositionDeleteFiles(options=(("partial-progress.enabled", "true"),)),
            {"rewritten_delete_files_count": 12},
            OTHERS,
            8,
        ),
        (RewriteManifests(0), {"rewritten_manifests_count": 1}, OTHERS, 0),
    ],
)
def test_guard_16_commits_that_were_lost_while_the_call_succeeded_are_seen(
    action: Action, result: dict[str, int], snapshots: list[Snapshot], lost: int
) -> None:
    job = replace(
        make_job(action, Outcome("finished", NOW, result)),
        estimate=Estimate(20, 1, 19, 200, error_bound=2),
    )
    commits = split_commits(baseline(), APPLICATION, "m-1", snapshots)
    effect = compare(job, baseline(), baseline().measurement, commits, RowProof.EQUAL, {})
    assert effect.files_lost == lost
    reported = (
        f"{lost} files were not rewritten, because the commits of their groups conflicted with "
        "commits of writers."
    )
    assert (reported in effect.sentence) == bool(lost)
    assert conclude(job, effect).state is JobState.SUCCEEDED


def test_a_rewrite_that_did_not_finish_lost_no_single_commits() -> None:
    job = make_job(IN_PARTS, Outcome("cancelled", NOW))
    assert (
        compare(
            job,
            baseline(),
            baseline().measurement,
            split_commits(baseline(), APPLICATION, "m-1", OTHERS),
            RowProof.EQUAL,
            {},
        ).files_lost
        == 0
    )


def test_guard_16_a_conflict_says_what_the_writer_had_done() -> None:
    refused = Outcome(
        "failed", NOW, reason=FailureReason.CONFLICT, message="x", conflict=ConflictKind.NEW_DELETES
    )
    assert (
        conclude(make_job(outcome=refused), IDLE).message
        == "A writer won: rows of files that were being rewritten were deleted meanwhile. x"
    )


def test_a_rewrite_is_done_although_a_writer_kept_dangling_deletes_from_being_removed() -> None:
    met = Outcome(
        "failed",
        NOW,
        reason=FailureReason.CONFLICT,
        message="x",
        conflict=ConflictKind.SNAPSHOT_CHANGED,
    )
    reported = (
        "A writer won: the table was changed before the dangling delete files could be removed; "
        "they stay."
    )
    done = conclude(make_job(AT_ONCE, met), DONE)
    assert (done.state, done.reason, done.message) == (JobState.SUCCEEDED, None, reported)
    idle = conclude(make_job(AT_ONCE, met), IDLE)
    assert (idle.state, idle.reason, idle.message) == (
        JobState.FAILED,
        FailureReason.CONFLICT,
        f"{reported} x",
    )
    other = conclude(make_job(AT_ONCE, replace(met, conflict=ConflictKind.NEW_DELETES)), DONE)
    assert (other.state, other.reason) == (JobState.FAILED, FailureReason.CONFLICT)


def test_every_kind_of_conflict_has_words() -> None:
    assert set(CONFLICT_WORDS) == set(ConflictKind)


def test_a_commit_that_the_catalog_did_not_confirm_is_looked_for_in_the_table() -> None:
    unsaid = Outcome(
        "lost", NOW, reason=FailureReason.CATALOG_UNREACHABLE, message="the catalog did not say"
    )
    found = conclude(make_job(AT_ONCE, unsaid), DONE)
    assert (found.state, found.message) == (
        JobState.SUCCEEDED,
        "the catalog did not say whether it made the commit; it was found in the table's metadata",
    )
    missing = conclude(make_job(outcome=unsaid), IDLE)
    assert (missing.state, missing.reason) == (JobState.FAILED, FailureReason.CATALOG_UNREACHABLE)
    assert (
        missing.message
        == "the catalog did not say; the table shows that nothing of this job was committed"
    )


def test_guard_16_work_that_the_catalog_took_back_for_a_writer_is_a_conflict() -> None:
    claimed = make_job(outcome=Outcome("finished", NOW, {"rewritten_data_files_count": 20}))
    taken_back = conclude(claimed, replace(IDLE, other_commits=1))
    assert (taken_back.state, taken_back.reason) == (JobState.FAILED, FailureReason.CONFLICT)
    assert taken_back.message.startswith("A writer won: the table no longer has a snapshot of ours")
    assert conclude(claimed, IDLE).reason is FailureReason.UNPROVED, (
        "when nobody else committed, nobody can have won"
    )


LOST = Outcome("lost", NOW, message="Spark's JVM ended with exit code -9")
DELETES_IN_PARTS = RewritePositionDeleteFiles(options=IN_PARTS.options)


def replacing(files: int) -> dict[str, str]:
    return {
        "deleted-data-files": str(files),
        "added-data-files": "1",
        "removed-delete-files": str(files),
    }


def conclude_lost(
    action: Action, *replaced: int, outcome: Outcome | None = LOST
) -> tuple[Effect, Conclusion]:
    """Of a job that was to take in 20 files, whose commits replaced so many of them each before
    Spark was gone.
    """
    job = replace(make_job(action, outcome), estimate=Estimate(20, 2, 18, 200, error_bound=2))
    history = [
        snapshot(1, summary=total(2000)),
        *(
            ours(number, number - 1, total(2000, more=replacing(files)))
            for number, files in enumerate(replaced, 2)
        ),
    ]
    effect = compare(
        job,
        baseline(),
        baseline().measurement,
        split_commits(baseline(), APPLICATION, "m-1", history),
        RowProof.EQUAL,
        {},
    )
    return effect, conclude(job, effect)


@pytest.mark.parametrize("action", [IN_PARTS, RewriteDataFiles(), DELETES_IN_PARTS])
@pytest.mark.parametrize(
    ("replaced", "left"), [((2,), 18), ((8, 9), 3), ((8, 10), 0), ((20,), 0), ((25,), 0)]
)
def test_a_lost_rewrite_in_parts_has_succeeded_when_it_came_to_all_that_was_estimated(
    action: Action, replaced: tuple[int, ...], left: int
) -> None:
    effect, verdict = conclude_lost(action, *replaced)
    assert effect.files_left == left
    assert (verdict.state, verdict.reason) == (
        (JobState.FAILED, FailureReason.LOST_RUNNER) if left else (JobState.SUCCEEDED, None)
    )


def test_what_a_lost_rewrite_in_parts_has_done_and_not_done_is_reported() -> None:
    _, verdict = conclude_lost(IN_PARTS, 2, 3)
    assert verdict.message.startswith(
        "Spark's JVM ended with exit code -9; Its earlier commits stay: 20 data files became 20"
    )
    assert verdict.message.endswith(
        " 15 files were not rewritten, because Spark was lost before that."
    )


def test_a_rewrite_in_parts_of_which_nobody_knows_the_end_is_no_success_either() -> None:
    _, verdict = conclude_lost(IN_PARTS, 2, outcome=None)
    assert (verdict.state, verdict.reason) == (JobState.FAILED, FailureReason.LOST_RUNNER)


@pytest.mark.parametrize("action", [AT_ONCE, RewritePositionDeleteFiles(), RewriteManifests(0)])
def test_a_lost_job_whose_single_commit_is_all_of_its_work_has_succeeded(action: Action) -> None:
    effect, verdict = conclude_lost(action, 2)
    assert effect.files_left == 0
    assert (verdict.state, verdict.message) == (
        JobState.SUCCEEDED,
        "Spark was lost after its commits; they were found in the table's metadata",
    )


def test_a_rewrite_in_parts_that_ended_by_itself_is_not_held_against_its_estimate() -> None:
    assert conclude_lost(IN_PARTS, 2, outcome=FINISHED)[1].state is JobState.SUCCEEDED


def test_a_job_that_was_asked_to_end_has_ended_where_spark_was_lost_over_it() -> None:
    killed = Outcome(
        "lost",
        NOW,
        reason=FailureReason.OTHER,
        message="job m-1 did not end within 60 s of its cancellation: Spark was killed",
    )
    asked = replace(make_job(IN_PARTS, killed), cancel_requested_by="ada")
    verdict = conclude(asked, IDLE)
    assert (verdict.state, verdict.reason) == (JobState.CANCELLED, None)
    assert verdict.message.endswith(
        "Spark was killed; the table shows that nothing of this job was committed"
    )
    in_part = conclude(asked, replace(DONE, files_left=5))
    assert in_part.state is JobState.CANCELLED
    assert "Its earlier commits stay: 20 data files became 1" in in_part.message
    assert conclude(asked, DONE).state is JobState.SUCCEEDED, "all of its work is there"


@pytest.mark.parametrize("kind", ["cancelled", "failed"])
def test_an_expiry_that_ended_early_tells_what_is_gone_and_what_may_be_left(kind: str) -> None:
    effect = replace(IDLE, snapshots_removed=9, sentence="12 snapshots became 3.")
    verdict = conclude(make_job(ExpireSnapshots(NOW, 10), Outcome(kind, NOW)), effect)
    reported = (
        "Its earlier commits stay: 12 snapshots became 3. But files of the expired "
        "snapshots may remain; an orphan scan finds them."
    )
    assert verdict.message == reported


def test_a_lost_expiry_says_that_files_may_be_left() -> None:
    job = make_job(ExpireSnapshots(NOW, 10), LOST)
    verdict = conclude(job, replace(IDLE, snapshots_removed=9))
    assert verdict.state is JobState.SUCCEEDED
    assert verdict.message.endswith(
        "files of the expired snapshots may remain; an orphan scan finds them"
    )


UNSUMMED = replace(DONE, contents=ContentProof.UNKNOWN)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (FINISHED, FailureReason.UNPROVED),
        (
            replace(
                FINISHED,
                check_failure="Java heap space",
                check_failure_reason=FailureReason.OUT_OF_MEMORY,
            ),
            FailureReason.OUT_OF_MEMORY,
        ),
        (LOST, FailureReason.LOST_RUNNER),
        (None, FailureReason.LOST_RUNNER),
        (
            replace(LOST, reason=FailureReason.CATALOG_UNREACHABLE),
            FailureReason.CATALOG_UNREACHABLE,
        ),
    ],
)
def test_guard_25_a_full_checksum_that_could_not_be_taken_is_no_proof(
    outcome: Outcome | None, reason: FailureReason
) -> None:
    job = replace(make_job(AT_ONCE, outcome), safeguards=Safeguards(checksum=Checksum.FULL))
    verdict = conclude(job, UNSUMMED)
    assert (verdict.state, verdict.reason) == (JobState.FAILED, reason)
    assert verdict.message.startswith(
        "the checksums of all rows, which the proof needs, could not be computed"
    )
    assert ("Java heap space" in verdict.message) == (reason is FailureReason.OUT_OF_MEMORY)
    assert "Its earlier commits stay: " in verdict.message
    assert conclude(job, replace(DONE, contents=ContentProof.EQUAL)).state is JobState.SUCCEEDED
    assert (
        conclude(replace(job, safeguards=Safeguards(checksum=Checksum.SAMPLE)), UNSUMMED).state
        is JobState.SUCCEEDED
    )


def test_a_timeout_whose_length_is_not_known_is_reported_without_it() -> None:
    assert describe_timeout(make_job()) == "Ended because its time was up."
