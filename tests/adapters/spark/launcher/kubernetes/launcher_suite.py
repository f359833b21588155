"""What holds for the launcher on any API server: the tests' own small one, and a real one."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pytest
from lightkube import Client, KubeConfig
from lightkube.generic_resource import GenericNamespacedResource, create_api_info
from lightkube.types import PatchType

from maintainer.adapters.spark.launcher import DriverSpec, LaunchPhase
from maintainer.adapters.spark.launcher.kubernetes.kinds import (
    KINDS,
    KUBEFLOW,
    owner_kind,
    permissions,
)
from maintainer.adapters.spark.launcher.kubernetes.launcher import KubernetesLauncher
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions, Operator
from maintainer.adapters.spark.options import Executors
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.job import FailureReason
from maintainer.domain.pool import JobSize
from tests.adapters.spark.launcher.kubernetes.pod_documents import container

NAMESPACE = "spark-jobs"
IMAGE = "registry.example/maintainer:0.1.0"
DEADLINE_SECONDS = 60
OPERATORS = (Operator.KUBEFLOW, Operator.APACHE)


class Server(Protocol):
    """An API server with the namespace of the jobs, both operators' kinds, and three users."""

    @property
    def admin(self) -> Path:
        """The kubeconfig of a user who may do everything."""

    @property
    def stranger(self) -> Path:
        """That of a user who may do nothing."""

    def daemon(self, operator: Operator) -> Path:
        """That of a user with the operator's Role of the documentation."""

    def set_quota(self, *, pods: int | None) -> None:
        """Limit the pods of the namespace, or lift the limit."""


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.02)


def spec_of(name: str, installation: str) -> DriverSpec:
    return DriverSpec(
        name=name,
        installation=installation,
        size=JobSize.SMALL,
        memory="2g",
        executors=Executors(2, "1g", 1),
        address="https://maintainer-link.maintenance.svc:8090",
        start_token="start-token-of-a-test",  # noqa: S106 - planted
    )


@dataclass
class Scene:
    """One installation of its own on a server, and an administrator who plays the cluster."""

    server: Server
    directory: Path
    installation: str
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._client = Client(config=KubeConfig.from_file(self.server.admin).get())
        self._launchers: list[KubernetesLauncher] = []

    @property
    def name(self) -> str:
        """A driver's name."""
        return f"maintainer-{self.installation}-small-1"

    @property
    def spec(self) -> DriverSpec:
        return spec_of(self.name, self.installation)

    def launcher(
        self, operator: Operator = Operator.NONE, user: Path | None = None, **more: Any
    ) -> KubernetesLauncher:
        """A launcher of this installation; another one with `installation`."""
        installation = more.pop("installation", self.installation)
        options = KubernetesOptions(
            namespace=NAMESPACE,
            image=IMAGE,
            operator=operator,
            kubeconfig=user or self.server.daemon(operator),
        )
        launcher = KubernetesLauncher(replace(options, **more), installation, self.clock)
        self._launchers.append(launcher)
        return launcher

    def names(self, plural: str) -> list[str]:
        """The names of this installation's objects of a kind."""
        found = self._client.list(
            self._resource(plural, ""),
            namespace=NAMESPACE,
            labels={"iceberg-maintainer/installation": self.installation},
        )
        return sorted(str(each["metadata"]["name"]) for each in found)

    def read(self, plural: str, name: str) -> dict[str, Any]:
        return dict(self._client.get(self._resource(plural, ""), name, namespace=NAMESPACE))

    def report(self, name: str, status: dict[str, Any], operator: Operator | None = None) -> None:
        """Set an object's status, as the kubelet or the operator does."""
        kind = owner_kind(operator or Operator.NONE)
        resource = self._resource(kind.plural, kind.group, "status")
        self._client.patch(
            resource,
            name,
            {"status": status},
            namespace=NAMESPACE,
            patch_type=PatchType.MERGE,
        )

    def warn(self, name: str, reason: str, message: str) -> None:
        """Record an event about a pod."""
        event = {
            "metadata": {"name": f"{name}.{uuid4().hex[:12]}", "namespace": NAMESPACE},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": name,
                "namespace": NAMESPACE,
            },
            "type": "Warning",
            "reason": reason,
            "message": message,
            "lastTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        self._client.create(self._resource("events", "").from_dict(event))

    def start_pod(self, name: str) -> None:
        """Create the driver's pod as Kubeflow's operator does without its webhook: unowned."""
        application = self._client.get(
            self._resource(KUBEFLOW.plural, KUBEFLOW.group), name, namespace=NAMESPACE
        )
        pod = application["spec"]["driver"]["template"]
        metadata = {**pod["metadata"], "name": name, "namespace": NAMESPACE}
        self._client.create(self._resource("pods", "").from_dict({**pod, "metadata": metadata}))

    def delete(self, name: str, operator: Operator = Operator.NONE) -> None:
        """Delete a driver's pod or application, as a person does."""
        kind = owner_kind(operator)
        self._client.delete(self._resource(kind.plural, kind.group), name, namespace=NAMESPACE)

    def close(self) -> None:
        """Delete what is left, and close all connections."""
        for operator in Operator:
            for name in [self.name, f"{self.name}-2"]:
                with contextlib.suppress(Exception):  # most are gone by then
                    self.delete(name, operator)
        for launcher in self._launchers:
            launcher.close()
        self._client.close()

    def _resource(
        self, plural: str, group: str, action: str | None = None
    ) -> type[GenericNamespacedResource]:
        kind = next(each for each in KINDS if (each.plural, each.group) == (plural, group))
        info = create_api_info(kind.group, kind.version, kind.name, kind.plural)
        info.action = action
        return type(kind.name, (GenericNamespacedResource,), {"_api_info": info})


