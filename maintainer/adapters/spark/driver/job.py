"""One job of the driver: it runs its statements in order, in its own session."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from .link.outbox import Message, Transport
from .lists.files import SHOW, Files, show_files
from .lists.rows import Rows
from .mover import MOVE, move_files
from .progress import Meter
from .results import EXECUTE, execute_result, read_first_row

JavaObject: TypeAlias = Any  # py4j creates its classes at run time


def begin_line(job_id: str) -> str:
    """Return the line of the log that begins the job's part."""
    return f"--- job {job_id} begins ---\n"


def end_line(job_id: str) -> str:
    """Return the line of the log that ends the job's part."""
    return f"--- job {job_id} has ended ---\n"


def await_jobs(jobs: Mapping[str, Job], seconds: float) -> None:
    """Wait until all jobs have ended, at most so many seconds."""
    deadline = time.monotonic() + seconds
    for job in list(jobs.values()):
        job.is_over.wait(max(0, deadline - time.monotonic()))


def is_alone(job: Job, jobs: Mapping[str, Job]) -> bool:
    """Return True if no other job has to finish before Spark is killed."""
    return all(one is job or one.is_cancelled.is_set() for one in list(jobs.values()))


class Job:
    """One job: its statements, and the state that its cancellation needs."""

    def __init__(
        self,
        job_id: str,
        statements: list[str],
        main: int | None,
        wants_rows: bool,
        until: float | None,
    ) -> None:
        self.job_id = job_id
        self.statements = statements
        self.main = len(statements) - 1 if main is None else main
        self.result: dict[str, Any] | None = None  # of the main statement; None until it has run
        self.checks: dict[str, Any] = {}  # the results of the statements after the main one
        self.until = until  # the fence by read_clock; None: as long as a daemon is connected
        self.is_started = False
        self.is_refused = False  # by a catalog: a new session loads the catalog with a new token
        self.plans = False  # its work is Spark jobs, so planning has a time limit
        self.begun_at: float | None = None  # by time.monotonic
        self.is_overdue = False  # it planned for too long
        self.given_up_for = ""  # why the driver cancels the job without an order
        self.is_cancelled = threading.Event()
        self.is_over = threading.Event()
        self.java_thread: JavaObject = None  # set while a statement runs
        self.tag = f"maintainer-{job_id}"  # tags every Spark job of this job, on every thread
        self.meter = Meter(self.tag)
        self._wants_rows = wants_rows
        self._files: Files | None = None  # set before a statement runs
        self._rows: Rows | None = None

    def take(self, order: Message) -> None:
        """Process an order: a new fence, a portion of files, or the confirmation of stored rows."""
        match order:
            case {"renew": {"until": float(until)}}:
                self.until = until
            case {"bring": dict(brought)} if self._files is not None:
                self._files.take(brought)
            case {"stored": {"portion": int(portion), **more}} if self._rows is not None:
                self._rows.confirm(portion, str(more.get("error") or ""))
            case _:
                sys.stderr.write(f"job {self.job_id} does not understand {sorted(order)}\n")

    def plans_beyond(self, seconds: float) -> bool:
        """Return True if Spark has begun no work of this job for more than so many seconds."""
        return (
            self.plans
            and self.begun_at is not None
            and time.monotonic() - self.begun_at > seconds
            and not self.meter.has_begun
        )

    def run_statements(self, session: JavaObject, output: Transport) -> None:
        """Run the statements and keep their results, until one fails or the job is cancelled."""
        files = self._files = Files(self.job_id, output, self.is_cancelled)
        if self._wants_rows:
            self._rows = Rows(self.job_id, output, self.is_cancelled)
        is_complete = False
        try:
            for number, statement in enumerate(self.statements):
                if self.is_cancelled.is_set():
                    break
                part = (
                    "main" if number == self.main else "before" if number < self.main else "after"
                )
                about: dict[str, Any] = {"job": self.job_id, "index": number}
                output.send("statement.started", **about, statement=statement, part=part)
                frame = self._run_statement(session, statement, files)
                result = read_first_row(frame) if self._rows is None else self._rows.write(frame)
                if number == self.main:
                    self.result = result
                elif number > self.main:
                    self.checks |= result
                output.send("statement.finished", **about, result=result)
            is_complete = not self.is_cancelled.is_set()
        finally:
            if self._rows is not None:
                self._rows.end(is_complete=is_complete)

    def _run_statement(self, session: JavaObject, statement: str, files: Files) -> JavaObject:
        if statement.startswith(MOVE):
            return move_files(session, statement, self.is_cancelled.is_set)
        if statement.startswith(SHOW):
            return show_files(session, statement, files)
        if statement.startswith(EXECUTE):
            return execute_result(session, statement)
        return session.sql(statement)


def read_order(order: Message) -> Job:
    """Return the job that a daemon orders."""
    given = (
        cast("int | None", order.get("main")),
        bool(order.get("rows")),
        cast("float | None", order.get("until")),
    )
    job = Job(str(order["id"]), list(order["statements"]), *given)
    job.plans = bool(order.get("plans"))
    return job
