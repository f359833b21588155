"""How much of Spark a job gets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class JobSize(StrEnum):
    """Which of the configured profiles a job runs in, the smallest first."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


SIZES = tuple(JobSize)


@dataclass(frozen=True, slots=True)
class SizeProfile:
    """One profile, as the decision sees it."""

    size: JobSize
    memory_gb: float  # what one job occupies: its part of the driver
