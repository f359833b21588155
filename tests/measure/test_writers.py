from __future__ import annotations

from datetime import timedelta

import pytest

from maintainer.domain.health import Rewriter
from maintainer.domain.inventory import Snapshot
from maintainer.measure.health import measure
from maintainer.measure.history import (
    LEAST_GAPS,
    MAX_REWRITERS,
    find_commit_gap,
    find_last_change,
    find_last_write,
    find_rewriters,
)
from tests.samples import NOW, inventory, snapshot

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def line(*operations: str) -> list[Snapshot]:
    """One straight line, a minute apart, the last one now."""
    ages = [MINUTE * (len(operations) - 1 - number) for number in range(len(operations))]
    return [
        snapshot(number + 1, ages[number], number or None, operation)
        for number, operation in enumerate(operations)
    ]


def rewrite(number: int, age: timedelta, **summary: str) -> Snapshot:
    return snapshot(
        number,
        age,
        operation="replace",
        summary={key.replace("_", "-"): value for key, value in summary.items()},
    )


@pytest.mark.parametrize(
    ("operations", "write", "change"),
    [
        (("append", "replace"), MINUTE, None),
        (("overwrite", "append", "replace", "replace"), 2 * MINUTE, 3 * MINUTE),
        (("append", "delete"), timedelta(0), timedelta(0)),
        (
            ("append", ""),
            timedelta(0),
            timedelta(0),
        ),  # an append without a summary may have done anything
        (("replace",), None, None),
    ],
)
def test_a_rewrite_is_no_write_and_an_append_no_change(
    operations: tuple[str, ...], write: timedelta | None, change: timedelta | None
) -> None:
    snapshots = line(*operations)
    newest = snapshots[-1].snapshot_id
    assert find_last_write(snapshots, newest) == (None if write is None else NOW - write)
    assert find_last_change(snapshots, newest) == (None if change is None else NOW - change)


def test_what_is_written_to_a_branch_disturbs_nobody_on_main() -> None:
    snapshots = [*line("append", "append"), snapshot(9, parent_id=1, operation="delete")]
    assert find_last_change(snapshots, 2) is None


def test_guard_28_rewrites_are_reported_by_program_and_run() -> None:
    snapshots = [
        rewrite(1, 5 * HOUR, app_name="nightly"),
        rewrite(2, 5 * HOUR - MINUTE, app_name="nightly"),  # the same run, committed in parts
        rewrite(3, 2 * HOUR, app_name="nightly"),
        snapshot(4, 3 * HOUR, operation="replace", summary={"trino_query_id": "q"}),
        rewrite(5, 8 * DAY, app_name="long ago"),
        rewrite(6, MINUTE),
        snapshot(7, operation="append", summary={"app-name": "a writer"}),
    ]
    expected = (
        Rewriter("unnamed", 1, NOW - MINUTE),
        Rewriter("nightly", 2, NOW - 2 * HOUR),
        Rewriter("trino", 1, NOW - 3 * HOUR),
    )
    assert find_rewriters(snapshots, NOW) == expected
    assert measure(inventory(snapshots=tuple(snapshots))).rewriters == expected


@pytest.mark.parametrize(("apart", "runs"), [(HOUR - timedelta(seconds=1), 1), (HOUR, 3)])
def test_rewrites_an_hour_apart_are_runs_of_their_own(apart: timedelta, runs: int) -> None:
    assert find_rewriters(
        [rewrite(number, apart * number, app_name="nightly") for number in (1, 2, 3)], NOW
    ) == (Rewriter("nightly", runs, NOW - apart),)


def commits_of(writer: str, seconds_ago: list[int], operation: str = "append") -> list[Snapshot]:
    return [
        snapshot(
            1000 * len(writer) + ago,
            timedelta(seconds=ago),
            operation=operation,
            summary={"app-name": writer},
        )
        for ago in seconds_ago
    ]


def test_the_gap_between_commits_is_the_median_of_the_busiest_writer() -> None:
    stream = commits_of("stream", [0, 50, 100, 150, 200, 260, 2000])
    others = [
        *commits_of("backfill", [10, 20, 30]),
        *commits_of("rewriter", list(range(100)), "replace"),
        *commits_of("stream", [90_000 + 10 * number for number in range(50)]),  # days ago
    ]
    assert find_commit_gap([*others, *reversed(stream)], NOW) == 50
    in_order = tuple(sorted(stream, key=lambda one: one.committed_at))
    assert measure(inventory(snapshots=in_order)).commit_gap_seconds == 50
    assert find_commit_gap([], NOW) is None


@pytest.mark.parametrize(("gaps", "found"), [(LEAST_GAPS - 1, None), (LEAST_GAPS, 60.0)])
def test_few_commits_have_no_gap(gaps: int, found: float | None) -> None:
    stream = commits_of("stream", [60 * number for number in range(gaps + 1)])
    assert find_commit_gap(stream, NOW) == found


@pytest.mark.parametrize(
    ("summary", "name"),
    [
        ({"app-name": "iceberg-maintainer-8", "engine-name": "spark"}, "iceberg-maintainer-8"),
        ({"engine-name": "flink", "flink.job-id": "j"}, "flink"),
        ({"trino_query_id": "20260304_1"}, "trino"),
        ({"snapshot.producer": "OPTIMIZE"}, "amoro"),
        ({}, "unnamed"),
    ],
)
def test_guard_28_each_maintainer_is_known_by_what_it_leaves_in_its_summaries(
    summary: dict[str, str], name: str
) -> None:
    (found,) = find_rewriters([snapshot(1, operation="replace", summary=summary)], NOW)
    assert found.name == name


def test_there_are_never_more_rewriters_than_can_be_reported() -> None:
    many = [rewrite(number, MINUTE * number, app_name=f"a{number}") for number in range(1, 30)]
    found = find_rewriters(many, NOW)
    assert len(found) == MAX_REWRITERS
    assert found[0].name == "a1"