class LauncherSuite:
    """Run with a fixture `scene`."""

    def test_a_driver_is_launched_found_and_ended(self, scene: Scene) -> None:
        launcher = scene.launcher()
        assert launcher.find() == []
        handle = launcher.launch(scene.spec)
        assert launcher.state(handle).phase is LaunchPhase.STARTING
        assert launcher.find() == [handle]
        for plural in ("pods", "secrets", "services"):
            assert scene.names(plural) == [handle]
        launcher.end(handle)
        eventually(lambda: launcher.find() == [])
        assert launcher.state(handle).phase is LaunchPhase.GONE

    def test_what_a_driver_owns_goes_with_it(self, scene: Scene) -> None:
        launcher = scene.launcher()
        launcher.end(launcher.launch(scene.spec))
        eventually(lambda: not any(scene.names(each) for each in ("pods", "secrets", "services")))

    def test_the_same_name_twice_is_one_driver(self, scene: Scene) -> None:
        first = scene.launcher().launch(scene.spec)
        uid = scene.read("pods", scene.name)["metadata"]["uid"]
        assert scene.launcher().launch(scene.spec) == first
        assert scene.read("pods", scene.name)["metadata"]["uid"] == uid
        assert scene.names("pods") == [first]

    def test_a_launch_that_broke_off_is_completed_by_the_next(self, scene: Scene) -> None:
        launcher = scene.launcher(user=scene.server.admin)
        launcher.launch(replace(scene.spec, executors=None))
        assert scene.names("services") == []
        launcher.launch(scene.spec)
        assert scene.names("services") == [scene.name]
        [owner] = scene.read("services", scene.name)["metadata"]["ownerReferences"]
        assert owner["uid"] == scene.read("pods", scene.name)["metadata"]["uid"]

    def test_another_installations_driver_is_left_alone(self, scene: Scene) -> None:
        scene.launcher().launch(scene.spec)
        other = scene.launcher(installation="another")
        with pytest.raises(RunnerUnavailableError, match="is not of this installation"):
            other.launch(replace(scene.spec, installation="another"))
        assert other.find() == []
        assert other.state(scene.name).phase is LaunchPhase.GONE
        other.end(scene.name)
        assert scene.names("pods") == [scene.name]

    def test_a_driver_that_was_deleted_by_hand_is_gone(self, scene: Scene) -> None:
        launcher = scene.launcher()
        handle = launcher.launch(scene.spec)
        assert launcher.state(handle).phase is LaunchPhase.STARTING
        scene.delete(handle)
        eventually(lambda: launcher.state(handle).phase is LaunchPhase.GONE)
        assert launcher.log(handle, 0).text == ""
        assert launcher.launch(scene.spec) == handle

    def test_unknown_handles_are_gone_and_ended_already(self, scene: Scene) -> None:
        launcher = scene.launcher()
        assert launcher.state("never-launched").phase is LaunchPhase.GONE
        launcher.end("never-launched")

    def test_a_driver_that_runs_and_ends_out_of_memory(self, scene: Scene) -> None:
        launcher = scene.launcher()
        handle = launcher.launch(scene.spec)
        running = container({"running": {"startedAt": "2026-11-22T10:00:00Z"}})
        scene.report(handle, {"phase": "Running", "containerStatuses": running})
        eventually(lambda: launcher.state(handle).phase is LaunchPhase.RUNNING)
        terminated = container({"terminated": {"exitCode": 137, "reason": "OOMKilled"}})
        scene.report(handle, {"phase": "Failed", "containerStatuses": terminated})
        eventually(lambda: launcher.state(handle).phase is LaunchPhase.ENDED)
        state = launcher.state(handle)
        assert (state.reason, state.failure) == (
            "out of memory (exit code 137)",
            FailureReason.OUT_OF_MEMORY,
        )

    def test_a_pod_without_a_node_waits_with_the_schedulers_words(self, scene: Scene) -> None:
        launcher = scene.launcher()
        handle = launcher.launch(scene.spec)
        message = "0/1 nodes are available: 1 Insufficient memory."
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
        }
        scene.report(handle, {"conditions": [condition]})
        eventually(lambda: launcher.state(handle).phase is LaunchPhase.QUEUED)
        assert launcher.state(handle).reason == f"no node can take the pod: {message}"

    def test_an_event_explains_a_pod_that_does_not_start(self, scene: Scene) -> None:
        launcher = scene.launcher()
        handle = launcher.launch(scene.spec)
        scene.warn(handle, "FailedMount", 'secret "s3-keys" not found')
        assert launcher.state(handle).reason == (
            'a volume cannot be mounted: secret "s3-keys" not found'
        )

    def test_a_full_quota_is_named(self, scene: Scene) -> None:
        scene.server.set_quota(pods=0)
        try:
            with pytest.raises(RunnerUnavailableError) as raised:
                scene.launcher().launch(scene.spec)
        finally:
            scene.server.set_quota(pods=None)
        assert str(raised.value) == (
            "the quota few of the namespace spark-jobs is used up: "
            "requested pods=1, used pods=0, limit pods=0"
        )
        assert scene.names("secrets") == []

    def test_an_absent_namespace_is_named(self, scene: Scene) -> None:
        launcher = scene.launcher(user=scene.server.admin, namespace="absent")
        with pytest.raises(RunnerUnavailableError) as raised:
            launcher.launch(scene.spec)
        assert str(raised.value) == "the namespace absent does not exist"

    def test_a_daemon_without_a_role_is_reported_what_it_may_not_do(self, scene: Scene) -> None:
        launcher = scene.launcher(user=scene.server.stranger)
        with pytest.raises(RunnerUnavailableError) as raised:
            launcher.launch(scene.spec)
        assert str(raised.value) == (
            "the daemon may not create pods in the namespace spark-jobs: its Role does not allow it"
        )
        assert [works for _, works, _ in launcher.describe()] == [False] * 5

    @pytest.mark.parametrize("operator", Operator)
    def test_the_documented_role_is_enough(self, scene: Scene, operator: Operator) -> None:
        launcher = scene.launcher(operator)
        handle = launcher.launch(scene.spec)
        launcher.state(handle)
        launcher.log(handle, 0)
        assert all(works for _, works, _ in launcher.describe())
        assert [what for what, _, _ in launcher.describe()] == [
            f"Kubernetes: {each.resource}" for each in permissions(operator)
        ]
        launcher.end(handle)

    @pytest.mark.parametrize("operator", OPERATORS)
    def test_an_application_of_an_operator(self, scene: Scene, operator: Operator) -> None:
        launcher = scene.launcher(operator)
        handle = launcher.launch(scene.spec)
        assert launcher.state(handle).reason == (f"the operator has not taken it up yet ({handle})")
        states: dict[Operator, tuple[dict[str, Any], dict[str, Any]]] = {
            Operator.KUBEFLOW: (
                {"applicationState": {"state": "RUNNING"}, "sparkApplicationId": "spark-1"},
                {"applicationState": {"state": "SUBMISSION_FAILED", "errorMessage": "why"}},
            ),
            Operator.APACHE: (
                {"currentState": {"currentStateSummary": "RunningHealthy"}},
                {"currentState": {"currentStateSummary": "SchedulingFailure", "message": "why"}},
            ),
        }
        running, failed = states[operator]
        scene.report(handle, running, operator)
        eventually(lambda: launcher.state(handle).phase is LaunchPhase.RUNNING)
        scene.report(handle, failed, operator)
        eventually(lambda: launcher.state(handle).phase is LaunchPhase.ENDED)
        assert launcher.state(handle).reason == "the operator could not create the driver: why"
        launcher.end(handle)
        eventually(lambda: launcher.state(handle).phase is LaunchPhase.GONE)
        eventually(lambda: scene.names("secrets") == [])

    def test_a_pod_that_its_application_does_not_own_is_deleted_too(self, scene: Scene) -> None:
        launcher = scene.launcher(Operator.KUBEFLOW)
        handle = launcher.launch(scene.spec)
        scene.start_pod(handle)
        scene.delete(handle, Operator.KUBEFLOW)
        assert launcher.find() == [handle]
        eventually(lambda: launcher.state(handle).phase is LaunchPhase.STARTING)
        launcher.end(handle)
        eventually(lambda: scene.names("pods") == [])
        assert launcher.find() == []
        assert launcher.state(handle).phase is LaunchPhase.GONE

    def test_a_driver_that_has_not_started_has_an_empty_log(self, scene: Scene) -> None:
        launcher = scene.launcher()
        handle = launcher.launch(scene.spec)
        assert launcher.log(handle, 0).text == ""
        assert launcher.log("never-launched", 7).next == 7
