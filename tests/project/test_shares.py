"""The two processes of ``make test-fast``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.examples import examples
from tests.project.repository import ROOT, list_files, read_pyproject
from tests.shares import COVERAGE, FIRST, FIRST_SHARE, PURE, SECOND, belongs, command_of, judge, run


def test_each_test_file_belongs_to_one_share() -> None:
    files = [path for path in list_files() if path.name.startswith("test_")]
    assert {belongs(path, FIRST) + belongs(path, SECOND) for path in files} == {True}
    for share in (FIRST, SECOND):
        mine = [path for path in files if belongs(path, share)]
        assert mine
        assert all(belongs(folder, share) for path in mine for folder in path.parents[:-1])


def test_each_folder_of_the_first_share_exists() -> None:
    assert all((ROOT / folder).is_dir() for folder in FIRST_SHARE)


def test_the_folders_that_must_be_covered_are_those_that_the_contract_calls_pure() -> None:
    (contract,) = (
        one for one in read_pyproject()["tool"]["importlinter"]["contracts"] if one["id"] == "pure"
    )
    assert {f"maintainer.{folder}" for folder in PURE} == set(contract["source_modules"])


def test_only_the_first_share_traces_and_both_get_the_arguments() -> None:
    first, second = (command_of(share, ["-k", "name"]) for share in (FIRST, SECOND))
    assert set(COVERAGE) <= set(first)
    assert not set(COVERAGE) & set(second)
    assert first[-2:] == second[-2:] == ["-k", "name"]


@pytest.mark.parametrize(
    ("codes", "status"),
    [([0, 0], 0), ([0, 1], 1), ([2, 0], 2), ([5, 0], 0), ([0, 5], 0), ([5, 5], 5)],
)
def test_a_failure_of_either_fails_and_so_does_a_run_without_a_test(
    codes: list[int], status: int
) -> None:
    assert judge(codes) == status


def test_both_run_at_once_and_the_output_of_the_second_comes_last(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each waits until the other has begun."""
    program = """
import pathlib, sys, time
mine, other, code = sys.argv[1:]
pathlib.Path(mine).touch()
deadline = time.monotonic() + 30
while not pathlib.Path(other).exists() and time.monotonic() < deadline:
    time.sleep(0.001)
print(pathlib.Path(mine).name, flush=True)
sys.exit(int(code))
"""
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    start = [sys.executable, "-c", program]
    assert run([[*start, one, two, "3"], [*start, two, one, "4"]]) == [3, 4]
    assert capfd.readouterr().out.split() == ["one", "two"]


@pytest.mark.parametrize(("share", "code"), [(FIRST, 0), (SECOND, 5)])
def test_a_file_that_is_named_runs_in_its_share_alone(share: str, code: int) -> None:
    file = "tests/domain/test_plan.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", file, "--share", share, "-q", "-p", "no:cacheprovider"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code, done.stdout


@pytest.mark.parametrize(
    ("profile", "asked", "tried"),
    [("full", 150, 150), ("ci", 150, 150), ("fast", 150, 37), ("fast", 12, 5)],
)
def test_a_property_is_tried_on_fewer_random_examples_in_the_fast_tests_alone(
    profile: str, asked: int, tried: int
) -> None:
    present = settings.get_current_profile_name()
    settings.load_profile(profile)
    try:
        assert examples(asked) == tried
    finally:
        settings.load_profile(present)
