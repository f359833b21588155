"""A name node and a data node on the loopback: Hadoop's own, in one JVM; and the jars for it, which
Spark does not need.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from maintainer.adapters.spark.jars import fetch_pinned, find_pinned, spark_home
from maintainer.adapters.spark.java import find_java
from maintainer.adapters.spark.pins import Jar

START_SECONDS = 120  # a busy machine; alone it takes four
_JARS = (
    Jar(
        "org.apache.hadoop",
        "hadoop-client-minicluster",
        "3.4.2",
        "ae2406c544825b7734b8aad4f87eff60d9ec422284f0b16c2856032083b63c77",
    ),
    Jar(
        "junit",
        "junit",
        "4.13.2",
        "8e495b634469d64fb8acfa3495a065cbacc8a0fff55ce1e31007be4c16dc57d3",
    ),  # whose assertions Hadoop's cluster is made with
)
_DIRECTORY = Path(sys.prefix) / "share" / "iceberg-maintainer" / "test-jars"
_OF_SPARK = (
    "hadoop-client-*.jar",
    "slf4j-api-*.jar",
    "log4j-*.jar",
    "jcl-over-slf4j-*.jar",
)  # that pyspark brings, in Hadoop's own version
_CLUSTER = "org.apache.hadoop.mapreduce.MiniHadoopClusterManager"
_SETTINGS = {
    "dfs.replication": "1",
    "dfs.permissions.enabled": "true",
    "dfs.namenode.fs-limits.min-block-size": "1024",
    "dfs.namenode.edits.noeditlogchannelflush": "true",  # nothing of it outlives the tests
}


@contextmanager
def serve_hdfs(root: Path) -> Iterator[str]:
    """The address of a name node with one data node, whose files lie in the directory; both end
    with the context.
    """
    home, details = root / "hdfs", root / "hdfs.json"
    home.mkdir(parents=True)
    jars = [
        *find_pinned(_JARS, _DIRECTORY, f"{sys.executable} -m {__name__}"),
        *(jar for name in _OF_SPARK for jar in (spark_home() / "jars").glob(name)),
    ]
    command = [
        str(find_java(None, os.environ).home / "bin" / "java"),
        "-Xmx512m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        os.pathsep.join(map(str, jars)),
        _CLUSTER,
    ]
    command += [
        "-nomr",
        "-format",
        "-nnport",
        "0",
        "-datanodes",
        "1",
        "-writeDetails",
        str(details),
    ]
    command += [
        f"-D{name}={value}"
        for name, value in (_SETTINGS | {"hdfs.minidfs.basedir": str(home)}).items()
    ]
    with (
        (root / "hdfs.log").open("wb") as log,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=home
        ) as process,
    ):
        try:
            yield f"hdfs://127.0.0.1:{_wait_for_port(process, details, root / 'hdfs.log')}"
        finally:
            process.kill()


def _wait_for_port(process: subprocess.Popen[bytes], details: Path, log: Path) -> int:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            return int(json.loads(details.read_text())["namenode_port"])
        except (
            FileNotFoundError,
            json.JSONDecodeError,
        ):  # it writes once data node and name node have found each other
            time.sleep(0.05)
    message = (
        f"HDFS did not start within {START_SECONDS} s; its last words: {log.read_text()[-2000:]}"
    )
    raise TimeoutError(message)


if __name__ == "__main__":
    sys.stdout.write("".join(f"{path}\n" for path in fetch_pinned(_JARS, _DIRECTORY)))
