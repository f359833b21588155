"""The jars that Spark needs for Iceberg: their checks and their download."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from maintainer.adapters.extras import say_missing
from maintainer.adapters.spark.java import find_java, prepare_home
from maintainer.adapters.spark.pins import DATABASES, RUNTIMES, SETS, Jar
from maintainer.domain.errors import MaintainerError, RunnerUnavailableError

_FETCH_TIMEOUT_SECONDS = 900
_CHUNK_BYTES = 1024 * 1024


def pinned_jars() -> tuple[Jar, ...]:
    """Return the jars that are always fetched for the installed pyspark, Iceberg's runtime first.

    Without a pyspark, the jars for the newest Spark. RunnerUnavailableError if no runtime of
    Iceberg is pinned for the installed Spark.
    """
    try:
        minor = ".".join(version("pyspark").split(".")[:2])
    except PackageNotFoundError:
        minor = list(RUNTIMES)[-1]
    if minor not in RUNTIMES:
        raise RunnerUnavailableError(
            f"pyspark {version('pyspark')} is installed; there are jars for Spark "
            + (" and ".join(RUNTIMES))
        )
    return RUNTIMES[minor], *DATABASES.values()


def default_directory() -> Path:
    """Return the directory for the jars of this Python environment."""
    return Path(sys.prefix) / "share" / "iceberg-maintainer" / "jars"


def find_jars(
    directory: Path,
    sets: Collection[str] = (),
    given: Sequence[Jar | Path] = (),
    databases: Collection[str] = tuple(DATABASES),
) -> list[Path]:
    """Return the jars for Spark's class path; the pinned jars are checked by their SHA-256.

    `databases` are those of the SQL catalogs. RunnerUnavailableError names the command that
    fetches a missing jar. Sets and drivers of databases that are in the directory are always
    included, because a REST catalog names its storage only with a table.
    """
    runtime, *drivers = pinned_jars()
    wanted = [runtime]
    wanted += [
        jar
        for name, jar in zip(DATABASES, drivers, strict=True)
        if name in databases or (directory / jar.file_name).is_file()
    ]
    for name, jars in SETS.items():
        if name in sets or all((directory / jar.file_name).is_file() for jar in jars):
            wanted += jars
    pinned = [*wanted, *(jar for jar in given if isinstance(jar, Jar))]
    found = find_pinned(pinned, directory, fetch_command(directory, sets, given))
    for path in (jar for jar in given if isinstance(jar, Path)):
        if not path.is_file():
            raise RunnerUnavailableError(f"jar {path} of spark.jars does not exist")
        found.append(path)
    return found


def find_pinned(wanted: Iterable[Jar], directory: Path, command: str) -> list[Path]:
    """Return these jars, each checked by its SHA-256.

    RunnerUnavailableError names the command that fetches a missing or damaged jar.
    """
    found: list[Path] = []
    for jar in wanted:
        path = directory / jar.file_name
        if not path.is_file():
            raise RunnerUnavailableError(
                f"jar {jar.file_name} is missing in {directory}; fetch it with: {command}"
            )
        if not _is_intact(path, jar):
            raise RunnerUnavailableError(
                f"jar {path} is damaged: its SHA-256 is not {jar.sha256}; remove it and run: "
                f"{command}"
            )
        found.append(path)
    return found


def fetch_command(
    directory: Path, sets: Collection[str] = (), given: Sequence[Jar | Path] = ()
) -> str:
    chosen = "" if directory == default_directory() else f" --directory {directory}"
    named = "".join(f" --with {name}" for name in sorted(sets))
    others = "".join(f" --jar {jar}" for jar in given if isinstance(jar, Jar))
    return f"{sys.executable} -m maintainer.adapters.spark.jars{chosen}{named}{others}"


def fetch(directory: Path, sets: Collection[str] = (), given: Sequence[Jar] = ()) -> list[Path]:
    chosen = [jar for name, jars in SETS.items() if name in sets for jar in jars]
    return fetch_pinned([*pinned_jars(), *chosen, *given], directory)


def fetch_pinned(wanted: Sequence[Jar], directory: Path) -> list[Path]:
    """Fetch missing jars into the directory with Spark's Ivy and this machine's Ivy settings."""
    directory = directory.absolute()  # Ivy accepts no relative path
    missing = [jar for jar in wanted if not _is_intact(directory / jar.file_name, jar)]
    if missing:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory, prefix=".fetch-") as work:
            resolve(missing, Path(work))
            for jar in missing:
                _place(jar, Path(work) / "ivy" / "jars" / f"{jar.group}_{jar.file_name}", directory)
    return [directory / jar.file_name for jar in wanted]


def spark_home() -> Path:
    """Return the directory of the installed pyspark package, which contains a complete Spark."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise RunnerUnavailableError(say_missing("pyspark", "spark", "Spark on this machine"))
    return Path(found.origin).parent


