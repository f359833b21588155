"""Compare the figures in summaries and manifest lists with the counted manifest entries."""

from __future__ import annotations

from collections.abc import Iterator

from maintainer.domain.health import Disagreement
from maintainer.domain.inventory import Content, ManifestDigest, TableInventory
from maintainer.measure.history import find_snapshot, read_figure
from maintainer.measure.sums import ContentSum


def find_disagreements(inventory: TableInventory) -> tuple[Disagreement, ...]:
    """Figures that differ between summary, manifest list and entries.

    Empty where nothing is claimed, or not everything could be read. Health itself is always the sum
    over all digests of the current snapshot, so each measurement checks a full merge.
    """
    if inventory.unreadable or inventory.current_snapshot_id is None:
        return ()
    return tuple(found for found in _compare(inventory) if found.claimed != found.counted)


def _compare(inventory: TableInventory) -> Iterator[Disagreement]:
    data, deletes = ContentSum(), ContentSum()
    has_vectors, within = False, list[Disagreement]()
    for manifest in inventory.manifests:
        for share in manifest.partitions:
            (data if share.content is Content.DATA else deletes).add(share)
            has_vectors = has_vectors or share.content is Content.DELETION_VECTORS
        within += (found for found in _compare_within(manifest) if found.claimed != found.counted)
    summary = find_snapshot(inventory.snapshots, inventory.current_snapshot_id)
    claims = [
        ("data files", "total-data-files", data.files),
        ("delete files", "total-delete-files", deletes.files),
        ("records", "total-records", data.records),
    ]
    if not has_vectors:  # writers disagree on the size of vectors: some count their shared file
        claims.append(("bytes", "total-files-size", data.bytes + deletes.bytes))
    for figure, key, counted in claims:
        claimed = read_figure(summary, key) if summary is not None else None
        if claimed is not None:
            yield Disagreement(figure, "snapshot summary", claimed, counted)
    if inventory.listed_files is not None:
        yield Disagreement(
            "live entries", "manifest list", inventory.listed_files, data.files + deletes.files
        )
    yield from within


def _compare_within(manifest: ManifestDigest) -> Iterator[Disagreement]:
    """Compare a digest's three counts of data files: by partition, by size and by format.

    They may differ when another version of this program wrote the digest.
    """
    counted = sum(
        share.file_count for share in manifest.partitions if share.content is Content.DATA
    )
    if manifest.histogram:
        yield Disagreement(
            "data files by size", f"digest of {manifest.path}", sum(manifest.histogram), counted
        )
    if manifest.formats:
        yield Disagreement(
            "data files by format",
            f"digest of {manifest.path}",
            sum(count for _, count in manifest.formats),
            counted,
        )
