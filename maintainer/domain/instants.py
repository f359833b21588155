"""Instants that another clock wrote, or ours before it was set back: one that is later than now
cannot be true, and must hold nothing back until it comes.
"""

from __future__ import annotations

from datetime import datetime, timedelta

CLOCK_TOLERANCE = timedelta(minutes=5)  # by which the clocks of two machines may differ


def is_ahead(instant: datetime, now: datetime) -> bool:
    """Whether the instant was written by a clock that was ahead of ours by more than clocks differ:
    it does not say when anything happened.
    """
    return instant > now + CLOCK_TOLERANCE


def is_recent(instant: datetime, span: timedelta, now: datetime) -> bool:
    """Whether something happened less than the span ago.

    A writer's clock may be ahead of ours, and what it writes now is recent all the same. One that
    is ahead by the whole span says nothing.
    """
    return abs(now - instant) < span
