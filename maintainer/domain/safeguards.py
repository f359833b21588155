"""What a rewrite is surrounded with: a tag to roll back to before it, and what is read and compared
after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

ROLLBACK_TAG = "maintainer-before-"


class Canary(StrEnum):
    """Whether some of what a rewrite wrote is read again."""

    OFF = "off"
    SAMPLE = "sample"


class Checksum(StrEnum):
    """Whether the rows before and after a rewrite are compared by their contents."""

    OFF = "off"
    SAMPLE = "sample"  # those of a few of the rewritten partitions
    FULL = "full"  # all that the rewrite may have touched


@dataclass(frozen=True, slots=True)
class Safeguards:
    """How the rewrites of a table are surrounded."""

    rollback_for: timedelta = timedelta(0)  # zero: no tag
    canary: Canary = Canary.OFF
    checksum: Checksum = Checksum.OFF
    checksum_where: str | None = (
        # of a job: the rows that are compared, as Spark's SQL; None: those in the job's own scope
        None
    )


def rollback_tag(job_id: str) -> str:
    """The tag of the snapshot that was there before the job."""
    return f"{ROLLBACK_TAG}{job_id}"


def is_rollback_tag(name: str) -> bool:
    """True for a tag of ours: it ends by its own age, and nobody reads from it."""
    return name.startswith(ROLLBACK_TAG)
