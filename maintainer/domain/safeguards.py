"""Safeguards of a rewrite: a rollback tag before it, reading and comparing after it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

ROLLBACK_TAG = "maintainer-before-"


class Canary(StrEnum):
    """Whether some of the new files and rows are read again."""

    OFF = "off"
    SAMPLE = "sample"


class Checksum(StrEnum):
    """Whether the contents of rows before and after a rewrite are compared."""

    OFF = "off"
    SAMPLE = "sample"  # rows of a few rewritten partitions
    FULL = "full"  # all rows that the rewrite may have touched


@dataclass(frozen=True, slots=True)
class Safeguards:
    """The safeguards of a table's rewrites."""

    rollback_for: timedelta = timedelta(0)  # zero: no tag
    canary: Canary = Canary.OFF
    checksum: Checksum = Checksum.OFF
    checksum_where: str | None = (
        # for a job: the compared rows, as Spark SQL; None: the rows in the job's own scope
        None
    )


def rollback_tag(job_id: str) -> str:
    """The name of the tag on the snapshot before the job."""
    return f"{ROLLBACK_TAG}{job_id}"


def is_rollback_tag(name: str) -> bool:
    """True for a rollback tag, which expires by its own age and from which nobody reads."""
    return name.startswith(ROLLBACK_TAG)
