"""A standalone cluster of Spark's own on the loopback: a master and one worker, and what the master
says of them.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from maintainer.adapters.spark import jars
from maintainer.adapters.spark.java import find_java
from tests.adapters.spark.lakes import wait_until

_HOST = "127.0.0.1"
_ASK_SECONDS = 5


@dataclass(frozen=True)
class Cluster:
    master: str
    status_url: str
    worker_pid: int

    def status(self) -> dict[str, Any]:
        """As the master reports it; empty while it does not answer.

        During its start the master has its page before its figures, and answers with that.
        """
        with suppress(OSError, json.JSONDecodeError):
            # Our own address.
            with urlopen(self.status_url, timeout=_ASK_SECONDS) as answer:  # noqa: S310
                reported: dict[str, Any] = json.load(answer)
            return reported
        return {}

    @property
    def applications(self) -> list[tuple[str, int, int]]:
        """Of those that live: the name, the MiB of each executor, and the cores of all of them."""
        return [
            (found["name"], found["memoryperexecutor"], found["cores"])
            for found in self.status()["activeapps"]
        ]

    def executor_pids(self) -> list[int]:
        """The living executors that the worker has started.

        The worker has other children for moments: the launcher that becomes an executor, and ended
        processes that it has not waited for yet.
        """
        listed = subprocess.run(
            ["ps", "-ww", "-o", "pid=,stat=,args=", "--ppid", str(self.worker_pid)],
            capture_output=True,
            text=True,
            check=False,
        )
        return [
            int(pid)
            for pid, state, command in (line.split(None, 2) for line in listed.stdout.splitlines())
            if not state.startswith("Z") and "CoarseGrainedExecutorBackend" in command
        ]


@contextmanager
def open_cluster(directory: Path, cores: int, memory: str) -> Iterator[Cluster]:
    """Up when it is given; all its processes are gone at the end."""
    port, status_port = _find_free_ports(2)
    master = f"spark://{_HOST}:{port}"
    with ExitStack() as stack:
        begin = [
            "org.apache.spark.deploy.master.Master",
            "--host",
            _HOST,
            "--port",
            str(port),
            "--webui-port",
            str(status_port),
        ]
        stack.enter_context(_process(begin, directory / "master.log"))
        size = ["--cores", str(cores), "--memory", memory, "--work-dir", str(directory / "work")]
        work = [
            "org.apache.spark.deploy.worker.Worker",
            "--host",
            _HOST,
            "--webui-port",
            "0",
            *size,
            master,
        ]
        worker = stack.enter_context(_process(work, directory / "worker.log"))
        cluster = Cluster(master, f"http://{_HOST}:{status_port}/json/", worker.pid)
        wait_until(lambda: cluster.status().get("aliveworkers") == 1)
        yield cluster


@contextmanager
def _process(arguments: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    home = jars.spark_home()
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("SPARK_")
    }
    environment |= {
        "SPARK_HOME": str(home),
        "JAVA_HOME": str(find_java(None, os.environ).home),
        "SPARK_LOCAL_IP": _HOST,
        "SPARK_DAEMON_MEMORY": "256m",
    }
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [str(home / "bin" / "spark-class"), *arguments],
            stdout=output,
            stderr=output,
            env=environment,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


def _find_free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((_HOST, 0))
        return [int(probe.getsockname()[1]) for probe in probes]
