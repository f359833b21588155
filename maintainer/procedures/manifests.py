"""Manifests of a predicted table, for the chapters that change them."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from maintainer.domain.health import ManifestGroup, TableHealth


def count_needed(health: TableHealth, size: int) -> int:
    """The number of manifests that this many bytes need."""
    return max(1, ceil(size / health.target_manifest_size_bytes))


def with_manifests(health: TableHealth, groups: tuple[ManifestGroup, ...]) -> TableHealth:
    """The table with these groups of manifests."""
    return replace(
        health,
        manifest_groups=groups,
        manifests=sum(group.count for group in groups),
        manifest_excess=sum(
            max(0, group.count - count_needed(health, group.bytes)) for group in groups
        ),
    )
