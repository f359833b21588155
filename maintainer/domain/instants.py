"""Instants from other clocks, or from this machine's clock before it was set back.

A recorded instant in the future is wrong, and must not delay anything.
"""

from __future__ import annotations

from datetime import datetime, timedelta

CLOCK_TOLERANCE = timedelta(minutes=5)  # allowed difference between the clocks of two machines


def is_ahead(instant: datetime, now: datetime) -> bool:
    """True when the instant is further in the future than clocks may differ.

    Then it does not say when anything happened.
    """
    return instant > now + CLOCK_TOLERANCE


def is_recent(instant: datetime, span: timedelta, now: datetime) -> bool:
    """True when the instant is less than the span ago.

    An instant slightly in the future counts as recent, because the writer's clock may be ahead. An
    instant that is ahead by the whole span does not count.
    """
    return abs(now - instant) < span
