"""The launcher against a small resource manager, with a stand-in for spark-submit."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from maintainer.adapters.spark import jars
from maintainer.adapters.spark.launcher import DriverSpec, LaunchPhase
from maintainer.adapters.spark.launcher.yarn import submission
from maintainer.adapters.spark.launcher.yarn.launcher import YarnLauncher
from maintainer.adapters.spark.launcher.yarn.options import YarnOptions
from maintainer.adapters.spark.link import LogPart
from maintainer.adapters.spark.options import Executors, LocalSparkOptions
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.job import FailureReason
from maintainer.domain.pool import JobSize
from tests.adapters.spark.lakes import wait_until
from tests.adapters.spark.launcher.yarn.small_manager import USER, SmallManager, serve_manager

INSTALLATION = "3F2A"
TOKEN = "spark-1.start-token-of-a-test"  # noqa: S105 - planted
SPARK_CONF = {
    "spark.yarn.jars": "local:/opt/spark/jars/*",
    "spark.yarn.appMasterEnv.AWS_SECRET_ACCESS_KEY": "s3cret-variable",
    "spark.authenticate": "true",
    "spark.authenticate.secret": "s3cret-of-spark",
    "spark.hadoop.fs.s3a.secret.key": "s3cret-of-s3",
    "spark.driver.extraJavaOptions": "-Dx=C:\\y",
}


@dataclass
class Scene:
    manager: SmallManager
    directory: Path
    options: YarnOptions
    seconds: list[float] = field(default_factory=lambda: [0.0])

    def launcher(self, installation: str = INSTALLATION) -> YarnLauncher:
        spark = LocalSparkOptions(jars_dir=self.directory / "jars", conf=SPARK_CONF)
        run_dir = self.directory / "run"
        return YarnLauncher(spark, self.options, installation, run_dir, lambda: self.seconds[0])

    def launch(self, launcher: YarnLauncher, name: str = "spark-1") -> dict[str, Any]:
        """Launch a driver and return its application, once the cluster has it."""
        assert launcher.launch(spec_of(name)) == name
        wait_until(lambda: name in self.names() and not launcher._submissions.is_running(name))
        return next(each for each in self.manager.applications.values() if each["name"] == name)

    def names(self) -> list[str]:
        return [each["name"] for each in self.manager.applications.values()]

    def given(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.submitted / "given.json").read_text())
        return found

    @property
    def submitted(self) -> Path:
        return self.directory / "submitted"


def spec_of(name: str) -> DriverSpec:
    address = "https://maintainer-link.example:8090"
    return DriverSpec(
        name, INSTALLATION, JobSize.SMALL, "4g", Executors(2, "1g", 1), address, TOKEN, "PEM"
    )


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    for name in ("spark/bin", "submitted", "conf"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "conf" / "yarn-site.xml").touch()
    program = tmp_path / "spark" / "bin" / "spark-submit"
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} {Path(__file__).with_name("fake_submit.py")} "$@"\n'
    )
    program.chmod(0o700)
    monkeypatch.setattr(jars, "spark_home", lambda: tmp_path / "spark")
    monkeypatch.setattr(jars, "find_jars", lambda *_, **__: [Path("/jars/iceberg.jar")])
    monkeypatch.setattr(submission, "find_java", lambda *_: None)
    monkeypatch.setattr(submission, "prepare_home", lambda *_: tmp_path)
    monkeypatch.setenv("TEST_SUBMITTED", str(tmp_path / "submitted"))
    with serve_manager() as manager:
        monkeypatch.setenv("TEST_MANAGER", manager.url)
        options = YarnOptions((manager.url,), tmp_path / "conf", "batch", USER)
        yield Scene(manager, tmp_path, options)


def test_a_driver_is_submitted_waits_runs_and_ends(scene: Scene) -> None:
    launcher = scene.launcher()
    application = scene.launch(launcher)
    number = application["id"]
    state = launcher.state("spark-1")
    assert (state.phase, state.application_id) == (LaunchPhase.QUEUED, number)
    assert state.reason == "waits in YARN's queue batch"
    for word in ("RUNNING", "ACCEPTED_BY_A_LATER_HADOOP"):
        application["state"] = word
        scene.seconds[0] += 1
        assert launcher.state("spark-1").phase is LaunchPhase.RUNNING
    scene.manager.end(application, "FINISHED", "SUCCEEDED")
    assert launcher.state("spark-1").phase is LaunchPhase.RUNNING, "the list of this second"
    scene.seconds[0] += 1
    ended = launcher.state("spark-1")
    assert (ended.phase, ended.reason, ended.failure) == (LaunchPhase.ENDED, "", None)


def test_the_same_name_is_the_same_driver(scene: Scene) -> None:
    launcher = scene.launcher()
    scene.launch(launcher)
    launcher.launch(spec_of("spark-1"))
    scene.launcher().launch(spec_of("spark-1"))
    assert scene.names() == ["spark-1"]


def test_no_argument_variable_or_setting_has_a_secret(scene: Scene) -> None:
    scene.launch(scene.launcher())
    given = scene.given()
    assert TOKEN not in str(given)
    assert "s3cret" not in str(given)
    assert (scene.submitted / "token").read_text() == TOKEN
    for path in (scene.directory / "run" / "yarn" / "spark-1").iterdir():
        assert TOKEN not in path.read_text(errors="replace") or path.name == "token", path
    directory = scene.directory / "run" / "yarn" / "spark-1"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE((directory / "token").stat().st_mode) == 0o600


def test_the_token_is_removed_when_the_cluster_has_the_application(scene: Scene) -> None:
    launcher = scene.launcher()
    scene.launch(launcher)
    launcher.state("spark-1")
    assert not (scene.directory / "run" / "yarn" / "spark-1" / "token").exists()


def test_what_is_submitted(scene: Scene) -> None:
    scene.options = replace(
        scene.options, principal="maintainer@EXAMPLE.COM", keytab=Path("/etc/m.keytab")
    )
    scene.launch(scene.launcher())
    given = scene.given()
    assert given["arguments"][:4] == ["--master", "yarn", "--deploy-mode", "cluster"]
    assert given["environment"]["HADOOP_CONF_DIR"] == str(scene.directory / "conf")
    assert given["environment"]["HADOOP_USER_NAME"] == USER
    expected = {
        "spark.app.name": "spark-1",
        "spark.yarn.queue": "batch",
        "spark.yarn.tags": "iceberg-maintainer-3f2a,spark-1",
        "spark.yarn.submit.waitAppCompletion": "false",
        "spark.yarn.maxAppAttempts": "1",
        "spark.executor.maxNumFailures": "1000",
        "spark.yarn.am.waitTime": "120s",
        "spark.yarn.jars": "local:/opt/spark/jars/*",
        "spark.authenticate": "true",
        "spark.driver.memory": "4g",
        "spark.driver.memoryOverhead": "1024m",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -Dx=C:\\\\y",
        "spark.jars": "file:///jars/iceberg.jar",
        "spark.kerberos.principal": "maintainer@EXAMPLE.COM",
        "spark.kerberos.keytab": "/etc/m.keytab",
        "spark.yarn.appMasterEnv.MAINTAINER_LINK": "https://maintainer-link.example:8090",
        "spark.yarn.appMasterEnv.MAINTAINER_DRIVER": "spark-1",
        "spark.yarn.appMasterEnv.MAINTAINER_TOKEN_FILE": "token",
        "spark.yarn.appMasterEnv.MAINTAINER_LINK_CA_FILE": "authority.pem",
    }
    assert {name: given["settings"].get(name) for name in expected} == expected


def test_the_driver_program_travels_whole_and_needs_nothing_of_ours(scene: Scene) -> None:
    scene.launch(scene.launcher())
    with zipfile.ZipFile(scene.submitted / "driver.zip") as packed:
        packed.extractall(scene.submitted)
    assert (scene.submitted / "maintainer_driver" / "link" / "polling.py").is_file()
    alone = subprocess.run(
        [sys.executable, "-P", "-S", "-c", (scene.submitted / "start.py").read_text()],
        env={"PYTHONPATH": str(scene.submitted)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert alone.stderr.splitlines()[-1] == "IndexError: list index out of range", (
        "it starts, and looks for its socket without a link"
    )


def test_a_submission_that_fails_says_why(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    complaint = "Exception in thread main: Queue root.batch is STOPPED"
    monkeypatch.setenv("TEST_COMPLAINT", complaint)
    launcher = scene.launcher()
    launcher.launch(spec_of("spark-1"))
    wait_until(lambda: launcher.state("spark-1").phase is LaunchPhase.ENDED)
    assert launcher.state("spark-1").reason == f"spark-submit failed: {complaint}"


def test_a_submission_under_way_is_a_start_for_the_next_daemon_too(
    scene: Scene,
) -> None:
    fifo = scene.directory / "gate"
    os.mkfifo(fifo)
    program = scene.directory / "spark" / "bin" / "spark-submit"
    program.write_text(f"#!/bin/sh\nread line <{fifo}\n" + program.read_text())
    first = scene.launcher()
    first.launch(spec_of("spark-1"))
    later = scene.launcher()
    assert later.state("spark-1").phase is LaunchPhase.STARTING
    fifo.write_text("go\n")
    wait_until(lambda: later.state("spark-1").phase is LaunchPhase.QUEUED)
    wait_until(lambda: not first._submissions.is_running("spark-1"))


def test_what_is_not_known_is_gone_and_no_failure(scene: Scene) -> None:
    launcher = scene.launcher()
    state = launcher.state("spark-9")
    assert (state.phase, state.failure) == (LaunchPhase.GONE, None)
    launcher.end("spark-9")


def test_an_application_is_killed_and_its_files_go(scene: Scene) -> None:
    launcher = scene.launcher()
    application = scene.launch(launcher)
    application["state"] = "RUNNING"
    launcher.end("spark-1")
    assert application["state"] == "KILLED"
    state = launcher.state("spark-1")
    assert (state.phase, state.reason) == (LaunchPhase.ENDED, f"killed by {USER}")
    assert state.failure is FailureReason.LOST_RUNNER
    assert not (scene.directory / "run" / "yarn" / "spark-1").exists()
    launcher.end("spark-1")


def test_with_kerberos_the_principal_is_the_user_who_kills(scene: Scene) -> None:
    scene.options = replace(
        scene.options, user="", principal="batch/rm.example@EXAMPLE.COM", keytab=Path("/etc/k")
    )
    launcher = scene.launcher()
    scene.launch(launcher)
    launcher.end("spark-1")
    scene.seconds[0] += 1
    [application] = scene.manager.applications.values()
    assert application["diagnostics"].split(" was ")[1] == "killed by user batch at 127.0.0.1"


def test_an_application_that_ended_is_not_killed(scene: Scene) -> None:
    launcher = scene.launcher()
    scene.manager.end(scene.launch(launcher), "FINISHED", "SUCCEEDED")
    launcher.end("spark-1")
    assert not [request for request in scene.manager.asked if request.startswith("PUT")]


def test_only_living_applications_of_this_installation_are_found(scene: Scene) -> None:
    launcher = scene.launcher()
    scene.manager.end(scene.launch(launcher, "spark-1"), "FAILED", "FAILED")
    scene.launch(launcher, "spark-2")
    assert launcher.find() == ["spark-2"]
    assert scene.launcher("another").find() == []


def test_many_questions_within_a_second_are_one_call(scene: Scene) -> None:
    launcher = scene.launcher()
    scene.launch(launcher)
    scene.manager.asked.clear()
    for _ in range(5):
        launcher.state("spark-1")
    assert scene.manager.asked == ["GET /ws/v1/cluster/apps"]


def test_the_active_one_of_two_managers_is_asked(scene: Scene) -> None:
    with serve_manager() as standby:
        standby.is_standby = True
        scene.options = replace(scene.options, resource_managers=(standby.url, scene.manager.url))
        launcher = scene.launcher()
        scene.launch(launcher)
        for _ in range(2):
            assert launcher.state("spark-1").phase is LaunchPhase.QUEUED
            scene.seconds[0] += 1
        assert len(standby.asked) == 1, "the one that answered is asked first from then on"


def test_a_manager_that_cannot_be_asked_is_no_state(scene: Scene) -> None:
    scene.options = replace(scene.options, resource_managers=("http://127.0.0.1:9",))
    with pytest.raises(RunnerUnavailableError, match=r"http://127\.0\.0\.1:9/.* cannot be reached"):
        scene.launcher().state("spark-1")


def test_both_files_of_a_running_driver_are_its_log(scene: Scene) -> None:
    launcher = scene.launcher()
    application = scene.launch(launcher)
    scene.seconds[0] += 1
    assert launcher.log("spark-1", 0) == LogPart("", 0), "its container has no files yet"
    application["state"] = "RUNNING"
    scene.manager.files = {"stdout": b"one\n", "stderr": b"uno\n"}
    first = launcher.log("spark-1", 0)
    assert first.text == "one\nuno\n"
    scene.manager.files["stdout"] += b"two\n"
    second = launcher.log("spark-1", first.next)
    assert second.text == "two\n"
    scene.manager.files["stderr"] += b"due\ntr"
    third = launcher.log("spark-1", second.next)
    assert (third.text, launcher.log("spark-1", third.next).text) == ("due\n", "")


def test_after_the_end_the_log_says_where_it_is(scene: Scene) -> None:
    launcher = scene.launcher()
    application = scene.launch(launcher)
    scene.manager.end(application, "FINISHED", "SUCCEEDED")
    said = launcher.log("spark-1", 0)
    assert said.text == f"YARN keeps the log: yarn logs -applicationId {application['id']}\n"
    assert launcher.log("spark-1", said.next).text == ""


def test_doctor_asks_the_manager_and_the_queue(scene: Scene) -> None:
    found = {what: (is_fine, sentence) for what, is_fine, sentence in scene.launcher().describe()}
    assert found["YARN"] == (True, "resource manager 3.4.2 answers")
    assert found["YARN queue batch"] == (True, "it exists and accepts applications")
    assert found["Hadoop's configuration"] == (True, str(scene.directory / "conf"))
    scene.options = replace(
        scene.options, hadoop_conf_dir=scene.directory, resource_managers=("http://127.0.0.1:9",)
    )
    found = {what: (is_fine, sentence) for what, is_fine, sentence in scene.launcher().describe()}
    assert not found["YARN"][0]
    assert found["Hadoop's configuration"] == (
        False,
        f"there is no yarn-site.xml in {scene.directory}",
    )
