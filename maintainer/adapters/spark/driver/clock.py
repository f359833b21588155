"""The clock of fences."""

from __future__ import annotations

import time

# A clock that includes the time when the machine sleeps, if the system has such a clock.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def read_clock() -> float:
    """Return seconds on a clock that all processes of this machine share."""
    return time.clock_gettime(_CLOCK)
