from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from maintainer.adapters.spark.ownership import Ownership, ProcessIdentity, end_processes, identify, read_start_time
from maintainer.domain.errors import InvalidValueError, RunnerUnavailableError
from tests.adapters.spark.lakes import wait_until

SLEEPER = [sys.executable, "-c", "import sys; sys.stdin.read()"]


def test_an_owner_that_lives_is_not_abandoned_and_its_name_is_taken(tmp_path: Path) -> None:
    first, second = Ownership(tmp_path, "one"), Ownership(tmp_path, "two")
    assert not second.is_abandoned("one")
    with pytest.raises(RunnerUnavailableError, match="'one'"):
        Ownership(tmp_path, "one")
    first.release()
    assert second.is_abandoned("one")
    assert second.is_abandoned("never-was")
    second.release()


def test_processes_of_an_owner_that_is_gone_are_ended(tmp_path: Path) -> None:
    gone, other = Ownership(tmp_path, "gone"), Ownership(tmp_path, "other")
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE) as left_behind:
        identity = identify(left_behind.pid)
        assert identity is not None
        gone.record("spark", [identity])
        gone.forget()  # as the kernel does when the process dies
        assert other.is_abandoned("gone")
        assert not identity.is_alive
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


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 warns of forking beside threads, which is the case to be tested
def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    owner, other = Ownership(tmp_path, "parent"), Ownership(tmp_path, "other")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    owner.forget()
    wait_until(lambda: other.is_abandoned("parent"), seconds=10)
    os.close(write)
    os.close(read)
    os.waitpid(child, 0)
    other.release()


@pytest.mark.parametrize("name", ["", "../up", "a/b", "x" * 129])
def test_an_owner_that_is_no_file_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="not a file name"):
        Ownership(tmp_path, name)
