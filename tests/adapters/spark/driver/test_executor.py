"""The executor's command, from the variables that Spark sets in its pod."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from maintainer.adapters.spark.driver.executor import command

SET_BY_SPARK = {
    "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@driver.jobs.svc:7078",
    "SPARK_EXECUTOR_ID": "3",
    "SPARK_EXECUTOR_CORES": "4",
    "SPARK_EXECUTOR_MEMORY": "16g",
    "SPARK_APPLICATION_ID": "spark-1",
    "SPARK_EXECUTOR_POD_IP": "10.1.2.3",
    "SPARK_EXECUTOR_POD_NAME": "driver-exec-3",
    "SPARK_RESOURCE_PROFILE_ID": "0",
}


def test_every_variable_becomes_its_argument() -> None:
    assert command(SET_BY_SPARK, Path("/spark")) == [
        *("java", "-Xms16g", "-Xmx16g", "-cp", "/spark/jars/*"),
        "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
        *("--driver-url", "spark://CoarseGrainedScheduler@driver.jobs.svc:7078"),
        *("--executor-id", "3"),
        *("--cores", "4"),
        *("--app-id", "spark-1"),
        *("--hostname", "10.1.2.3"),
        *("--resourceProfileId", "0"),
        *("--podName", "driver-exec-3"),
    ]


def test_java_options_keep_their_order_and_their_spaces() -> None:
    options = {f"SPARK_JAVA_OPT_{number}": f"-Dn={number} x" for number in (10, 2, 0)}
    assert command(SET_BY_SPARK | options, Path("/spark"))[1:4] == [
        "-Dn=0 x",
        "-Dn=2 x",
        "-Dn=10 x",
    ]


def test_a_class_path_comes_before_sparks_own() -> None:
    line = command(SET_BY_SPARK | {"SPARK_CLASSPATH": "/jars/*"}, Path("/spark"))
    assert line[line.index("-cp") + 1] == "/jars/*:/spark/jars/*"


def test_the_named_java_is_used() -> None:
    assert command(SET_BY_SPARK | {"JAVA_HOME": "/java"}, Path("/spark"))[0] == "/java/bin/java"


def test_the_process_becomes_the_jvm(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text('#!/bin/sh\necho "$$ $*"\n')
    java.chmod(0o755)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path.cwd()),
        "JAVA_HOME": str(tmp_path),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "maintainer.adapters.spark.driver.executor", "executor"],
        env=environment | SET_BY_SPARK,
        stdout=subprocess.PIPE,
        text=True,
    )
    output, _ = process.communicate(timeout=60)
    assert output.startswith(f"{process.pid} -Xms16g -Xmx16g -cp ")
    assert "--podName driver-exec-3" in output


@pytest.mark.parametrize("missing", ["SPARK_DRIVER_URL", "SPARK_EXECUTOR_MEMORY"])
def test_a_variable_that_spark_left_out_is_named(missing: str) -> None:
    given = {name: value for name, value in SET_BY_SPARK.items() if name != missing}
    result = subprocess.run(
        [sys.executable, "-m", "maintainer.adapters.spark.driver.executor"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path.cwd()), **given},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 1
    assert result.stderr == f"Spark did not set {missing}, so this executor cannot start\n"
