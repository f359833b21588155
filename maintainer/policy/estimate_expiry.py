"""Which snapshots expire_snapshots would drop, simulated on the table's history. Source: Iceberg's RemoveSnapshots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from maintainer.domain.health import SnapshotStamp, TableHealth
from maintainer.domain.inventory import Ref
from maintainer.domain.plan import Estimate

_LONGEST_AGE_MS = 10**14  # three thousand years: what is beyond means for ever, and no calendar has it


@dataclass(frozen=True, slots=True)
class ExpiryEstimate:
    """Which snapshots expiry would drop, and when the oldest of those that are kept only by their age was committed."""

    estimate: Estimate
    expired: frozenset[int]
    oldest_waiting_at: datetime | None


def estimate_expire_snapshots(health: TableHealth, older_than: datetime, retain_last: int, now: datetime) -> ExpiryEstimate:
    """Simulates RemoveSnapshots on the table's history: branches, tags, ages and unreferenced snapshots."""
    by_id = {stamp.snapshot_id: stamp for stamp in health.history}
    retained: set[int] = set()
    referenced: set[int] = set()
    for ref in _live_refs(health, now):
        # A tag refers to its snapshot alone: what lies before it on no branch goes by age.
        referenced.update(_ancestors(ref.snapshot_id, by_id) if ref.is_branch else [ref.snapshot_id])
        retained.update(_retained_by(ref, by_id, older_than, retain_last, now))
    unreferenced = {stamp.snapshot_id for stamp in health.history if stamp.snapshot_id not in referenced and stamp.committed_at >= older_than}
    expired = frozenset(by_id) - retained - unreferenced
    total = len(by_id)
    waiting = [stamp.committed_at for stamp in health.history if stamp.snapshot_id not in expired and stamp.committed_at >= older_than]
    estimate = Estimate(total, total - len(expired), len(expired), 0)
    return ExpiryEstimate(estimate, expired, min(waiting) if len(waiting) > retain_last else None)


def _live_refs(health: TableHealth, now: datetime) -> list[Ref]:
    """Refs that expiry keeps; a table without refs (format version 1) has its current snapshot as main."""
    refs = [ref for ref in health.refs if not is_ref_expired(ref, health, now)]
    if health.snapshot_id is not None and not any(ref.name == "main" for ref in refs):
        refs.append(Ref("main", health.snapshot_id, is_branch=True))
    return refs


def is_ref_expired(ref: Ref, health: TableHealth, now: datetime) -> bool:
    """Whether a branch or tag goes: its snapshot is gone, or older than the ref itself or the table allows. Main never does."""
    if ref.name == "main":
        return False
    stamp = next((stamp for stamp in health.history if stamp.snapshot_id == ref.snapshot_id), None)
    if stamp is None:
        return True
    limit = ref.max_ref_age_ms if ref.max_ref_age_ms is not None else _default_ref_age_ms(health)
    return limit is not None and now - stamp.committed_at > timedelta(milliseconds=limit)


def _default_ref_age_ms(health: TableHealth) -> int | None:
    text = health.properties.get("history.expire.max-ref-age-ms", "").strip()
    return int(text) if text.isdecimal() and int(text) <= _LONGEST_AGE_MS else None


def _ancestors(snapshot_id: int, by_id: Mapping[int, SnapshotStamp]) -> Iterable[int]:
    current: int | None = snapshot_id
    seen: set[int] = set()
    while current is not None and current in by_id and current not in seen:
        seen.add(current)
        yield current
        current = by_id[current].parent_id


def _retained_by(ref: Ref, by_id: Mapping[int, SnapshotStamp], older_than: datetime, retain_last: int, now: datetime) -> Iterable[int]:
    if not ref.is_branch:
        yield ref.snapshot_id
        return
    keep = ref.min_snapshots_to_keep if ref.min_snapshots_to_keep is not None else retain_last
    cutoff = now - timedelta(milliseconds=ref.max_snapshot_age_ms) if ref.max_snapshot_age_ms is not None else older_than
    for count, snapshot_id in enumerate(_ancestors(ref.snapshot_id, by_id)):
        # Iceberg walks back from the head and stops at the first snapshot that is both surplus and old.
        if count >= keep and by_id[snapshot_id].committed_at < cutoff:
            return
        yield snapshot_id
