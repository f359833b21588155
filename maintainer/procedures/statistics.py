"""What the two chapters of statistics have in common."""

from __future__ import annotations

from maintainer.domain.action import Action
from maintainer.domain.cost import Benefit
from maintainer.domain.effect import Effect
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Estimate
from maintainer.domain.units import format_size
from maintainer.estimate.cost import PUBLISHED_BYTES_PER_SECOND, Pace
from maintainer.procedures.procedure import Gain

STATISTICS_VALUE = 10.0  # of statistics if a table has none, or only older statistics
FIRST_PACE = Pace(10.0, 0.1 / PUBLISHED_BYTES_PER_SECOND)  # the job reads, and writes very little
BENEFIT = Benefit(value=STATISTICS_VALUE)


def find_gain_of_statistics(action: Action, health: TableHealth, described: int | None) -> Gain:
    """The gain of statistics of the current snapshot; `described` is the snapshot of the last."""
    is_new = described != health.snapshot_id
    estimate = Estimate(
        0, int(is_new), 0, 0, note=f"reads up to {format_size(health.data_bytes or 0)}"
    )
    since = "there are none yet" if described is None else f"the last are of snapshot {described}"
    sentence = (
        f"statistics of snapshot {health.snapshot_id} would be computed; {since}"
        if is_new
        else "the statistics are those of the current snapshot"
    )
    return Gain(action, estimate, is_new, sentence)


def describe_statistics(effect: Effect) -> str:
    """What a job of statistics achieved, as one sentence."""
    return f"Statistics of snapshot {effect.before.snapshot_id} are written."
