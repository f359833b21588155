"""Drivers as processes that call home: real processes and a real link, without Spark."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from maintainer.adapters.spark.driver_settings import DriverSettings
from maintainer.adapters.spark.launcher import DriverSpec, LaunchPhase, remote_process
from maintainer.adapters.spark.launcher.ownership import read_start_time
from maintainer.adapters.spark.launcher.remote_process import ProcessLauncher
from maintainer.adapters.spark.link.http.endpoint import make_endpoint
from maintainer.adapters.spark.options import LocalSparkOptions
from maintainer.adapters.spark.remote.drivers import LinkOptions, RemoteDrivers
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.pool import JobSize
from tests.adapters.spark.lakes import WallClock, wait_until
from tests.adapters.spark.link.serving import served
from tests.adapters.spark.remote.sites import Heard
from tests.fakes.adapters.store import FakeStore

NOBODY = "http://127.0.0.1:9"  # the port of the discard service: nobody listens there


@pytest.fixture
def launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessLauncher]:
    monkeypatch.setattr(remote_process, "find_java", lambda *_: None)
    monkeypatch.setattr(remote_process, "prepare_home", lambda *_: tmp_path)
    made = ProcessLauncher(LocalSparkOptions(jars_dir=tmp_path / "no-jars"), tmp_path / "run")
    yield made
    for handle in made.find():
        made.end(handle)


def spec_of(name: str, address: str = NOBODY) -> DriverSpec:
    return DriverSpec(name, "abc", JobSize.SMALL, "1g", None, address, f"{name}.s3cret", "PEM")


def pid_of(handle: str) -> int:
    return remote_process._read(handle)[2].pid


def test_a_launched_driver_runs_until_it_is_ended(
    launcher: ProcessLauncher, tmp_path: Path
) -> None:
    handle = launcher.launch(spec_of("spark-1"))
    assert launcher.launch(spec_of("spark-1")) == handle, "the same name is the same driver"
    assert launcher.state(handle).phase is LaunchPhase.RUNNING
    assert launcher.find() == [handle]
    launcher.end(handle)
    assert read_start_time(pid_of(handle)) is None
    assert launcher.state(handle).phase is LaunchPhase.ENDED
    assert not (tmp_path / "run" / "spark-1").exists()
    launcher.end(handle)
    launcher.end("of another launcher")
    assert launcher.find() == []


def test_the_token_is_in_a_file_of_its_owner_and_in_no_argument(
    launcher: ProcessLauncher, tmp_path: Path
) -> None:
    handle = launcher.launch(spec_of("spark-1"))
    token = tmp_path / "run" / "spark-1" / "token"
    assert token.read_text() == "spark-1.s3cret"
    assert token.stat().st_mode & 0o077 == 0
    for name in ("cmdline", "environ"):
        assert b"s3cret" not in Path(f"/proc/{pid_of(handle)}/{name}").read_bytes()
    assert (tmp_path / "run" / "spark-1" / "authority.pem").read_text() == "PEM"


def test_a_driver_that_ends_by_itself_is_seen_and_another_process_can_end_one(
    launcher: ProcessLauncher, tmp_path: Path
) -> None:
    handle = launcher.launch(spec_of("spark-1"))
    os.kill(pid_of(handle), signal.SIGKILL)
    wait_until(lambda: launcher.state(handle).phase is LaunchPhase.ENDED)
    assert "exit code -9" in launcher.state(handle).reason
    other = launcher.launch(spec_of("spark-2"))
    second = ProcessLauncher(LocalSparkOptions(), tmp_path / "run")
    assert other in second.find()
    assert second.state(other).phase is LaunchPhase.RUNNING
    second.end(other)
    assert launcher.state(other).phase is LaunchPhase.ENDED


def test_a_driver_of_another_machine_counts_as_running(
    launcher: ProcessLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = launcher.launch(spec_of("spark-1"))
    monkeypatch.setattr(launcher, "_host", "another")
    launcher.end(handle)
    assert launcher.state(handle).phase is LaunchPhase.RUNNING
    assert launcher.find() == []
    monkeypatch.undo()


def test_its_log_is_read_in_parts(launcher: ProcessLauncher, tmp_path: Path) -> None:
    handle = launcher.launch(spec_of("spark-1", "http://127.0.0.1:9"))
    wait_until(lambda: "cannot be reached" in launcher.log(handle, 0).text)
    first = launcher.log(handle, 0)
    rest = (tmp_path / "run" / "spark-1" / "driver.log").read_text()
    assert rest.startswith(first.text)
    assert first.next == len(first.text.encode())
    assert launcher.log("of another launcher", 5).next == 5


def test_what_cannot_be_started_says_why(tmp_path: Path, launcher: ProcessLauncher) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(RunnerUnavailableError, match="spark-1 cannot be started"):
        launcher.launch(spec_of("spark-1"))
    (tmp_path / "run").unlink()


def test_a_driver_calls_home_and_says_why_its_spark_does_not_start(
    launcher: ProcessLauncher,
) -> None:
    """Everything is real but Spark: its jars are missing."""
    options = LocalSparkOptions(start_timeout=timedelta(minutes=3))
    store, heard = FakeStore(), Heard()
    settings = DriverSettings(options, {}, "app")
    with served(make_endpoint(store, WallClock(), timedelta(minutes=2))) as address:
        source = RemoteDrivers(
            launcher,
            store,
            WallClock(),
            "one",
            options,
            LinkOptions("abc", address),
            settings,
            lambda _, size: settings.write(size, {"spark.master": "local[1]"}),
        )
        driver = source.start(replace(options.driver_of(JobSize.SMALL)), heard)
        assert driver.is_ended.wait(60)
        source.release()
    assert heard.events == ["application.failed"]
    causes = str(driver.last_words["causes"])
    assert "there are no jars in" in causes
    wait_until(lambda: launcher.state(driver.handle).phase is LaunchPhase.ENDED)
