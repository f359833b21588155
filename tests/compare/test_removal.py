"""What is said of the files of an orphan list after their removal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.compare.rollback import (
    RemovalProof,
    conclude_removal,
    conclude_unreported,
    measure_removal,
)
from maintainer.domain.action import Disposal
from maintainer.domain.job import FailureReason, Job, JobState, Outcome
from maintainer.domain.orphan import FoundFile
from tests.api.nouns import EFFECT, make_job
from tests.samples import NOW

GONE = (FoundFile("a", 1024), FoundFile("b"))
PROOF = RemovalProof(GONE, left=(), alive=(), lost=(), missing=(), reached=0, is_sample=False)
SENTENCE = replace(EFFECT, sentence="2 orphan files are deleted.")


def ended(kind: str, reason: FailureReason | None = None) -> Job:
    return replace(make_job(), outcome=Outcome(kind, NOW, reason=reason))


@pytest.mark.parametrize(
    ("disposal", "participle", "removed", "restored"),
    [
        (Disposal.DELETE, "deleted", 2, 0),
        (Disposal.QUARANTINE, "in quarantine", 2, 0),
        (Disposal.RESTORE, "brought back", 0, 2),
        (Disposal.EMPTY, "deleted from the quarantine", 2, 0),
    ],
)
def test_the_files_are_counted_by_what_happened_to_them(
    disposal: Disposal, participle: str, removed: int, restored: int
) -> None:
    effect = measure_removal(EFFECT, disposal, PROOF)
    assert effect.sentence == f"2 orphan files of 1 KiB are {participle}."
    assert (effect.orphans_removed, effect.orphans_restored) == (removed, restored)
    assert effect.orphan_bytes_removed == (1024 if removed else 0)


def test_the_sentence_names_the_first_file_of_each_kind_that_is_not_as_it_should_be() -> None:
    proof = replace(
        PROOF,
        removed=GONE[:1],
        alive=("c", "d"),
        left=("e",),
        missing=("f",),
        reached=1200,
        is_sample=True,
    )
    assert measure_removal(EFFECT, Disposal.DELETE, proof).sentence == (
        "At least 1 orphan file of 1 KiB is deleted; 1,200 files that the table references were "
        "checked; 2 were kept, because the table references them now, the first: c; 1 still "
        "exist, although nothing references them, the first: e; 1 that the table references were "
        "not on the list and do not exist, the first: f."
    )


def test_a_missing_file_that_the_table_needs_fails_the_job_in_spite_of_its_report() -> None:
    conclusion = conclude_removal(
        ended("finished"), SENTENCE, replace(PROOF, lost=("x", "y")), is_reported=True
    )
    assert (conclusion.state, conclusion.reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert conclusion.message == (
        "2 files are missing that the table references or the quarantine should have, the first: "
        "x; no further job starts on this table"
    )


@pytest.mark.parametrize(
    ("job", "state", "reason"),
    [
        (make_job(), JobState.FAILED, FailureReason.LOST_RUNNER),
        (ended("lost"), JobState.FAILED, FailureReason.LOST_RUNNER),
        (
            ended("lost", FailureReason.OUT_OF_MEMORY),
            JobState.FAILED,
            FailureReason.OUT_OF_MEMORY,
        ),
        (replace(ended("lost"), cancel_requested_by="ada"), JobState.CANCELLED, None),
    ],
)
def test_a_removal_that_was_lost_leaves_the_rest_to_the_next_job(
    job: Job, state: JobState, reason: FailureReason | None
) -> None:
    conclusion = conclude_removal(job, SENTENCE, PROOF, is_reported=False)
    assert (conclusion.state, conclusion.reason) == (state, reason)
    assert conclusion.message == (
        "Spark was lost; the next job checks the rest of the list. 2 orphan files are deleted."
    )


def test_a_removal_that_fails_ends_like_any_job() -> None:
    failed = conclude_removal(
        ended("failed", FailureReason.CONFLICT), SENTENCE, PROOF, is_reported=False
    )
    assert (failed.state, failed.reason) == (JobState.FAILED, FailureReason.CONFLICT)


@pytest.mark.parametrize(
    ("is_reported", "left", "state", "message"),
    [
        (True, (), JobState.SUCCEEDED, ""),
        (False, (), JobState.FAILED, "Spark did not report which files the table references. "),
        (
            True,
            ("e",),
            JobState.FAILED,
            "Spark reported success, and its log has the reason why files are left. ",
        ),
    ],
)
def test_a_removal_succeeds_when_it_is_reported_whole_and_nothing_is_left(
    is_reported: bool, left: tuple[str, ...], state: JobState, message: str
) -> None:
    conclusion = conclude_removal(
        ended("finished"), SENTENCE, replace(PROOF, left=left), is_reported=is_reported
    )
    assert conclusion.state is state
    assert conclusion.message == (f"{message}{SENTENCE.sentence}" if message else "")


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (ended("finished"), FailureReason.UNPROVED),
        (ended("lost"), FailureReason.LOST_RUNNER),
        (ended("failed", FailureReason.CONFLICT), FailureReason.CONFLICT),
        (make_job(), FailureReason.LOST_RUNNER),
    ],
)
def test_a_removal_without_a_report_fails_with_what_is_known(
    job: Job, reason: FailureReason
) -> None:
    conclusion = conclude_unreported(job, "No report.")
    assert (conclusion.state, conclusion.reason, conclusion.message) == (
        JobState.FAILED,
        reason,
        "No report.",
    )
