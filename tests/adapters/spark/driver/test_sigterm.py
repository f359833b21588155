"""A real driver process that is asked to end before it has got its start settings."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.adapters.spark.lakes import wait_until

ENDS_WITHIN = 20  # seconds, on a busy machine
TERMINATED = 143  # 128 + SIGTERM
THREADS = 5  # the main one, two of the socket, one for fences and one for SIGTERM


@pytest.mark.parametrize("thread", ["main", "another"])
def test_a_driver_ends_on_sigterm_although_it_waits_for_its_start(
    thread: str, tmp_path: Path
) -> None:
    """The system may give the signal to any of its threads."""
    path = tmp_path / "socket"
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(path))
        listener.listen()
        command = [sys.executable, "-m", "maintainer.adapters.spark.driver", str(listener.fileno())]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(command, pass_fds=[listener.fileno()], env=environment) as driver:
            try:
                with closing(socket.socket(socket.AF_UNIX)) as connection:
                    connection.settimeout(ENDS_WITHIN)
                    connection.connect(str(path))
                    said = connection.makefile("rb")
                    assert b'"hello"' in said.readline(), "it listens"
                    send_sigterm(driver.pid, is_main=thread == "main")
                    rest = said.read()
                assert driver.wait(ENDS_WITHIN) == TERMINATED
                assert b"its driver was ended by SIGTERM" in rest
            finally:
                driver.kill()


def send_sigterm(pid: int, *, is_main: bool) -> None:
    """Send it to the main thread, or to another one while the main thread sleeps."""
    tasks = Path(f"/proc/{pid}/task")

    def sleeps() -> bool:
        state = (tasks / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
        return state == "S" and len(list(tasks.iterdir())) == THREADS

    for _ in range(3):  # it also sleeps for moments before it waits for its start
        wait_until(sleeps, ENDS_WITHIN)
    others = {int(task.name) for task in tasks.iterdir()} - {pid}
    chosen = pid if is_main else max(others)
    assert ctypes.CDLL(None).tgkill(pid, chosen, int(signal.SIGTERM)) == 0
