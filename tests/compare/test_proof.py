from __future__ import annotations

import json
from dataclasses import replace

import pytest

from maintainer.compare.proof import (
    compare_contents,
    describe_earlier_damage,
    describe_missing_checks,
    explain_difference,
    find_failed_proofs,
)
from maintainer.domain.action import (
    Action,
    Canary,
    Checksum,
    ExpireSnapshots,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
    Safeguards,
)
from maintainer.domain.effect import CanaryResult, ContentProof, Effect, RowProof
from maintainer.domain.inventory import Snapshot, Unreadable
from maintainer.domain.job import FailureReason, Job, Outcome
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName
from maintainer.measure.health import measure, summarise
from tests.samples import NOW, TABLE, UUID, inventory, snapshot

FULL = Safeguards(checksum=Checksum.FULL)


def job_of(
    action: Action | None = None,
    outcome: Outcome | None = None,
    guards: Safeguards = FULL,
    estimate: Estimate | None = None,
) -> Job:
    chosen = action or RewriteDataFiles()
    predicted = estimate or Estimate(20, 1, 19, 200)
    made = Job(
        "m-1",
        TABLE,
        UUID,
        RuleName(chosen.procedure.value),
        chosen,
        (),
        predicted,
        "",
        "v",
        50,
        "policy",
        NOW,
        outcome=outcome,
    )
    return replace(made, safeguards=guards)


def reported(*rows: tuple[int, int, str]) -> Outcome:
    sums = [
        {"snapshot_id": snapshot_id, "row_count": count, "xor": xor, "sum": xor}
        for snapshot_id, count, xor in rows
    ]
    return Outcome("finished", NOW, checks={"checksums": json.dumps(sums)})


def line(*ids: tuple[int, int]) -> list[Snapshot]:
    return [
        snapshot(snapshot_id, parent_id=parent_id, operation="replace")
        for snapshot_id, parent_id in ids
    ]


def test_guard_25_contents_are_equal_when_both_ends_of_our_commits_have_the_same_sums() -> None:
    assert (
        compare_contents(job_of(outcome=reported((1, 9, "5"), (3, 9, "5"))), line((2, 1), (3, 2)))
        is ContentProof.EQUAL
    )
    assert (
        compare_contents(job_of(outcome=reported((1, 9, "5"), (3, 9, "6"))), line((2, 1), (3, 2)))
        is ContentProof.DIFFERENT
    )
    assert (
        compare_contents(job_of(outcome=reported((1, 9, "5"), (3, 8, "5"))), line((2, 1), (3, 2)))
        is ContentProof.DIFFERENT
    )


def test_where_others_committed_between_ours_each_line_is_compared_with_its_own_parent() -> None:
    own = line((2, 1), (4, 3))
    assert (
        compare_contents(
            job_of(outcome=reported((1, 9, "5"), (2, 9, "5"), (3, 10, "7"), (4, 10, "7"))), own
        )
        is ContentProof.EQUAL
    )
    assert (
        compare_contents(
            job_of(outcome=reported((1, 9, "5"), (2, 9, "5"), (3, 10, "7"), (4, 10, "8"))), own
        )
        is ContentProof.DIFFERENT
    )
    assert (
        compare_contents(job_of(outcome=reported((1, 9, "5"), (2, 9, "5"), (3, 10, "7"))), own)
        is ContentProof.UNKNOWN
    )


@pytest.mark.parametrize(
    "outcome",
    [
        None,
        Outcome("finished", NOW),
        Outcome("finished", NOW, checks={"checksums": None}),
        Outcome("finished", NOW, checks={"checksums": "[{}]"}),
    ],
)
def test_checksums_that_spark_did_not_tell_prove_nothing(outcome: Outcome | None) -> None:
    assert compare_contents(job_of(outcome=outcome), line((2, 1))) is ContentProof.UNKNOWN


def test_no_checksum_is_looked_for_that_was_not_asked_for_or_of_no_commit() -> None:
    assert (
        compare_contents(
            job_of(outcome=reported((1, 9, "5"), (2, 9, "6")), guards=Safeguards()), line((2, 1))
        )
        is ContentProof.NOT_TAKEN
    )
    assert compare_contents(job_of(outcome=reported()), []) is ContentProof.NOT_TAKEN
    orphaned = [snapshot(2, parent_id=None, operation="replace")]
    assert (
        compare_contents(job_of(outcome=reported((2, 9, "5"))), orphaned) is ContentProof.EQUAL
    ), "nothing to be set against"


