"""Cost and worth of an action: predicted, actual, and as a score that orders actions.

A GB is 1024**3 bytes, as in Spark's `2g`. A GB-hour is the memory of one job for one hour of
Spark's work.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


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
    work: float = 0.0  # the amount that decides the duration: bytes, or snapshots for an expiry

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


BENEFIT = "benefit"  # the term of a score for the benefit


@dataclass(frozen=True, slots=True)
class Score:
    """The rank of an action and its terms: (name, value) in the order of the sentence."""

    scorer: str
    value: float
    terms: tuple[tuple[str, float], ...] = ()
    sentence: str = ""


class Quantity(StrEnum):
    """A quantity that is estimated before a job and known after it."""

    FILES_REMOVED = "files_removed"
    DELETE_FILES_REMOVED = "delete_files_removed"
    MANIFESTS_REMOVED = "manifests_removed"
    SNAPSHOTS_REMOVED = "snapshots_removed"
    BYTES_REWRITTEN = "bytes_rewritten"
    GB_HOURS = "gb_hours"
    DURATION_SECONDS = "duration_seconds"


FIRST_RUN = "first run, still learning"


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
