from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.health import RefRetention, WriterRate
from maintainer.domain.inventory import Ref, Snapshot
from maintainer.measure.history import (
    MAX_RETENTIONS,
    MAX_WRITERS,
    OTHER_WRITERS,
    count_kept_files,
    find_ref_retention,
    grow_per_day,
    name_writer,
    rate_commits,
    read_figure,
)
from tests.samples import NOW, snapshot

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def commit(snapshot_id: int, total: int, added: int = 0, deleted: int = 0, **more: str) -> Snapshot:
    """A snapshot of a straight line, with the summary that Spark writes: changes of zero are left
    out.
    """
    summary = {
        "total-data-files": str(total),
        **({"added-data-files": str(added)} if added else {}),
        **({"deleted-data-files": str(deleted)} if deleted else {}),
    }
    return snapshot(
        snapshot_id,
        parent_id=snapshot_id - 1,
        summary=summary | {key.replace("_", "-"): value for key, value in more.items()},
    )


def kept(*snapshots: Snapshot) -> int | None:
    return count_kept_files(snapshots, "total-data-files", "added-data-files")


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("", None), ("-1", None), ("1.5", None), ("many", None), ("9" * 19, None)],
)
def test_a_figure_is_a_whole_number_or_not_known(text: str, number: int | None) -> None:
    assert read_figure(snapshot(1, summary={"total-records": text}), "total-records") == number


def test_kept_files_are_those_of_the_oldest_snapshot_and_every_one_added_since() -> None:
    assert kept(commit(5, 10, 3), commit(6, 14, 4), commit(7, 2, 1, 13)) == 15
    assert kept() == 0


@pytest.mark.parametrize(
    "second",
    [
        commit(
            7, 12, 2
        ),  # its parent is gone and an older snapshot is kept: what lay between is not known
        commit(6, 13, 2),  # 10 + 2 are not 13
        commit(
            6, 12, 2, source_snapshot_id="99"
        ),  # a cherry-pick adds the files of another snapshot
        replace(commit(6, 12, 2), summary={}),
        replace(commit(6, 12, 2), summary={"total-data-files": "12", "added-data-files": "two"}),
        replace(commit(6, 10), summary={"total-data-files": "10", "deleted-data-files": "none"}),
    ],
)
def test_kept_files_are_not_known_where_summaries_cannot_tell(second: Snapshot) -> None:
    assert kept(commit(5, 10), second) is None


def test_kept_files_are_not_known_when_the_parents_total_is_not() -> None:
    assert kept(commit(6, 12, 2), replace(commit(5, 10), summary={})) is None


@given(
    st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1), st.integers(0, 3)), max_size=12),
    st.integers(0, 11),
)
def test_kept_files_equal_the_union_of_the_files_of_every_kept_snapshot(
    commits: list[tuple[int, float, int]], expired: int
) -> None:
    """Branches included: each commit's parent is one of the kept ones before it."""
    live: list[set[int]] = []
    history: list[Snapshot] = []
    counter = 0
    for index, (added, removed_share, back) in enumerate(commits):
        parent = max(index - 1 - back, 0) if index else None
        before = live[parent] if parent is not None else set()
        removed = set(sorted(before)[: int(len(before) * removed_share)])
        new = set(range(counter, counter + added))
        counter += added
        live.append((before - removed) | new)
        made = replace(
            commit(index + 1, len(live[-1]), added, len(removed)),
            parent_id=None if parent is None else parent + 1,
        )
        history.append(made)
    kept_snapshots = history[min(expired, len(history)) :]
    expected: set[int] = set().union(*live[min(expired, len(history)) :])
    counted = kept(*kept_snapshots)
    assert counted is None or counted == len(expected)
    ids = {made.snapshot_id for made in kept_snapshots}
    if sum(made.parent_id not in ids for made in kept_snapshots) <= 1:
        assert counted is not None


def test_commits_count_by_sequence_number_although_their_snapshots_are_gone() -> None:
    history = [
        snapshot(1, 3 * DAY),
        snapshot(11, 12 * HOUR, summary={"app-name": "ingest"}),
        snapshot(25, HOUR, summary={"engine-name": "flink"}),
    ]
    rate = rate_commits(history, NOW)
    assert rate is not None
    assert (rate.commits_per_hour, rate.window) == (1.0, DAY)
    assert rate.writers == (WriterRate("flink", 1, 1 / 24), WriterRate("ingest", 1, 1 / 24))


def test_commits_of_format_version_1_are_the_kept_snapshots() -> None:
    history = [snapshot(n, n * HOUR, sequence_number=0) for n in range(1, 11)]
    rate = rate_commits(history, NOW)
    assert rate is not None
    assert (rate.commits_per_hour, rate.window) == (0.9, 10 * HOUR)


