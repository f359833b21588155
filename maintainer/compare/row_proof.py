"""The proof that a job's own commits lost no row and added none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from maintainer.domain.effect import RowProof
from maintainer.domain.inventory import Snapshot
from maintainer.domain.job import Baseline
from maintainer.domain.units import read_whole

# Besides comparing summaries, rows are counted if at most so many bytes must be read for that.
COUNT_LIMIT_BYTES = 2 * 1024**3


def read_figure(snapshot: Snapshot, key: str) -> int | None:
    """Read a whole number from a snapshot's summary; None when it is missing or malformed."""
    return read_whole(snapshot.summary.get(key, ""))


def prove_rows(
    own: Sequence[Snapshot], snapshots: Iterable[Snapshot], counted: Mapping[int, int | None]
) -> RowProof:
    """Compare the rows of each of the job's snapshots with the rows of its parent.

    `counted` has the live rows by snapshot id for the snapshots that rows_to_count() returned;
    None if they could not be counted.
    """
    if not own:
        return RowProof.NOT_NEEDED
    by_id = {snapshot.snapshot_id: snapshot for snapshot in snapshots}
    proofs = {_prove_commit(snapshot, by_id, counted) for snapshot in own}
    return next(proof for proof in _WORST_FIRST if proof in proofs)


_WORST_FIRST = (
    RowProof.DIFFERENT,
    RowProof.UNKNOWN,
    RowProof.BOUNDED,
    RowProof.COUNTED,
    RowProof.EQUAL,
)


def _prove_commit(
    snapshot: Snapshot, by_id: Mapping[int, Snapshot], counted: Mapping[int, int | None]
) -> RowProof:
    parent = by_id.get(snapshot.parent_id) if snapshot.parent_id is not None else None
    if parent is None:
        return RowProof.UNKNOWN
    proof = _compare_summaries(parent, snapshot)
    before, after = counted.get(parent.snapshot_id), counted.get(snapshot.snapshot_id)
    if proof in (RowProof.EQUAL, RowProof.DIFFERENT) or before is None or after is None:
        return proof
    return RowProof.COUNTED if before == after else RowProof.DIFFERENT


def _compare_summaries(parent: Snapshot, snapshot: Snapshot) -> RowProof:
    before, after = read_figure(parent, "total-records"), read_figure(snapshot, "total-records")
    if before is None or after is None:
        return RowProof.UNKNOWN
    deletes = (
        read_figure(parent, "total-delete-files"),
        read_figure(snapshot, "total-delete-files"),
    )
    if not any(deletes):
        if before == after:
            return RowProof.EQUAL
        # A writer that does not count delete files may have written some, and applying them
        # removes records.
        return RowProof.UNKNOWN if None in deletes else RowProof.DIFFERENT
    # Deletes of a rewritten file that were not applied no longer apply to any file, so its deleted
    # rows come back. The records stay the same then too.
    rewrites = bool(read_figure(snapshot, "deleted-data-files"))
    if before == after and not rewrites and not read_figure(snapshot, "removed-delete-files"):
        return RowProof.EQUAL
    # The rewrite may drop records that were deleted before. One equality delete may delete
    # any number of records.
    removed = before - after
    most = (
        None
        if read_figure(parent, "total-equality-deletes")
        else read_figure(parent, "total-position-deletes") or 0
    )
    if removed < 0 or (most is not None and removed > most):
        return RowProof.DIFFERENT
    return RowProof.BOUNDED


def rows_to_count(own: Sequence[Snapshot], snapshots: Iterable[Snapshot]) -> tuple[int, ...]:
    """The snapshots whose live rows must be counted.

    For these, summaries alone cannot prove that deletes were applied correctly and nothing was
    lost.
    """
    by_id = {snapshot.snapshot_id: snapshot for snapshot in snapshots}
    doubtful = (RowProof.BOUNDED, RowProof.UNKNOWN)
    unsure = [
        snapshot
        for snapshot in own
        if snapshot.parent_id in by_id and _prove_commit(snapshot, by_id, {}) in doubtful
    ]
    chain = list(
        dict.fromkeys(
            end
            for snapshot in unsure
            for end in (snapshot.parent_id, snapshot.snapshot_id)
            if end is not None
        )
    )
    # If nobody else committed between the job's commits, the first parent and the last snapshot
    # are enough.
    is_unbroken = all(later.parent_id == earlier.snapshot_id for earlier, later in pairwise(own))
    return (chain[0], chain[-1]) if chain and is_unbroken else tuple(chain)


def spread_counts(
    own: Sequence[Snapshot], counted: Mapping[int, int | None]
) -> dict[int, int | None]:
    """Assign the count of the first end to every snapshot between the two counted ends.

    A loss then shows at the last snapshot.
    """
    counts = list(counted.values())
    if not counts or None in counts:
        return dict(counted)
    return {snapshot.snapshot_id: counts[0] for snapshot in own} | dict(counted)


def prove_rows_since(
    baseline: Baseline,
    own: Sequence[Snapshot],
    snapshots: Sequence[Snapshot],
    counted: Mapping[int, int | None],
) -> RowProof:
    """Like prove_rows(); the baseline's totals replace a snapshot that no longer exists."""
    proof = prove_rows(own, snapshots, counted)
    known = {snapshot.snapshot_id for snapshot in snapshots}
    orphaned = [snapshot for snapshot in own if snapshot.parent_id not in known]
    before = _recall(baseline)
    if proof is not RowProof.UNKNOWN or len(orphaned) != 1 or before is None:
        return proof
    first = orphaned[0]
    linked = [
        replace(first, parent_id=before.snapshot_id) if snapshot is first else snapshot
        for snapshot in own
    ]
    again = prove_rows(linked, [before, *snapshots], counted)
    # If other commits in between are possible, a difference proves nothing.
    return again if again is RowProof.EQUAL or _follows(first, baseline) else RowProof.UNKNOWN


def _recall(baseline: Baseline) -> Snapshot | None:
    """The snapshot before the job, rebuilt from the baseline.

    It is not known to which rows its deletes applied.
    """
    if baseline.snapshot_id is None or baseline.newest_snapshot_at is None:
        return None
    totals = {
        "total-records": baseline.measurement.records,
        "total-delete-files": baseline.measurement.delete_files,
    }
    summary = {name: str(total) for name, total in totals.items() if total is not None}
    if baseline.measurement.delete_files:
        summary["total-equality-deletes"] = "1"  # not zero: any number of rows may be deleted
    return Snapshot(
        baseline.snapshot_id,
        None,
        baseline.sequence_number,
        baseline.newest_snapshot_at,
        "",
        summary,
    )


def _follows(snapshot: Snapshot, baseline: Baseline) -> bool:
    """True if there was no commit between the baseline and the snapshot."""
    if snapshot.parent_id is not None:
        return snapshot.parent_id == baseline.snapshot_id
    return baseline.sequence_number > 0 and snapshot.sequence_number == baseline.sequence_number + 1
