"""The launcher on the tests' own small API server: the common suite, and what is counted here."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from maintainer.adapters.spark.launcher import LaunchPhase
from maintainer.adapters.spark.launcher.kubernetes.kinds import permissions, role
from maintainer.adapters.spark.launcher.kubernetes.launcher import KubernetesLauncher
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions, Operator
from maintainer.adapters.spark.link import LogPart
from maintainer.domain.errors import RunnerUnavailableError
from tests.adapters.spark.launcher.kubernetes.api_server import ADMIN, ApiServer, open_api_server
from tests.adapters.spark.launcher.kubernetes.launcher_suite import (
    IMAGE,
    NAMESPACE,
    LauncherSuite,
    Scene,
    spec_of,
)

SECOND = 1_000_000_000
START = 1_795_000_000 * SECOND  # nanoseconds


class Small:
    """The small server as the suite wants it."""

    def __init__(self, api: ApiServer, directory: Path) -> None:
        self.api = api
        for operator in Operator:
            options = KubernetesOptions(namespace=NAMESPACE, image=IMAGE, operator=operator)
            api.allow("daemon", role(options, "maintainer"))
        api.grants["stranger"] = set()
        self.admin = api.kubeconfig(directory / "admin", ADMIN)
        self.stranger = api.kubeconfig(directory / "stranger", "stranger")
        self._daemon = api.kubeconfig(directory / "daemon", "daemon")

    def daemon(self, operator: Operator) -> Path:
        del operator  # one user has all three Roles
        return self._daemon

    def set_quota(self, *, pods: int | None) -> None:
        limit = f"exceeded quota: few, requested: pods=1, used: pods=0, limited: pods={pods}"
        self.api.refuse_pods = "" if pods is None else limit


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with open_api_server() as api:
        yield api


@pytest.fixture
def clock() -> list[float]:
    """The launcher's own clock: it moves only where a test moves it."""
    return [0.0]


@pytest.fixture
def scene(api: ApiServer, tmp_path: Path, clock: list[float]) -> Iterator[Scene]:
    def read() -> float:
        clock[0] += 0.3
        return clock[0]

    scene = Scene(Small(api, tmp_path), tmp_path, "1f2e", read)
    yield scene
    scene.close()


class TestOnTheSmallServer(LauncherSuite):
    pass


@pytest.fixture
def still(api: ApiServer, tmp_path: Path, clock: list[float]) -> Iterator[Scene]:
    """A scene in which no time passes by itself."""
    scene = Scene(Small(api, tmp_path), tmp_path, "1f2e", lambda: clock[0])
    yield scene
    scene.close()


@pytest.mark.parametrize("operator", Operator)
def test_the_role_allows_exactly_what_is_called(
    api: ApiServer, still: Scene, operator: Operator
) -> None:
    """Everything the launcher can do, in one life of a driver; the Role has nothing beyond it."""
    launcher = still.launcher(operator)
    api.calls.clear()
    handle = launcher.launch(still.spec)
    if operator is Operator.KUBEFLOW:
        before = list(api.calls)
        still.start_pod(handle)  # by the operator, not by the launcher
        api.calls[:] = before
    launcher.state(handle)
    launcher.log(handle, 0)
    launcher.find()
    launcher.end(handle)
    used = {(call.verb, call.group, call.resource) for call in api.calls}
    granted = {
        (verb, each.group, each.resource) for each in permissions(operator) for verb in each.verbs
    }
    assert used == granted


def test_no_permission_reads_a_secret() -> None:
    for operator in Operator:
        [secrets] = [each for each in permissions(operator) if each.resource == "secrets"]
        assert secrets.verbs == ("create",)


@pytest.mark.parametrize("operator", Operator)
def test_asking_for_the_state_takes_at_most_two_calls(
    api: ApiServer, still: Scene, clock: list[float], operator: Operator
) -> None:
    launcher = still.launcher(operator)
    handle = launcher.launch(still.spec)
    for wanted in (handle, "never-launched", handle):
        clock[0] += 10
        api.calls.clear()
        launcher.state(wanted)
        assert 1 <= len(api.calls) <= 2


