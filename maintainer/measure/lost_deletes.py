"""Deletes that were committed against data files which a rewrite had already replaced.

Such a delete has no effect. Its writer did not check at its commit that the file was still there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maintainer.domain.health import LostDelete
from maintainer.domain.inventory import Snapshot
from maintainer.measure.history import name_writer, read_figure

_REMOVED = "deleted-data-files"


def find_last_removal(snapshots: Sequence[Snapshot]) -> int | None:
    """The sequence number of the newest snapshot that may have removed data files.

    A delete that is newer met the files of today. Without such a snapshot, the oldest kept one
    counts, because what happened before is not known. None: the format has no sequence numbers.
    """
    numbers = [one.sequence_number for one in snapshots]
    if not numbers or min(numbers) <= 0:
        return None
    return max((one.sequence_number for one in snapshots if _may_remove(one)), default=min(numbers))


def describe_lost(
    lost: Mapping[int, Sequence[int]], snapshots: Sequence[Snapshot]
) -> tuple[int, LostDelete | None]:
    """The number of lost delete files of kept snapshots, and the first of these snapshots.

    `lost` has the sequence numbers of the delete files for each data file that is not there.
    """
    by_number = {one.sequence_number: one for one in snapshots if one.operation != "replace"}
    numbers = [each for found in lost.values() for each in found if each in by_number]
    if not numbers:
        return 0, None
    first = by_number[min(numbers)]
    removed = max(
        (one for one in snapshots if _may_remove(one) and one.sequence_number < min(numbers)),
        key=lambda one: one.sequence_number,
        default=None,
    )
    return len(numbers), LostDelete(
        first.snapshot_id, name_writer(first), None if removed is None else removed.snapshot_id
    )


def _may_remove(snapshot: Snapshot) -> bool:
    if snapshot.operation == "append":
        return False
    if _REMOVED not in snapshot.summary:
        return not snapshot.summary
    return read_figure(snapshot, _REMOVED) != 0
