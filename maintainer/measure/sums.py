"""Sums of a table's digests, all computed in one pass.

The digests of a very large table are unpacked one at a time, and are never all in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from maintainer.domain.file_sizes import FINEST_BITS, GatheredSizes, list_limit
from maintainer.domain.health import (
    Disagreement,
    ManifestGroup,
    PartitionHealth,
    PartitionKey,
    WrongSummary,
)
from maintainer.domain.inventory import (
    HISTOGRAM_BOUNDS_BYTES,
    Content,
    ManifestContent,
    ManifestDigest,
    PartitionDigest,
    TableInventory,
)
from maintainer.measure.history import find_snapshot, read_figure

# Size runs of all partitions together, about 100 MB. If there are more, the runs become wider, at
# most an octave.
MOST_RUNS: Final = 500_000
MOST_LISTED: Final = 500_000  # sizes of all partitions that are added before runs are found in them
# Sizes that all partitions together keep as lists. A list is exact, and up to some hundred sizes it
# is shorter than runs.
MOST_EXACT: Final = 250_000


@dataclass(slots=True)
class ContentSum:
    """Running totals of one kind of content."""

    files: int = 0
    bytes: int = 0
    records: int = 0
    small_files: int = 0
    small_bytes: int = 0

    def add(self, share: PartitionDigest) -> None:
        """Add one manifest's part of one partition."""
        self.files += share.file_count
        self.bytes += share.bytes
        self.records += share.record_count
        self.small_files += share.small_count
        self.small_bytes += share.small_bytes


@dataclass(slots=True)
class _PartitionSum:
    """Running totals of one partition."""

    data: ContentSum = field(default_factory=ContentSum)
    large_files: int = 0
    large_bytes: int = 0
    delete_files: int = 0
    positions: ContentSum = field(default_factory=ContentSum)
    equalities: ContentSum = field(default_factory=ContentSum)
    sizes: GatheredSizes = field(default_factory=GatheredSizes)
    newest: int = 0  # sequence number

    def add(self, share: PartitionDigest) -> None:
        self.newest = max(self.newest, share.newest_sequence_number or 0)
        if share.content is Content.DATA:
            self.data.add(share)
            self.large_files += share.large_count
            self.large_bytes += share.large_bytes
            return
        self.delete_files += share.file_count
        if share.content is Content.POSITION_DELETES:
            self.positions.add(share)
        elif share.content is Content.EQUALITY_DELETES:
            self.equalities.add(share)

    def tell(self, key: PartitionKey, mean_bytes: float) -> PartitionHealth:
        return PartitionHealth(
            spec_id=key[0],
            partition=key[1],
            data_files=self.data.files,
            data_bytes=self.data.bytes,
            small_files=self.data.small_files,
            small_bytes=self.data.small_bytes,
            large_files=self.large_files,
            large_bytes=self.large_bytes,
            delete_files=self.delete_files,
            skew=self.data.bytes / mean_bytes if mean_bytes else None,
            position_delete_files=self.positions.files,
            position_delete_bytes=self.positions.bytes,
            sizes=self.sizes.tell(),
            equality_delete_bytes=self.equalities.bytes,
            equality_delete_records=self.equalities.records,
        )


@dataclass(slots=True)
class PartitionSums:
    """Running totals of each partition, with limits on the sizes and runs of all together."""

    most_runs: int = MOST_RUNS
    most_listed: int = MOST_LISTED
    most_exact: int = MOST_EXACT
    bits: int = FINEST_BITS
    runs: int = 0
    listed: int = 0  # sizes that were added since runs were last found
    partitions: dict[PartitionKey, _PartitionSum] = field(default_factory=dict)

    def add(self, share: PartitionDigest) -> None:
        """Add one manifest's part of one partition."""
        key = share.spec_id, share.partition
        there = self.partitions.get(key)
        if there is None:
            there = self.partitions[key] = _PartitionSum()
        there.add(share)
        if share.content is Content.DATA:
            before = len(there.sizes.runs)
            there.sizes.add(share.sizes, self.bits)
            self._count(len(there.sizes.runs) - before)
            self.listed += len(share.sizes.listed)
            if self.listed > self.most_listed:
                self._find_runs()

    def tell(self) -> Iterator[tuple[PartitionKey, PartitionHealth, int]]:
        """Each partition, its health, and its newest sequence number.

        Each is removed from this object as it is returned.
        """
        self._find_runs()
        mean = sum(there.data.bytes for there in self.partitions.values()) / max(
            1, len(self.partitions)
        )
        for key in list(self.partitions):
            there = self.partitions.pop(key)
            yield key, there.tell(key, mean), there.newest

    def _find_runs(self) -> None:
        limit = list_limit(len(self.partitions), self.most_exact)
        for there in self.partitions.values():
            before = len(there.sizes.runs)
            there.sizes.shorten(limit, self.bits)
            self._count(len(there.sizes.runs) - before)
        self.listed = 0

    def _count(self, more: int) -> None:
        self.runs += more
        while self.runs > self.most_runs and self.bits:
            self.bits -= 1
            for there in self.partitions.values():
                there.sizes.widen(self.bits)
            self.runs = sum(len(there.sizes.runs) for there in self.partitions.values())


