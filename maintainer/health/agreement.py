"""The counted against the claimed: what a summary or a manifest list says, held against the entries of the manifests."""

from __future__ import annotations

from collections.abc import Iterator

from maintainer.domain.health import Disagreement
from maintainer.domain.inventory import Content, ManifestDigest, TableInventory
from maintainer.health.history import find_snapshot, read_figure


def find_disagreements(inventory: TableInventory) -> tuple[Disagreement, ...]:
    """Figures that differ between summary, manifest list and entries; none where nothing is claimed or not everything could be read.

    Health itself is always the sum over every digest of the current snapshot, so this is the check of a full merge, at each measurement.
    """
    if inventory.unreadable or inventory.current_snapshot_id is None:
        return ()
    return tuple(found for found in _compare(inventory) if found.claimed != found.counted)


def _compare(inventory: TableInventory) -> Iterator[Disagreement]:
    shares = [share for manifest in inventory.manifests for share in manifest.partitions]
    data = [share for share in shares if share.content is Content.DATA]
    deletes = [share for share in shares if share.content is not Content.DATA]
    data_files, delete_files = sum(share.file_count for share in data), sum(share.file_count for share in deletes)
    summary = find_snapshot(inventory.snapshots, inventory.current_snapshot_id)
    claims = [
        ("data files", "total-data-files", data_files),
        ("delete files", "total-delete-files", delete_files),
        ("records", "total-records", sum(share.record_count for share in data)),
    ]
    # Writers do not agree on the size of deletion vectors: some count their shared file.
    if not any(share.content is Content.DELETION_VECTORS for share in deletes):
        claims.append(("bytes", "total-files-size", sum(share.bytes for share in shares)))
    for figure, key, counted in claims:
        claimed = read_figure(summary, key) if summary is not None else None
        if claimed is not None:
            yield Disagreement(figure, "snapshot summary", claimed, counted)
    if inventory.listed_files is not None:
        yield Disagreement("live entries", "manifest list", inventory.listed_files, data_files + delete_files)
    yield from _compare_within(inventory.manifests)


def _compare_within(manifests: tuple[ManifestDigest, ...]) -> Iterator[Disagreement]:
    """A digest holds its data files three times: by partition, by size and by format; another version may have written it."""
    for manifest in manifests:
        counted = sum(share.file_count for share in manifest.partitions if share.content is Content.DATA)
        if manifest.histogram:
            yield Disagreement("data files by size", f"digest of {manifest.path}", sum(manifest.histogram), counted)
        if manifest.formats:
            yield Disagreement("data files by format", f"digest of {manifest.path}", sum(count for _, count in manifest.formats), counted)
