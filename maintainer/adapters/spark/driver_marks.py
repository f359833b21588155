"""What the driver has Iceberg write into the summary of every snapshot that it commits.

Iceberg has one map of such entries for a whole JVM (EnvironmentContext). So jobs that run side by
side stand in each other's snapshots as well: a table has one job at a time, which tells which of
them wrote the snapshot.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Protocol

SUMMARY = "spark.maintainer.summary."  # of Spark settings that are entries of each summary
# the entry that has the ids of the jobs at work, with commas between them; domain/job.py reads it
JOBS = "maintainer.jobs"


class EnvironmentContext(Protocol):
    """Iceberg's class of this name."""

    def put(self, key: str, value: str) -> object:
        """One more entry."""

    def remove(self, key: str) -> object:
        """One entry less."""


class Marks:
    """The entries of the settings from the start, and those of jobs as long as they work."""

    def __init__(self, context: EnvironmentContext, settings: Mapping[str, str]) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._jobs: list[str] = []
        for key, value in settings.items():
            if key.startswith(SUMMARY):
                context.put(key.removeprefix(SUMMARY), value)

    def add(self, job_id: str) -> None:
        """From now on until it is removed, snapshots name the job."""
        with self._lock:
            self._jobs.append(job_id)
            self._tell()

    def remove(self, job_id: str) -> None:
        """The job can commit nothing any more."""
        with self._lock:
            if job_id in self._jobs:
                self._jobs.remove(job_id)
                self._tell()

    def _tell(self) -> None:
        if self._jobs:
            self._context.put(JOBS, ",".join(self._jobs))
        else:
            self._context.remove(JOBS)
