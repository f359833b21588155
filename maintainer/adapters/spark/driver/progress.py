"""The progress of a job and the time of its executors, from Spark's status."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .link.outbox import Message

JavaObject: TypeAlias = Any  # py4j creates its classes at run time

# The description that Iceberg gives to the Spark jobs of a rewrite.
_FILE_GROUP = re.compile(r"\bfile group (\d+)/(\d+)\b")
_MAX_ATTEMPTS = 100  # of a stage
_OVER = frozenset({"SUCCEEDED", "FAILED", "UNKNOWN"})


@dataclass(frozen=True)
class _SparkJob:
    """The status of one Spark job that belongs to the job."""

    is_over: bool
    has_succeeded: bool
    tasks_done: int
    tasks_total: int
    bytes_read: int
    bytes_written: int
    group: int | None
    groups_total: int
    begun: float
    failure: str  # why a stage failed; empty if no stage failed
    failed: tuple[tuple[int, int], ...]  # stages (number, attempt) with failed tasks


class Meter:
    """Reads the figures of one job; a Spark job is read for the last time after its end."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._known: dict[int, _SparkJob] = {}
        self._reported: dict[str, int | float | None] = {}

    @property
    def has_begun(self) -> bool:
        """Return True once Spark has shown a Spark job of this job."""
        return bool(self._known)

    def read(self, spark: JavaObject) -> dict[str, int | float | None] | None:
        """Return tasks, file groups, bytes and estimated seconds left; None if unchanged.

        ``spark`` is Java's SparkContext.
        """
        self._look_at_all(spark)
        figures = self._sum()
        if figures == self._reported or not figures["tasks_total"]:
            return None
        self._reported = figures
        left = self._seconds_left(figures)
        return figures | {"seconds_left": left}

    def find_failure(self, spark: JavaObject) -> str:
        """Return why the first failed Spark job failed; empty if Spark knows no failed job.

        Iceberg does not report this reason if it continues with the other file groups.
        """
        self._look_at_all(spark)
        return next((job.failure for _, job in sorted(self._known.items()) if job.failure), "")

    def read_attempts(self, spark: JavaObject, java: JavaObject) -> list[str]:
        """Return the messages of failed attempts of tasks, each message once.

        The error of a failed stage has only the last attempt. ``java`` has the JVM's packages.
        """
        self._look_at_all(spark)
        api, failed = java.org.apache.spark.status.api.v1, java.java.util.ArrayList()
        failed.add(api.TaskStatus.FAILED)
        tasks = [
            task
            for job in self._known.values()
            if not job.has_succeeded
            for number, attempt in job.failed
            for task in _items(
                spark.statusStore().taskList(
                    number, attempt, 0, _MAX_ATTEMPTS, api.TaskSorting.ID, failed
                )
            )
        ]
        said = [task.errorMessage() for task in tasks]
        return list(dict.fromkeys(str(message.get()) for message in said if message.isDefined()))

    def _look_at_all(self, spark: JavaObject) -> None:
        store = spark.statusStore()
        for number in spark.statusTracker().getJobIdsForTag(self._tag):
            known = self._known.get(number)
            if known is None or not known.is_over:
                self._known[number] = _look(store, number)

    def _sum(self) -> dict[str, int | float | None]:
        jobs = list(self._known.values())
        groups = {job.group for job in jobs if job.group is not None}
        open_groups = {job.group for job in jobs if job.group is not None and not job.has_succeeded}
        written = {job.group for job in jobs if job.bytes_written}
        total = max((job.groups_total for job in jobs), default=0)
        return {
            "tasks_done": sum(job.tasks_done for job in jobs),
            "tasks_total": sum(job.tasks_total for job in jobs),
            "file_groups_done": len((groups & written) - open_groups) if total else None,
            "file_groups_total": total or None,
            "bytes_read": sum(job.bytes_read for job in jobs) or None,
            "bytes_written": sum(job.bytes_written for job in jobs) or None,
        }

    def _seconds_left(self, figures: dict[str, int | float | None]) -> float | None:
        """Estimate the remaining seconds from the time that the finished file groups took."""
        done, total = figures["file_groups_done"], figures["file_groups_total"]
        begun = min(
            (job.begun for job in self._known.values() if job.group is not None and job.begun),
            default=0.0,
        )
        if not done or not total or not begun:
            return None
        return max(0.0, (time.time() - begun) / done * (total - done))


def _look(store: JavaObject, number: int) -> _SparkJob:
    data = store.job(number)
    stages = [store.lastStageAttempt(stage) for stage in _items(data.stageIds())]
    description, submitted = data.description(), data.submissionTime()
    match = _FILE_GROUP.search(description.get()) if description.isDefined() else None
    status = data.status().toString()
    return _SparkJob(
        is_over=status in _OVER,
        has_succeeded=status == "SUCCEEDED",
        tasks_done=data.numCompletedTasks(),
        tasks_total=data.numTasks() - data.numSkippedTasks(),
        bytes_read=sum(stage.inputBytes() for stage in stages),
        bytes_written=sum(stage.outputBytes() for stage in stages),
        group=int(match[1]) if match else None,
        groups_total=int(match[2]) if match else 0,
        begun=submitted.get().getTime() / 1000 if submitted.isDefined() else 0.0,
        failure=next(
            (
                str(stage.failureReason().get())
                for stage in stages
                if stage.failureReason().isDefined()
            ),
            "",
        )
        if status == "FAILED"
        else "",
        failed=tuple(
            (stage.stageId(), stage.attemptId()) for stage in stages if stage.numFailedTasks()
        ),
    )


def _items(sequence: JavaObject) -> list[JavaObject]:
    return [sequence.apply(index) for index in range(sequence.length())]


class ExecutorTime:
    """Counts executor-seconds if Spark adds and removes executors.

    Jobs that run at the same time share the executors equally.
    """

    def __init__(
        self,
        megabytes: int,
        count: Callable[[], int],
        read_clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``megabytes`` is the memory of one executor; with 0, nothing is counted.

        ``count`` returns the current number of executors.
        """
        self._megabytes = megabytes
        self._count = count
        self._read_clock = read_clock
        self._mutex = threading.Lock()
        self._executors = 0
        self._at = read_clock()  # the time until which the jobs have got their shares
        self._seconds: dict[str, float] = {}  # by job

    def begin(self, job_id: str) -> None:
        """Begin to count for this job."""
        self.tick()
        with self._mutex:
            self._seconds[job_id] = 0.0

    def tick(self) -> None:
        """Add the time until now to the jobs, and read the current number of executors."""
        if not self._megabytes:
            return
        self._share()
        with contextlib.suppress(Exception):  # if Spark is ending, the last number is used
            self._executors = self._count()

    def end(self, job_id: str) -> Message:
        """Return the job's executor time for its last message; empty if nothing is counted."""
        self._share()
        with self._mutex:
            seconds = self._seconds.pop(job_id, None)
        if not self._megabytes or seconds is None:
            return {}
        return {"executors": {"seconds": round(seconds, 3), "megabytes": self._megabytes}}

    def _share(self) -> None:
        with self._mutex:
            now = self._read_clock()
            for job_id in self._seconds:
                self._seconds[job_id] += self._executors * (now - self._at) / len(self._seconds)
            self._at = now
