"""Cost and worth of an action: predicted from finished jobs, actual, and as a score.

A GB is 1024**3 bytes, as in Spark's `2g`. A GB-hour is the memory of one job for one hour of
Spark's work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from math import log

from maintainer.domain.effect import Quantity
from maintainer.domain.policy import RuleName

BENEFIT = "benefit"  # the term of a score for the benefit
FIRST_RUN = "first run, still learning"
# The weight of each new job. The jobs of a table are similar, and change with the table's writers.
# The jobs of a catalog differ, so a single job says less about the next.
TABLE_ALPHA = 0.2
SHARED_ALPHA = 0.05
SHORTEST_SECONDS = 0.05  # the resolution of clocks; shorter times count as this time
# An exabyte, and thirty years. Larger figures are wrong, and the sums must stay finite.
LARGEST_WORK = 1e18
LONGEST_SECONDS = 1e9
# The other costs of a rewrite, as the bytes that take as long at the first pace: 1 ms to list, open
# and read a file, and 0.25 s to plan and commit a group. With Spark on a local disk, 20,000 files
# of 600 bytes in one group took 15.4 s, 1,631 files in 48 groups 20.5 s, and 240 MB in 60 files
# 15 s.
BYTES_PER_FILE = 8000.0
BYTES_PER_GROUP = 2_000_000.0
WORK_VERSION = 2  # raised when work is counted in another way, so that what was learnt is void
_FAR_OFF = 3.0  # for the weight of a job, the error of a prediction counts at most as this factor
_LARGEST_LOG_RATIO = log(100.0)  # so that one extreme job does not widen all later predictions


class CostBasis(StrEnum):
    """Whose finished jobs a prediction is based on. The nearest level with jobs is used."""

    TABLE = "table"
    CATALOG = "catalog"
    DEFAULT = "default"  # from published figures, because no job of this kind has finished


@dataclass(frozen=True, slots=True)
class Cost:
    """The predicted cost of an action.

    Budgets are charged with the 90th percentile until the job is done.
    """

    gb_hours: float
    gb_hours_p90: float
    duration_seconds: float
    basis: CostBasis = CostBasis.DEFAULT
    samples: int = 0  # the number of finished jobs behind the prediction
    # the amount that decides the duration: bytes, with those for files and groups; or
    # snapshots for an expiry
    work: float = 0.0

    @property
    def duration(self) -> timedelta:
        """Predicted duration of Spark's work."""
        return timedelta(seconds=self.duration_seconds)


@dataclass(frozen=True, slots=True)
class ExecutorUse:
    """The executors that a job really had, where their number changes."""

    seconds: float  # of all executors together; if jobs shared them, the job's part
    memory_gb: float  # of one executor


@dataclass(frozen=True, slots=True)
class Benefit:
    """The benefit of an action: files that readers and planners no longer open.

    docs/decisions.md has the weights.
    """

    files_removed: int = 0
    deletes_applied: int = 0
    manifests_removed: int = 0
    snapshots_removed: int = 0
    value: float = 0.0  # the weighted sum


@dataclass(frozen=True, slots=True)
class Worth:
    """Benefit and chance of an action, and the published model's gain and cost for it."""

    benefit: Benefit
    chance: float = 1.0  # chance of success; other writers' commits and recent failures lower it
    published_files: int = 0
    published_gb_hours: float = 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """The rank of an action and its terms: (name, value) in the order of the sentence."""

    scorer: str
    value: float
    terms: tuple[tuple[str, float], ...] = ()
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class EstimateError:
    """One estimated quantity of a job with its actual value."""

    quantity: Quantity
    estimated: float
    actual: float
    note: str = ""  # why the estimate could not be better

    @property
    def ratio(self) -> float | None:
        """(estimated - actual) / actual: 0.28 is 28 % too much.

        None when the estimate was positive and the actual value is 0.
        """
        if self.estimated == self.actual:
            return 0.0
        return (self.estimated - self.actual) / self.actual if self.actual else None


@dataclass(frozen=True, slots=True)
class CostSample:
    """One finished job: work, Spark's seconds, predicted seconds (None: no prediction)."""

    work: float
    seconds: float
    predicted_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CostFit:
    """Sums over jobs with work x, seconds y and predicted seconds p; older jobs have less weight.

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
    version: int = 0  # WORK_VERSION of its jobs

    def learn(self, sample: CostSample, alpha: float) -> CostFit:
        """Add a job. The weight of all earlier jobs is multiplied by 1 - alpha."""
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
            version=WORK_VERSION,
        )


def _bound_seconds(seconds: float) -> float:
    return min(max(SHORTEST_SECONDS, seconds), LONGEST_SECONDS)


NOTHING_LEARNT = CostFit()


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of a table's actions, by its own jobs, its catalog's jobs, and all jobs."""

    table: Mapping[RuleName, CostFit] = field(default_factory=dict)
    catalog: Mapping[RuleName, CostFit] = field(default_factory=dict)
    fleet: Mapping[RuleName, CostFit] = field(default_factory=dict)
