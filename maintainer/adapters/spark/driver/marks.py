"""Adds maintainer's properties to the summary of every snapshot that Iceberg commits.

Iceberg has one map of such properties for a whole JVM (EnvironmentContext), so the snapshots of
parallel jobs name all these jobs. A table has only one job at a time, so the table shows which of
the jobs wrote the snapshot.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Protocol

SUMMARY = "spark.maintainer.summary."  # prefix of Spark settings for summary properties
# The property with the ids of the running jobs, separated by commas. domain/job.py reads it.
JOBS = "maintainer.jobs"


class EnvironmentContext(Protocol):
    """Iceberg's class of this name."""

    def put(self, key: str, value: str) -> object: ...

    def remove(self, key: str) -> object: ...


class Marks:
    """The properties from the settings, and the property with the running jobs."""

    def __init__(self, context: EnvironmentContext, settings: Mapping[str, str]) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._jobs: list[str] = []
        for key, value in settings.items():
            if key.startswith(SUMMARY):
                context.put(key.removeprefix(SUMMARY), value)

    def add(self, job_id: str) -> None:
        """Name the job in all new snapshots, until `remove`."""
        with self._lock:
            self._jobs.append(job_id)
            self._update_context()

    def remove(self, job_id: str) -> None:
        """Remove the job, which can no longer commit."""
        with self._lock:
            if job_id in self._jobs:
                self._jobs.remove(job_id)
                self._update_context()

    def _update_context(self) -> None:
        if self._jobs:
            self._context.put(JOBS, ",".join(self._jobs))
        else:
            self._context.remove(JOBS)
