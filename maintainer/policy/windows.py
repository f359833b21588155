"""Windows and blackouts: a duration from each firing of a cron expression, in a time zone.

Firings are times of the local clock, the duration is real time: a window keeps its length across a
change of the clocks. A local time that occurs twice opens a window once, at its first occurrence,
and a blackout at both. A local time that is skipped opens as long after midnight as usual.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from croniter import croniter

from maintainer.domain.policy import Window

_LONGEST_CHANGE = timedelta(hours=3)  # the largest single change of a time zone
_KNOWN_ANSWERS = 1024
_ONCE = (0,)
_TWICE = (0, 1)


def is_open(window: Window, now: datetime) -> bool:
    """True from a firing (inclusive) until the end of its duration (exclusive)."""
    return now < closing(window, now)


def is_blacked_out(window: Window, now: datetime) -> bool:
    """As is_open, but both occurrences of a repeated local time count.

    So a blackout may be too long, but is never violated.
    """
    return now < blackout_end(window, now)


def closing(window: Window, now: datetime) -> datetime:
    """The end of the window that opened last, in UTC; it may be in the past."""
    return _last_opening(window, _full_minute(now), _ONCE) + window.duration


def blackout_end(window: Window, now: datetime) -> datetime:
    """The end of the blackout that began last, in UTC; it may be in the past."""
    return _last_opening(window, _full_minute(now), _TWICE) + window.duration


def next_opening(window: Window, now: datetime) -> datetime:
    """The first firing after now, in UTC."""
    return _next_opening(window, _full_minute(now))


def _full_minute(moment: datetime) -> datetime:
    """The instant rounded down to the minute.

    Windows open at full minutes, so that the answers stay the same for a minute and are computed
    once for all tables of a policy.
    """
    return moment.replace(second=0, microsecond=0)


@lru_cache(maxsize=_KNOWN_ANSWERS)
def _next_opening(window: Window, now: datetime) -> datetime:
    zone = ZoneInfo(window.timezone)
    wall = now.astimezone(zone).replace(tzinfo=None)
    openings = (
        firing.replace(tzinfo=zone).astimezone(UTC)
        for firing in _forward(window, wall - _LONGEST_CHANGE)
    )
    coming = (opening for opening in openings if opening > now)
    # The earlier of two firings: a skipped local time may come after the next local time.
    return min(next(coming), next(coming))


@lru_cache(maxsize=_KNOWN_ANSWERS)
def _last_opening(window: Window, now: datetime, passings: tuple[int, ...]) -> datetime:
    """The latest opening at or before now, in UTC."""
    zone = ZoneInfo(window.timezone)
    wall = now.astimezone(zone).replace(tzinfo=None)
    openings: list[datetime] = []
    start = wall if _is_steady(zone, now) else wall + _LONGEST_CHANGE
    firings, is_over = _backward(window, start), False
    while not is_over:
        firing = next(firings)
        instants = [
            firing.replace(tzinfo=zone, fold=passing).astimezone(UTC) for passing in passings
        ]
        openings += [instant for instant in instants if instant <= now]
        is_over = bool(openings) and (start == wall or firing <= wall - _LONGEST_CHANGE)
    return max(openings)


def _is_steady(zone: ZoneInfo, now: datetime) -> bool:
    return (now - _LONGEST_CHANGE).astimezone(zone).utcoffset() == (
        now + _LONGEST_CHANGE
    ).astimezone(zone).utcoffset()


def _forward(window: Window, wall: datetime) -> Iterator[datetime]:
    firings = croniter(window.cron, wall)
    while True:
        yield firings.get_next(datetime)


def _backward(window: Window, wall: datetime) -> Iterator[datetime]:
    minute = wall.replace(second=0, microsecond=0)
    if croniter.match(window.cron, minute):
        yield minute
    firings = croniter(window.cron, minute)
    while True:
        yield firings.get_prev(datetime)
