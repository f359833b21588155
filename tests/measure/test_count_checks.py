from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.health import Disagreement
from maintainer.domain.inventory import Content, ManifestDigest, TableInventory, Unreadable
from maintainer.measure.sums import add_up, find_disagreements
from tests.samples import inventory, manifest, share, snapshot

DATA = manifest("m1", [share([100, 200])], sizes=[100, 200])
DELETES = manifest("m2", [share([7], content=Content.POSITION_DELETES)])
RIGHT = {
    "total-data-files": "2",
    "total-delete-files": "1",
    "total-records": "200",
    "total-files-size": "307",
}


def claimed(summary: dict[str, str], *manifests: ManifestDigest) -> TableInventory:
    return inventory(manifests or (DATA, DELETES), (snapshot(1, summary=summary),))


def disagreements(found: TableInventory) -> tuple[Disagreement, ...]:
    return find_disagreements(found, add_up(found.manifests))


def test_a_right_summary_and_a_missing_one_agree() -> None:
    assert disagreements(claimed(RIGHT)) == ()
    assert disagreements(claimed({})) == ()
    assert disagreements(inventory(snapshots=())) == ()
    assert disagreements(replace(claimed(RIGHT), listed_files=3)) == ()


def test_each_wrong_claim_is_named_with_both_figures() -> None:
    wrong = {
        "total-data-files": "3",
        "total-delete-files": "0",
        "total-records": "201",
        "total-files-size": "300",
    }
    assert disagreements(replace(claimed(wrong), listed_files=4)) == (
        Disagreement("data files", "snapshot summary", 3, 2),
        Disagreement("delete files", "snapshot summary", 0, 1),
        Disagreement("records", "snapshot summary", 201, 200),
        Disagreement("bytes", "snapshot summary", 300, 307),
        Disagreement("live entries", "manifest list", 4, 3),
    )


def test_bytes_are_not_compared_where_writers_count_deletion_vectors_differently() -> None:
    vectors = manifest("m2", [share([7], content=Content.DELETION_VECTORS)])
    assert disagreements(claimed(RIGHT | {"total-files-size": "99"}, DATA, vectors)) == ()


def test_what_could_not_be_read_is_no_disagreement() -> None:
    assert (
        disagreements(
            replace(claimed({"total-data-files": "9"}), unreadable=(Unreadable("m3", "truncated"),))
        )
        == ()
    )


def test_a_current_snapshot_that_the_history_lacks_claims_nothing() -> None:
    assert disagreements(replace(claimed({"total-data-files": "9"}), current_snapshot_id=5)) == ()


def test_a_digest_that_contradicts_itself_is_named() -> None:
    odd = replace(DATA, histogram=(1, *DATA.histogram[1:-1], 0), formats=(("parquet", 5),))
    assert disagreements(claimed({}, odd)) == (
        Disagreement("data files by size", "digest of m1", 1, 2),
        Disagreement("data files by format", "digest of m1", 5, 2),
    )


@given(st.lists(st.lists(st.integers(0, 10**9), max_size=5), max_size=5), st.integers(-2, 2))
def test_a_summary_disagrees_exactly_when_it_is_wrong(files: list[list[int]], error: int) -> None:
    count = sum(map(len, files))
    claim = max(0, count + error)
    manifests = [manifest(f"m{n}", [share(sizes)], sizes=sizes) for n, sizes in enumerate(files)]
    found = disagreements(
        inventory(tuple(manifests), (snapshot(1, summary={"total-data-files": str(claim)}),))
    )
    assert found == (
        () if claim == count else (Disagreement("data files", "snapshot summary", claim, count),)
    )
