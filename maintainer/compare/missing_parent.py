"""Prove rows when the metadata no longer has the snapshot before the job's.

Nessie keeps only the current snapshot, and other jobs may expire older ones meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from maintainer.compare.row_proof import prove_rows
from maintainer.domain.effect import RowProof
from maintainer.domain.inventory import Snapshot
from maintainer.domain.job import Baseline


def prove_rows_since(
    baseline: Baseline,
    own: Sequence[Snapshot],
    snapshots: Sequence[Snapshot],
    counted: Mapping[int, int | None],
) -> RowProof:
    """Like prove_rows(); the baseline's totals replace a snapshot that is gone."""
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
    # If somebody may have committed in between, a difference proves nothing.
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
        summary["total-equality-deletes"] = "1"  # a lower bound: any number of rows may be deleted
    return Snapshot(
        baseline.snapshot_id,
        None,
        baseline.sequence_number,
        baseline.newest_snapshot_at,
        "",
        summary,
    )


def _follows(snapshot: Snapshot, baseline: Baseline) -> bool:
    """True when nobody committed between the baseline and the snapshot."""
    if snapshot.parent_id is not None:
        return snapshot.parent_id == baseline.snapshot_id
    return baseline.sequence_number > 0 and snapshot.sequence_number == baseline.sequence_number + 1
