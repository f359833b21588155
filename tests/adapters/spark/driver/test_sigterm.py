"""A real driver process that is asked to end before it ever knew what to start."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

ENDS_WITHIN = 20  # seconds, on a busy machine
TERMINATED = 143  # 128 + SIGTERM


def test_a_driver_ends_on_sigterm_although_it_waits_for_its_start(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(path))
        listener.listen()
        with subprocess.Popen(
            [sys.executable, "-m", "maintainer.adapters.spark.driver", str(listener.fileno())],
            pass_fds=[listener.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        ) as driver:
            with closing(socket.socket(socket.AF_UNIX)) as connection:
                connection.connect(str(path))
                said = connection.makefile("rb")
                assert b'"hello"' in said.readline(), "it listens"
                driver.send_signal(signal.SIGTERM)
                rest = said.read()
            assert driver.wait(ENDS_WITHIN) == TERMINATED
            assert b"its driver was ended by SIGTERM" in rest
