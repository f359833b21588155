"""Plausible domain values for tests: each function takes only what the test is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from maintainer.decide.grading.bands import grade
from maintainer.domain.action import RewriteManifests
from maintainer.domain.file_sizes import FileSizes
from maintainer.domain.health import Compaction, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    HISTOGRAM_BOUNDS_BYTES,
    Content,
    ManifestContent,
    ManifestDigest,
    PartitionDigest,
    Ref,
    SizeClasses,
    Snapshot,
    TableInventory,
    histogram_bin,
)
from maintainer.domain.job import Job
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import Policy, RuleName
from maintainer.domain.units import MIB
from maintainer.measure.health import measure

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
TABLE = TableIdentifier("lake", ("sales",), "orders")
UUID = "5c1e7d3a-0000-4000-8000-000000000001"


def snapshot(  # noqa: PLR0917
    snapshot_id: int,
    age: timedelta = timedelta(0),
    parent_id: int | None = None,
    operation: str = "append",
    summary: dict[str, str] | None = None,
    sequence_number: int | None = None,
) -> Snapshot:
    return Snapshot(
        snapshot_id,
        parent_id,
        snapshot_id if sequence_number is None else sequence_number,
        NOW - age,
        operation,
        summary or {},
    )


def share(  # noqa: PLR0917
    sizes: list[int],
    partition: str = "",
    content: Content = Content.DATA,
    spec_id: int = 0,
    classes: SizeClasses | None = None,
    records_each: int = 100,
) -> PartitionDigest:
    bounds = classes or SizeClasses.around(512 * MIB)
    small = (
        [size for size in sizes if size < bounds.small_below_bytes]
        if content is Content.DATA
        else []
    )
    large = (
        [size for size in sizes if size > bounds.large_above_bytes]
        if content is Content.DATA
        else []
    )
    counts = (
        len(sizes),
        sum(sizes),
        records_each * len(sizes),
        len(small),
        sum(small),
        len(large),
        sum(large),
    )
    return PartitionDigest(
        spec_id,
        partition,
        content,
        *counts,
        sizes=FileSizes(tuple(sizes) if content is Content.DATA else ()),
    )


def manifest(
    path: str,
    shares: list[PartitionDigest],
    length_bytes: int = 8000,
    spec_id: int = 0,
    sizes: list[int] | None = None,
) -> ManifestDigest:
    content = (
        ManifestContent.DATA
        if all(s.content is Content.DATA for s in shares)
        else ManifestContent.DELETES
    )
    bins = [0] * (len(HISTOGRAM_BOUNDS_BYTES) + 1)
    bytes_of = list(bins)
    for size in sizes or []:
        bins[histogram_bin(size)] += 1
        bytes_of[histogram_bin(size)] += size
    files = sum(s.file_count for s in shares)
    formats = (("parquet", files),) if content is ManifestContent.DATA else ()
    return ManifestDigest(
        path,
        length_bytes,
        spec_id,
        content,
        1,
        tuple(shares),
        tuple(bins) if sizes is not None else (),
        formats,
        files,
        histogram_bytes=tuple(bytes_of) if sizes is not None else (),
    )


def inventory(
    manifests: tuple[ManifestDigest, ...] = (),
    snapshots: tuple[Snapshot, ...] | None = None,
    properties: dict[str, str] | None = None,
    refs: tuple[Ref, ...] | None = None,
    target_bytes: int = 512 * MIB,
) -> TableInventory:
    history = (snapshot(1),) if snapshots is None else snapshots
    current = history[-1].snapshot_id if history else None
    return TableInventory(
        table=TABLE,
        table_uuid=UUID,
        format_version=2,
        location="file:///warehouse/sales/orders",
        metadata_location="file:///warehouse/sales/orders/metadata/1.metadata.json",
        metadata_bytes=4000,
        properties=properties or {},
        size_classes=SizeClasses.around(target_bytes),
        current_snapshot_id=current,
        default_spec_id=0,
        default_spec_is_partitioned=True,
        snapshots=history,
        refs=refs
        if refs is not None
        else ((Ref("main", current, is_branch=True),) if current is not None else ()),
        manifests=manifests,
        read_at=NOW,
    )


def health_of_partitions(
    partitions: dict[str, list[int]],
    target_bytes: int = 512 * MIB,
    properties: dict[str, str] | None = None,
) -> TableHealth:
    """One manifest, the given file sizes by partition."""
    classes = SizeClasses.around(target_bytes)
    shares = [share(sizes, partition, classes=classes) for partition, sizes in partitions.items()]
    every = [size for sizes in partitions.values() for size in sizes]
    return measure(
        inventory(
            (manifest("m1", shares, sizes=every),), properties=properties, target_bytes=target_bytes
        )
    )


def with_history(health: TableHealth, ages: list[timedelta]) -> TableHealth:
    """The same health with one straight line of snapshots, oldest first."""
    snapshots = tuple(snapshot(i + 1, age, parent_id=i or None) for i, age in enumerate(ages))
    measured = measure(inventory(snapshots=snapshots))
    return replace(
        health,
        snapshots=measured.snapshots,
        oldest_snapshot_at=measured.oldest_snapshot_at,
        newest_snapshot_at=measured.newest_snapshot_at,
        history=measured.history,
        refs=measured.refs,
        snapshot_id=measured.snapshot_id,
    )


def job_of_manifests() -> Job:
    return Job(
        "m-1",
        TABLE,
        UUID,
        RuleName.REWRITE_MANIFESTS,
        RewriteManifests(0),
        (),
        Estimate(2, 1, 1, 0),
        "",
        "v1",
        50,
        "policy",
        NOW,
    )


def predict_compaction(health: TableHealth) -> Compaction:
    """What the built-in rule would achieve on the table."""
    found = grade(health, Policy(), NOW).compaction
    assert found is not None
    return found
