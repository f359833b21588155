"""A suggested policy follows from what arrives in the table, and each value says from what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maintainer.adapters.policies.reading import parse_policy
from maintainer.decide.suggestion import suggest_policy, write_suggestion
from maintainer.domain.health import SnapshotStamp, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job
from maintainer.domain.policy import Mode, PolicyLayer
from maintainer.domain.units import KIB, MIB
from maintainer.measure.history import Samples
from tests.adapters.store.values import failed, make_job
from tests.samples import NOW, health_of_partitions

TARGET = 512 * MIB
TABLE = replace(
    health_of_partitions({f"day={day}": [TARGET] * 4 for day in range(30)}, TARGET),
    history=(),
)
FILES = "rules.rewrite_data_files"
EXPIRY = "rules.expire_snapshots"


def over_days(days: float, values: Sequence[float | None]) -> Samples:
    step = timedelta(days=days) / (len(values) - 1)
    return [(NOW - step * (len(values) - 1 - at), value) for at, value in enumerate(values)]


def arrivals(files_per_day: float, size: int, commits_per_day: float = 24) -> dict[str, Samples]:
    return {
        "data_files": over_days(10, [100, 100 + 10 * files_per_day]),
        "data_bytes": over_days(10, [0, 10 * files_per_day * size]),
        "commits_per_hour": over_days(10, [commits_per_day / 24] * 2),
    }


def snapshots(moments: Iterable[datetime], first_parent: int | None = None) -> TableHealth:
    stamps = tuple(
        SnapshotStamp(number, number - 1 or first_parent, at)
        for number, at in enumerate(moments, start=1)
    )
    return replace(TABLE, history=stamps)


def suggest(
    health: TableHealth = TABLE,
    samples: Mapping[str, Samples] | None = None,
    jobs: Sequence[Job] = (),
) -> dict[str, str]:
    values = suggest_policy(health, samples or {}, jobs, NOW).values
    assert all(value.reason for value in values)
    return {value.path: value.text for value in values}


def reasons(health: TableHealth, samples: Mapping[str, Samples]) -> dict[str, str]:
    return {value.path: value.reason for value in suggest_policy(health, samples, (), NOW).values}


@pytest.mark.parametrize(
    ("files_per_day", "cooldown", "small_files"),
    [(20_000, "1h", "420"), (900, "3h", "56"), (100, "1d", "50"), (2, "7d", "10")],
)
def test_a_job_waits_until_enough_small_files_have_arrived(
    files_per_day: float, cooldown: str, small_files: str
) -> None:
    suggested = suggest(samples=arrivals(files_per_day, MIB))
    assert suggested[f"{FILES}.cooldown"] == cooldown
    assert suggested[f"{FILES}.when.small_file_count_above"] == small_files


def test_files_that_arrive_large_are_seldom_looked_at() -> None:
    suggested = suggest(samples=arrivals(1_000, TARGET))
    assert suggested[f"{FILES}.cooldown"] == "7d"
    assert f"{FILES}.when.small_file_count_above" not in suggested


def test_what_a_rewrite_took_away_is_no_arrival() -> None:
    samples = {
        "data_files": over_days(1, [0, 100, 10, 110]),
        "data_bytes": over_days(1, [0, 100 * MIB, 90 * MIB, 190 * MIB]),
    }
    why = reasons(TABLE, samples)[f"{FILES}.when.small_file_count_above"]
    assert why.startswith("About 200 files of 1 MiB arrive in a day")


def test_files_are_too_small_below_a_quarter_of_the_target() -> None:
    assert suggest()[f"{FILES}.when.average_file_size_below"] == "128MiB"


def test_the_bound_is_one_that_small_partitions_can_reach() -> None:
    small = health_of_partitions({f"day={day}": [MIB] * 5 for day in range(30)}, TARGET)
    assert suggest(small)[f"{FILES}.when.average_file_size_below"] == "2MiB", "of 5 MiB, half"


def test_the_bound_of_a_table_that_was_read_in_part_comes_from_its_target_alone() -> None:
    small = health_of_partitions({f"day={day}": [60 * MIB] * 2 for day in range(9)}, TARGET)
    part = replace(small, data_files=(small.data_files or 0) + 1)
    assert suggest(small)[f"{FILES}.when.average_file_size_below"] == "32MiB"
    assert suggest(part)[f"{FILES}.when.average_file_size_below"] == "128MiB"


def test_a_table_of_minutes_says_what_is_not_known() -> None:
    path = f"{FILES}.cooldown"
    assert suggest()[path] == "6h"
    assert reasons(TABLE, {})[path].startswith("The number of arriving files is not known")


def test_a_burst_of_commits_in_minutes_says_nothing_about_a_day() -> None:
    """6,833 commits a day, from 13 minutes, switched expiry off in effect: above 8,200."""
    burst = replace(
        snapshots([NOW - timedelta(seconds=13 * number) for number in range(60, -1, -1)]),
        commits_per_hour=285.0,
        commit_window_seconds=780.0,
    )
    path = "rules.expire_snapshots.when.snapshot_count_above"
    assert suggest(burst)[path] == "100"
    assert reasons(burst, {})[path] == (
        "The rate of commits is not known yet: ask again after 6 h."
    )


def test_a_table_that_was_not_measured_for_long_is_known_by_its_snapshots() -> None:
    hours = [NOW - timedelta(hours=hour) for hour in range(48, -1, -1)]
    young = replace(
        snapshots(hours), kept_data_files=1_600, average_file_size_bytes=3.0 * KIB, rewriters=()
    )
    assert suggest(young)[f"{FILES}.cooldown"] == "3h", "800 files a day"
    older = replace(young, history=snapshots(hours, first_parent=7).history)
    assert suggest(older)[f"{FILES}.cooldown"] == "6h", "its first files did not arrive then"


@pytest.mark.parametrize(
    ("commits", "age", "bound"),
    [(4, "5d", "100"), (24, "5d", "150"), (300, "3d", "1100"), (1_440, "1d", "1800")],
)
def test_snapshots_expire_before_there_are_too_many(commits: float, age: str, bound: str) -> None:
    suggested = suggest(samples=arrivals(10, MIB, commits))
    assert suggested[f"{EXPIRY}.max_age"] == age
    assert suggested[f"{EXPIRY}.when.snapshot_count_above"] == bound


def test_delete_files_get_a_rule_of_their_own() -> None:
    rule = "rules.rewrite_position_delete_files.when.position_delete_file_count_above"
    assert rule not in suggest()
    assert suggest(replace(TABLE, position_delete_files=400))[rule] == "200"


def test_a_table_of_changed_rows_gets_the_hours_without_a_commit_as_its_window() -> None:
    midnight = datetime(2026, 3, 1, tzinfo=UTC)
    busy = [midnight + timedelta(days=day, hours=hour) for day in range(5) for hour in range(6, 22)]
    table = snapshots(busy)
    assert "window" not in suggest(table), "appends conflict with nothing"
    window = '{cron: "0 22 * * *", duration: 8h, timezone: UTC}'
    assert suggest(replace(table, last_change_at=NOW))["window"] == window
    lost = replace(failed(make_job(), NOW), failure_reason=FailureReason.CONFLICT)
    assert suggest(table, jobs=[lost])["window"] == window
    always = snapshots(midnight + timedelta(hours=hour) for hour in range(120))
    assert "window" not in suggest(replace(always, last_change_at=NOW))
    few = replace(snapshots(busy[:20]), last_change_at=NOW)
    assert "window" not in suggest(few), "two days say nothing of each day"


def test_a_table_that_rests_says_so() -> None:
    why = reasons(TABLE, arrivals(0, MIB, commits_per_day=0.5))
    assert why[f"{FILES}.cooldown"] == "No new file was seen."
    assert why[f"{EXPIRY}.when.snapshot_count_above"] == ("Writers commit less than once in a day.")


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("orders", "lake.sales.orders"),
        ('a"b', 'lake.sales.a\\"b'),
        ("a*b c", "lake.sales.`a[*]b?c`"),
    ],
)
def test_the_file_names_the_table_alone_and_gives_the_reasons_as_comments(
    name: str, quoted: str
) -> None:
    table = replace(TABLE, table=TableIdentifier("lake", ("sales",), name))
    lines = write_suggestion(suggest_policy(table, {}, (), NOW), Mode.ENFORCE).splitlines()
    assert lines[0].startswith(f"# Suggested for {table.table} from its history of ")
    start = lines.index(f'tables: "{quoted}"')
    assert lines[start + 1 : start + 6] == [
        "mode: enforce",
        "rules:",
        "  rewrite_data_files:",
        "    when:",
        "      # A quarter of the target file size of 512 MiB.",
    ]
    assert "      average_file_size_below: 128MiB" in lines
    assert lines.count("rules:") == 1


@example(0, 1, 0, TARGET, 0, "a\u2028mode: enforce")
@example(0, 1, 0, TARGET, 0, "a [*]\n")
@given(
    files=st.floats(0, 1e6),
    size=st.integers(1, 10 * TARGET),
    commits=st.floats(0, 1e5),
    target=st.integers(1, 10 * TARGET),
    deletes=st.integers(0, 10**6),
    name=st.text(min_size=1, max_size=30),
)
def test_each_suggestion_is_a_valid_file_for_this_table_alone(  # noqa: PLR0917 - drawn
    files: float, size: int, commits: float, target: int, deletes: int, name: str
) -> None:
    table = TableIdentifier("lake", ("sales", "a.b"), name)
    health = replace(
        TABLE, table=table, target_file_size_bytes=target, position_delete_files=deletes
    )
    text = write_suggestion(suggest_policy(health, arrivals(files, size, commits), (), NOW))
    layer = parse_policy(text, "suggested.yaml")
    assert isinstance(layer, PolicyLayer), layer
    (pattern,) = layer.tables
    assert pattern.matches(table)
    assert not pattern.matches(replace(table, name=f"{name}x"))
    assert layer.settings["mode"].value == Mode.OBSERVE
