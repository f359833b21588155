"""Maintenance windows: from each firing of a cron expression, for a duration, on the wall clock of a time zone."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from croniter import croniter

from maintainer.domain.policy import Window


def is_open(window: Window, now: datetime) -> bool:
    """True from a firing (inclusive) until its duration is over (exclusive)."""
    # Firings are reckoned on the wall clock, the duration on the real one: across a change of the clocks a window keeps its length.
    zone = ZoneInfo(window.timezone)
    wall = now.astimezone(zone).replace(tzinfo=None)
    previous: datetime = wall if croniter.match(window.cron, wall) else croniter(window.cron, wall).get_prev(datetime)
    opened = previous.replace(second=0, microsecond=0, tzinfo=zone).astimezone(UTC)
    return opened <= now < opened + window.duration


def next_opening(window: Window, now: datetime) -> datetime:
    """The first firing after now, UTC."""
    zone = ZoneInfo(window.timezone)
    firings = croniter(window.cron, now.astimezone(zone).replace(tzinfo=None))
    while True:
        following: datetime = firings.get_next(datetime)
        opening = following.replace(tzinfo=zone).astimezone(UTC)
        if opening > now:  # in the hour that the clocks repeat, a firing that is still to come by the wall clock is over
            return opening
