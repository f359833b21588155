"""Compare the files of an approved orphan list with the storage after their removal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from maintainer.compare.conclusion import Conclusion, conclude
from maintainer.domain.action import Disposal
from maintainer.domain.effect import Effect
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.orphan import FoundFile, OrphanListState
from maintainer.domain.units import format_count, format_size

STATES: Mapping[Disposal, OrphanListState] = {
    Disposal.DELETE: OrphanListState.REMOVED,
    Disposal.QUARANTINE: OrphanListState.QUARANTINED,
    Disposal.RESTORE: OrphanListState.RESTORED,
    Disposal.EMPTY: OrphanListState.EMPTIED,
}
PARTICIPLES: Mapping[Disposal, str] = {
    Disposal.DELETE: "deleted",
    Disposal.QUARANTINE: "in quarantine",
    Disposal.RESTORE: "brought back",
    Disposal.EMPTY: "deleted from the quarantine",
}


@dataclass(frozen=True, slots=True)
class RemovalProof:
    """The state in the storage of the files given to Spark and of the files the table references.

    Paths are spelled as the table's location is.
    """

    removed: tuple[FoundFile, ...]
    left: tuple[str, ...]  # not referenced, and still present
    alive: tuple[str, ...]  # referenced and present
    lost: tuple[str, ...]  # referenced, given to Spark, and not present
    missing: tuple[str, ...]  # referenced, never given to Spark, and not present
    reached: int  # number of referenced files that were looked for
    is_sample: bool  # True if the proof looked only for a part of the given files


def measure_removal(effect: Effect, disposal: Disposal, proof: RemovalProof) -> Effect:
    """Add the files that are gone, or restored, to the effect, with a sentence."""
    count, size = len(proof.removed), sum(file.size_bytes or 0 for file in proof.removed)
    is_back = disposal is Disposal.RESTORE
    counted = (
        replace(effect, orphans_restored=count)
        if is_back
        else replace(effect, orphans_removed=count, orphan_bytes_removed=size)
    )
    least = "at least " if proof.is_sample else ""
    text = (
        f"{least}{format_count(count, 'orphan file')} of {format_size(size)} "
        f"{'is' if count == 1 else 'are'} {PARTICIPLES[disposal]}"
    )
    text += (
        f"; {proof.reached:,} files that the table references were checked" if proof.reached else ""
    )
    for paths, words in (
        (proof.alive, "were kept, because the table references them now"),
        (proof.left, "still exist, although nothing references them"),
        (proof.missing, "that the table references were not on the list and do not exist"),
    ):
        text += f"; {len(paths):,} {words}, the first: {paths[0]}" if paths else ""
    return replace(counted, sentence=f"{text[0].upper()}{text[1:]}.")


def conclude_removal(
    job: Job, effect: Effect, proof: RemovalProof, *, is_reported: bool
) -> Conclusion:
    """The final state; `is_reported`: Spark listed the referenced files."""
    kind = job.outcome.kind if job.outcome is not None else "lost"
    if proof.lost:
        message = (
            f"{len(proof.lost):,} files are missing that the table references or the quarantine "
            f"should have, the first: {proof.lost[0]}"
        )
        return Conclusion(
            JobState.FAILED,
            FailureReason.UNPROVED,
            f"{message}; no further job starts on this table",
        )
    if kind == "lost":
        message = f"Spark was lost; the next job checks the rest of the list. {effect.sentence}"
        reason = job.outcome.reason if job.outcome is not None else None
        asked = Conclusion(JobState.CANCELLED, None, message)
        return (
            asked
            if job.cancel_requested_by
            else Conclusion(JobState.FAILED, reason or FailureReason.LOST_RUNNER, message)
        )
    if kind != "finished":
        return conclude(job, effect)
    if not is_reported:
        return Conclusion(
            JobState.FAILED,
            FailureReason.UNPROVED,
            f"Spark did not report which files the table references. {effect.sentence}",
        )
    if proof.left:
        return Conclusion(
            JobState.FAILED,
            FailureReason.UNPROVED,
            f"Spark reported success, and its log has the reason why files are left. "
            f"{effect.sentence}",
        )
    return Conclusion(JobState.SUCCEEDED)


def conclude_unreported(job: Job, sentence: str) -> Conclusion:
    """The final state of a removal of which Spark left no report."""
    if job.outcome is not None and job.outcome.kind == "finished":
        return Conclusion(JobState.FAILED, FailureReason.UNPROVED, sentence)
    reason = job.outcome.reason if job.outcome is not None else None
    return Conclusion(JobState.FAILED, reason or FailureReason.LOST_RUNNER, sentence)
