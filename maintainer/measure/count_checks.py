"""Compare the figures in summaries and manifest lists with the counted manifest entries."""

from __future__ import annotations

from collections.abc import Iterator

from maintainer.domain.health import Disagreement
from maintainer.domain.inventory import Content, TableInventory
from maintainer.measure.history import find_snapshot, read_figure
from maintainer.measure.sums import ManifestSums


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
    # writers disagree on the size of vectors: some count their shared file
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
