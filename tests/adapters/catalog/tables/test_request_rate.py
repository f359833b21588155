from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from maintainer.adapters.catalog.tables.request_rate import Intervals, PollLimits, Rate
from tests.adapters.catalog.lake import identify

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
ORDERS, ITEMS = identify("sales", "orders"), identify("sales", "items")
LIMITS = PollLimits(min_interval=timedelta(minutes=1), max_interval=timedelta(minutes=30))


def waits(intervals: Intervals, changes: list[bool]) -> list[timedelta]:
    """How long each of these outcomes keeps the table from being asked again."""
    found = []
    now = NOW
    for is_changed in changes:
        intervals.note(ORDERS, now, is_changed=is_changed)
        start = now
        while not intervals.is_due(ORDERS, now):
            now += timedelta(seconds=1)
        found.append(now - start)
    return found


def test_a_table_never_asked_is_due() -> None:
    assert Intervals(LIMITS).is_due(ORDERS, NOW)


def test_an_idle_table_is_asked_ever_more_rarely_within_the_bounds() -> None:
    found = waits(Intervals(LIMITS, seed=1), [False] * 12)
    assert found[0] <= timedelta(minutes=1) * (1 + LIMITS.jitter) + timedelta(seconds=1)
    assert found[3] > found[0] * LIMITS.growth
    assert all(LIMITS.min_interval <= wait <= LIMITS.max_interval for wait in found)
    assert found[-1] >= LIMITS.max_interval * (1 - LIMITS.jitter)


@pytest.mark.parametrize(
    ("growth", "minutes"), [(1, [1, 1, 1, 1]), (2, [1, 2, 4, 8]), (10, [1, 10, 30, 30])]
)
def test_an_interval_grows_by_the_factor_that_is_set(growth: float, minutes: list[int]) -> None:
    steady = replace(LIMITS, growth=growth, jitter=0)
    assert waits(Intervals(steady), [False] * 4) == [
        timedelta(minutes=number) for number in minutes
    ]


@pytest.mark.parametrize("jitter", [0, 0.1, 0.5])
def test_intervals_lie_as_far_apart_as_is_set(jitter: float) -> None:
    intervals = Intervals(replace(LIMITS, growth=4, jitter=jitter), seed=1)
    found = [waits(intervals, [True, False])[-1] / timedelta(minutes=4) for _ in range(50)]
    assert 1 - jitter <= min(found) <= 1 - 0.8 * jitter
    assert 1 + 0.8 * jitter <= max(found) <= 1 + jitter + 0.01


def test_a_change_makes_a_table_asked_soon_again() -> None:
    found = waits(Intervals(LIMITS, seed=1), [False] * 12 + [True])
    assert found[-1] <= timedelta(minutes=1) * (1 + LIMITS.jitter) + timedelta(seconds=1)


def test_tables_that_were_asked_together_do_not_stay_together() -> None:
    intervals = Intervals(LIMITS, seed=1)
    tables = [identify("sales", f"t{number}") for number in range(100)]
    for _ in range(10):
        for table in tables:
            intervals.note(table, NOW, is_changed=False)
    due = [
        sum(intervals.is_due(table, NOW + timedelta(minutes=minutes)) for table in tables)
        for minutes in (27, 29, 30)
    ]
    assert 0 <= due[0] < due[1] < due[2] == 100


def test_what_is_not_kept_is_due_again() -> None:
    intervals = Intervals(LIMITS)
    for table in (ORDERS, ITEMS):
        intervals.note(table, NOW, is_changed=False)
    intervals.keep([ITEMS])
    assert (intervals.is_due(ORDERS, NOW), intervals.is_due(ITEMS, NOW)) == (True, False)


def test_requests_are_spaced_at_the_rate() -> None:
    rate = Rate(10)
    delays = [rate.reserve() for _ in range(11)]
    assert delays[0] == 0
    assert 0.9 < delays[-1] <= 1.0


def test_a_table_that_was_asked_before_the_clock_was_set_back_is_due() -> None:
    intervals = Intervals(LIMITS)
    intervals.note(ORDERS, NOW, is_changed=False)
    assert not intervals.is_due(ORDERS, NOW)
    assert intervals.is_due(ORDERS, NOW - timedelta(hours=2))
