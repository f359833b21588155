"""Pods of the small server as processes: what a launcher sees of them is what a node would show."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from maintainer.adapters.spark.launcher import LaunchPhase
from maintainer.domain.job import FailureReason
from tests.adapters.spark.launcher.kubernetes.api_server import ApiServer, open_api_server
from tests.adapters.spark.launcher.kubernetes.launcher_suite import IMAGE, Scene, eventually
from tests.adapters.spark.launcher.kubernetes.process_kubelet import ProcessKubelet
from tests.adapters.spark.launcher.kubernetes.test_launcher import Small

NAME = "maintainer-1f2e-small-1"


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with open_api_server() as api:
        yield api


@pytest.fixture
def kubelet(api: ApiServer, tmp_path: Path) -> Iterator[ProcessKubelet]:
    kubelet = ProcessKubelet(api, tmp_path / "node", IMAGE)
    yield kubelet
    kubelet.close()


@pytest.fixture
def scene(api: ApiServer, kubelet: ProcessKubelet, tmp_path: Path) -> Iterator[Scene]:
    assert api.on_pod is not None, kubelet
    ticks = iter(range(1_000_000))
    scene = Scene(Small(api, tmp_path), tmp_path, "1f2e", lambda: next(ticks))
    yield scene
    scene.close()


def runs(script: str) -> dict[str, object]:
    """A pod template whose driver is a shell script."""
    container = {"name": "spark-kubernetes-driver", "args": ["unused", script]}
    return {"spec": {"containers": [container], "terminationGracePeriodSeconds": 1}}


@pytest.fixture(autouse=True)
def _shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's command runs the script of `runs`, its second argument, instead of the driver
    program.
    """
    monkeypatch.setattr(
        "maintainer.adapters.spark.launcher.kubernetes.pods.DRIVER_COMMAND",
        ["/bin/sh", "-c", 'exec /bin/sh -c "$1"'],
    )


def test_the_process_gets_its_token_and_its_name_as_the_driver_program_expects_them(
    scene: Scene,
) -> None:
    script = (
        'echo "$MAINTAINER_DRIVER at $MAINTAINER_LINK"; cat "$MAINTAINER_TOKEN_FILE"; echo; '
        'cat "$MAINTAINER_LINK_CA_FILE"; touch "$HOME/written"'
    )
    launcher = scene.launcher(pod_template=runs(script))
    handle = launcher.launch(replace(scene.spec, authority="an authority\n"))
    eventually(lambda: launcher.state(handle).phase is LaunchPhase.ENDED)
    assert launcher.state(handle).failure is None
    assert launcher.log(handle, 0).text == (
        f"{NAME} at {scene.spec.address}\n{scene.spec.start_token}\nan authority\n"
    )


@pytest.mark.parametrize(
    ("script", "reason", "failure"),
    [
        ("exit 4", "the driver ended with exit code 4", FailureReason.OTHER),
        (
            "kill -9 $$",
            "killed from outside (exit code 137); often its node had no memory left",
            FailureReason.LOST_RUNNER,
        ),
    ],
)
def test_an_exit_code_is_real(
    scene: Scene, script: str, reason: str, failure: FailureReason
) -> None:
    launcher = scene.launcher(pod_template=runs(script))
    handle = launcher.launch(scene.spec)
    eventually(lambda: launcher.state(handle).phase is LaunchPhase.ENDED)
    state = launcher.state(handle)
    assert (state.reason, state.failure) == (reason, failure)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:4]


def start(scene: Scene, script: str) -> str:
    launcher = scene.launcher(pod_template=runs(script))
    handle = launcher.launch(scene.spec)
    eventually(lambda: "ready" in launcher.log(handle, 0).text)
    assert launcher.state(handle).phase is LaunchPhase.RUNNING
    return handle


def test_a_driver_without_memory_is_killed_with_all_that_it_started(
    scene: Scene, kubelet: ProcessKubelet
) -> None:
    handle = start(scene, "sleep 600 & echo $!; echo ready; wait")
    launcher = scene.launcher()
    child = int(launcher.log(handle, 0).text.split()[0])
    kubelet.kill(handle)
    eventually(lambda: launcher.state(handle).phase is LaunchPhase.ENDED)
    assert launcher.state(handle).failure is FailureReason.OUT_OF_MEMORY
    eventually(lambda: not is_alive(child))


def test_the_end_asks_first_and_kills_then(scene: Scene, kubelet: ProcessKubelet) -> None:
    handle = start(scene, "trap '' TERM; echo ready; while true; do sleep 0.1; done")
    pid = kubelet.pid_of(handle)
    launcher = scene.launcher()
    assert "ready" in launcher.log(handle, 0).text
    launcher.end(handle)
    assert launcher.state(handle).reason == "it is being deleted"
    eventually(lambda: launcher.state(handle).phase is LaunchPhase.GONE)
    assert not is_alive(pid)
    assert scene.names("secrets") == []


def test_an_image_that_does_not_exist_keeps_the_pod_waiting(scene: Scene) -> None:
    launcher = scene.launcher(image="registry.example/absent:1")
    handle = launcher.launch(scene.spec)
    eventually(lambda: "cannot be pulled" in launcher.state(handle).reason)
    assert launcher.state(handle).phase is LaunchPhase.STARTING
    launcher.end(handle)
    eventually(lambda: launcher.state(handle).phase is LaunchPhase.GONE)


def test_a_pod_waits_for_its_secret_and_says_so(api: ApiServer, scene: Scene) -> None:
    """As after a daemon that was killed between the pod and the Secret."""
    api.grants["daemon"].discard(("create", "", "secrets"))
    api.grants["daemon"].discard(("delete", "", "pods"))
    launcher = scene.launcher(pod_template=runs("echo started"))
    with pytest.raises(Exception, match="may not create secrets"):
        launcher.launch(scene.spec)
    eventually(lambda: "not found" in launcher.state(NAME).reason)
    assert launcher.state(NAME).reason.startswith("a volume cannot be mounted")
    api.grants["daemon"].add(("create", "", "secrets"))
    launcher.launch(scene.spec)
    eventually(lambda: launcher.log(NAME, 0).text == "started\n")
