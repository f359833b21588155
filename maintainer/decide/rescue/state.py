"""The health of a table after a job, as the estimate of the job predicts it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from maintainer.domain.action import rollback_tag
from maintainer.domain.health import SnapshotStamp, TableHealth
from maintainer.domain.inventory import Ref
from maintainer.domain.pin import Pin
from maintainer.domain.plan import PlannedAction
from maintainer.domain.policy import Policy
from maintainer.procedures.procedure import Situation
from maintainer.procedures.registry import chapter_of

# Each field of a health is in one of these sets, or predicted: here, or by a chapter of procedures.
# What a job does not change, or not enough to matter in a rescue plan.
KEPT = frozenset({
    "table", "table_uuid", "format_version", "location", "metadata_location", "properties",
    "target_file_size_bytes", "target_manifest_size_bytes", "default_spec_id", "is_partitioned",
    "sort_order", "specs", "columns", "column_types", "paths", "unreadable", "formats",
    "records", "branches", "tags", "metadata_bytes", "metadata_files",
    "statistics_snapshot_id", "partition_statistics_snapshot_id",
    "commits_per_hour", "commit_window_seconds", "commit_gap_seconds", "writers",
    "growth_bytes_per_day", "growth_records_per_day", "last_write_at", "last_change_at",
    "rewriters", "wrong_summaries", "wrong_summary", "lost_deletes", "lost_delete",
})  # fmt: skip
# What is known only after the next measurement, with the value of an unknown figure.
UNKNOWN: Mapping[str, object] = {
    "histogram": (),
    "histogram_bytes": (),
    "manifest_bytes": None,
    "data_manifests": None,
    "delete_manifests": None,
    "oldest_delete_at": None,
    "partition_skew": None,
    "kept_data_files": None,
    "live_file_ratio": None,
    "storage_files": None,
    "directories": None,
    "ref_retention": (),
    "disagreements": (),
}


def predict_health(
    health: TableHealth,
    planned: PlannedAction,
    policy: Policy,
    at: datetime,
    pins: Iterable[Pin] = (),
) -> TableHealth:
    """The health after a planned job that ends at this time, if nobody else writes meanwhile."""
    chapter = chapter_of(planned.action.procedure)
    rule = policy.rule(chapter.rule) or chapter.rule()
    changed = chapter.predict_health(
        health, rule, planned.action, planned.estimate, Situation(at, pins=tuple(pins))
    )
    if changed is None:
        return health
    return _forget(_commit(changed, policy, at) if chapter.items else changed)


def _forget(health: TableHealth) -> TableHealth:
    """The table with the figures that only a measurement can give as unknown."""
    return replace(health, **UNKNOWN)  # type: ignore[arg-type]


def _commit(health: TableHealth, policy: Policy, at: datetime) -> TableHealth:
    """The table with one more snapshot on main, and the policy's tag for a rollback."""
    before = health.snapshot_id
    snapshot_id = max([before or 0, *(stamp.snapshot_id for stamp in health.history)]) + 1
    refs = [
        replace(ref, snapshot_id=snapshot_id) if ref.name == "main" else ref for ref in health.refs
    ]
    kept_for = policy.safeguards.rollback_for
    if kept_for and before is not None:
        age = round(kept_for.total_seconds() * 1000)
        refs.append(Ref(rollback_tag(f"step-{snapshot_id}"), before, False, age))  # noqa: FBT003
    return replace(
        health,
        snapshot_id=snapshot_id,
        snapshots=health.snapshots + 1,
        newest_snapshot_at=at,
        measured_at=at,
        history=(*health.history, SnapshotStamp(snapshot_id, before, at)),
        refs=tuple(refs),
    )
