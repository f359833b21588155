"""Pools, the ways of running Spark that an operator has configured, and their job sizes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from re import compile as compile_regex

DEFAULT_POOL = "default"
MAX_POOL_NAME = 40  # characters

_NAME = compile_regex(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")


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


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool, as far as decisions need it."""

    memory_gb: float = 1.0  # of one job
    tasks_at_once: int = 1  # Spark tasks of one job that run at the same time
    profiles: tuple[SizeProfile, ...] = ()  # empty: every job is small and takes memory_gb


def is_pool_name(text: str) -> bool:
    """True for lower-case letters, digits and inner dashes, MAX_POOL_NAME at most."""
    return len(text) <= MAX_POOL_NAME and _NAME.fullmatch(text) is not None
