"""Check that a table is as before the job that was rolled back, and that a removal kept files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from maintainer.compare.conclusion import Conclusion, conclude
from maintainer.domain.action import Disposal, RollBack
from maintainer.domain.effect import Effect, Measurement, RowProof
from maintainer.domain.inventory import Snapshot, TableInventory
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.orphan import FoundFile, OrphanListState
from maintainer.domain.units import format_count, format_number, format_size
from maintainer.measure.history import name_writer, walk_back

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


def compare_rollback(
    job: Job,
    action: RollBack,
    before: Measurement,
    after: Measurement,
    expected: Measurement | None,
) -> Effect:
    """The effect of a rollback.

    `expected` is the measurement before the job that was undone, None when it is no longer
    known.
    """
    is_there = after.snapshot_id == action.snapshot_id
    differing = (
        tuple(_find_differences(expected, after)) if is_there and expected is not None else ()
    )
    rows = (
        RowProof.UNKNOWN
        if not is_there or expected is None
        else RowProof.DIFFERENT
        if differing
        else RowProof.EQUAL
    )
    if is_there:
        text = (
            f"Main is at snapshot {action.snapshot_id} again, as before job {action.of_job}: "
            f"{format_number(after.records, 'records')} in "
            f"{format_number(after.data_files, 'data files')}."
        )
    else:
        text = f"Main is at snapshot {after.snapshot_id}."
    return Effect(
        before=before,
        after=after,
        own_commits=0,
        other_commits=0,
        files_removed=0,
        delete_files_removed=0,
        manifests_removed=0,
        snapshots_removed=0,
        bytes_rewritten=0,
        duration_seconds=job.duration.total_seconds() if job.duration else None,
        rows=rows,
        rows_before=expected.records if expected is not None else None,
        rows_after=after.records if is_there else None,
        sentence=text,
        failed_proofs=differing,
    )


def _find_differences(expected: Measurement, after: Measurement) -> Iterator[str]:
    for words, was, found in (
        ("records", expected.records, after.records),
        ("data files", expected.data_files, after.data_files),
        ("bytes of data", expected.data_bytes, after.data_bytes),
        ("delete files", expected.delete_files, after.delete_files),
    ):
        if was != found:
            yield (
                f"snapshot {after.snapshot_id} had {was} {words} before the job and has {found} now"
            )


def conclude_rollback(
    job: Job, action: RollBack, effect: Effect, inventory: TableInventory
) -> Conclusion:
    """Decide the final state of a rollback from the table's metadata, not from Spark's report."""
    by_id = {snapshot.snapshot_id: snapshot for snapshot in inventory.snapshots}
    line = {snapshot.snapshot_id for snapshot in walk_back(by_id, inventory.current_snapshot_id)}
    slipped = find_slipped(
        inventory.snapshots, action, line, {ref.snapshot_id for ref in inventory.refs}
    )
    if slipped is not None:
        words = (
            f"snapshot {slipped.snapshot_id} of {name_writer(slipped)} was committed during "
            "the rollback and is on no branch now"
        )
        return Conclusion(
            JobState.FAILED,
            FailureReason.UNPROVED,
            f"{words}; it still exists, and cherrypick_snapshot restores it",
        )
    if effect.failed_proofs:
        return Conclusion(JobState.FAILED, FailureReason.UNPROVED, "; ".join(effect.failed_proofs))
    if action.snapshot_id in line and action.expected_snapshot_id not in line:
        return Conclusion(JobState.SUCCEEDED)
    outcome = job.outcome
    if outcome is None or outcome.kind == "finished":
        result = "its outcome is unknown" if outcome is None else "Spark reported success"
        return Conclusion(
            JobState.FAILED,
            FailureReason.UNPROVED,
            f"{result}, but main is at snapshot {inventory.current_snapshot_id}",
        )
    if outcome.kind == "cancelled":
        return Conclusion(JobState.CANCELLED)
    return Conclusion(
        JobState.FAILED,
        outcome.reason or FailureReason.OTHER,
        outcome.message or "the table is as it was before the rollback",
    )


def find_slipped(
    snapshots: Iterable[Snapshot], action: RollBack, line: set[int], tips: set[int]
) -> Snapshot | None:
    """A commit after the undone snapshot that is neither on main nor on any ref.

    A writer made this commit after the last check.
    """
    after_expected = (
        snapshot for snapshot in snapshots if snapshot.parent_id == action.expected_snapshot_id
    )
    if action.expected_snapshot_id in line:
        return None
    return next(
        (
            snapshot
            for snapshot in after_expected
            if snapshot.snapshot_id not in line | tips and "wap.id" not in snapshot.summary
        ),
        None,
    )
