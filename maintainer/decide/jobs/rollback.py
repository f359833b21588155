"""Whether a table can be set back to the state before a job without losing other commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from maintainer.domain.action import RollBack, rollback_tag
from maintainer.domain.inventory import Snapshot, TableInventory
from maintainer.domain.job import Job
from maintainer.domain.units import format_count

MAX_NAMED: Final = 5  # commits that would be lost


def judge_rollback(job: Job, inventory: TableInventory) -> RollBack | str:
    """The rollback of a job, or why it is impossible."""
    if not job.state.is_final:
        return f"job {job.job_id} is {job.state}; it can be rolled back when it has ended"
    if not job.is_rewrite:
        return f"job {job.job_id} ran {job.action.procedure}, and only rewrites can be rolled back"
    if (
        job.baseline is None
        or job.baseline.snapshot_id is None
        or job.effect is None
        or not job.effect.own_snapshot_ids
    ):
        return f"job {job.job_id} has committed nothing: there is nothing to roll back"
    if inventory.table_uuid != job.table_uuid:
        return (
            f"the table was replaced: its UUID was {job.table_uuid} when job {job.job_id} ran and "
            f"is {inventory.table_uuid} now"
        )
    return _judge_line(
        job,
        _find_target(job.baseline.snapshot_id, job.effect.own_snapshot_ids, inventory),
        job.effect.own_snapshot_ids,
        inventory,
    )


def refuse_rollback(action: RollBack, current_snapshot_id: int | None) -> str | None:
    """Why a rollback must not start now; None when main has not changed since the request."""
    if current_snapshot_id == action.expected_snapshot_id:
        return None
    return (
        f"main has changed from snapshot {action.expected_snapshot_id} to {current_snapshot_id} "
        f"since the rollback was requested: that commit would be lost"
    )


def _find_target(baseline_id: int, own_ids: Sequence[int], inventory: TableInventory) -> int:
    """Main's head right before the job's first commit.

    Commits of others after the job's submission are kept.
    """
    by_id = {snapshot.snapshot_id: snapshot for snapshot in inventory.snapshots}
    parent_id = by_id[own_ids[0]].parent_id if own_ids[0] in by_id else None
    return (
        parent_id
        if parent_id is not None and _line_between(by_id, parent_id, baseline_id) is not None
        else baseline_id
    )


def _judge_line(
    job: Job, target: int, own_ids: Sequence[int], inventory: TableInventory
) -> RollBack | str:
    by_id = {snapshot.snapshot_id: snapshot for snapshot in inventory.snapshots}
    current = inventory.current_snapshot_id
    if target not in by_id:
        until = (
            f"; tag {rollback_tag(job.job_id)} kept it until the tag expired"
            if job.safeguards.rollback_for
            else "; it had no tag"
        )
        return f"snapshot {target}, the one before job {job.job_id}, no longer exists{until}"
    if current is None or current == target:
        return f"main is already at snapshot {target}, as before job {job.job_id}"
    line = _line_between(by_id, current, target)
    if line is None:
        return (
            f"snapshot {target} is not an ancestor of snapshot {current}, where main is now: main "
            f"was set to another snapshot since"
        )
    if not {snapshot.snapshot_id for snapshot in line} & set(own_ids):
        return f"the commits of job {job.job_id} are no longer part of main"
    others = [snapshot for snapshot in line if not _is_ours(snapshot, job)]
    if others:
        return (
            f"{_name_commits(others)} would be lost: "
            f"{'it is' if len(others) == 1 else 'they are'} newer than snapshot {target}"
        )
    return RollBack(target, job.job_id, current)


def _line_between(by_id: Mapping[int, Snapshot], newest: int, oldest: int) -> list[Snapshot] | None:
    """Snapshots from the newest back to the oldest, which is excluded.

    None when the oldest is not an ancestor.
    """
    line: list[Snapshot] = []
    seen: set[int] = set()
    current: int | None = newest
    while current is not None and current in by_id and current not in seen and current != oldest:
        seen.add(current)
        line.append(by_id[current])
        current = by_id[current].parent_id
    return line if current == oldest else None


def _is_ours(snapshot: Snapshot, job: Job) -> bool:
    """True for a rewrite by this job or a later job of this program; a rewrite adds no rows."""
    return snapshot.operation == "replace" and snapshot.summary.get("app-name") == job.application


def _name_commits(others: Sequence[Snapshot]) -> str:
    named = ", ".join(
        (
            f"{snapshot.snapshot_id} ({snapshot.operation or 'unknown'} by "
            f"{snapshot.summary.get('app-name') or 'unnamed'})"
        )
        for snapshot in others[:MAX_NAMED]
    )
    more = f" and {len(others) - MAX_NAMED} more" if len(others) > MAX_NAMED else ""
    return f"{format_count(len(others), 'commit')} of others, {named}{more},"
