"""Who may still need a snapshot, from the snapshot's own summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from maintainer.domain.health import SnapshotRole, SnapshotStamp
from maintainer.domain.inventory import Snapshot
from maintainer.domain.units import read_whole

WAP_ID = "wap.id"
PUBLISHED_WAP_ID = "published-wap-id"
FLINK_JOB_ID = "flink.job-id"
FLINK_OPERATOR_ID = (
    "flink.operator-id"  # of a sink: Flink restores each from the last checkpoint with both ids
)
FLINK_CHECKPOINT_ID = "flink.max-committed-checkpoint-id"
EQUALITY_CONVERT_STAGING = "equality-convert-staging-snapshot"


def stamp_snapshots(snapshots: Iterable[Snapshot]) -> tuple[SnapshotStamp, ...]:
    """The snapshots as stamps for expiry, in the given order."""
    every = tuple(snapshots)
    published = {
        snapshot.summary[PUBLISHED_WAP_ID]
        for snapshot in every
        if PUBLISHED_WAP_ID in snapshot.summary
    }
    return tuple(_stamp(snapshot, published) for snapshot in every)


def _stamp(snapshot: Snapshot, published: set[str]) -> SnapshotStamp:
    role, role_of = _find_role(snapshot.summary, published)
    removed = snapshot.summary.get("removed-files-size", "")
    # A writer that removes nothing leaves the key out. Without any summary, anything may have been
    # removed.
    removed_bytes = 0 if snapshot.summary and not removed else read_whole(removed)
    return SnapshotStamp(
        snapshot.snapshot_id,
        snapshot.parent_id,
        snapshot.committed_at,
        removed_bytes,
        role,
        role_of,
    )


def _find_role(summary: Mapping[str, str], published: set[str]) -> tuple[SnapshotRole | None, str]:
    if EQUALITY_CONVERT_STAGING in summary:
        return SnapshotRole.MARKER, summary[EQUALITY_CONVERT_STAGING]
    if FLINK_CHECKPOINT_ID in summary:
        job, operator = summary.get(FLINK_JOB_ID, ""), summary.get(FLINK_OPERATOR_ID)
        return SnapshotRole.CHECKPOINT, job if operator is None else f"{job}, operator {operator}"
    if WAP_ID in summary and summary[WAP_ID] not in published:
        return SnapshotRole.STAGED, summary[WAP_ID]
    return None, ""
