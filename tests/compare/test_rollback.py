from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.compare.conclusion import Conclusion
from maintainer.compare.rollback import compare_rollback, conclude_rollback
from maintainer.domain.action import Repair, RollBack
from maintainer.domain.effect import Effect, Measurement, RowProof
from maintainer.domain.inventory import Ref, Snapshot, TableInventory
from maintainer.domain.job import FailureReason, Job, JobState, Outcome
from maintainer.domain.plan import Estimate
from maintainer.measure.health import measure, summarise
from tests.samples import NOW, TABLE, UUID, inventory, manifest, share, snapshot

ACTION = RollBack(1, "m-1", 2)
BEFORE = replace(
    summarise(measure(inventory((manifest("m1", [share([10] * 20)]),)))), snapshot_id=1
)
UNDONE = Job(
    "m-2", TABLE, UUID, Repair.ROLL_BACK, ACTION, (), Estimate(0, 0, 0, 0), "", "", 100, "ada", NOW
)


def job_of(
    kind: str | None = "finished", reason: FailureReason | None = None, message: str = ""
) -> Job:
    outcome = Outcome(kind, NOW, reason=reason, message=message) if kind is not None else None
    return replace(UNDONE, outcome=outcome, started_at=NOW, ended_at=NOW + timedelta(seconds=2))


def effect_of(after: Measurement, expected: Measurement | None = BEFORE) -> Effect:
    return compare_rollback(
        job_of(), ACTION, replace(BEFORE, snapshot_id=2, data_files=1), after, expected
    )


def test_figures_that_nobody_can_read_are_said_to_be_unknown() -> None:
    unread = replace(BEFORE, records=None, data_files=None)
    assert effect_of(unread, None).sentence.endswith(
        "an unknown number of records in an unknown number of data files."
    )


def test_rows_and_files_are_those_of_before() -> None:
    effect = effect_of(BEFORE)
    assert (effect.rows, effect.rows_before, effect.rows_after, effect.failed_proofs) == (
        RowProof.EQUAL,
        2000,
        2000,
        (),
    )
    assert (
        effect.sentence
        == "Main is at snapshot 1 again, as before job m-1: 2,000 records in 20 data files."
    )
    assert effect.duration_seconds == 2
    assert compare_rollback(UNDONE, ACTION, BEFORE, BEFORE, BEFORE).duration_seconds is None


@pytest.mark.parametrize(
    "changed", [{"records": 1}, {"data_files": 1}, {"data_bytes": 1}, {"delete_files": 1}]
)
def test_guard_26_figures_that_are_not_those_of_before_fail_the_rollback(
    changed: dict[str, int],
) -> None:
    effect = effect_of(replace(BEFORE, **changed))  # type: ignore[arg-type]  # each is a number
    assert effect.rows is RowProof.DIFFERENT
    verdict = conclude_rollback(job_of(), ACTION, effect, table_of(1))
    assert (verdict.state, verdict.reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert " before the job and has 1 now" in verdict.message


def test_what_nobody_knows_any_more_is_not_compared() -> None:
    assert effect_of(BEFORE, None).rows is RowProof.UNKNOWN
    elsewhere = effect_of(replace(BEFORE, snapshot_id=2))
    assert (elsewhere.rows, elsewhere.rows_after, elsewhere.sentence) == (
        RowProof.UNKNOWN,
        None,
        "Main is at snapshot 2.",
    )


LINE = (snapshot(1), snapshot(2, parent_id=1, operation="replace"))


def table_of(current: int, *more: Snapshot, refs: tuple[Ref, ...] = ()) -> TableInventory:
    return replace(
        inventory(snapshots=(*LINE, *more), refs=(Ref("main", current, is_branch=True), *refs)),
        current_snapshot_id=current,
    )


def conclude(table: TableInventory, job: Job | None = None) -> Conclusion:
    return conclude_rollback(job or job_of(), ACTION, effect_of(BEFORE), table)


def test_the_table_says_whether_it_is_back_and_not_spark() -> None:
    for kind in ("finished", "lost", "failed", "cancelled", None):
        assert conclude(table_of(1), job_of(kind)) == Conclusion(JobState.SUCCEEDED)
    assert conclude(table_of(3, snapshot(3, parent_id=1)), job_of()) == Conclusion(
        JobState.SUCCEEDED
    ), "others have gone on from there"


def test_a_table_that_is_not_back_is_reported_with_what_spark_said() -> None:
    there = table_of(2)
    assert conclude(there).message == "Spark reported success, but main is at snapshot 2"
    assert (
        conclude(there, job_of(None)).message == "its outcome is unknown, but main is at snapshot 2"
    )
    assert conclude(there, job_of("cancelled")) == Conclusion(JobState.CANCELLED)
    refused = job_of("failed", FailureReason.CATALOG_UNREACHABLE, "it does not answer")
    assert conclude(there, refused) == Conclusion(
        JobState.FAILED, FailureReason.CATALOG_UNREACHABLE, "it does not answer"
    )
    assert conclude(there, job_of("lost")) == Conclusion(
        JobState.FAILED, FailureReason.OTHER, "the table is as it was before the rollback"
    )


def test_a_commit_that_slipped_in_is_named_unless_a_ref_or_an_audit_has_it() -> None:
    slipped = snapshot(3, parent_id=2, summary={"app-name": "etl"})
    verdict = conclude(table_of(1, slipped))
    assert (verdict.state, verdict.reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert verdict.message.startswith(
        "snapshot 3 of etl was committed during the rollback and is on no branch now"
    )
    assert conclude(table_of(1, slipped, refs=(Ref("audit", 3, is_branch=True),))) == Conclusion(
        JobState.SUCCEEDED
    )
    assert conclude(table_of(1, replace(slipped, summary={"wap.id": "x"}))) == Conclusion(
        JobState.SUCCEEDED
    )
    assert (
        conclude(table_of(3, slipped)).message
        == "Spark reported success, but main is at snapshot 3"
    )
