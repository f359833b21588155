"""The options of the tests' Java."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import quick_java
from tests.quick_java import find_archive, main, make_archive


def test_an_archive_is_used_when_it_is_there_and_its_path_is_one_word(tmp_path: Path) -> None:
    archive, spaced = tmp_path / "spark.jsa", tmp_path / "of spark.jsa"
    assert find_archive(archive) == ""
    archive.touch()
    spaced.touch()
    assert find_archive(archive) == f"-XX:SharedArchiveFile={archive} -Xlog:disable"
    assert find_archive(spaced) == ""


def test_the_archive_is_replaced_as_a_whole_and_kept_when_spark_fails(tmp_path: Path) -> None:
    archive = tmp_path / "share" / "spark.jsa"

    def run(options: str, work: Path) -> subprocess.CompletedProcess[str]:
        """Leave an archive, which a Spark that fails does not finish."""
        made = Path(options.removeprefix("-XX:ArchiveClassesAtExit="))
        assert made.parent == work
        made.write_bytes(b"half" if archive.exists() else b"classes")
        return subprocess.CompletedProcess([], int(archive.exists()), "no memory")

    assert make_archive(archive, run) == ""
    assert archive.read_bytes() == b"classes"
    assert make_archive(archive, run) == "Spark ended with 1: no memory"
    assert archive.read_bytes() == b"classes"
    assert [path.name for path in archive.parent.iterdir()] == ["spark.jsa"]


def test_the_tests_run_without_an_archive_and_say_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(quick_java, "make_archive", lambda: "no Java")
    assert main() == 0
    assert capsys.readouterr().err.endswith("loads its classes by itself: no Java\n")
