from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.policy import Window
from maintainer.policy.windows import blackout_end, closing, is_blacked_out, is_open, next_opening

NIGHT = Window("0 1 * * *", timedelta(hours=4), "Europe/Berlin")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-01-10T00:00", True),  # 01:00 in winter
        ("2026-01-09T23:59", False),
        ("2026-01-10T03:59", True),
        ("2026-01-10T04:00", False),
        ("2026-07-10T23:00", True),  # 01:00 in summer
        ("2026-07-10T03:00", False),
    ],
)
def test_a_window_opens_by_the_wall_clock_of_its_zone(moment: str, expected: bool) -> None:
    assert is_open(NIGHT, at(moment)) is expected


def test_when_the_clocks_go_forward_a_window_keeps_its_length() -> None:
    assert is_open(NIGHT, at("2026-03-29T03:59"))
    assert not is_open(NIGHT, at("2026-03-29T04:00"))


def test_the_next_opening_is_after_now() -> None:
    assert next_opening(NIGHT, at("2026-01-10T00:00")) == at("2026-01-11T00:00")
    assert next_opening(NIGHT, at("2026-07-10T12:00")) == at("2026-07-10T23:00")


@pytest.mark.parametrize("moment", ["2026-10-25T01:10", "2026-10-25T01:29"])
def test_in_the_hour_that_the_clocks_repeat_the_next_opening_is_still_after_now(
    moment: str,
) -> None:
    half_past_two = Window("30 2 * * *", timedelta(minutes=20), "Europe/Berlin")
    assert not is_open(half_past_two, at(moment))
    assert next_opening(half_past_two, at(moment)) == at("2026-10-26T01:30")


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
)
def test_every_next_opening_is_open(moment: datetime) -> None:
    opening = next_opening(NIGHT, moment)
    assert opening > moment
    assert is_open(NIGHT, opening)


def in_zone(text: str, zone: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC)


def test_a_window_that_opened_before_the_repeated_hour_stays_open_through_it() -> None:
    from_half_past_two = Window("30 2 * * *", timedelta(hours=4), "Europe/Berlin")
    first_passing, second_passing = (
        in_zone("2026-10-25T02:40", "Europe/Berlin"),
        in_zone("2026-10-25T02:10", "Europe/Berlin", fold=1),
    )
    assert second_passing - first_passing == timedelta(minutes=30)
    assert is_open(from_half_past_two, first_passing)
    assert is_open(from_half_past_two, second_passing)
    assert closing(from_half_past_two, second_passing) == in_zone(
        "2026-10-25T02:30", "Europe/Berlin"
    ) + timedelta(hours=4)


def test_a_time_that_the_clocks_pass_twice_opens_a_window_once_and_a_blackout_twice() -> None:
    ten_minutes = Window("15 2 * * *", timedelta(minutes=10), "Europe/Berlin")
    first, second = (
        in_zone("2026-10-25T02:20", "Europe/Berlin"),
        in_zone("2026-10-25T02:20", "Europe/Berlin", fold=1),
    )
    assert second - first == timedelta(hours=1)
    assert (is_open(ten_minutes, first), is_open(ten_minutes, second)) == (True, False)
    assert (is_blacked_out(ten_minutes, first), is_blacked_out(ten_minutes, second)) == (True, True)
    assert blackout_end(ten_minutes, second) == second + timedelta(minutes=5)


def test_a_time_that_the_clocks_leave_out_opens_as_long_after_midnight_as_ever() -> None:
    half_past_two = Window("30 2 * * *", timedelta(minutes=20), "Europe/Berlin")
    opening = next_opening(half_past_two, at("2026-03-28T22:30"))
    assert opening == at("2026-03-29T01:30")  # 03:30 by the clocks, which leapt from 02:00 to 03:00
    assert is_open(half_past_two, opening)
    assert not is_open(half_past_two, opening - timedelta(minutes=1))
    assert is_blacked_out(half_past_two, opening)


