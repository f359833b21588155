"""What rewrite_manifests would achieve, per partition spec. Source: Iceberg's RewriteManifestsSparkAction."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Estimate

# Manifests are worth rewriting when there are at least twice as many as needed.
MANIFEST_EXCESS_FACTOR = 2


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
