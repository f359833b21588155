"""How a job ends, from Spark's report and the table's metadata."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.compare.conclusion import conclude, describe_timeout
from maintainer.domain.action import ComputeTableStats, RollBack
from maintainer.domain.effect import RowProof
from maintainer.domain.job import FailureReason, JobState, Outcome
from tests.api.nouns import EFFECT, make_job
from tests.samples import NOW


def test_a_failed_proof_of_the_contents_fails_a_job_that_spark_calls_finished() -> None:
    conclusion = conclude(
        replace(make_job(), outcome=Outcome("finished", NOW)),
        replace(
            EFFECT,
            own_snapshot_ids=(),
            failed_proofs=("a file is not sorted", "an id is given twice"),
        ),
    )
    assert (conclusion.state, conclusion.reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert conclusion.message == (
        "a file is not sorted; an id is given twice; no further job starts on this table"
    )


def test_a_failed_proof_first_offers_the_command_that_undoes_the_commits() -> None:
    job = replace(make_job(), outcome=Outcome("finished", NOW))
    offer = (
        f"`maintainer rollback {job.job_id}` undoes the job's 2 commits, unless others have "
        "committed since: "
    )
    committed = replace(EFFECT, own_snapshot_ids=(3, 4))
    different = replace(committed, rows=RowProof.DIFFERENT)
    assert conclude(job, different).message.startswith(f"{offer}the rows before and after")
    unsorted = replace(committed, failed_proofs=("a file is not sorted",))
    assert conclude(job, unsorted).message.startswith(f"{offer}a file is not sorted")
    for action in (ComputeTableStats(3), RollBack(1, "m-1", 4)):
        other = replace(job, action=action)
        assert "maintainer rollback" not in conclude(other, different).message


def test_a_job_that_is_lost_after_its_deadline_has_timed_out_unless_somebody_ended_it() -> None:
    late = replace(
        make_job(),
        outcome=Outcome("lost", NOW),
        submitted_at=NOW,
        deadline=NOW + timedelta(hours=2),
        is_overdue=True,
    )
    conclusion = conclude(late, EFFECT)
    assert (conclusion.state, conclusion.reason) == (JobState.FAILED, FailureReason.TIMEOUT)
    assert conclusion.message.startswith("Ended because it took longer than its timeout of 2 h.")
    ended_by_hand = conclude(replace(late, cancel_requested_by="ada"), EFFECT)
    assert ended_by_hand.reason is not FailureReason.TIMEOUT


def test_a_timeout_without_known_times_is_still_described() -> None:
    assert describe_timeout(replace(make_job(), deadline=None)) == "Ended because its time was up."
