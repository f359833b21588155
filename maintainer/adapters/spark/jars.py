"""The jars that Spark needs for Iceberg: their list, their checks and their download."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from maintainer.adapters.extras import say_missing
from maintainer.adapters.spark.java import find_java, prepare_home
from maintainer.domain.errors import MaintainerError, RunnerUnavailableError

_FETCH_TIMEOUT_SECONDS = 900
_CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Jar:
    """One pinned jar; a file with other contents is refused."""

    group: str
    artifact: str
    version: str
    sha256: str
    purpose: Literal["always", "s3"] = "always"

    @property
    def file_name(self) -> str:
        """Return its file name in our directory."""
        return f"{self.artifact}-{self.version}.jar"

    @property
    def coordinate(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"


# By Spark's minor version, with the Scala of its package; the newest is last.
RUNTIMES = {
    "3.5": Jar(
        "org.apache.iceberg",
        "iceberg-spark-runtime-3.5_2.12",
        "1.12.0",
        "8dd8c90e54ed1a20f2461309d047a255ee56382eb7c0a46162b27a4936fd86dc",
    ),
    "4.1": Jar(
        "org.apache.iceberg",
        "iceberg-spark-runtime-4.1_2.13",
        "1.12.0",
        "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
    ),
}
COMMON_JARS = (
    Jar(
        "org.xerial",
        "sqlite-jdbc",
        "3.54.1.0",
        "f8dce420a6016278497f4f0560f65602b9db858de141b541cf91a4644ebe4639",
        "always",
    ),
    Jar(
        "org.postgresql",
        "postgresql",
        "42.7.14",
        "73914527305a40cce504b0d3d90b23caf565136912d607ae8ae7c5895512332c",
        "always",
    ),
    Jar(
        "org.apache.iceberg",
        "iceberg-aws-bundle",
        "1.12.0",
        "dd7e49ffa4ac9b215bed846581991259e3aec9bb2fa08d6cec029c46cd66d957",
        "s3",
    ),
)


def pinned_jars() -> tuple[Jar, ...]:
    """Return all jars for the installed pyspark; without one, those for the newest Spark.

    RunnerUnavailableError if Iceberg's runtime for its Spark is not pinned.
    """
    try:
        minor = ".".join(version("pyspark").split(".")[:2])
    except PackageNotFoundError:
        minor = list(RUNTIMES)[-1]
    if minor not in RUNTIMES:
        message = f"pyspark {version('pyspark')} is installed; there are jars for Spark " + (
            " and ".join(RUNTIMES)
        )
        raise RunnerUnavailableError(message)
    return RUNTIMES[minor], *COMMON_JARS


def default_directory() -> Path:
    """Return the directory for the jars of this Python environment."""
    return Path(sys.prefix) / "share" / "iceberg-maintainer" / "jars"


def find_jars(directory: Path, *, with_s3: bool) -> list[Path]:
    """Return the jars for Spark's class path, each checked by its SHA-256.

    RunnerUnavailableError names the command that fetches a missing one. Optional jars are included
    if they are there, because a REST catalog reveals its object store only when a table is loaded.
    """
    wanted = [
        jar
        for jar in pinned_jars()
        if with_s3 or jar.purpose == "always" or (directory / jar.file_name).is_file()
    ]
    return find_pinned(wanted, directory, fetch_command(directory, with_s3=with_s3))


def find_pinned(wanted: Iterable[Jar], directory: Path, command: str) -> list[Path]:
    """Return these jars, each checked by its SHA-256.

    RunnerUnavailableError names the command that fetches a missing or damaged one.
    """
    found: list[Path] = []
    for jar in wanted:
        path = directory / jar.file_name
        if not path.is_file():
            message = f"jar {jar.file_name} is missing in {directory}; fetch it with: {command}"
            raise RunnerUnavailableError(message)
        if not _is_intact(path, jar):
            message = (
                f"jar {path} is damaged: its SHA-256 is not {jar.sha256}; remove it and run: "
                f"{command}"
            )
            raise RunnerUnavailableError(message)
        found.append(path)
    return found


def fetch_command(directory: Path, *, with_s3: bool) -> str:
    chosen = "" if directory == default_directory() else f" --directory {directory}"
    return (
        f"{sys.executable} -m "
        f"maintainer.adapters.spark.jars{chosen}{' --with-s3' if with_s3 else ''}"
    )


def fetch(directory: Path, *, with_s3: bool = False) -> list[Path]:
    """Fetch the missing jars that Spark needs into the directory."""
    return fetch_pinned(
        [jar for jar in pinned_jars() if with_s3 or jar.purpose == "always"], directory
    )


def fetch_pinned(wanted: Sequence[Jar], directory: Path) -> list[Path]:
    """Fetch missing jars into the directory with Spark's Ivy and this machine's Ivy settings."""
    missing = [jar for jar in wanted if not _is_intact(directory / jar.file_name, jar)]
    if missing:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory, prefix=".fetch-") as work:
            resolve(missing, Path(work))
            for jar in missing:
                _place(jar, Path(work) / "ivy" / "jars" / f"{jar.group}_{jar.file_name}", directory)
    return [directory / jar.file_name for jar in wanted]


def spark_home() -> Path:
    """Return the directory of the installed pyspark package, which is a whole Spark."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise RunnerUnavailableError(say_missing("pyspark", "spark", "Spark on this machine"))
    return Path(found.origin).parent


