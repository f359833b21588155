"""What an action would achieve: Iceberg's own planning, recomputed from health.

Sources: Iceberg's BinPackRewriteFilePlanner and SizeBasedFileRewritePlanner, RewriteManifestsSparkAction, RemoveSnapshots.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from maintainer.domain.health import PartitionHealth, SnapshotStamp, TableHealth
from maintainer.domain.inventory import LARGE_FILE_RATIO, SMALL_FILE_RATIO, Ref
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import Rule

DEFAULT_MIN_INPUT_FILES = 5  # Iceberg: min-input-files
# Manifests are worth rewriting when there are at least twice as many as needed.
MANIFEST_EXCESS_FACTOR = 2
FOLDED_REMAINDER_RATIO = 1.1  # Iceberg: a remainder is folded into the others while they stay under 1.1 x target


@dataclass(frozen=True, slots=True)
class _Group:
    """The candidates of one partition, as Iceberg's planner sees them."""

    files: int
    bytes: int


def estimate_rewrite_data_files(health: TableHealth, rule: Rule) -> Estimate:
    """Candidates, groups and output files per partition, by the planner's rules; files_removed counts only groups that get fewer files."""
    options = dict(rule.options)
    target = int(options.get("target-file-size-bytes", health.target_file_size_bytes))
    min_input_files = int(options.get("min-input-files", DEFAULT_MIN_INPUT_FILES))
    takes_all = options.get("rewrite-all", "false") == "true"
    large_above = int(options.get("max-file-size-bytes", int(target * LARGE_FILE_RATIO)))
    small_below = int(options.get("min-file-size-bytes", int(target * SMALL_FILE_RATIO)))
    kept = [g for g in _group_candidates(health, takes_all=takes_all) if takes_all or _is_worth_rewriting(g, min_input_files, target, large_above)]
    outputs = [min(group.files, _count_outputs(group.bytes, target, small_below, large_above)) for group in kept]
    changed = [(group, output) for group, output in zip(kept, outputs, strict=True) if output < group.files]
    return Estimate(
        items_before=sum(group.files for group in kept),
        items_after=sum(outputs),
        items_removed=sum(group.files - output for group, output in changed),
        bytes_rewritten=sum(group.bytes for group in kept),
        partitions=len(kept),
        note="an upper bound: the filter is not applied in the estimate" if rule.where else "",
    )


def _group_candidates(health: TableHealth, *, takes_all: bool) -> Iterable[_Group]:
    files: dict[tuple[int, str], int] = defaultdict(int)
    sizes: dict[tuple[int, str], int] = defaultdict(int)
    for partition in health.partitions:
        # Files of another spec than the current one all fall in one group: Iceberg cannot place them before it has read them.
        key = (partition.spec_id, partition.partition) if partition.spec_id == health.default_spec_id else (-1, "")
        count, size = _candidates(partition, takes_all=takes_all)
        files[key] += count
        sizes[key] += size
    return [_Group(files[key], sizes[key]) for key in files if files[key]]


def _candidates(partition: PartitionHealth, *, takes_all: bool) -> tuple[int, int]:
    if takes_all:
        return partition.data_files, partition.data_bytes
    return partition.small_files + partition.large_files, partition.small_bytes + partition.large_bytes


def _is_worth_rewriting(group: _Group, min_input_files: int, target: int, large_above: int) -> bool:
    has_enough_files = group.files > 1 and group.files >= min_input_files
    has_enough_content = group.files > 1 and group.bytes > target
    has_too_much_content = group.bytes > large_above
    return has_enough_files or has_enough_content or has_too_much_content


def _count_outputs(size: int, target: int, small_below: int, large_above: int) -> int:
    if size < target:
        return 1
    whole, remainder = divmod(size, target)
    if remainder > small_below:
        return whole + 1
    # Iceberg's writeMaxFileSize: halfway between the target and the upper bound.
    write_max = target + (large_above - target) // 2
    if size / whole < min(FOLDED_REMAINDER_RATIO * target, write_max):
        return whole
    return whole + bool(remainder)


@dataclass(frozen=True, slots=True)
class ManifestEstimate:
    """What rewriting the manifests of one spec would achieve."""

    spec_id: int
    estimate: Estimate


def estimate_rewrite_manifests(health: TableHealth) -> ManifestEstimate | None:
    """The spec whose manifests exceed their ideal number most, one where a rewrite pays before any other; None when the table has no manifest."""
    by_spec: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for group in health.manifest_groups:
        ideal = -(-group.bytes // health.target_manifest_size_bytes) if group.count else 0
        by_spec[group.spec_id].append((group.count, min(group.count, max(1, ideal)), group.bytes))
    estimates = []
    for spec_id, groups in by_spec.items():
        before, after, size = (sum(column) for column in zip(*groups, strict=True))
        estimates.append(ManifestEstimate(spec_id, Estimate(before, after, before - after, size, partitions=len(groups))))
    return max(estimates, key=lambda e: (is_manifest_rewrite_worthwhile(e.estimate), e.estimate.items_removed, -e.spec_id), default=None)


def is_manifest_rewrite_worthwhile(estimate: Estimate) -> bool:
    """True when there are so many more manifests than needed that rewriting them pays."""
    return estimate.items_removed > 0 and estimate.items_before >= MANIFEST_EXCESS_FACTOR * max(1, estimate.items_after)


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
    for ref in _live_refs(health, by_id, now):
        # A tag refers to its snapshot alone: what lies before it on no branch goes by age.
        referenced.update(_ancestors(ref.snapshot_id, by_id) if ref.is_branch else [ref.snapshot_id])
        retained.update(_retained_by(ref, by_id, older_than, retain_last, now))
    unreferenced = {stamp.snapshot_id for stamp in health.history if stamp.snapshot_id not in referenced and stamp.committed_at >= older_than}
    expired = frozenset(by_id) - retained - unreferenced
    total = len(by_id)
    waiting = [stamp.committed_at for stamp in health.history if stamp.snapshot_id not in expired and stamp.committed_at >= older_than]
    estimate = Estimate(total, total - len(expired), len(expired), 0)
    return ExpiryEstimate(estimate, expired, min(waiting) if len(waiting) > retain_last else None)


def _live_refs(health: TableHealth, by_id: Mapping[int, SnapshotStamp], now: datetime) -> list[Ref]:
    """Refs that expiry keeps; a table without refs (format version 1) has its current snapshot as main."""
    refs = [ref for ref in health.refs if not _is_ref_expired(ref, by_id, now)]
    if health.snapshot_id is not None and not any(ref.name == "main" for ref in refs):
        refs.append(Ref("main", health.snapshot_id, is_branch=True))
    return refs


def _is_ref_expired(ref: Ref, by_id: Mapping[int, SnapshotStamp], now: datetime) -> bool:
    stamp = by_id.get(ref.snapshot_id)
    if ref.name == "main":
        return False
    if stamp is None:
        return True
    return ref.max_ref_age_ms is not None and now - stamp.committed_at > timedelta(milliseconds=ref.max_ref_age_ms)


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
