"""Maintenance and blackout windows: from each firing of a cron expression, for a duration, on the
wall clock of a time zone.

Firings are reckoned on the wall clock, the duration on the real one: across a change of the clocks
a window keeps its length. A time that the clocks pass twice opens a maintenance window once, at its
first passing, and a blackout at both; one that they leave out opens as long after midnight as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from croniter import croniter

from maintainer.domain.policy import Window

_LONGEST_CHANGE = timedelta(hours=3)  # of any zone's clocks at once
_KNOWN_ANSWERS = 1024
_ONCE = (0,)
_TWICE = (0, 1)


def is_open(window: Window, now: datetime) -> bool:
    """True from a firing (inclusive) until its duration is over (exclusive)."""
    return now < closing(window, now)


def is_blacked_out(window: Window, now: datetime) -> bool:
    """As is_open, but a time that the clocks pass twice counts twice: rather too long than
    violated.
    """
    return now < blackout_end(window, now)


def closing(window: Window, now: datetime) -> datetime:
    """When the window that opened last closes, or has closed, UTC."""
    return _last_opening(window, _full_minute(now), _ONCE) + window.duration


def blackout_end(window: Window, now: datetime) -> datetime:
    """When the blackout that began last ends, or has ended, UTC."""
    return _last_opening(window, _full_minute(now), _TWICE) + window.duration


def next_opening(window: Window, now: datetime) -> datetime:
    """The first firing after now, UTC."""
    return _next_opening(window, _full_minute(now))


def _full_minute(moment: datetime) -> datetime:
    """Windows open at full minutes: until the next one the answers are the same, and are reckoned
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
    # The second as well: a time that the clocks leave out opens later than the time behind it.
    return min(next(coming), next(coming))


@lru_cache(maxsize=_KNOWN_ANSWERS)
def _last_opening(window: Window, now: datetime, passings: tuple[int, ...]) -> datetime:
    """The latest opening that is not after now, UTC."""
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
