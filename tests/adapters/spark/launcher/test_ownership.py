from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from maintainer.adapters.spark.launcher.ownership import (
    Ownership,
    ProcessIdentity,
    driver_lock,
    end_processes,
    identify,
    owner_lives,
    read_start_time,
    take_lock,
)
from maintainer.domain.errors import InvalidValueError, RunnerUnavailableError
from tests.adapters.spark.lakes import wait_until

SLEEPER = [sys.executable, "-c", "import sys; sys.stdin.read()"]


def test_an_owner_that_lives_is_not_abandoned_and_its_name_is_taken(tmp_path: Path) -> None:
    first, second = Ownership(tmp_path, "one"), Ownership(tmp_path, "two")
    assert second.left_behind("one") is None
    with pytest.raises(RunnerUnavailableError, match="'one'"):
        Ownership(tmp_path, "one")
    first.release()
    assert second.left_behind("one") == {}
    assert second.left_behind("never-was") == {}
    assert owner_lives(tmp_path, "never-was") is None, (
        "asking about a process does not make it known here"
    )
    assert owner_lives(tmp_path, "one") is False
    second.release()


def test_what_an_owner_that_is_gone_has_left_behind_is_named_while_it_lives(tmp_path: Path) -> None:
    gone, other = Ownership(tmp_path, "gone"), Ownership(tmp_path, "other")
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE) as left_behind:
        identity = identify(left_behind.pid)
        assert identity is not None
        gone.record("gone.spark-1", [identity])
        gone.record("gone.spark-2", [ProcessIdentity(left_behind.pid, "another time")])
        gone.forget()  # as the system does when the process dies
        assert other.left_behind("gone") == {"gone.spark-1": [identity]}
        assert identity.is_alive
        left_behind.kill()
    assert other.left_behind("gone") == {}
    other.release()


@pytest.mark.parametrize("is_adopted", [False, True])
def test_a_new_life_of_an_owner_ends_the_drivers_of_its_old_one_unless_they_are_adopted(
    tmp_path: Path, is_adopted: bool
) -> None:
    old, other = Ownership(tmp_path, "again"), Ownership(tmp_path, "other")
    (tmp_path / "again.spark-1").mkdir()
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE) as driver:
        identity = identify(driver.pid)
        assert identity is not None
        old.record("again.spark-1", [identity])
        old.forget()
        lock = take_lock(driver_lock(tmp_path / "again.spark-1")) if is_adopted else None
        new = Ownership(tmp_path, "again")
        assert identity.is_alive is is_adopted
        if lock is not None:
            lock.forget()
        driver.kill()
    new.release()
    other.release()


def test_a_process_that_only_has_the_number_of_ours_is_left_alone() -> None:
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE) as stranger:
        assert end_processes([ProcessIdentity(stranger.pid, "another time")])
        assert stranger.poll() is None
        stranger.kill()


def test_a_zombie_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert read_start_time(process.pid) is None
    process.wait()


@pytest.mark.filterwarnings(
    "ignore:This process:DeprecationWarning"
)  # Python 3.12 warns of forking beside threads, which is the case to be tested
def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    owner, other = Ownership(tmp_path, "parent"), Ownership(tmp_path, "other")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    owner.forget()
    wait_until(lambda: other.left_behind("parent") is not None, seconds=10)
    os.close(write)
    os.close(read)
    os.waitpid(child, 0)
    other.release()


@pytest.mark.parametrize("name", ["", "../up", "a/b", "x" * 129])
def test_an_owner_that_is_no_file_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="not a file name"):
        Ownership(tmp_path, name)
