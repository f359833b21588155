"""What finished jobs teach about the cost of one kind of action.

Start-up time, pace and prediction errors are kept as sums that fade with each further job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log

from maintainer.domain.policy import RuleName

# The weight of each new job. The jobs of a table are similar, and change with the table's writers.
# The jobs of a catalog differ, so a single job says less about the next.
TABLE_ALPHA = 0.2
SHARED_ALPHA = 0.05
SHORTEST_SECONDS = 0.05  # the resolution of clocks; shorter times count as this time
# An exabyte, and thirty years. Larger figures are wrong, and the sums must stay finite.
LARGEST_WORK = 1e18
LONGEST_SECONDS = 1e9
_FAR_OFF = 3.0  # for the weight of a job, the error of a prediction counts at most as this factor
_LARGEST_LOG_RATIO = log(100.0)  # so that one extreme job does not widen all later predictions


@dataclass(frozen=True, slots=True)
class CostSample:
    """One finished job: work, Spark's seconds, predicted seconds (None: no prediction)."""

    work: float
    seconds: float
    predicted_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CostFit:
    """Fading sums over jobs with work x, seconds y and predicted seconds p.

    They are the normal equations of y = start-up + x / pace.
    """

    samples: int = 0
    starts: float = 0.0  # of 1 / p**2: relative errors, so that short and long jobs count the same
    mixed: float = 0.0  # of x / p**2
    squares: float = 0.0  # of x**2 / p**2
    start_sum: float = 0.0  # of y / p**2
    work_sum: float = 0.0  # of x * y / p**2
    misses: float = 0.0  # of ln(actual / predicted) ** 2
    judged: float = 0.0  # total weight of the jobs that had a prediction

    def learn(self, sample: CostSample, alpha: float) -> CostFit:
        """Add one job. What was known before keeps 1 - alpha of its weight."""
        keep = 1 - alpha
        seconds = _bound_seconds(sample.seconds)
        miss, scale = 0.0, seconds
        if sample.predicted_seconds is not None:
            predicted = _bound_seconds(sample.predicted_seconds)
            miss = min(abs(log(seconds / predicted)), _LARGEST_LOG_RATIO) ** 2
            # The weight comes from the prediction. With the actual time, short jobs would count
            # more than long ones, and all predictions would be too low.
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
    """What is known about a table's actions: its own jobs, its catalog's jobs, all jobs."""

    table: Mapping[RuleName, CostFit] = field(default_factory=dict)
    catalog: Mapping[RuleName, CostFit] = field(default_factory=dict)
    fleet: Mapping[RuleName, CostFit] = field(default_factory=dict)
