"""Flink restores each operator of a job by the last checkpoint that bears both ids; expiry keeps
each of them.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.domain.health import TableHealth
from maintainer.domain.rules import ExpireSnapshotsRule
from maintainer.estimate.retained_snapshots import find_keepers, preview_expiry
from maintainer.measure.health import measure
from tests.samples import NOW, inventory, snapshot

DAY = timedelta(days=1)
RULE = ExpireSnapshotsRule(max_age=DAY, keep=2)


def by_flink(checkpoint: int, operator: str | None = None, job: str = "orders") -> dict[str, str]:
    """A snapshot's summary as Iceberg's Flink sink writes it; old ones name no operator."""
    summary = {"flink.job-id": job, "flink.max-committed-checkpoint-id": str(checkpoint)}
    return summary if operator is None else summary | {"flink.operator-id": operator}


def measured(*summaries: dict[str, str]) -> TableHealth:
    """A line of snapshots, ten hours apart, snapshot 1 the oldest."""
    count = len(summaries)
    made = [snapshot(n, summary=summary) for n, summary in enumerate(summaries, start=1)]
    dated = tuple(
        replace(one, committed_at=NOW - timedelta(hours=10 * (count - n)), parent_id=n or None)
        for n, one in enumerate(made)
    )
    return measure(inventory(snapshots=dated))


def gone(health: TableHealth) -> list[int]:
    return [stamp.snapshot_id for stamp in preview_expiry(health, RULE, (), NOW).snapshots]


def kept(health: TableHealth) -> list[tuple[int, str]]:
    return sorted(
        (keeper.snapshot_id, keeper.reason) for keeper in find_keepers(health, RULE, (), NOW)
    )


def test_guard_11_the_last_checkpoint_of_each_operator_of_a_flink_job_stays() -> None:
    appends = [{"operation": "append"}] * 4
    health = measured(
        {},
        {},
        by_flink(7, "sink-a"),
        by_flink(7, "sink-b"),
        by_flink(8, "sink-b"),
        by_flink(9, "sink-b"),
        *appends,
    )
    assert kept(health) == [
        (3, "the last checkpoint of Flink job orders, operator sink-a"),
        (6, "the last checkpoint of Flink job orders, operator sink-b"),
    ]
    assert gone(health) == [1, 2]


def test_a_checkpoint_without_an_operator_is_kept_beside_those_that_name_one() -> None:
    health = measured({}, by_flink(6), by_flink(7, "sink-a"), {}, {}, {}, {})
    assert kept(health) == [
        (2, "the last checkpoint of Flink job orders"),
        (3, "the last checkpoint of Flink job orders, operator sink-a"),
    ]


def test_a_checkpoint_that_was_rolled_back_does_not_stand_in_for_the_one_before() -> None:
    health = measured({}, by_flink(6, "sink-a"), by_flink(7, "sink-a"), {}, {}, {}, {})
    assert kept(health)[0][0] == 3
    rolled_back = tuple(
        replace(stamp, parent_id=2) if stamp.snapshot_id == 4 else stamp for stamp in health.history
    )
    assert kept(replace(health, history=rolled_back))[0][0] == 2
