"""Spark's JVM: a child process of the driver program or, in a YARN application, its parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_GATEWAY_POLL_SECONDS = 0.02
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
GATEWAY = "PYSPARK_GATEWAY_PORT"  # set by a JVM that starts a Python program
_CLUSTER_DEFAULTS = ("yarn.", "mapreduce.", "mapred.")


class Jvm:
    """Spark's JVM as a child of this process; it ends at the latest with this process."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.directory = Path(settings["directory"])
        self._information = Path(tempfile.mkdtemp(dir=self.directory)) / "gateway"
        environment = os.environ | {
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._information),
            "SPARK_CONNECT_MODE": "0",
        }
        # Only Java arguments and jars: catalogs and their secrets never appear on a command line.
        command = [
            str(Path(os.environ["SPARK_HOME"]) / "bin" / "spark-submit"),
            "--master",
            settings["master"],
            "--driver-memory",
            settings["driver_memory"],
        ]
        command += [
            "--driver-java-options",
            settings["java_options"],
            "--jars",
            ",".join(settings["jars"]),
        ]
        command += [
            "--conf",
            "spark.ui.enabled=false",
            "--conf",
            "spark.app.name=maintainer",
            "pyspark-shell",
        ]
        libc = ctypes.CDLL(None)

        def die_with_parent() -> (
            None
        ):  # runs in the child before exec; the setting is kept when bash and java are executed
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            if sys.platform == "linux":
                libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

        # The kernel watches this thread, the main thread, as the parent. On other systems Spark's
        # gateway ends when the pipe closes.
        self._process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=2,
            env=environment,
            cwd=self.directory,
            preexec_fn=die_with_parent,  # noqa: PLW1509
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def await_gateway(self) -> None:
        """Wait until Spark's gateway listens, and pass its address to pyspark.

        RuntimeError if Spark ended first.
        """
        while not self._information.exists():
            if self._process.poll() is not None:
                raise RuntimeError(
                    f"Spark ended during its start with exit code {self._process.returncode}"
                )
            time.sleep(_GATEWAY_POLL_SECONDS)
        content = self._information.read_bytes()
        port, length = struct.unpack_from("!ii", content)
        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = content[8 : 8 + length].decode()

    def wait(self) -> int | None:
        """Wait until the JVM has ended; return its exit code."""
        return self._process.wait()

    def kill(self) -> None:
        """Kill the JVM without letting it finish anything, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()

    def leave(self) -> None:
        """End the JVM after Spark was stopped normally."""
        self.kill()


class ParentJvm:
    """The JVM of a YARN application, which has started this program and ends after this program."""

    def __init__(self, read_program: Callable[[int], str] | None = None) -> None:
        """RuntimeError if the parent is not Java; ``read_program`` names a process's program."""
        self.pid = os.getppid()
        program = (read_program or _read_program)(self.pid)
        if program != "java":
            raise RuntimeError(f"this program was started by {program}; Java itself must start it")
        self._end = os.pidfd_open(self.pid)  # not confused by a later process with the same number

    def await_gateway(self) -> None:
        """Return at once: the gateway listens already, and pyspark knows its address."""

    def wait(self) -> int | None:
        """Wait until the JVM has ended; only the cluster knows its exit code."""
        select.select([self._end], [], [])
        return None

    def kill(self) -> None:
        """Kill the JVM without letting it finish anything, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._end, signal.SIGKILL)
        self.wait()

    def leave(self) -> None:
        """Let the JVM end by itself, so that YARN records that the application has succeeded."""


def _read_program(pid: int) -> str:
    return Path(f"/proc/{pid}/exe").readlink().name


# py4j's objects have no static types.
def drop_cluster_defaults(java: Any, hadoop: Any, chosen: Mapping[str, str]) -> int:  # noqa: ANN401
    """Remove YARN's and MapReduce's defaults from Hadoop's settings; return their number.

    Chosen settings are kept. Iceberg copies all settings for each Parquet file that it opens, and
    two thirds of the settings are these defaults. With many small files, the copies take a tenth of
    the time.
    """
    kept = {name.removeprefix("spark.hadoop.") for name in chosen}
    prefixes = "|".join(prefix.replace(".", "[.]") for prefix in _CLUSTER_DEFAULTS)
    names = str(
        java.lang.String.join("\n", hadoop.getValByRegex(f"^({prefixes}).*").keySet())
    ).split()  # one call, because each call costs a round trip to the JVM
    dropped = [name for name in names if name not in kept]
    for name in dropped:
        hadoop.unset(name)
    return len(dropped)
