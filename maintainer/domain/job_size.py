"""Job sizes: how much memory a job gets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class JobSize(StrEnum):
    """The profile that a job runs in, smallest first."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


SIZES = tuple(JobSize)


@dataclass(frozen=True, slots=True)
class SizeProfile:
    """One profile, as far as decisions need it."""

    size: JobSize
    # the memory of one job: its share of the driver, and of the executors if there are any
    memory_gb: float
    executors_gb: float = 0.0  # the executors' part of that; 0: tasks run in the driver

    @property
    def tasks_gb(self) -> float:
        """Memory of the job's tasks in GB."""
        return self.executors_gb or self.memory_gb

    @property
    def driver_gb(self) -> float:
        """Memory of the job in the driver in GB; tasks use it too when there are no executors."""
        return self.memory_gb - self.executors_gb
