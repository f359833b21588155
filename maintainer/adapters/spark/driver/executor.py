"""Run with `python -m`: become the JVM of one executor in its pod.

Spark describes the executor by environment variables, for the entry point of its own image. This
program replaces that entry point, so that an image with Python and pyspark is enough.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from .surroundings import name_user

_BACKEND = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
_OPTION = re.compile(r"SPARK_JAVA_OPT_(\d+)")
_ARGUMENTS = {
    "--driver-url": "SPARK_DRIVER_URL",
    "--executor-id": "SPARK_EXECUTOR_ID",
    "--cores": "SPARK_EXECUTOR_CORES",
    "--app-id": "SPARK_APPLICATION_ID",
    "--hostname": "SPARK_EXECUTOR_POD_IP",
    "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
    "--podName": "SPARK_EXECUTOR_POD_NAME",
}


def command(environment: Mapping[str, str], spark_home: Path) -> list[str]:
    """Return the command of the executor's JVM; KeyError names a missing variable."""
    numbered = sorted(
        (int(found[1]), value)
        for name, value in environment.items()
        if (found := _OPTION.fullmatch(name))
    )
    memory = environment["SPARK_EXECUTOR_MEMORY"]
    parts = [environment.get("SPARK_CLASSPATH", ""), str(spark_home / "jars" / "*")]
    java = "java"
    if environment.get("JAVA_HOME"):
        java = str(Path(environment["JAVA_HOME"]) / "bin" / "java")
    arguments = [
        word for option, name in _ARGUMENTS.items() for word in (option, environment[name])
    ]
    return [
        java,
        *(option for _, option in numbered),
        f"-Xms{memory}",
        f"-Xmx{memory}",
        "-cp",
        ":".join(part for part in parts if part),
        _BACKEND,
        *arguments,
    ]


def main() -> None:
    """Replace this process with the JVM."""
    name_user(os.environ)
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        sys.exit("the image has no pyspark, so this executor cannot start")
    try:
        line = command(os.environ, Path(found.origin).parent)
    except KeyError as missing:
        sys.exit(f"Spark did not set {missing.args[0]}, so this executor cannot start")
    os.execvp(line[0], line)  # noqa: S606 - the JVM that Spark requested


if __name__ == "__main__":
    main()