@dataclass(slots=True)
class ManifestSums:
    """Running totals of a table."""

    contents: dict[Content, ContentSum] = field(
        default_factory=lambda: {content: ContentSum() for content in Content}
    )
    manifests: Counter[ManifestContent] = field(default_factory=Counter)
    bytes: int = 0  # of the manifests themselves
    histogram: list[int] = field(default_factory=lambda: [0] * (len(HISTOGRAM_BOUNDS_BYTES) + 1))
    histogram_bytes: list[int] = field(
        default_factory=lambda: [0] * (len(HISTOGRAM_BOUNDS_BYTES) + 1)
    )
    formats: Counter[str] = field(default_factory=Counter)
    # manifests by spec and content
    groups: Counter[tuple[int, ManifestContent]] = field(default_factory=Counter)
    group_bytes: Counter[tuple[int, ManifestContent]] = field(default_factory=Counter)
    first_delete: int | None = None  # the lowest sequence number of a manifest with deletes
    partitions: PartitionSums = field(default_factory=PartitionSums)
    miscounts: list[Disagreement] = field(default_factory=list)  # in single digests
    wrong_summaries: int = 0  # manifests that readers skip wrongly
    wrong_summary: WrongSummary | None = None  # the first of them

    def add(self, manifest: ManifestDigest) -> None:
        self.manifests[manifest.content] += 1
        self.bytes += manifest.length_bytes
        self.groups[manifest.spec_id, manifest.content] += 1
        self.group_bytes[manifest.spec_id, manifest.content] += manifest.length_bytes
        self.formats.update(dict(manifest.formats))
        for index, count in enumerate(manifest.histogram):
            self.histogram[index] += count
        for index, size in enumerate(manifest.histogram_bytes):
            self.histogram_bytes[index] += size
        self.miscounts += _find_miscounts(manifest)
        if manifest.list_fault:
            self.wrong_summaries += 1
            self.wrong_summary = self.wrong_summary or WrongSummary(
                manifest.path, manifest.spec_id, manifest.list_fault
            )
        for share in manifest.partitions:
            self.contents[share.content].add(share)
            self.partitions.add(share)
        if any(
            share.content is not Content.DATA and share.file_count for share in manifest.partitions
        ):
            self.first_delete = (
                manifest.sequence_number
                if self.first_delete is None
                else min(self.first_delete, manifest.sequence_number)
            )

    def tell_groups(self, target_bytes: int) -> tuple[ManifestGroup, ...]:
        """Manifests by spec and content.

        The ideal number is at least one and at most the present number, as in
        estimate_rewrite_manifests.
        """
        return tuple(
            ManifestGroup(
                *key,
                count,
                self.group_bytes[key],
                min(count, max(1, -(-self.group_bytes[key] // target_bytes))),
            )
            for key, count in sorted(self.groups.items())
        )


def add_up(manifests: Iterable[ManifestDigest]) -> ManifestSums:
    """The sums over all manifests of a table."""
    sums = ManifestSums()
    for manifest in manifests:
        sums.add(manifest)
    return sums


def _find_miscounts(manifest: ManifestDigest) -> Iterator[Disagreement]:
    """Compare a digest's three counts of data files: by partition, by size and by format.

    They may differ when another version of this program wrote the digest.
    """
    counted = sum(
        share.file_count for share in manifest.partitions if share.content is Content.DATA
    )
    counts = (
        ("data files by size", manifest.histogram),
        ("data files by format", tuple(count for _, count in manifest.formats)),
    )
    for figure, count in counts:
        if count and sum(count) != counted:
            yield Disagreement(figure, f"digest of {manifest.path}", sum(count), counted)


def find_disagreements(inventory: TableInventory, sums: ManifestSums) -> tuple[Disagreement, ...]:
    """Figures that differ between summary, manifest list and the sums of the entries.

    Empty where nothing is claimed, or not everything could be read. Health itself is always the sum
    over all digests of the current snapshot, so each measurement checks a full merge.
    """
    if inventory.unreadable or inventory.current_snapshot_id is None:
        return ()
    return tuple(
        found for found in _compare(inventory, sums) if found.claimed != found.counted
    ) + tuple(sums.miscounts)


def _compare(inventory: TableInventory, sums: ManifestSums) -> Iterator[Disagreement]:
    data = sums.contents[Content.DATA]
    deletes = [found for content, found in sums.contents.items() if content is not Content.DATA]
    delete_files = sum(found.files for found in deletes)
    summary = find_snapshot(inventory.snapshots, inventory.current_snapshot_id)
    claims = [
        ("data files", "total-data-files", data.files),
        ("delete files", "total-delete-files", delete_files),
        ("records", "total-records", data.records),
    ]
    # Writers compute the size of vectors differently: some count the shared file for each vector.
    if not sums.contents[Content.DELETION_VECTORS].files:
        all_bytes = data.bytes + sum(found.bytes for found in deletes)
        claims.append(("bytes", "total-files-size", all_bytes))
    for figure, key, counted in claims:
        claimed = read_figure(summary, key) if summary is not None else None
        if claimed is not None:
            yield Disagreement(figure, "snapshot summary", claimed, counted)
    if inventory.listed_files is not None:
        yield Disagreement(
            "live entries", "manifest list", inventory.listed_files, data.files + delete_files
        )
