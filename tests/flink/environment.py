"""Flink in an environment of its own, because its packages do not go with ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from maintainer.adapters.spark.jars import default_directory, find_jars, spark_home
from maintainer.adapters.spark.java import find_java
from tests.java_servers.jars import fetch_server_jars, find_server_jars

ROOT = Path(__file__).parents[2]
LOCK = Path(__file__).with_name("flink.lock")
DIRECTORY = ROOT / ".cache" / "flink"
PROGRAM = Path(__file__).with_name("upserts.py")
_JAR = "flink"  # the name of its lock


def make_environment() -> Path:
    """The Python that has Flink; it is made once."""
    fetch_server_jars([_JAR])
    python, ready = DIRECTORY / "bin" / "python", DIRECTORY / "ready"
    if not ready.exists():
        venv.create(DIRECTORY, symlinks=True, clear=True)
        uv = str(Path(sys.executable).with_name("uv"))
        install = [uv, "pip", "install", "--quiet", "--python", str(python), "--require-hashes"]
        subprocess.run([*install, "--requirements", str(LOCK)], check=True, cwd=ROOT)
        ready.touch()
    return python


def find_jars_of_writers() -> Sequence[Path]:
    """Iceberg's jar for Flink, the catalog's driver, and Hadoop's classes, which it needs."""
    hadoop = (spark_home() / "jars").glob("hadoop-client-*.jar")
    drivers = [
        path for path in find_jars(default_directory()) if path.name.startswith("sqlite-jdbc")
    ]
    return [*find_server_jars(_JAR), *drivers, *hadoop]


@dataclass(frozen=True)
class Writer:
    """One Flink with one job, which upserts."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    @property
    def has_started(self) -> bool:
        """Whether its job was submitted."""
        assert self.is_running, self.said()
        return "\nstarted\n" in f"\n{self.said()}"

    def said(self) -> str:
        return self.log.read_text(errors="replace")


@contextmanager
def start_writer(python: Path, log: Path, order: dict[str, object]) -> Iterator[Writer]:
    """A Flink that ends after its last row is committed, and with the block at the latest."""
    jars = os.pathsep.join(map(str, find_jars_of_writers()))
    java = find_java(None, os.environ).home
    environment = {**os.environ, "HADOOP_CLASSPATH": jars, "JAVA_HOME": str(java)}
    command = [str(python), str(PROGRAM), json.dumps(order)]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
        ) as process,
    ):
        try:
            yield Writer(process, log)
        finally:
            process.kill()
