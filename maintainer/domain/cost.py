"""What an action costs and is worth: as predicted, as it was, and as a score that ranks it among
others.

A GB is 1024**3 bytes, as in Spark's `2g`. A GB-hour is the memory that one job occupies for one
hour of Spark's work.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class CostBasis(StrEnum):
    """Whose finished jobs a prediction rests on, the nearest that there are."""

    TABLE = "table"
    CATALOG = "catalog"
    DEFAULT = "default"  # none of its kind has finished: published figures


@dataclass(frozen=True, slots=True)
class Cost:
    """What an action is expected to take; the 90th percentile is what budgets are charged with
    until the job is done.
    """

    gb_hours: float
    gb_hours_p90: float
    duration_seconds: float
    basis: CostBasis = CostBasis.DEFAULT
    samples: int = 0  # finished jobs behind the prediction
    work: float = 0.0  # what the duration grows with: bytes, or snapshots of an expiry

    @property
    def duration(self) -> timedelta:
        """Of Spark's work."""
        return timedelta(seconds=self.duration_seconds)


@dataclass(frozen=True, slots=True)
class Benefit:
    """What an action is good for, in files that readers and planners need not open any more;
    weights are in docs/decisions.md.
    """

    files_removed: int = 0
    deletes_applied: int = 0
    manifests_removed: int = 0
    snapshots_removed: int = 0
    reads_weight: float = 1.0  # 1 + reads / typical reads; 1 where reads are not known
    value: float = 0.0  # the weighted sum


@dataclass(frozen=True, slots=True)
class Worth:
    """What speaks for an action beside its cost, and what the published model would take for gain
    and cost.
    """

    benefit: Benefit
    chance: float = (
        1.0  # that it succeeds: no writer's commit comes first, and it did not fail lately
    )
    published_files: int = 0
    published_gb_hours: float = 0.0


BENEFIT = "benefit"  # the term of a score that says what an action is good for


@dataclass(frozen=True, slots=True)
class Score:
    """The rank of an action and how it came about: terms are (name, value) in the order in which
    the sentence has them.
    """

    scorer: str
    value: float
    terms: tuple[tuple[str, float], ...] = ()
    sentence: str = ""


class Quantity(StrEnum):
    """What is predicted of a job and known when it is done."""

    FILES_REMOVED = "files_removed"
    DELETE_FILES_REMOVED = "delete_files_removed"
    MANIFESTS_REMOVED = "manifests_removed"
    SNAPSHOTS_REMOVED = "snapshots_removed"
    BYTES_REWRITTEN = "bytes_rewritten"
    GB_HOURS = "gb_hours"
    DURATION_SECONDS = "duration_seconds"


@dataclass(frozen=True, slots=True)
class EstimateError:
    """What was predicted of one job, and what came of it."""

    quantity: Quantity
    predicted: float
    actual: float

    @property
    def ratio(self) -> float | None:
        """(predicted - actual) / actual: 0.28 is 28 % too much; None when something was predicted
        and there was nothing.
        """
        if self.predicted == self.actual:
            return 0.0
        return (self.predicted - self.actual) / self.actual if self.actual else None
