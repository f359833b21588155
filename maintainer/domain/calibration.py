"""What finished jobs teach of a kind of action: start-up, pace and how far predictions were off, in
sums that fade with each further job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log

from maintainer.domain.policy import RuleName

# Of each further job. A table's own jobs are alike and change with its writers; a catalog's are of
# many kinds, and one of them says less.
TABLE_ALPHA = 0.2
SHARED_ALPHA = 0.05
SHORTEST_SECONDS = 0.05  # a clock's grain: what is shorter is taken for as long
# An exabyte and thirty years: beyond them somebody's figure is wrong, and the sums must stay
# numbers.
LARGEST_WORK = 1e18
LONGEST_SECONDS = 1e9
_FAR_OFF = (
    3.0  # a prediction further off than by this factor says nothing of how much a job should count
)
_LARGEST_LOG_RATIO = log(100.0)  # one absurd job must not widen all later predictions without bound


@dataclass(frozen=True, slots=True)
class CostSample:
    """One finished job: what it worked on, how long Spark took, and how long was predicted (None:
    nothing was).
    """

    work: float
    seconds: float
    predicted_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CostFit:
    """Fading sums over jobs of x work, y seconds and p seconds predicted: the normal equations of y
    = start-up + x / pace.
    """

    samples: int = 0
    starts: float = 0.0  # of 1 / p**2: relative, so that short and long jobs count alike
    mixed: float = 0.0  # of x / p**2
    squares: float = 0.0  # of x**2 / p**2
    start_sum: float = 0.0  # of y / p**2
    work_sum: float = 0.0  # of x * y / p**2
    misses: float = 0.0  # of ln(actual / predicted) ** 2
    judged: float = 0.0  # of the weight of the jobs for which something was predicted

    def learn(self, sample: CostSample, alpha: float) -> CostFit:
        """With one more job; what was known before counts for 1 - alpha of what it did."""
        keep = 1 - alpha
        seconds = _bound_seconds(sample.seconds)
        miss, scale = 0.0, seconds
        if sample.predicted_seconds is not None:
            predicted = _bound_seconds(sample.predicted_seconds)
            miss = min(abs(log(seconds / predicted)), _LARGEST_LOG_RATIO) ** 2
            # By what was predicted: by the actual one, short jobs would pull more than long ones,
            # and all predictions would be too low.
            scale = min(max(predicted, seconds / _FAR_OFF), seconds * _FAR_OFF)
        relative = min(sample.work, LARGEST_WORK) / scale
        return CostFit(
            samples=self.samples + 1,
            starts=self.starts * keep + 1 / scale**2,
            mixed=self.mixed * keep + relative / scale,
            squares=self.squares * keep + relative**2,
            start_sum=self.start_sum * keep + seconds / scale**2,
            work_sum=self.work_sum * keep + relative * seconds / scale,
            misses=self.misses * keep + miss,
            judged=self.judged * keep + (sample.predicted_seconds is not None),
        )


def _bound_seconds(seconds: float) -> float:
    return min(max(SHORTEST_SECONDS, seconds), LONGEST_SECONDS)


NOTHING_LEARNT = CostFit()


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of a table's actions, from the nearest jobs to the farthest: its own, its
    catalog's, all.
    """

    table: Mapping[RuleName, CostFit] = field(default_factory=dict)
    catalog: Mapping[RuleName, CostFit] = field(default_factory=dict)
    fleet: Mapping[RuleName, CostFit] = field(default_factory=dict)