def resolve(jars: Iterable[Jar], work: Path) -> None:
    """Resolve the coordinates and their dependencies into ``work``/ivy/jars, by spark-submit."""
    script = work / "nothing.py"
    script.write_text("", encoding="utf-8")
    java = find_java(None, os.environ)
    environment = os.environ | {
        "SPARK_HOME": str(spark_home()),
        "JAVA_HOME": str(prepare_home(java, work)),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        # Not in Maven's own cache: Ivy fails if a description is there without its jar.
        "SPARK_SUBMIT_OPTS": f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} -Duser.home={work}",
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
        raise RunnerUnavailableError(
            f"Spark's jars did not arrive within {_FETCH_TIMEOUT_SECONDS} s; is a Maven "
            f"repository reachable?"
        ) from error
    if done.returncode != 0:
        last = [
            line.strip()
            for line in done.stderr.splitlines()
            if "not found" in line or "Exception" in line
        ][-1:] or ["no reason given"]
        raise RunnerUnavailableError(
            f"Spark's jars cannot be fetched ({last[0]}); is a Maven repository reachable?"
        )


def _place(jar: Jar, source: Path, directory: Path) -> None:
    """Check a resolved jar's contents and move it into the directory atomically."""
    if not source.is_file() or not _is_intact(source, jar):
        raise RunnerUnavailableError(
            f"jar {jar.coordinate} did not arrive with SHA-256 {jar.sha256}; the repository has "
            f"another file"
        )
    source.replace(directory / jar.file_name)


def _is_intact(path: Path, jar: Jar) -> bool:
    if not path.is_file():
        return False
    status = path.stat()
    return _digest(str(path), status.st_mtime_ns, status.st_size) == jar.sha256


@lru_cache(maxsize=64)
# The time and the size are arguments so that a changed file has another key in the cache.
def _digest(path: str, modified: int, size: int) -> str:  # noqa: ARG001
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _read_coordinate(text: str) -> Jar:
    found = Jar.parse(text)
    if found is None:
        raise ValueError(text)
    return found


def main(arguments: list[str]) -> int:
    """Fetch the jars; options: ``--directory DIR``, ``--with SET``, ``--jar COORDINATE``."""
    import argparse  # noqa: PLC0415 - only the command needs it

    parser = argparse.ArgumentParser(
        prog="python -m maintainer.adapters.spark.jars",
        description="Fetch the jars that Spark needs for Iceberg.",
    )
    parser.add_argument("--directory", type=Path, default=default_directory())
    parser.add_argument(
        "--with", dest="sets", action="append", default=[], choices=SETS,
        help="also what this storage needs; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--jar", action="append", default=[], type=_read_coordinate,
        help="also this jar, as GROUP:ARTIFACT:VERSION@SHA256; may be repeated",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        paths = fetch(options.directory, options.sets, options.jar)
    except MaintainerError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write("".join(f"{path}\n" for path in paths))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
