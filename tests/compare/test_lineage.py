"""The proof that no row id was given twice, against metadata that is doctored in each way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.compare.proof import find_lineage_faults
from maintainer.domain.inventory import Snapshot, TableInventory
from maintainer.domain.job import Baseline
from maintainer.measure.health import measure, summarise
from tests.samples import NOW, inventory, snapshot

BASELINE = Baseline(1, 1, NOW, "1.json", summarise(measure(inventory())), next_row_id=100)


def ours(snapshot_id: int, first: int | None, added: int | None = 10) -> Snapshot:
    made = snapshot(snapshot_id, parent_id=snapshot_id - 1, operation="replace")
    return replace(made, first_row_id=first, added_rows=added)


def after(next_row_id: int | None) -> TableInventory:
    return replace(inventory(), format_version=3, next_row_id=next_row_id)


def test_guard_25_each_snapshot_takes_its_row_ids_from_the_free_ones_on() -> None:
    own = [ours(2, 100), ours(4, 130, 0), ours(5, 130)]
    assert find_lineage_faults(BASELINE, own, after(140)) == ()
    assert find_lineage_faults(BASELINE, [], after(100)) == ()


@pytest.mark.parametrize(
    ("own", "next_row_id", "fault"),
    [
        (
            [],
            99,
            (
                "the table's next-row-id decreased from 100 to 99, so that new rows get the ids of "
                "older ones"
            ),
        ),
        ([], None, "the table's next-row-id, which was 100, is missing in its metadata"),
        ([ours(2, None)], 100, "snapshot 2 of this job has no first-row-id"),
        ([ours(2, 100, None)], 100, "snapshot 2 of this job has no added-rows"),
        (
            [ours(2, 99)],
            109,
            (
                "snapshot 2 of this job gives row ids from 99 on, and those below 100 were given "
                "before"
            ),
        ),
        (
            [ours(2, 100), ours(3, 105)],
            115,
            (
                "snapshot 3 of this job gives row ids from 105 on, and those below 110 were given "
                "before"
            ),
        ),
        (
            [ours(2, 100)],
            105,
            "the table's next-row-id is 105, and this job's snapshots have given row ids up to 109",
        ),
    ],
)
def test_guard_25_metadata_by_which_rows_would_share_an_id_fail_the_proof(
    own: list[Snapshot], next_row_id: int | None, fault: str
) -> None:
    assert find_lineage_faults(BASELINE, own, after(next_row_id)) == (fault,)


def test_a_table_that_had_no_row_ids_before_the_job_proves_nothing() -> None:
    baseline = replace(BASELINE, next_row_id=None)
    assert find_lineage_faults(baseline, [ours(2, None, None)], after(None)) == ()
    assert find_lineage_faults(baseline, [ours(2, None)], after(60)) == ()