def test_one_list_serves_all_drivers_for_a_second(
    api: ApiServer, still: Scene, clock: list[float]
) -> None:
    launcher = still.launcher()
    handles = [launcher.launch(spec_of(f"{still.name}-{number}", "1f2e")) for number in range(5)]
    for handle in handles:
        api.update("pods", handle, {"status": {"phase": "Running"}})
    clock[0] += 10
    api.calls.clear()
    assert {launcher.state(handle).phase for handle in handles} == {LaunchPhase.RUNNING}
    assert [call.verb for call in api.calls] == ["list"]
    clock[0] += 1
    launcher.state(handles[0])
    assert [call.verb for call in api.calls] == ["list", "list"]


def test_a_driver_that_another_daemon_launched_since_the_last_list_is_not_gone(
    still: Scene,
) -> None:
    launcher, another = still.launcher(), still.launcher()
    assert launcher.state("x").phase is LaunchPhase.GONE
    another.launch(still.spec)
    assert launcher.state(still.name).phase is LaunchPhase.STARTING


def test_a_pod_without_its_secret_is_not_left_behind(api: ApiServer, still: Scene) -> None:
    api.grants["daemon"].discard(("create", "", "secrets"))
    with pytest.raises(RunnerUnavailableError, match="may not create secrets"):
        still.launcher().launch(still.spec)
    assert api.names("pods") == []


def test_a_silent_server_is_given_up_in_time(api: ApiServer, still: Scene) -> None:
    launcher = still.launcher(timeout_seconds=0.2)
    api.delay = threading.Event()
    with pytest.raises(RunnerUnavailableError) as raised:
        launcher.state("x")
    api.delay.set()
    assert str(raised.value) == "the Kubernetes API server did not answer within 0.2 s"


def test_a_server_that_is_away_is_an_error_in_words(tmp_path: Path) -> None:
    with open_api_server() as api:
        kubeconfig = api.kubeconfig(tmp_path / "config", ADMIN)
    options = KubernetesOptions(namespace=NAMESPACE, image=IMAGE, kubeconfig=kubeconfig)
    launcher = KubernetesLauncher(options, "1f2e")
    with pytest.raises(RunnerUnavailableError) as raised:
        launcher.find()
    launcher.close()
    assert str(raised.value) == "the Kubernetes API server cannot be reached (ConnectError)"


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (500, "the Kubernetes API server failed (500): etcdserver: request timed out"),
        (429, "the Kubernetes API server asks for fewer requests"),
        (401, "the Kubernetes API server does not accept the daemon's credentials"),
    ],
)
def test_a_failure_of_the_server_is_said_in_words(
    api: ApiServer, still: Scene, code: int, sentence: str
) -> None:
    launcher = still.launcher()
    api.failing = code
    for ask in (launcher.find, lambda: launcher.state("x"), lambda: launcher.log("x", 0)):
        with pytest.raises(RunnerUnavailableError) as raised:
            ask()
        assert str(raised.value) == sentence
    assert launcher.describe() == [("Kubernetes", False, sentence)]


def test_an_operator_that_is_not_installed_is_named(tmp_path: Path) -> None:
    with open_api_server(groups=()) as api:
        kubeconfig = api.kubeconfig(tmp_path / "config", ADMIN)
        options = KubernetesOptions(
            namespace=NAMESPACE, image=IMAGE, operator=Operator.KUBEFLOW, kubeconfig=kubeconfig
        )
        launcher = KubernetesLauncher(options, "1f2e")
        with pytest.raises(RunnerUnavailableError) as raised:
            launcher.launch(spec_of("x", "1f2e"))
        launcher.close()
    assert str(raised.value) == (
        "the cluster has no SparkApplication of sparkoperator.k8s.io/v1beta2: "
        "is its operator installed?"
    )


def test_a_missing_configuration_is_said_in_words(tmp_path: Path) -> None:
    options = KubernetesOptions(namespace=NAMESPACE, image=IMAGE, kubeconfig=tmp_path / "absent")
    with pytest.raises(RunnerUnavailableError, match="no usable configuration for Kubernetes"):
        KubernetesLauncher(options, "1f2e").find()


