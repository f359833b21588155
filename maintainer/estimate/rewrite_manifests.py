"""The gain of rewrite_manifests, for each partition spec.

Source: Iceberg's RewriteManifestsSparkAction.
"""

from __future__ import annotations

from dataclasses import dataclass

from maintainer.domain.health import ManifestGroup, TableHealth
from maintainer.domain.inventory import ManifestContent
from maintainer.domain.plan import Estimate
from maintainer.estimate.output_files import Count

# Manifests are worth rewriting when there are at least twice as many as needed.
MANIFEST_EXCESS_FACTOR = 2
_ROLLING_FACTOR = 1.2  # Iceberg: a new manifest begins at this multiple of the target


@dataclass(frozen=True, slots=True)
class ManifestEstimate:
    """The effect of rewriting one spec's manifests."""

    spec_id: int
    estimate: Estimate


def estimate_rewrite_manifests(health: TableHealth) -> ManifestEstimate | None:
    """The spec with the most manifests above the ideal number.

    A spec with a worthwhile rewrite comes first. None when the table has no manifest.
    """
    estimates = [
        ManifestEstimate(spec_id, estimate_spec(health, spec_id))
        for spec_id in {group.spec_id for group in health.manifest_groups}
    ]
    return max(
        estimates,
        key=lambda e: (
            is_manifest_rewrite_worthwhile(e.estimate),
            e.estimate.items_removed,
            -e.spec_id,
        ),
        default=None,
    )


def estimate_spec(health: TableHealth, spec_id: int) -> Estimate:
    """Manifests of one spec, in and out; data and delete manifests are counted separately.

    A single manifest that needs no split stays.
    """
    rewritten = [
        (group, _count_written(group, health))
        for group in health.manifest_groups
        if group.spec_id == spec_id and group.count
    ]
    rewritten = [
        (group, written)
        for group, written in rewritten
        if group.count > 1 or _count_needed(group, health) > 1
    ]
    after = sum(written.expected for _, written in rewritten)
    before = sum(group.count for group, _ in rewritten)
    error = sum(
        max(written.expected - written.least, written.most - written.expected)
        for _, written in rewritten
    )
    return Estimate(
        items_before=before,
        items_after=after,
        items_removed=max(0, before - after),
        bytes_rewritten=sum(group.bytes for group, _ in rewritten),
        partitions=len(rewritten),
        note=(
            "the size of a manifest and the distribution of its entries are known only after it "
            "is written"
        )
        if error
        else "",
        error_bound=error,
    )


def _count_needed(group: ManifestGroup, health: TableHealth) -> int:
    return max(1, -(-group.bytes // health.target_manifest_size_bytes))


def _count_written(group: ManifestGroup, health: TableHealth) -> Count:
    """The number of manifests written: one per task with entries.

    It is more where a task's entries exceed one manifest.
    """
    is_of_data = group.content is ManifestContent.DATA
    if not any(
        p.data_files if is_of_data else p.delete_files
        for p in health.partitions
        if p.spec_id == group.spec_id
    ):
        return Count.exactly(0)  # only removed entries, which Iceberg does not write again
    needed = _count_needed(group, health)
    if needed == 1:
        return Count.exactly(1)
    partitions = sum(
        bool(p.data_files if is_of_data else p.delete_files)
        for p in health.partitions
        if p.spec_id == group.spec_id and p.partition
    )
    # Tasks get ranges of partitions, so at most so many tasks have entries as there are partitions.
    tasks = min(needed, partitions) if partitions else needed
    rolled = -(-group.bytes // int(health.target_manifest_size_bytes * _ROLLING_FACTOR))
    return Count(max(tasks, rolled), 1, tasks + rolled)


def is_manifest_rewrite_worthwhile(estimate: Estimate) -> bool:
    """True when rewriting removes enough manifests to be worthwhile."""
    return estimate.items_removed > 0 and estimate.items_before >= MANIFEST_EXCESS_FACTOR * max(
        1, estimate.items_after
    )
