"""The proof that a job's commits gave no row id twice, as far as the table's metadata shows it.

From format version 3 on each row has an id. A table's next-row-id is above all ids that it has ever
given, and each snapshot takes a range of ids from there on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from maintainer.domain.inventory import Snapshot, TableInventory
from maintainer.domain.job import Baseline


def find_lineage_faults(
    baseline: Baseline, own: Sequence[Snapshot], inventory: TableInventory
) -> tuple[str, ...]:
    """Return why rows may have the same id after the job's commits; empty if there is no reason.

    `own` are the job's snapshots, oldest first. A table that had no row ids before the job proves
    nothing: it may have been upgraded meanwhile.
    """
    if baseline.next_row_id is None:
        return ()
    return tuple(_find_faults(baseline.next_row_id, own, inventory))


def _find_faults(before: int, own: Sequence[Snapshot], inventory: TableInventory) -> Iterator[str]:
    after = inventory.next_row_id
    if after is None:
        yield f"the table's next-row-id, which was {before}, is missing in its metadata"
    elif after < before:
        yield (
            f"the table's next-row-id decreased from {before} to {after}, so that new rows get "
            f"the ids of older ones"
        )
    free = before
    for snapshot in own:
        first, added = snapshot.first_row_id, snapshot.added_rows
        if first is None or added is None:
            missing = "first-row-id" if first is None else "added-rows"
            yield f"snapshot {snapshot.snapshot_id} of this job has no {missing}"
            continue
        if first < free:
            yield (
                f"snapshot {snapshot.snapshot_id} of this job gives row ids from {first} on, and "
                f"those below {free} were given before"
            )
        free = max(free, first + added)
    if after is not None and before <= after < free:
        yield (
            f"the table's next-row-id is {after}, and this job's snapshots have given row ids "
            f"up to {free - 1}"
        )
