"""The Java threads that work for a job, with the threads that Iceberg starts for the job."""

from __future__ import annotations

import time
from typing import Any, TypeAlias

_ROUND_SECONDS = 0.1
_QUIET_ROUNDS = 5  # Iceberg's committer looks for uncommitted file groups every 0.1 s
_COMMITTER = "Committer-Service"  # Iceberg's thread for the last commits of partial progress
# Name prefixes of Iceberg's threads that all jobs share. They read, write and delete files, and
# never commit.
_SHARED = "iceberg-"

JavaObject: TypeAlias = Any  # py4j creates its classes at run time


class Threads:
    """Finds the threads of a job by the class loader that they inherit from the first thread."""

    def __init__(self, context: JavaObject) -> None:
        """``context`` is pyspark's SparkContext."""
        self._context = context
        self._gateway = context._gateway  # noqa: SLF001 - pyspark has no public access to the JVM
        self._java = self._gateway.jvm.java

    def mark_current(self, tag: str) -> JavaObject:
        """Give this thread's Java thread a tag and a class loader, and return the Java thread.

        Threads that Iceberg starts inherit both, and are identified by them.
        """
        thread = self._java.lang.Thread.currentThread()
        no_urls = self._gateway.new_array(self._java.net.URL, 0)
        thread.setContextClassLoader(
            self._java.net.URLClassLoader(tag, no_urls, thread.getContextClassLoader())
        )
        self._context.addJobTag(tag)
        return thread

    def interrupt(self, tag: str) -> None:
        """Cancel the job's Spark jobs and interrupt its threads.

        A thread that is committing is not interrupted.
        """
        self._context.cancelJobsWithTag(tag)
        for thread, frames in self._find(tag):
            if _works_for_iceberg(frames) and not _commits(frames):
                thread.interrupt()

    def commits(self, tag: str) -> bool:
        """Return whether a thread of the job is committing now."""
        return any(_commits(frames) for _, frames in self._find(tag))

    def await_quiet(self, tag: str, own: JavaObject, seconds: float) -> bool | None:
        """Wait until no thread of the job besides its own can commit, and drop its own interrupt.

        Returns whether a thread spins; None if a thread may still commit after so many seconds.
        """
        # The interrupt was meant for a CALL and must not hit the next statement.
        self._java.lang.Thread.interrupted()
        deadline = time.monotonic() + seconds
        quiet_rounds = 0
        spins = False
        while quiet_rounds < _QUIET_ROUNDS:
            if time.monotonic() > deadline:
                return None
            time.sleep(_ROUND_SECONDS)
            may_commit, spins = self._find_left(tag, own)
            quiet_rounds = 0 if may_commit else quiet_rounds + 1
        return spins

    def _find_left(self, tag: str, own: JavaObject) -> tuple[bool, bool]:
        """Return whether another thread of the job may commit, and whether a thread spins.

        A committer thread of Iceberg that does not commit now only spins.
        """
        working = [
            (thread, frames)
            for thread, frames in self._find(tag)
            if thread.getId() != own.getId() and _works_for_iceberg(frames)
        ]
        may_commit = any(
            thread.getName() != _COMMITTER or _commits(frames) for thread, frames in working
        )
        return may_commit, any(thread.getName() == _COMMITTER for thread, _ in working)

    def _find(self, tag: str) -> list[tuple[JavaObject, list[JavaObject]]]:
        """List the job's Java threads with their stack frames.

        Shared threads are left out: they have the class loader of the first job that used them.
        """
        traces = self._java.lang.Thread.getAllStackTraces()
        found = []
        for thread in traces.keySet().toArray():
            loader = thread.getContextClassLoader()
            if (
                loader is not None
                and loader.getName() == tag
                and not thread.getName().startswith(_SHARED)
            ):
                found.append((thread, list(traces.get(thread))))
        return found


def _works_for_iceberg(frames: list[JavaObject]) -> bool:
    return any(frame.getClassName().startswith("org.apache.iceberg.") for frame in frames)


def _commits(frames: list[JavaObject]) -> bool:
    return any(
        frame.getClassName().startswith("org.apache.iceberg.")
        and "commit" in frame.getMethodName().lower()
        for frame in frames
    )
