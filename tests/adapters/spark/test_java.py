from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from maintainer.adapters.spark.java import Java, find_java, prepare_home
from maintainer.domain.errors import RunnerUnavailableError

WORKING = """#!/bin/sh
case "$1" in
  -version) echo 'openjdk version "{version}" 2026-01-20' >&2 ;;
  --list-modules) echo 'java.base@{version}'; echo '{module}' ;;
  *) for argument do echo "[$argument]"; done ;;
esac
"""


def make_java(home: Path, version: str, module: str = "jdk.incubator.vector@21") -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(WORKING.format(version=version, module=module))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return home


def test_the_setting_wins_over_java_home_over_path(tmp_path: Path) -> None:
    chosen, home, on_path = (
        make_java(tmp_path / name, version)
        for name, version in (("a", "17.0.1"), ("b", "21"), ("c", "17.0.9"))
    )
    environment = {"JAVA_HOME": str(home), "PATH": str(on_path / "bin")}
    assert find_java(chosen, environment) == Java(
        chosen, 17, "spark.java_home", has_vector_module=True
    )
    assert find_java(None, environment).source == "JAVA_HOME"
    assert find_java(None, {"PATH": str(on_path / "bin")}) == Java(
        on_path, 17, "PATH", has_vector_module=True
    )


def test_java_25_is_never_taken(tmp_path: Path) -> None:
    too_new, good = make_java(tmp_path / "25", "25.0.1"), make_java(tmp_path / "17", "17.0.2")
    assert find_java(None, {"JAVA_HOME": str(too_new), "PATH": str(good / "bin")}).home == good
    with pytest.raises(
        RunnerUnavailableError, match=r"17 or 21: spark\.java_home \(.*\) is Java 25\. To fix it"
    ):
        find_java(too_new, {"PATH": str(good / "bin")})


def test_an_old_or_broken_java_is_named_with_what_to_do(tmp_path: Path) -> None:
    old = make_java(tmp_path / "8", "1.8.0_392")
    with pytest.raises(RunnerUnavailableError, match="is Java 1"):
        find_java(old, {})
    with pytest.raises(RunnerUnavailableError, match="no working bin/java"):
        find_java(tmp_path / "missing", {})


def test_a_java_without_the_vector_module_gets_a_home_that_drops_the_argument(
    tmp_path: Path,
) -> None:
    whole = make_java(tmp_path / "whole", "21.0.8")
    assert prepare_home(find_java(whole, {}), tmp_path) == whole
    slim = make_java(tmp_path / "it's slim", "21.0.8", module="java.sql@21")
    home = prepare_home(find_java(slim, {}), tmp_path / "run")
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", ""]
    done = subprocess.run(
        [home / "bin" / "java", *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[-Xmx1g]", "[a b]", "[]"]
    assert os.access(home / "bin" / "java", os.X_OK)
