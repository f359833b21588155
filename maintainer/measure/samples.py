"""Rates and increases of a figure, from its samples over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

Samples = Sequence[tuple[datetime, float | None]]  # oldest first; None: unknown at that time


def drop_unknown(samples: Samples) -> list[tuple[datetime, float]]:
    """The samples with a value."""
    return [(at, value) for at, value in samples if value is not None]


def sum_rises(samples: Sequence[tuple[datetime, float]]) -> float:
    """The sum of all increases; decreases do not count, because rewrites and expiry cause them."""
    return sum(max(0.0, after - before) for (_, before), (_, after) in pairwise(samples))


def mean_over_time(samples: Sequence[tuple[datetime, float]]) -> float:
    """The mean weighted by time, because tables are measured more often during writes."""
    span = samples[-1][0] - samples[0][0]
    if not span:
        return samples[-1][1]
    return sum(before * ((then - at) / span) for (at, before), (then, _) in pairwise(samples))
