"""Which snapshots expire_snapshots would remove, simulated on the table's history.

Source: Iceberg's RemoveSnapshots.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from maintainer.domain.health import SnapshotStamp, TableHealth
from maintainer.domain.inventory import Ref
from maintainer.domain.plan import Estimate
from maintainer.domain.units import read_whole

_LONGEST_AGE_MS = 10**13  # 300 years; longer ages mean "for ever", and a date cannot represent them


@dataclass(frozen=True, slots=True)
class ExpiryEstimate:
    """The snapshots that expiry would remove.

    Also the commit time of the oldest snapshot that only its age keeps.
    """

    estimate: Estimate
    expired: frozenset[int]
    oldest_waiting_at: datetime | None


def estimate_expire_snapshots(
    health: TableHealth, older_than: datetime, retain_last: int, now: datetime
) -> ExpiryEstimate:
    """Simulate RemoveSnapshots on branches, tags, ages and unreferenced snapshots."""
    by_id = {stamp.snapshot_id: stamp for stamp in health.history}
    retained: set[int] = set()
    on_branches: set[int] = set()
    tagged: set[int] = set()
    for ref in _live_refs(health, now):
        # A tag keeps only its own snapshot. Its ancestors expire by age if they are on no branch.
        if ref.is_branch:
            _add_line(ref.snapshot_id, by_id, on_branches)
        else:
            tagged.add(ref.snapshot_id)
        retained.update(_retained_by(ref, by_id, older_than, retain_last, now))
    referenced = on_branches | tagged
    unreferenced = {
        stamp.snapshot_id
        for stamp in health.history
        if stamp.snapshot_id not in referenced and stamp.committed_at >= older_than
    }
    expired = frozenset(by_id) - retained - unreferenced
    total = len(by_id)
    waiting = [
        stamp.committed_at
        for stamp in health.history
        if stamp.snapshot_id not in expired and stamp.committed_at >= older_than
    ]
    estimate = Estimate(total, total - len(expired), len(expired), 0)
    return ExpiryEstimate(estimate, expired, min(waiting) if len(waiting) > retain_last else None)


def _live_refs(health: TableHealth, now: datetime) -> list[Ref]:
    """The refs that expiry keeps.

    A table without refs (format version 1) has its current snapshot as main.
    """
    expired = set(find_expired_refs(health, now))
    refs = [ref for ref in health.refs if ref not in expired]
    if health.snapshot_id is not None and not any(ref.name == "main" for ref in refs):
        refs.append(Ref("main", health.snapshot_id, is_branch=True))
    return refs


def find_expired_refs(health: TableHealth, now: datetime) -> tuple[Ref, ...]:
    """The branches and tags that expire.

    Their snapshot is gone, or older than the ref or the table allows. Main never expires.
    """
    committed_at = {stamp.snapshot_id: stamp.committed_at for stamp in health.history}
    default = _default_ref_age_ms(health)

    def is_expired(ref: Ref) -> bool:
        if ref.name == "main":
            return False
        born = committed_at.get(ref.snapshot_id)
        limit = ref.max_ref_age_ms if ref.max_ref_age_ms is not None else default
        return born is None or (
            limit is not None
            and limit <= _LONGEST_AGE_MS
            and now - born > timedelta(milliseconds=limit)
        )

    return tuple(ref for ref in health.refs if is_expired(ref))


def _default_ref_age_ms(health: TableHealth) -> int | None:
    return read_whole(health.properties.get("history.expire.max-ref-age-ms", ""))


def _add_line(snapshot_id: int, by_id: Mapping[int, SnapshotStamp], line: set[int]) -> None:
    """Add a snapshot and its ancestors, stopping at the first that is already there.

    Many branches share most of their snapshots.
    """
    current: int | None = snapshot_id
    while current is not None and current in by_id and current not in line:
        line.add(current)
        current = by_id[current].parent_id


def _ancestors(snapshot_id: int, by_id: Mapping[int, SnapshotStamp]) -> Iterable[int]:
    current: int | None = snapshot_id
    seen: set[int] = set()
    while current is not None and current in by_id and current not in seen:
        seen.add(current)
        yield current
        current = by_id[current].parent_id


def _before(now: datetime, milliseconds: int) -> datetime:
    return (
        now - timedelta(milliseconds=milliseconds)
        if milliseconds <= _LONGEST_AGE_MS
        else datetime.min.replace(tzinfo=now.tzinfo)
    )


def _retained_by(
    ref: Ref,
    by_id: Mapping[int, SnapshotStamp],
    older_than: datetime,
    retain_last: int,
    now: datetime,
) -> Iterable[int]:
    if not ref.is_branch:
        yield ref.snapshot_id
        return
    keep = ref.min_snapshots_to_keep if ref.min_snapshots_to_keep is not None else retain_last
    cutoff = (
        older_than if ref.max_snapshot_age_ms is None else _before(now, ref.max_snapshot_age_ms)
    )
    for count, snapshot_id in enumerate(_ancestors(ref.snapshot_id, by_id)):
        # Iceberg goes back from the head, and stops at the first snapshot that is both surplus and
        # old.
        if count >= keep and by_id[snapshot_id].committed_at < cutoff:
            return
        yield snapshot_id
