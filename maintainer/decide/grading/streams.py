"""Findings about the stream that writes a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from maintainer.domain.health import Band, Finding, TableHealth
from maintainer.domain.policy import Policy
from maintainer.domain.units import write_duration

LAG: Final = "stream_lag"
_MARGIN: Final = 0.1  # of the trigger; a gap between commits may exceed the trigger by this share


def find_stream_lag(health: TableHealth, policy: Policy, *, is_helped: bool) -> Iterator[Finding]:
    """A stream whose commits take longer than its trigger, as the policy has it.

    `is_helped`: maintenance would improve the table, and so perhaps the stream.
    """
    gap, trigger = health.commit_gap_seconds, policy.stream_trigger
    if gap is None or trigger is None or gap <= (1 + _MARGIN) * trigger.total_seconds():
        return
    seconds = trigger.total_seconds()
    yield Finding(
        LAG,
        gap,
        seconds,
        Band.WATCH,
        is_actionable=is_helped,
        sentence=f"the busiest writer commits every {write_duration(round(gap))} (median of 24 h), "
        f"the stream's trigger is {write_duration(seconds)}",
    )