def write_lines(api: ApiServer, name: str, *lines: tuple[int, str]) -> None:
    """Write to the pod's log at these nanoseconds after the start."""
    pod = api.get("pods", name)
    assert pod is not None
    log = api.log_of(pod["metadata"]["uid"])
    log.extend((START + at, text.encode()) for at, text in lines)


def test_a_log_is_read_on_where_the_last_part_ended(api: ApiServer, still: Scene) -> None:
    launcher = still.launcher()
    handle = launcher.launch(still.spec)
    write_lines(api, handle, (0, "one"), (5, "two"))
    first = launcher.log(handle, 0)
    assert first.text == "one\ntwo\n"
    assert launcher.log(handle, first.next).text == ""
    write_lines(api, handle, (6, "three"), (2 * SECOND, ""), (3 * SECOND, "größe"))
    second = launcher.log(handle, first.next)
    assert second.text == "three\n\ngröße\n"
    assert still.launcher().log(handle, second.next).text == ""


def test_a_long_log_comes_in_parts(api: ApiServer, still: Scene) -> None:
    launcher = still.launcher()
    handle = launcher.launch(still.spec)
    lines = [(number * 1000, f"line {number} {'x' * 200}") for number in range(12_000)]
    write_lines(api, handle, *[(at * 1000, text) for at, text in lines])
    position, read = 0, ""
    for _ in range(20):
        part = launcher.log(handle, position)
        position, read = part.next, read + part.text
        if not part.text:
            break
    assert read == "".join(f"{text}\n" for _, text in lines)


def test_a_second_with_more_than_a_part_does_not_stop_the_reading(
    api: ApiServer, still: Scene
) -> None:
    launcher = still.launcher()
    handle = launcher.launch(still.spec)
    write_lines(api, handle, *[(number, "y" * 1000) for number in range(3_000)])
    write_lines(api, handle, (2 * SECOND, "the end"))
    position, read = 0, ""
    for _ in range(10):
        part = launcher.log(handle, position)
        position, read = part.next, read + part.text
    assert "(lines of this second are left out)\n" in read
    assert read.endswith("the end\n")


def test_a_log_is_read_until_its_pod_is_deleted(api: ApiServer, still: Scene) -> None:
    launcher = still.launcher()
    handle = launcher.launch(still.spec)
    write_lines(api, handle, (0, "one"), (SECOND, "last words"))
    api.update("pods", handle, {"status": {"phase": "Succeeded"}})
    assert launcher.log(handle, 0).text == "one\nlast words\n"
    launcher.end(handle)
    assert api.names("pods") == []
    assert launcher.log(handle, 7) == LogPart("", 7)


def test_neither_errors_nor_log_lines_contain_the_token_or_an_address(
    api: ApiServer, still: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    launcher = still.launcher()
    launcher.launch(still.spec)
    api.failing = 500
    with pytest.raises(RunnerUnavailableError) as raised:
        launcher.launch(still.spec)
    assert still.spec.start_token not in caplog.text + str(raised.value)
    assert "127.0.0.1" not in str(raised.value)


@pytest.mark.slow
def test_the_client_library_is_loaded_only_for_a_cluster() -> None:
    program = (
        "import sys, json, maintainer.cli, maintainer.app\n"
        "import maintainer.adapters.spark.launcher.kubernetes.launcher\n"
        "print(json.dumps([name for name in ('lightkube', 'httpx2') if name in sys.modules]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert json.loads(result.stdout) == []


def test_without_its_extra_the_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "maintainer.adapters.kubernetes.cluster", None)
    launcher = KubernetesLauncher(KubernetesOptions(namespace=NAMESPACE, image=IMAGE), "1f2e")
    assert launcher.describe() == [
        (
            "Kubernetes",
            False,
            "the package lacks its extra: install iceberg-maintainer[kubernetes]",
        )
    ]


def test_a_thousand_small_jobs_cost_few_calls(api: ApiServer, still: Scene) -> None:
    """One driver runs many jobs: the number of calls does not grow with them."""
    launcher = still.launcher()
    handle = launcher.launch(replace(still.spec, executors=None))
    api.update("pods", handle, {"status": {"phase": "Running"}})
    started = time.monotonic()
    for _ in range(1_000):
        launcher.state(handle)
    assert len(api.calls) <= 4
    assert time.monotonic() - started < 10