def test_every_file_that_is_not_as_it_should_be_is_named() -> None:
    found = find_failed_proofs(
        job_of(
            outcome=replace(
                reported(),
                check_failure="NotFoundException: c.parquet",
                check_failure_reason=FailureReason.MISSING_FILE,
            )
        ),
        ContentProof.DIFFERENT,
        CanaryResult(3, ("a.parquet is not there",), ("b.parquet: OSError: timeout",)),
        (Unreadable("m.avro", "it is empty"),),
    )
    assert found == (
        "the checksums of the rows before and after the job's commits differ",
        "m.avro cannot be read: it is empty",
        "a.parquet is not there",
        "Spark could not read the new files: NotFoundException: c.parquet",
    )


@pytest.mark.parametrize(
    "reason",
    [
        FailureReason.OUT_OF_MEMORY,
        FailureReason.CATALOG_UNREACHABLE,
        FailureReason.PERMISSION,
        FailureReason.INVALID_REQUEST,
        FailureReason.RUNNER_UNAVAILABLE,
    ],
)
def test_a_reading_that_failed_for_want_of_something_else_proves_nothing(
    reason: FailureReason,
) -> None:
    outcome = replace(reported(), check_failure="it failed", check_failure_reason=reason)
    assert find_failed_proofs(job_of(outcome=outcome), ContentProof.UNKNOWN, None, ()) == ()
    assert find_failed_proofs(job_of(), ContentProof.NOT_TAKEN, None, ()) == ()


def effect_of(removed: int = 19, others: int = 0, lost: int = 0, manifests: int = 0) -> Effect:
    figures = summarise(measure(inventory()))
    made = Effect(figures, figures, 1, others, removed, 0, manifests, 0, 200, 9.0, RowProof.EQUAL)
    return replace(made, files_lost=lost)


def explain(
    effect: Effect, outcome: Outcome | None, action: Action | None = None, error_bound: int = 0
) -> str:
    return explain_difference(
        job_of(action, outcome, estimate=Estimate(20, 1, 19, 200, error_bound=error_bound)), effect
    )


def test_what_came_about_as_predicted_needs_no_word() -> None:
    assert explain(effect_of(19), reported()) == ""
    assert explain(effect_of(17), reported(), error_bound=2) == "", (
        "within what the prediction itself calls uncertain"
    )
    assert explain(effect_of(0), reported(), ExpireSnapshots(NOW, 10)) == ""


def test_a_difference_in_position_deletes_is_explained_by_what_spark_took_and_wrote() -> None:
    def describe(removed: int, **result: int) -> str:
        figures = {f"{name}_delete_files_count": count for name, count in result.items()}
        effect = replace(effect_of(0), delete_files_removed=removed)
        return explain(
            effect, Outcome("finished", NOW, figures), RewritePositionDeleteFiles()
        ).partition(": ")[2]

    assert describe(20, rewritten=20, added=0) == (
        "Spark wrote 0 delete files where up to 1 were expected: it drops those whose data "
        "files are gone."
    )
    assert (
        describe(16, rewritten=20, added=4)
        == "Spark wrote 4 delete files where at most 1 were expected."
    )
    assert (
        describe(29, rewritten=30, added=1) == "Spark took 30 delete files where 20 were expected."
    )
    assert describe(9, rewritten=20, added=1) == "the reason is not known."
    assert describe(9) == "the reason is not known."


def test_every_difference_from_what_was_predicted_is_explained() -> None:
    lost = explain(
        effect_of(9, others=2, lost=10), Outcome("finished", NOW, {"failed_data_files_count": 3})
    )
    assert lost == (
        "19 data files fewer were estimated, 9 fewer is the result: "
        "10 files were not rewritten, because the commits of their groups conflicted with commits "
        "of writers; "
        "3 files failed in Spark; others committed 2 times, so that the table was another one "
        "than the measured one."
    )
    known = Outcome(
        "finished",
        NOW,
        {"failed_data_files_count": 3},
        message="3 data files failed in Spark: a file is missing",
    )
    assert explain(effect_of(9), known).endswith("3 data files failed in Spark: a file is missing.")
    assert explain(effect_of(9), Outcome("cancelled", NOW)).endswith(
        "the job was cancelled, and what was committed by then is kept."
    )
    assert explain(effect_of(9), Outcome("lost", NOW)).endswith(
        "the job ended early, and what was committed by then is kept."
    )
    fewer = {"rewritten_data_files_count": 12, "added_data_files_count": 1}
    assert explain(effect_of(11), Outcome("finished", NOW, fewer)).endswith(
        ": Spark took 12 files where 20 were expected."
    )
    assert "Spark wrote 4 files where 1 were expected" in explain(
        effect_of(16), Outcome("finished", NOW, {"added_data_files_count": 4})
    )
    assert explain(effect_of(25), Outcome("finished", NOW, {"added_data_files_count": 1})).endswith(
        "the reason is not known."
    )
    assert explain(effect_of(0, manifests=3), reported(), RewriteManifests(0)).startswith(
        "19 manifests fewer were estimated, 3 fewer is the result: the reason is not known."
    )
    assert explain(effect_of(9), None).endswith("the reason is not known.")
    assert "ended early" not in explain(effect_of(30), Outcome("lost", NOW))


