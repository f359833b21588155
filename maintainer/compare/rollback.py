"""Check that a table is as it was before the job that was rolled back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from maintainer.compare.conclusion import Conclusion
from maintainer.domain.effect import Effect, Measurement, RowProof
from maintainer.domain.inventory import Snapshot, TableInventory
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.rollback import RollBack
from maintainer.domain.units import format_number
from maintainer.measure.history import name_writer, walk_back


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
    """A commit on top of the undone snapshot that is neither on main nor on any ref.

    A writer made it after our last check.
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
