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
    # what one job occupies: its part of the driver, and of the executors where there are some
    memory_gb: float
    executors_gb: float = 0.0  # of that, the executors' part; 0: tasks run in the driver

    @property
    def tasks_gb(self) -> float:
        """Where its tasks keep what they hold."""
        return self.executors_gb or self.memory_gb

    @property
    def driver_gb(self) -> float:
        """Where it keeps what its driver holds; the same as that of its tasks where they run in the
        driver.
        """
        return self.memory_gb - self.executors_gb