@pytest.mark.parametrize(
    ("outcome", "guards", "contents", "unmade"),
    [
        (reported(), FULL, ContentProof.EQUAL, ""),
        (Outcome("lost", NOW), Safeguards(), ContentProof.NOT_TAKEN, ""),
        (
            Outcome("lost", NOW),
            Safeguards(canary=Canary.SAMPLE),
            ContentProof.NOT_TAKEN,
            "Spark's canary of the new files",
        ),
        (
            None,
            replace(FULL, canary=Canary.SAMPLE),
            ContentProof.UNKNOWN,
            "Spark's canary of the new files and the checksums of the rows",
        ),
        (
            reported(),
            Safeguards(checksum=Checksum.SAMPLE),
            ContentProof.UNKNOWN,
            "the checksums of the rows",
        ),
        (
            replace(
                reported(), check_failure="x", check_failure_reason=FailureReason.OUT_OF_MEMORY
            ),
            Safeguards(canary=Canary.SAMPLE),
            ContentProof.NOT_TAKEN,
            "Spark's canary of the new files",
        ),
        (
            replace(
                reported(), check_failure="x", check_failure_reason=FailureReason.MISSING_FILE
            ),  # that is a failed proof, and reported as such
            Safeguards(canary=Canary.SAMPLE),
            ContentProof.NOT_TAKEN,
            "",
        ),
    ],
)
def test_a_check_that_was_asked_for_and_never_made_is_reported(
    outcome: Outcome | None, guards: Safeguards, contents: ContentProof, unmade: str
) -> None:
    sentence = describe_missing_checks(job_of(outcome=outcome, guards=guards), contents)
    assert sentence == (f"Requested but not possible: {unmade}." if unmade else "")


def test_the_lost_list_of_the_current_snapshot_is_reported_with_the_way_back() -> None:
    lost = Unreadable("s3://b/snap-7.avro", "manifest list: the file does not exist", of_snapshot=7)
    own = [snapshot(7, parent_id=6, operation="replace")]
    (said,) = find_failed_proofs(job_of(), ContentProof.NOT_TAKEN, None, (lost,), own)
    assert said == (
        "the table's current snapshot is 7 of this job, whose manifest list cannot be read "
        "(s3://b/snap-7.avro: manifest list: the file does not exist), "
        "so that nobody can read the table or write to it; the snapshot before still exists, "
        "and `maintainer rollback m-1` sets the table back to it, "
        "or CALL `lake`.system.rollback_to_snapshot('sales.orders', 6) in any Spark"
    )
    assert find_failed_proofs(job_of(), ContentProof.NOT_TAKEN, None, (lost,)) == (
        f"{lost.path} cannot be read: {lost.reason}",
    )


MISSING = replace(
    reported(),
    check_failure="NotFoundException: File does not exist: s3://lake/t/data/c.parquet",
    check_failure_reason=FailureReason.MISSING_FILE,
)


OLDER = CanaryResult(2, older=("s3://lake/t/data/c.parquet",))


def test_a_file_of_another_commit_does_not_count_against_the_job() -> None:
    job = job_of(outcome=MISSING)
    assert find_failed_proofs(job, ContentProof.NOT_TAKEN, OLDER, ()) == ()
    assert describe_earlier_damage(job, OLDER) == (
        "The table was damaged before this job, and another commit added the file: "
        "NotFoundException: File does not exist: s3://lake/t/data/c.parquet."
    )


def test_a_file_that_is_not_known_to_be_older_counts_against_the_job() -> None:
    """Such as its own manifest, or a file of a snapshot that has expired."""
    job = job_of(outcome=MISSING)
    for canary in (None, CanaryResult(2)):
        assert len(find_failed_proofs(job, ContentProof.NOT_TAKEN, canary, ())) == 1
        assert describe_earlier_damage(job, canary) == ""
    assert describe_earlier_damage(job_of(), OLDER) == ""
    assert describe_earlier_damage(job_of(outcome=reported()), OLDER) == ""
