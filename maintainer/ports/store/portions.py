"""The store's portions: the long lists that a job gets, and the rows that it reports.

A list or a listing may have a million lines. It is stored, and sent to Spark, in compressed
portions, so that no process has all of it in memory. Any process can prepare, follow and review a
job with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from maintainer.domain.errors import InvalidValueError

MAX_PORTION_BYTES = 1024**2  # of one portion, compressed
MAX_PORTIONS = 100_000  # of one set: more than a hundred million files


class PortionKind(StrEnum):
    """What the lines of a set are."""

    LIST = "list"  # files that a removal may remove
    LISTING = "listing"  # files in the table's location, for an orphan scan
    ROWS = "rows"  # rows of the job's statements


@dataclass(frozen=True, slots=True)
class PortionSet:
    """The portions of one kind of one job.

    Several processes may prepare the same job at the same time, each with its own set. The process
    that submits the job claims its set, which then has no preparer.
    """

    job_id: str
    kind: PortionKind
    preparer: str = ""  # Runner.owner; empty: the job uses the set


@dataclass(frozen=True, slots=True)
class Portion:
    """Lines in compressed form; `is_last` marks the last portion of a set."""

    lines: int
    data: bytes
    is_last: bool = False


def check_bounds(portions: PortionSet, number: int, portion: Portion) -> None:
    """Raise InvalidValueError for a portion beyond the bounds."""
    what = f"portion {number} of the {portions.kind} of job {portions.job_id}"
    if not 0 <= number < MAX_PORTIONS:
        raise InvalidValueError(
            f"{what} is out of bounds: a set has at most {MAX_PORTIONS:,} portions"
        )
    if len(portion.data) > MAX_PORTION_BYTES:
        raise InvalidValueError(
            f"{what} has {len(portion.data):,} bytes; the limit is {MAX_PORTION_BYTES:,}"
        )


class PortionStore(Protocol):
    """The part of the store that keeps portions. A stored portion never changes."""

    def add_portion(self, portions: PortionSet, number: int, portion: Portion) -> bool:
        """Store a portion; numbers begin at 0. False when the number exists, and nothing changes.

        InvalidValueError beyond MAX_PORTION_BYTES or MAX_PORTIONS.
        """

    def count_lines(self, portions: PortionSet) -> tuple[int, ...] | None:
        """The number of lines of each portion, in order; None unless the set is complete.

        A set is complete if it has every number up to its last portion.
        """

    def portion(self, portions: PortionSet, number: int) -> Portion | None:
        """One portion; None when it does not exist."""

    def claim_portions(self, job_id: str, preparer: str) -> None:
        """Assign this process's sets to the job, and delete the sets of other processes.

        The job's sets are kept if this process has prepared none.
        """

    def forget_portions(self, job_id: str, preparer: str | None = None) -> None:
        """Delete all portions of a job, or only those that this process has prepared."""

    def prune_portions(self) -> int:
        """Delete the portions of jobs that are final or unknown; return how many."""
