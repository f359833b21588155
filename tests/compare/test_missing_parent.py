"""Rows are proved by the totals of the metadata before the job where the snapshot before ours is
gone, as Nessie has it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.compare.row_proof import prove_rows_since
from maintainer.domain.effect import Measurement, RowProof
from maintainer.domain.inventory import Snapshot
from maintainer.domain.job import Baseline
from tests.samples import NOW, snapshot

MEASURED = Measurement(7, NOW, 60, 60_000, 1000.0, 0, 500, 3, 3000, 1)
BASELINE = Baseline(7, 4, NOW - timedelta(hours=1), "before.json", MEASURED)


def ours(
    records: int, sequence_number: int = 5, parent_id: int | None = None, **more: str
) -> Snapshot:
    totals = {"total-records": str(records), "total-delete-files": "0"} | {
        name.replace("_", "-"): text for name, text in more.items()
    }
    return snapshot(
        8, parent_id=parent_id, operation="replace", summary=totals, sequence_number=sequence_number
    )


def prove(
    mine: Snapshot, baseline: Baseline = BASELINE, others: tuple[Snapshot, ...] = ()
) -> RowProof:
    return prove_rows_since(baseline, [mine], [*others, mine], {})


@pytest.mark.parametrize("parent_id", [None, 7])
def test_a_catalog_that_keeps_only_the_current_snapshot_proves_by_the_totals_before_and_after(
    parent_id: int | None,
) -> None:
    assert prove(ours(500, parent_id=parent_id)) is RowProof.EQUAL
    assert prove(ours(499, parent_id=parent_id)) is RowProof.DIFFERENT
    assert prove(ours(501, parent_id=parent_id)) is RowProof.DIFFERENT


@pytest.mark.parametrize(
    "mine", [ours(480, sequence_number=6), ours(480, parent_id=3), ours(480, sequence_number=0)]
)
def test_where_others_may_have_committed_in_between_a_difference_proves_nothing(
    mine: Snapshot,
) -> None:
    assert prove(mine) is RowProof.UNKNOWN
    assert prove(replace(mine, summary=ours(500).summary)) is RowProof.EQUAL


def test_where_deletes_were_applied_more_rows_than_before_are_never_right() -> None:
    with_deletes = replace(BASELINE, measurement=replace(MEASURED, delete_files=2))
    assert prove(ours(480, removed_delete_files="2"), with_deletes) is RowProof.BOUNDED
    assert prove(ours(501, removed_delete_files="2"), with_deletes) is RowProof.DIFFERENT


def test_what_was_not_measured_before_proves_nothing() -> None:
    assert prove(ours(500), replace(BASELINE, snapshot_id=None)) is RowProof.UNKNOWN
    assert prove(ours(500), replace(BASELINE, newest_snapshot_at=None)) is RowProof.UNKNOWN
    assert (
        prove(ours(500), replace(BASELINE, measurement=replace(MEASURED, records=None)))
        is RowProof.UNKNOWN
    )


def test_a_snapshot_that_is_still_there_is_its_own_proof() -> None:
    parent = snapshot(
        7, summary={"total-records": "400", "total-delete-files": "0"}, sequence_number=4
    )
    assert prove(ours(400, parent_id=7), others=(parent,)) is RowProof.EQUAL
    assert prove(ours(500, parent_id=7), others=(parent,)) is RowProof.DIFFERENT
