from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from maintainer.adapters.spark.launcher.log_files import open_log
from maintainer.adapters.spark.launcher.ownership import Ownership
from maintainer.adapters.spark.launcher.process import DriverProcess
from maintainer.adapters.spark.link import Driver
from maintainer.domain.errors import RunnerUnavailableError

DEADLINE_SECONDS = 60


class Deaf:
    """A listener that does nothing."""

    def heard(self, driver: Driver, message: Mapping[str, object]) -> None:
        pass

    def ended(self, driver: Driver) -> None:
        pass


def test_only_its_owner_may_read_a_log(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    before = os.umask(0)
    try:
        with open_log(log) as file:
            file.write(b"new\n")
    finally:
        os.umask(before)
    assert (log.stat().st_mode & 0o777, log.read_bytes()) == (0o600, b"new\n")


def test_a_log_of_before_loses_the_rights_of_others_and_is_gone_on_with(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(b"old\n")
    log.chmod(0o644)
    with open_log(log) as file:
        file.write(b"new\n")
    assert (log.stat().st_mode & 0o777, log.read_bytes()) == (0o600, b"old\nnew\n")


def test_the_log_of_a_driver_is_private(tmp_path: Path) -> None:
    settings = {"fingerprint": "x", "megabytes": 512, "host": "127.0.0.1"}
    process = DriverProcess.start(
        tmp_path / "me.spark-1", tmp_path / "no-java", settings, Deaf(), lambda *_: None
    )
    try:
        assert process.log.stat().st_mode & 0o777 == 0o600
    finally:
        process.kill()
        assert process.is_ended.wait(DEADLINE_SECONDS)


@pytest.mark.parametrize("run_dir", [Path("/dev/null/run"), Path("/proc/run")])
def test_a_run_directory_that_cannot_be_written_is_named(run_dir: Path) -> None:
    with pytest.raises(
        RunnerUnavailableError,
        match=f"spark.run_dir {run_dir} cannot be written: .+; name another directory",
    ):
        Ownership(run_dir, "me")
