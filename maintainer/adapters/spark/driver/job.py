"""One job of the driver: its statements, one after the other, in a session of its own."""

from __future__ import annotations

import gzip
import os
import threading
from typing import IO, Any, TypeAlias, cast

from .mover import MOVE, move_files
from .outbox import Transport
from .progress import Meter
from .results import read_first_row, write_rows

JavaObject: TypeAlias = Any  # py4j creates its classes at run time


class Job:
    """One job: its statements, and the state that cancelling it needs."""

    def __init__(
        self,
        job_id: str,
        statements: list[str],
        main: int | None,
        rows: str | None,
        until: float | None,
    ) -> None:
        self.job_id = job_id
        self.statements = statements
        self.main = len(statements) - 1 if main is None else main
        self.result: dict[str, Any] | None = None  # of the main statement, after it has run
        self.checks: dict[str, Any] = {}  # of the statements after it
        self.rows = rows
        self.until = until  # by read_clock; None while a daemon is connected
        self.is_started = False
        self.is_overdue = False
        self.is_cancelled = threading.Event()
        self.is_over = threading.Event()
        self.java_thread: JavaObject = None  # set while a statement runs
        self.tag = f"maintainer-{job_id}"  # tags every Spark job of this job, on every thread
        self.meter = Meter(self.tag)

    def run_statements(self, session: JavaObject, output: Transport) -> None:
        """Run the statements until one fails or the job is cancelled, and keep their results."""
        with gzip.open(self.rows or os.devnull, "wt", compresslevel=1, encoding="utf-8") as file:
            for number, statement in enumerate(self.statements):
                if self.is_cancelled.is_set():
                    break
                part = (
                    "main" if number == self.main else "before" if number < self.main else "after"
                )
                output.send(
                    "statement.started",
                    job=self.job_id,
                    index=number,
                    statement=statement,
                    part=part,
                )
                is_move = statement.startswith(MOVE)
                frame = (
                    move_files(session, statement, self.is_cancelled.is_set)
                    if is_move
                    else session.sql(statement)
                )
                result = (
                    write_rows(frame, cast("IO[str]", file)) if self.rows else read_first_row(frame)
                )
                if number == self.main:
                    self.result = result
                elif number > self.main:
                    self.checks |= result
                output.send("statement.finished", job=self.job_id, index=number, result=result)