def resolve(jars: Iterable[Jar], work: Path) -> None:
    """Resolve the coordinates, with what they need, into ``work``/ivy/jars by spark-submit."""
    script = work / "nothing.py"
    script.write_text("", encoding="utf-8")
    java = find_java(None, os.environ)
    environment = os.environ | {
        "SPARK_HOME": str(spark_home()),
        "JAVA_HOME": str(prepare_home(java, work)),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [
        str(spark_home() / "bin" / "spark-submit"),
        "--packages",
        ",".join(jar.coordinate for jar in jars),
    ]
    command += [
        "--conf",
        f"spark.jars.ivy={work / 'ivy'}",
        "--conf",
        f"spark.local.dir={work}",
        str(script),
    ]
    try:
        done = subprocess.run(  # noqa: S603
            command,
            env=environment,
            cwd=work,
            capture_output=True,
            text=True,
            timeout=_FETCH_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        message = (
            f"Spark's jars did not arrive within {_FETCH_TIMEOUT_SECONDS} s; is a Maven "
            f"repository reachable?"
        )
        raise RunnerUnavailableError(message) from error
    if done.returncode != 0:
        last = [
            line.strip()
            for line in done.stderr.splitlines()
            if "not found" in line or "Exception" in line
        ][-1:] or ["no reason given"]
        message = f"Spark's jars cannot be fetched ({last[0]}); is a Maven repository reachable?"
        raise RunnerUnavailableError(message)


def _place(jar: Jar, source: Path, directory: Path) -> None:
    """Check a resolved jar's contents and move it into the directory atomically."""
    if not source.is_file() or not _is_intact(source, jar):
        message = (
            f"jar {jar.coordinate} did not arrive with SHA-256 {jar.sha256}; the repository "
            f"served something else"
        )
        raise RunnerUnavailableError(message)
    source.replace(directory / jar.file_name)


def _is_intact(path: Path, jar: Jar) -> bool:
    if not path.is_file():
        return False
    status = path.stat()
    return _digest(str(path), status.st_mtime_ns, status.st_size) == jar.sha256


@lru_cache(maxsize=64)
# Time and size make a changed file another key.
def _digest(path: str, modified: int, size: int) -> str:  # noqa: ARG001
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def main(arguments: list[str]) -> int:
    """Fetch the jars; options: ``--directory DIR``, ``--with-s3``."""
    import argparse  # noqa: PLC0415 - only the command needs it

    parser = argparse.ArgumentParser(
        prog="python -m maintainer.adapters.spark.jars",
        description="Fetch the jars that Spark needs for Iceberg.",
    )
    parser.add_argument("--directory", type=Path, default=default_directory())
    parser.add_argument(
        "--with-s3", action="store_true", help="also Iceberg's bundle for S3 and Glue (69 MB)"
    )
    options = parser.parse_args(arguments)
    try:
        paths = fetch(options.directory, with_s3=options.with_s3)
    except MaintainerError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write("".join(f"{path}\n" for path in paths))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