def test_behind_a_time_that_is_left_out_the_next_opening_is_the_earliest() -> None:
    both = Window("30 2,3 * * *", timedelta(minutes=5), "Europe/Berlin")
    every_half_hour = Window("*/30 * * * *", timedelta(minutes=5), "Europe/Berlin")
    assert next_opening(both, at("2026-03-29T00:10")) == at("2026-03-29T01:30")
    assert next_opening(every_half_hour, at("2026-03-29T00:40")) == at("2026-03-29T01:00")


def test_where_half_an_hour_is_left_out_a_later_time_can_open_earlier() -> None:
    both = Window(
        "15,30 2 * * *", timedelta(minutes=5), "Australia/Lord_Howe"
    )  # the clocks leap from 02:00 to 02:30 there
    assert next_opening(both, at("2026-10-03T15:00")) == at("2026-10-03T15:30")
    assert next_opening(both, at("2026-10-03T15:30")) == at("2026-10-03T15:45")


@pytest.mark.parametrize("date", ["2026-03-28", "2026-10-24", "2026-07-01"])
def test_a_window_that_spans_midnight_and_a_change_of_the_clocks_keeps_its_length(
    date: str,
) -> None:
    late = Window("0 22 * * *", timedelta(hours=6), "Europe/Berlin")
    opened = in_zone(f"{date}T22:00", "Europe/Berlin")
    assert next_opening(late, opened - timedelta(minutes=1)) == opened
    assert not is_open(late, opened - timedelta(minutes=1))
    assert is_open(late, opened + timedelta(hours=5, minutes=59))
    assert not is_open(late, opened + timedelta(hours=6))


ZONES = st.sampled_from(
    [
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "America/Sao_Paulo",
        "Asia/Kolkata",
        "Pacific/Chatham",
    ]
)
CRONS = st.sampled_from(
    ["0 1 * * *", "30 2 * * *", "0 22 * * 6", "15 */6 * * *", "0 0 1 * *", "45 1,2,3 * * *"]
)
WINDOWS = st.builds(
    Window, CRONS, st.integers(1, 600).map(lambda minutes: timedelta(minutes=minutes)), ZONES
)
NEAR_A_CHANGE = st.sampled_from(
    [
        "2026-03-29T01:00",
        "2026-10-25T01:00",
        "2026-03-08T07:00",
        "2026-11-01T06:00",
        "2026-04-04T15:00",
        "2026-10-03T15:30",
    ]
)
MOMENTS = st.builds(
    lambda text, minutes: at(text) + timedelta(minutes=minutes),
    NEAR_A_CHANGE,
    st.integers(-300, 300),
)


@pytest.mark.slow
@given(WINDOWS, MOMENTS)
def test_a_window_is_open_exactly_while_some_firing_is_less_than_its_duration_ago(
    window: Window, now: datetime
) -> None:
    zone, wall = (
        ZoneInfo(window.timezone),
        now.astimezone(ZoneInfo(window.timezone)).replace(tzinfo=None),
    )
    minutes = (wall + timedelta(hours=4) - timedelta(minutes=minute) for minute in range(15 * 60))
    firings = [minute for minute in minutes if croniter.match(window.cron, minute)]
    for folds, answer in (((0,), is_open(window, now)), ((0, 1), is_blacked_out(window, now))):
        opened = [
            firing.replace(tzinfo=zone, fold=fold).astimezone(UTC)
            for firing in firings
            for fold in folds
        ]
        assert answer is any(opening <= now < opening + window.duration for opening in opened)


@pytest.mark.slow
@given(WINDOWS, MOMENTS)
def test_no_window_opens_between_now_and_its_next_opening(window: Window, now: datetime) -> None:
    opening = next_opening(window, now)
    assert opening > now
    assert is_open(window, opening)
    for minute in range(1, min(600, int((opening - now) / timedelta(minutes=1)))):
        assert closing(window, now + timedelta(minutes=minute)) == closing(window, now)
