from __future__ import annotations

from maintainer.domain.health import SnapshotRole, SnapshotStamp
from maintainer.measure.history import stamp_snapshots
from tests.samples import snapshot


def stamp(summary: dict[str, str], *others: dict[str, str]) -> SnapshotStamp:
    return stamp_snapshots(
        [
            snapshot(1, summary=summary),
            *(snapshot(n, summary=other) for n, other in enumerate(others, start=2)),
        ]
    )[0]


def test_a_staged_snapshot_is_one_until_another_publishes_it() -> None:
    staged = stamp({"wap.id": "audit-7"})
    assert (staged.role, staged.role_of) == (SnapshotRole.STAGED, "audit-7")
    assert stamp({"wap.id": "audit-7"}, {"published-wap-id": "audit-7"}).role is None
    assert stamp({"wap.id": "audit-7"}, {"published-wap-id": "audit-8"}).role is SnapshotRole.STAGED


def test_flinks_checkpoints_and_markers_are_distinguished_from_their_summaries() -> None:
    checkpoint = stamp({"flink.job-id": "j1", "flink.max-committed-checkpoint-id": "12"})
    assert (checkpoint.role, checkpoint.role_of) == (SnapshotRole.CHECKPOINT, "j1")
    sink = stamp(
        {"flink.job-id": "j1", "flink.operator-id": "o2", "flink.max-committed-checkpoint-id": "12"}
    )
    assert (sink.role, sink.role_of) == (SnapshotRole.CHECKPOINT, "j1, operator o2")
    marker = stamp(
        {"equality-convert-staging-snapshot": "99", "flink.max-committed-checkpoint-id": "12"}
    )
    assert (marker.role, marker.role_of) == (SnapshotRole.MARKER, "99")


def test_a_snapshot_without_a_summary_has_unknown_removals_and_others_have_zero() -> None:
    assert stamp({"removed-files-size": "700"}).removed_bytes == 700
    assert stamp({"added-files-size": "700"}).removed_bytes == 0
    assert stamp({"removed-files-size": "many"}).removed_bytes is None
    assert stamp({}).removed_bytes is None
