from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.policy import Window
from maintainer.policy.window import is_open, next_opening

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
def test_in_the_hour_that_the_clocks_repeat_the_next_opening_is_still_after_now(moment: str) -> None:
    half_past_two = Window("30 2 * * *", timedelta(minutes=20), "Europe/Berlin")
    assert not is_open(half_past_two, at(moment))
    assert next_opening(half_past_two, at(moment)) == at("2026-10-26T01:30")


@given(st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)).map(lambda t: t.replace(tzinfo=UTC)))  # noqa: DTZ001
def test_every_next_opening_is_open(moment: datetime) -> None:
    opening = next_opening(NIGHT, moment)
    assert opening > moment
    assert is_open(NIGHT, opening)
