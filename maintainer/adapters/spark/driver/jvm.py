"""Spark's JVM as the driver's child."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_GATEWAY_POLL_SECONDS = 0.02
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_CLUSTER_DEFAULTS = ("yarn.", "mapreduce.", "mapred.")


class Jvm:
    """Spark's JVM, a child of this process that never outlives it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.directory = Path(settings["directory"])
        self._information = Path(tempfile.mkdtemp(dir=self.directory)) / "gateway"
        environment = os.environ | {
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._information),
            "SPARK_CONNECT_MODE": "0",
        }
        # Java arguments and jars only: catalogs and their secrets never appear on a command line.
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
        ):  # in the child before exec; survives the exec of bash and of java
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            if sys.platform == "linux":
                libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

        # The kernel watches this very thread as the parent: the main one. On other systems Spark's
        # gateway ends by itself when the pipe closes.
        self.process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=2,
            env=environment,
            cwd=self.directory,
            preexec_fn=die_with_parent,  # noqa: PLW1509
        )

    def await_gateway(self) -> None:
        """Wait until Spark's gateway listens, and pass its address to pyspark.

        RuntimeError if Spark ended first.
        """
        while not self._information.exists():
            if self.process.poll() is not None:
                message = f"Spark ended during its start with exit code {self.process.returncode}"
                raise RuntimeError(message)
            time.sleep(_GATEWAY_POLL_SECONDS)
        content = self._information.read_bytes()
        port, length = struct.unpack_from("!ii", content)
        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = content[8 : 8 + length].decode()

    def kill(self) -> None:
        """Kill the JVM without letting it finish anything, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()


# Java objects have no types.
def drop_cluster_defaults(java: Any, hadoop: Any, chosen: Mapping[str, str]) -> int:  # noqa: ANN401
    """Remove YARN's and MapReduce's defaults from Hadoop's settings; return the number removed.

    Chosen settings stay. Iceberg copies all settings for each Parquet file that it opens, and two
    thirds of them are these: a tenth of the time for many small files.
    """
    kept = {name.removeprefix("spark.hadoop.") for name in chosen}
    prefixes = "|".join(prefix.replace(".", "[.]") for prefix in _CLUSTER_DEFAULTS)
    names = str(
        java.lang.String.join("\n", hadoop.getValByRegex(f"^({prefixes}).*").keySet())
    ).split()  # one call, because each costs a round trip to the JVM
    dropped = [name for name in names if name not in kept]
    for name in dropped:
        hadoop.unset(name)
    return len(dropped)
