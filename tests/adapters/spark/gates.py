"""Files that hold up the thread that opens them, and what Spark itself says of its work: so a job can be
met in the middle, for as long as a test wants.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from maintainer.adapters.spark.local import LocalRunner
from tests.adapters.spark.lakes import wait_until

_STACK_SECONDS = 0.3  # between two looks at the threads of a JVM
_GATE_SECONDS = 60
_IN_OPEN = ".open0("  # a thread that waits for the other end of a named pipe


@contextmanager
def gate_at(path: Path) -> Iterator[None]:
    """A named pipe in the file's place: who opens it waits, and nothing of Java's interrupts that.
    At the end they are let go, and the file is back.
    """
    aside = path.with_name(f"_{path.name}")  # hidden from those who look for files
    path.rename(aside)
    os.mkfifo(path)
    try:
        yield
    finally:
        _let_go(path)
        aside.replace(path)


def _let_go(path: Path) -> None:
    """They read nothing, as from an empty file."""
    with suppress(OSError) as _:
        while True:
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            except OSError as error:
                if error.errno == errno.ENXIO:  # nobody waits any more
                    return
                raise


def wait_at_gate(runner: LocalRunner, run_dir: Path, way: str = "") -> None:
    """See await_gate; of a runner's small driver, whose log lies in this directory."""

    def dump() -> None:
        driver = runner.warm()  # before it has started, a JVM would die of the signal
        if driver is not None and driver.is_started and runner.java_pid is not None:
            os.kill(runner.java_pid, signal.SIGQUIT)

    def read() -> dict[str, str]:
        return {str(log): log.read_text(errors="replace") for log in run_dir.glob("*.log")}

    await_gate(dump, read, way)


def await_gate(
    dump_threads: Callable[[], None], read: Callable[[], dict[str, str]], way: str = ""
) -> None:
    """Until a thread of Spark's JVMs stands at a gate, one with these words in its stack; asked is
    Java itself, which writes all threads into its log. Each log is read by itself, for what an
    earlier gate has left in one must not count when another one grows.
    """
    begun = {name: len(text) for name, text in read().items()}
    asked = 0.0

    def stands_there() -> bool:
        nonlocal asked
        if time.monotonic() - asked > _STACK_SECONDS:
            asked = time.monotonic()
            dump_threads()
        return any(
            _IN_OPEN in stack and way in stack
            for name, text in read().items()
            for stack in text[begun.get(name, 0) :].split("\n\n")
        )

    wait_until(stands_there, _GATE_SECONDS)


class SparkEvents:
    """The log of events that Spark itself keeps, where its settings say so."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @property
    def settings(self) -> dict[str, str]:
        return {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": self.directory.as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
        }

    def jobs_of(self, job_id: str) -> tuple[int, int]:
        """How many Spark jobs with the tag of that job have begun, and how many of them have not
        ended.
        """
        begun: set[tuple[str, int]] = set()
        ended: set[tuple[str, int]] = set()
        for path in self.directory.iterdir():
            for event in _read(path):
                key = (path.stem, int(event.get("Job ID", -1)))
                if event["Event"] == "SparkListenerJobStart" and f"maintainer-{job_id}" in str(
                    event["Properties"].get("spark.job.tags", "")
                ).split(","):
                    begun.add(key)
                elif event["Event"] == "SparkListenerJobEnd":
                    ended.add(key)
        return len(begun), len(begun - ended)


def _read(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if '"SparkListenerJob' in line:
            with suppress(ValueError):  # the last one is being written
                yield json.loads(line)
