"""Deletes for data files that were replaced before: counted, explained, and nothing removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.grading.bands import LOST_DELETE, grade
from maintainer.decide.plan import decide, on_request
from maintainer.domain.file_sizes import WHOLE_PARTITION, ListedFile
from maintainer.domain.health import Band, LostDelete, TableHealth
from maintainer.domain.inventory import Content, Snapshot, Unreadable
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, Policy, RuleName
from maintainer.measure.health import measure
from tests.measure.test_delete_index import data, deletes
from tests.samples import NOW, inventory

POLICY = Policy(mode=Mode.ENFORCE)
HERE, GONE = 11, 22  # keys of data files
REWRITE = {"deleted-data-files": "9"}


def snapshot(number: int, operation: str, summary: Mapping[str, str] | None = None) -> Snapshot:
    """A snapshot with id 100 + number; by default its summary names an engine alone."""
    named = {"engine-name": "impala"} if summary is None else summary
    at = NOW - timedelta(hours=100 - number)
    return Snapshot(100 + number, 99 + number, number, at, operation, named)


APPEND, REPLACED = snapshot(1, "append"), snapshot(2, "replace", REWRITE)
DELETED = snapshot(3, "delete")


def look(
    *snapshots: Snapshot,
    key: int = GONE,
    number: int = 3,
    content: Content = Content.POSITION_DELETES,
    elsewhere: str = "p=1",
) -> TableHealth:
    """A table with one data file and one delete file of that sequence number for the key."""
    manifests = (
        data(ListedFile(0, HERE, 1000, 10, 1)),
        deletes(content, ListedFile(0, key, 50, 1, number), partition=elsewhere),
    )
    return measure(inventory(manifests, snapshots))


def look_at_lost() -> TableHealth:
    return look(APPEND, REPLACED, DELETED)


def test_a_delete_for_a_file_that_a_rewrite_had_replaced_is_critical() -> None:
    found = look_at_lost()
    assert found.lost_deletes == 1
    assert found.lost_delete == LostDelete(103, "impala", 102)
    graded = grade(found, POLICY, NOW)
    assert (graded.band, graded.findings[0].metric) == (Band.CRITICAL, LOST_DELETE)
    assert graded.reason == (
        "1 delete file of snapshot 103 (impala) is for a data file that had been replaced by "
        "snapshot 102: deleted rows are still there, and updated rows are doubled; the writer "
        "does not check for rewrites; run its statement again, or roll back to a snapshot before "
        "103"
    )


@pytest.mark.parametrize(
    ("snapshots", "changes", "count", "first"),
    [
        ((APPEND, REPLACED, DELETED), {"content": Content.DELETION_VECTORS}, 1, 103),
        ((APPEND, REPLACED, DELETED), {"key": HERE}, 0, None),
        ((APPEND, REPLACED, DELETED), {"elsewhere": "p=2"}, 1, 103),
        ((APPEND, REPLACED, DELETED), {"key": HERE, "elsewhere": "p=2"}, 0, None),
        ((APPEND, REPLACED, DELETED), {"key": WHOLE_PARTITION}, 0, None),
        # The file may have been there when the delete was committed.
        ((APPEND, DELETED, snapshot(4, "overwrite", REWRITE)), {}, 0, None),
        ((APPEND, snapshot(3, "overwrite", REWRITE)), {}, 0, None),
        ((APPEND, DELETED, snapshot(4, "overwrite", {})), {}, 0, None),
        ((APPEND, DELETED, snapshot(4, "overwrite", {"deleted-data-files": "?"})), {}, 0, None),
        ((APPEND, DELETED, snapshot(4, "delete", {"deleted-data-files": "0"})), {}, 1, 103),
        ((APPEND, DELETED, snapshot(4, "append", {})), {}, 1, 103),
        # The delete's own commit is not kept, or it rewrote deletes.
        ((APPEND, REPLACED, snapshot(4, "append")), {}, 0, None),
        ((APPEND, REPLACED, snapshot(3, "replace", {"x": "y"})), {}, 0, None),
        # Nothing is known of the time before the first snapshot.
        ((DELETED,), {}, 0, None),
        ((), {}, 0, None),
        # Format version 1 has no sequence numbers.
        ((snapshot(0, "append"), DELETED), {}, 0, None),
    ],
)
def test_only_a_file_that_was_gone_before_counts(
    snapshots: tuple[Snapshot, ...], changes: dict[str, Any], count: int, first: int | None
) -> None:
    found = look(*snapshots, **changes)
    assert found.lost_deletes == count
    assert (found.lost_delete.snapshot_id if found.lost_delete else None) == first


def test_the_commit_that_removed_the_file_may_no_longer_be_kept() -> None:
    found = look(snapshot(2, "append"), DELETED)
    assert found.lost_delete == LostDelete(103, "impala", None)
    assert "had been replaced: deleted rows" in grade(found, POLICY, NOW).reason


def test_each_delete_file_of_one_data_file_counts() -> None:
    manifests = (
        data(ListedFile(0, HERE, 1000, 10, 1)),
        deletes(
            Content.POSITION_DELETES, *(ListedFile(0, GONE, 50, 1, number) for number in (3, 3, 4))
        ),
    )
    history = (APPEND, REPLACED, DELETED, snapshot(4, "delete"))
    found = measure(inventory(manifests, history))
    assert (found.lost_deletes, found.lost_delete) == (3, LostDelete(103, "impala", 102))
    assert grade(found, POLICY, NOW).reason.startswith(
        "3 delete files, the first of snapshot 103 (impala), are for data files that had been "
    )


def test_lost_deletes_are_unknown_where_metadata_cannot_be_read() -> None:
    broken = replace(inventory((), (APPEND,)), unreadable=(Unreadable("m", "torn"),))
    assert measure(broken).lost_deletes is None


@pytest.mark.parametrize(
    "rule",
    [
        RuleName.EXPIRE_SNAPSHOTS, RuleName.REWRITE_DATA_FILES,
        RuleName.REWRITE_POSITION_DELETE_FILES,
    ],
)  # fmt: skip
def test_nothing_that_a_person_needs_to_mend_the_table_is_removed(rule: RuleName) -> None:
    (skipped,) = decide(look_at_lost(), on_request(POLICY, (rule,)), Circumstances(NOW)).skipped
    assert skipped.code is SkipCode.UNSUPPORTED
    assert skipped.reason.endswith("until then nothing that this needs is removed")
