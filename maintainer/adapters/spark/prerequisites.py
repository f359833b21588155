"""Describes Spark's prerequisites on this machine: Java, the pyspark package, the jars."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from maintainer.adapters.spark import jars
from maintainer.adapters.spark.java import find_java
from maintainer.adapters.spark.pins import DATABASES, Jar
from maintainer.domain.errors import RunnerUnavailableError

Finding = tuple[str, bool, str]  # a name, whether it is present, and its location or the remedy


def find_prerequisites(
    java_home: Path | None,
    jars_dir: Path,
    sets: Collection[str] = (),
    given: Sequence[Jar | Path] = (),
    databases: Collection[str] = tuple(DATABASES),
) -> Iterator[Finding]:
    """Check and yield each prerequisite; nothing is started."""
    yield _find_java(java_home)
    yield _find_spark()
    yield _find_jars(jars_dir, sets, given, databases)


def refuse_missing(findings: Iterable[Finding]) -> None:
    """Raise RunnerUnavailableError with a line for each missing prerequisite."""
    missing = [f"{what}: {sentence}" for what, is_there, sentence in findings if not is_there]
    if missing:
        raise RunnerUnavailableError("\n".join(missing))


def _find_java(java_home: Path | None) -> Finding:
    """Return the Java that would be used."""
    try:
        java = find_java(java_home, os.environ)
    except RunnerUnavailableError as error:
        return "Java", False, str(error)
    return "Java", True, f"Java {java.version} at {java.home} (from {java.source})"


def _find_spark() -> Finding:
    try:
        home = jars.spark_home()
        return "Spark", True, f"pyspark {version('pyspark')} at {home}"
    except (RunnerUnavailableError, PackageNotFoundError) as error:
        return "Spark", False, str(error)


def _find_jars(
    directory: Path,
    sets: Collection[str],
    given: Sequence[Jar | Path],
    databases: Collection[str],
) -> Finding:
    try:
        found = jars.find_jars(directory, sets, given, databases)
    except RunnerUnavailableError as error:
        return "Spark jars", False, str(error)
    return "Spark jars", True, f"{', '.join(path.name for path in found)} in {directory}"
