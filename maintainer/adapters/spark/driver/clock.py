"""The clock of fences."""

from __future__ import annotations

import time

_CLOCK = getattr(
    time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC
)  # includes the time when the machine sleeps, if there is such a clock


def read_clock() -> float:
    """Return seconds on a clock that all processes of this machine share."""
    return time.clock_gettime(_CLOCK)
