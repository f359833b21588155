"""The JVM that has started the driver program: here any process, which has such a child."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from maintainer.adapters.spark.driver.jvm import ParentJvm

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]])
child.wait()
"""
CHILD = """
from maintainer.adapters.spark.driver.jvm import ParentJvm
jvm = ParentJvm(lambda pid: "java")
print(jvm.pid, flush=True)
{then}
print("over", flush=True)
"""


@contextmanager
def parent_of(then: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD.format(then=then)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        yield process


def read(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_parent_is_killed_and_the_program_outlives_it_for_its_last_words() -> None:
    with parent_of("jvm.kill()") as process:
        assert read(process) == str(process.pid)
        assert read(process) == "over"
        assert process.wait() == -signal.SIGKILL


def test_the_end_of_the_parent_is_seen_without_its_exit_code() -> None:
    with parent_of("print(jvm.wait(), flush=True)") as process:
        read(process)
        process.kill()
        assert [read(process), read(process)] == ["None", "over"]


def test_a_parent_that_is_left_goes_on() -> None:
    with parent_of("jvm.leave()") as process:
        assert read(process) == str(process.pid)
        assert read(process) == "over"
        assert process.wait() == 0


def test_a_parent_that_is_no_java_is_named() -> None:
    with pytest.raises(RuntimeError, match=r"this program was started by \S+; Java itself"):
        ParentJvm()
