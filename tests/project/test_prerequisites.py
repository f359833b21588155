from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.prerequisites import (
    PREREQUISITES,
    Prerequisite,
    find_missing,
    find_postgres_binaries,
    read_version,
)
from tests.project.repository import ROOT, read_pyproject

SUITE = """
import pytest

@pytest.mark.browser
def test_that_needs_a_browser() -> None:
    raise AssertionError("started without a browser")

def test_that_needs_nothing() -> None:
    pass
"""


def make_prerequisite(marker: str, found: Path | None) -> Prerequisite:
    return Prerequisite(marker, f"the {marker} program", lambda: found, "install it")


def run_suite(
    directory: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a suite of one browser test and one plain test, under the project's own conftest, on a
    PATH without any browser.
    """
    (directory / "test_suite.py").write_text(SUITE, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        str(ROOT / "pyproject.toml"),
        "--rootdir",
        str(ROOT),
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        *arguments,
        str(directory),
    ]
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in {"CI", "MAINTAINER_REQUIRE_ALL"} and not name.startswith("PYTEST_")
    }
    nothing = directory / "bin"
    nothing.mkdir()
    environment = {**clean, "PATH": str(nothing), "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((), id="one process"),
        pytest.param(("--numprocesses", "2"), id="two processes", marks=pytest.mark.slow),
    ],
)
def test_a_test_without_its_program_is_skipped_and_named_at_the_end(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    result = run_suite(tmp_path, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed, 1 skipped" in result.stdout
    last_lines = result.stdout.split("NOT RUN")[-1]
    assert "1 test not run for want of Chromium; install it" in last_lines


@pytest.mark.slow
@pytest.mark.parametrize(
    "switch",
    [{"CI": "true"}, {"MAINTAINER_REQUIRE_ALL": "1"}],
    ids=["CI", "MAINTAINER_REQUIRE_ALL"],
)
def test_a_test_without_its_program_fails_where_everything_is_required(
    tmp_path: Path, switch: dict[str, str]
) -> None:
    result = run_suite(tmp_path, **switch)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "not run for want of Chromium" in result.stdout
    assert "started without a browser" not in result.stdout


def test_a_program_is_missed_only_by_the_tests_of_its_marker() -> None:
    missing, present = (
        make_prerequisite("browser", None),
        make_prerequisite("postgres", Path("/usr/bin")),
    )
    assert find_missing(["slow", "browser"], [present, missing]) == missing
    assert find_missing(["slow", "postgres"], [present, missing]) is None
    assert find_missing([], [present, missing]) is None


def test_every_prerequisite_belongs_to_a_declared_marker() -> None:
    declared = {
        text.split(":")[0] for text in read_pyproject()["tool"]["pytest"]["ini_options"]["markers"]
    }
    assert {needed.marker for needed in PREREQUISITES} <= declared


def test_the_newest_installed_postgresql_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version, programs in {
        "9": ("initdb", "pg_ctl"),
        "15": ("initdb", "pg_ctl"),
        "16": ("initdb",),
    }.items():
        (tmp_path / version / "bin").mkdir(parents=True)
        for program in programs:
            (tmp_path / version / "bin" / program).touch(mode=0o755)
    monkeypatch.setattr("tests.prerequisites.POSTGRES_HOMES", (str(tmp_path),))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_postgres_binaries() == tmp_path / "15" / "bin"


def test_a_version_is_read_from_the_name_of_the_installation() -> None:
    assert read_version(Path("/usr/lib/postgresql/15/bin")) == (15,)
    assert read_version(Path("/opt/homebrew/opt/postgresql@16/bin")) == (16,)
