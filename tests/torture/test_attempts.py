from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.torture.attempts import (
    COMMIT_SECONDS,
    Commit,
    attribute_losses,
    is_lost_to_writers,
    list_commits,
)
from tests.torture.check import Checked, Fault
from tests.torture.ledger import LostAttempt, Operation, Told
from tests.torture.reading import TableReading
from tests.torture.report import compare_writers
from tests.torture.writers import TOKEN

ATTEMPT = LostAttempt(100.0, 110.0, "CommitFailedException: no")
TABLE = "torture.events"


@pytest.mark.parametrize(
    ("commits", "is_theirs"),
    [
        ([Commit(105, "b")], True),
        ([Commit(105, "b"), Commit(106, None)], False),
        ([Commit(105, None)], False),
        ([Commit(100 - COMMIT_SECONDS, "b")], True),
        ([Commit(99.5 - COMMIT_SECONDS, "b"), Commit(110.5, "b")], False),
        ([Commit(105, "a")], False),
        ([Commit(99, "a"), Commit(105, "b")], True),
        ([], False),
    ],
)
def test_an_attempt_is_lost_to_a_writer_when_writers_alone_committed_meanwhile(
    commits: list[Commit], is_theirs: bool
) -> None:
    assert is_lost_to_writers(ATTEMPT, "a", commits) is is_theirs


def snapshot(second: int, token: str = "") -> dict[str, Any]:
    return {
        "snapshot-id": second,
        "timestamp-ms": second * 1000,
        "summary": {"operation": "append", **({TOKEN: token} if token else {})},
    }


def write(
    path: Path, second: int, *snapshots: dict[str, Any], past: tuple[tuple[int, Path], ...] = ()
) -> TableReading:
    log = [{"timestamp-ms": at * 1000, "metadata-file": f"file://{file}"} for at, file in past]
    path.write_text(
        json.dumps({"last-updated-ms": second * 1000, "metadata-log": log, "snapshots": snapshots}),
        encoding="utf-8",
    )
    return TableReading.open(f"file://{path}")


def test_every_commit_is_found_beyond_the_log_of_the_newest_metadata_file(
    tmp_path: Path,
) -> None:
    first, second, third, fourth = (tmp_path / f"{number}.json" for number in range(4))
    write(first, 100, snapshot(100, "t-1"))
    write(second, 103, past=((100, first),))
    write(third, 105, past=((103, second),))
    reading = write(
        fourth, 107, snapshot(100, "t-1"), snapshot(105), snapshot(107, "t-2"), past=((105, third),)
    )
    operations = [
        Operation("t-1", TABLE, "events-a", "append"),
        Operation("t-2", TABLE, "events-b", "merge"),
    ]
    assert list_commits(reading, operations) == [
        Commit(100, "events-a"),
        Commit(103, None),
        Commit(105, None),
        Commit(107, "events-b"),
    ]
    third.unlink()
    assert list_commits(reading, operations) == [
        Commit(100, "events-a"),
        Commit(105, None),
        Commit(107, "events-b"),
    ]


def losing(count: int, of: int, to_writers: int = 0) -> list[Operation]:
    """Operations that were all committed, some of them at the second attempt."""
    done = Operation("t", TABLE, "events-b", "merge", told=Told.COMMITTED, attempts=1)
    again = replace(done, attempts=2, lost=(ATTEMPT,))
    return [
        replace(again, lost_to_writers=int(number < to_writers)) if number < count else done
        for number in range(of)
    ]


def test_losses_are_attributed_by_the_commits_of_their_own_table(tmp_path: Path) -> None:
    lost = losing(1, of=1)
    theirs = write(tmp_path / "theirs.json", 105, snapshot(105, "t-2"))
    ours = write(tmp_path / "ours.json", 105, snapshot(105))
    other = Operation("t-2", TABLE, "events-a", "append")
    assert [
        one.lost_to_writers
        for one in attribute_losses([*lost, other], {TABLE: theirs, "torture.stock": ours})
    ] == [1, 0]
    assert [
        one.lost_to_writers
        for one in attribute_losses([*lost, other], {TABLE: ours, "torture.stock": theirs})
    ] == [0, 0]


def test_a_writer_that_loses_more_attempts_to_the_daemon_is_seen() -> None:
    checked = Checked()
    compare_writers(checked, losing(0, of=40), losing(60, of=400))
    assert {(finding.fault, finding.where) for finding in checked.findings} == {
        (Fault.WRITER_LOSES_MORE, "writer events-b"),
        (Fault.WRITER_LOSES_MORE, "all merge"),
        (Fault.WRITER_LOSES_MORE, "all writers"),
    }


def test_all_writers_together_may_lose_less_than_one_of_them() -> None:
    checked = Checked()
    compare_writers(checked, losing(0, of=40), losing(30, of=400))
    assert {finding.where for finding in checked.findings} == {"all writers"}


def test_new_deletes_that_are_in_the_way_are_another_writers_whatever_we_committed_meanwhile() -> (
    None
):
    attempt = replace(
        ATTEMPT,
        error="ValidationException: Found new conflicting delete files that can apply to records "
        "matching true",
    )
    assert is_lost_to_writers(attempt, "a", [Commit(105, None), Commit(106, "b")])
    assert not is_lost_to_writers(attempt, "a", [Commit(105, None)])


@pytest.mark.parametrize(
    ("without", "beside"),
    [
        (losing(0, of=40), losing(20, of=400)),
        (losing(2, of=40), losing(40, of=400)),
        (losing(0, of=40), losing(200, of=400, to_writers=180)),
        (losing(0, of=10), losing(90, of=400)),
        (losing(0, of=40), losing(90, of=100)),
    ],
)
def test_attempts_lost_to_writers_or_within_the_bound_or_too_few_to_tell_are_held_against_nobody(
    without: list[Operation], beside: list[Operation]
) -> None:
    checked = Checked()
    compare_writers(checked, without, beside)
    assert checked.findings == []