def test_a_rate_needs_a_history() -> None:
    assert rate_commits([], NOW) is None
    assert rate_commits([snapshot(1, timedelta(minutes=9))], NOW) is None
    idle = rate_commits([snapshot(1, 9 * DAY)], NOW)
    assert idle is not None
    assert (idle.commits_per_hour, idle.writers) == (0.0, ())


def test_many_writers_are_ten_and_the_others() -> None:
    history = [snapshot(100 + n, HOUR, summary={"app-name": f"job-{n}"}) for n in range(13)]
    rate = rate_commits([snapshot(1, 2 * DAY), *history], NOW)
    assert rate is not None
    assert len(rate.writers) == MAX_WRITERS + 1
    assert rate.writers[-1] == WriterRate(OTHER_WRITERS, 3, 3 / 24)


@pytest.mark.parametrize(
    ("summary", "name"),
    [
        ({"app-name": "ingest", "engine-name": "spark"}, "ingest"),
        ({"engine-name": "spark", "spark.app.id": "local-1"}, "spark"),
        ({"flink.job-id": "1"}, "flink"),
        ({"trino_query_id": "1"}, "trino"),
        ({"engine-name": "kafka-connect", "iceberg-version": "1"}, "kafka-connect"),
        ({"iceberg-version": "1", "trino_query_id": "1"}, "trino"),
        ({"iceberg-version": "Apache Iceberg 1.12.0"}, "iceberg-java"),
        ({"app-name": ""}, "unnamed"),
    ],
)
def test_a_writer_is_named_by_what_its_summary_gives_away(
    summary: dict[str, str], name: str
) -> None:
    assert name_writer(snapshot(1, summary=summary)) == name


def test_growth_is_the_change_of_a_total_over_seven_days_of_the_current_line() -> None:
    line = [
        snapshot(n, age, n - 1, summary={"total-records": str(total)})
        for n, age, total in [(1, 9 * DAY, 100), (2, 8 * DAY, 150), (3, DAY, 850)]
    ]
    aside = snapshot(9, HOUR, 1, summary={"total-records": "7"})
    assert grow_per_day([*line, aside], 3, "total-records", NOW) == 100.0
    young = [
        snapshot(1, 2 * DAY, summary={"total-records": "10"}),
        snapshot(2, DAY, 1, summary={"total-records": "4"}),
    ]
    assert grow_per_day(young, 2, "total-records", NOW) == -3.0


def test_growth_is_not_known_without_a_history_or_totals() -> None:
    assert grow_per_day([], None, "total-records", NOW) is None
    assert grow_per_day([snapshot(1, DAY)], 1, "total-records", NOW) is None
    assert (
        grow_per_day(
            [snapshot(1, DAY, summary={"total-records": "1"}), snapshot(2, HOUR, 1)],
            2,
            "total-records",
            NOW,
        )
        is None
    )
    assert (
        grow_per_day(
            [snapshot(1, timedelta(minutes=1), summary={"total-records": "1"})],
            1,
            "total-records",
            NOW,
        )
        is None
    )


def test_a_history_that_goes_in_a_circle_ends() -> None:
    circle = [
        snapshot(1, DAY, 2, summary={"total-records": "1"}),
        snapshot(2, HOUR, 1, summary={"total-records": "25"}),
    ]
    assert grow_per_day(circle, 2, "total-records", NOW) == 24.0


def test_each_ref_shows_what_it_holds_and_the_oldest_comes_first() -> None:
    history = [
        snapshot(1, 9 * DAY),
        snapshot(2, 5 * DAY, 1),
        snapshot(3, 4 * DAY, 2),
        snapshot(4, HOUR, 2),
    ]
    refs = [
        Ref("main", 4, is_branch=True),
        Ref("audit", 3, is_branch=True),
        Ref("release", 1, is_branch=False),
        Ref("lost", 77, is_branch=False),
    ]
    times = {made.snapshot_id: made.committed_at for made in history}
    assert find_ref_retention(history, refs) == (
        # As the dataclass prints.
        RefRetention("release", False, 1, times[1], 1, times[1]),  # noqa: FBT003
        RefRetention("main", True, 4, times[4], 3, times[1]),  # noqa: FBT003 - as above
        RefRetention("audit", True, 3, times[3], 1, times[3]),  # noqa: FBT003 - as above
        RefRetention("lost", False, 77, None, 0, None),  # noqa: FBT003 - as above
    )


def test_a_branch_on_mains_line_holds_its_head_and_refs_are_bounded() -> None:
    history = [snapshot(1, 9 * DAY), snapshot(2, DAY, 1)]
    refs = [Ref("main", 2, is_branch=True), Ref("stale", 1, is_branch=True)]
    assert [(hold.name, hold.retained_snapshots) for hold in find_ref_retention(history, refs)] == [
        ("stale", 1),
        ("main", 2),
    ]
    assert (
        len(find_ref_retention(history, [Ref(f"t{n}", 1, is_branch=False) for n in range(99)]))
        == MAX_RETENTIONS
    )
