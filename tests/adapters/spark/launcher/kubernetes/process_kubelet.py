"""Runs the pods of the small API server as processes of this machine.

The container of a driver or of an executor becomes one process with the pod's variables, its volumes as directories,
its log, its exit code and its deletion: SIGTERM to the process, then SIGKILL to all that it has
started. Paths inside the container that lie on a volume become paths of this machine, in variables
too. The image is this Python with this package; any other image cannot be pulled.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from base64 import b64decode
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from maintainer.adapters.spark.launcher.kubernetes.pods import DRIVER_CONTAINER, EXECUTOR_CONTAINER
from tests.adapters.spark.launcher.kubernetes.api_server import ApiServer, Document
from tests.project.repository import ROOT

_SECRET_SECONDS = 30  # a pod may come this long before its Secret
_CONTAINERS = (DRIVER_CONTAINER, EXECUTOR_CONTAINER)
_ADDRESS = "127.0.0.1"  # of every pod


@dataclass
class _Pod:
    """A pod on this node."""

    document: Document
    directory: Path
    process: subprocess.Popen[bytes] | None = None
    is_deleted: threading.Event = field(default_factory=threading.Event)
    container: str = DRIVER_CONTAINER
    reason: str = ""  # of its end, where a test has chosen one
    thread: threading.Thread | None = None

    @property
    def name(self) -> str:
        return str(self.document["metadata"]["name"])


class ProcessKubelet:
    """One node: it takes every pod of the server."""

    def __init__(
        self, api: ApiServer, directory: Path, image: str, variables: dict[str, str] | None = None
    ) -> None:
        """Run pods of this image under the directory; the variables belong to the image."""
        self._api = api
        self._directory = directory
        self._image = image
        self._variables = variables or {}
        self._pods: dict[str, _Pod] = {}
        api.on_pod, api.on_deletion = self._take, self._delete

    def pid_of(self, name: str) -> int:
        """The process of a running pod."""
        process = self._pods[name].process
        assert process is not None, f"{name} does not run"
        return process.pid

    def kill(self, name: str, reason: str = "OOMKilled") -> None:
        """Kill a pod's process as the kernel does when the container has no memory left."""
        pod = self._pods[name]
        pod.reason = reason
        os.killpg(self.pid_of(name), signal.SIGKILL)

    def close(self) -> None:
        """End all processes; none is left when this returns."""
        self._api.on_pod = self._api.on_deletion = None
        for pod in list(self._pods.values()):
            pod.is_deleted.set()
            with self._api.changed:
                self._api.changed.notify_all()
            _kill_all(pod)
            if pod.thread is not None:
                pod.thread.join()

    def _take(self, document: Document) -> None:
        directory = self._directory / document["metadata"]["uid"]
        pod = _Pod(document, directory)
        self._pods[pod.name] = pod
        pod.thread = threading.Thread(target=self._run, args=(pod,), daemon=True)
        pod.thread.start()

    def _delete(self, document: Document, grace: int) -> bool:
        """Begin the end of a pod; whether it is one of ours."""
        pod = self._pods.get(document["metadata"]["name"])
        if pod is None or pod.is_deleted.is_set():
            return pod is not None
        pod.is_deleted.set()
        threading.Thread(target=self._end, args=(pod, grace), daemon=True).start()
        return True

    def _end(self, pod: _Pod, grace: int) -> None:
        if pod.process is not None:
            with suppress(ProcessLookupError):
                os.kill(pod.process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                pod.process.wait(grace)
        _kill_all(pod)
        if pod.thread is not None:
            pod.thread.join()
        self._api.remove("pods", pod.name)
        self._pods.pop(pod.name, None)

    def _run(self, pod: _Pod) -> None:
        scheduled = [{"type": "PodScheduled", "status": "True"}]
        self._api.update("pods", pod.name, {"spec": {"nodeName": "here"}})
        self._report(pod, "Pending", {"waiting": {"reason": "ContainerCreating"}}, scheduled)
        container = next(
            each for each in pod.document["spec"]["containers"] if each["name"] in _CONTAINERS
        )
        pod.container = container["name"]
        if container["image"] != self._image:
            message = f'Back-off pulling image "{container["image"]}"'
            waiting = {"waiting": {"reason": "ImagePullBackOff", "message": message}}
            self._report(pod, "Pending", waiting, scheduled)
            return
        mounts = self._mount(pod, container)
        if mounts is not None and not pod.is_deleted.is_set():
            self._start(pod, container, mounts)

    def _mount(self, pod: _Pod, container: Document) -> dict[str, Path] | None:
        """Make the volumes; None when the pod went before they could be made."""
        mounts: dict[str, Path] = {}
        volumes = {each["name"]: each for each in pod.document["spec"]["volumes"]}
        for mount in container["volumeMounts"]:
            path = pod.directory / mount["mountPath"].strip("/")
            path.mkdir(parents=True, exist_ok=True)
            secret = volumes[mount["name"]].get("secret")
            if secret is not None:
                files = self._await_secret(pod, secret["secretName"])
                if files is None:
                    return None
                for name, content in files.items():
                    (path / name).write_bytes(content)
                    (path / name).chmod(0o440)
            mounts[mount["mountPath"]] = path
        return mounts

    def _await_secret(self, pod: _Pod, name: str) -> dict[str, bytes] | None:
        deadline = time.monotonic() + _SECRET_SECONDS
        is_reported = False
        with self._api.changed:
            while (secret := self._api.get("secrets", name)) is None:
                if pod.is_deleted.is_set() or time.monotonic() > deadline:
                    return None
                if not is_reported:
                    message = f'MountVolume.SetUp failed: secret "{name}" not found'
                    self._api.add_event(pod.name, "FailedMount", message)
                    is_reported = True
                self._api.changed.wait(1)
        return {key: b64decode(value) for key, value in secret["data"].items()}

    def _start(self, pod: _Pod, container: Document, mounts: dict[str, Path]) -> None:
        environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "SPARK_LOCAL_DIRS": str(pod.directory / "spark"),  # instead of one inside the container
            **self._variables,
            **{each["name"]: _value(each, pod, mounts) for each in container["env"]},
        }
        uid = pod.document["metadata"]["uid"]
        log = self._api.log_of(uid)
        with subprocess.Popen(
            [*container["command"], *container.get("args", [])],
            env=environment,
            cwd=pod.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            pod.process = process
            if pod.is_deleted.is_set():
                _kill_all(pod)
            self._report(pod, "Running", {"running": {"startedAt": "2026-11-22T10:00:00Z"}})
            reading = threading.Thread(target=_read, args=(process, log), daemon=True)
            reading.start()
            status = process.wait()
            _kill_all(pod)  # a container ends with its first process
            reading.join()
        code = status if status >= 0 else 128 - status
        reason = pod.reason or ("Completed" if code == 0 else "Error")
        ended = {"terminated": {"exitCode": code, "reason": reason}}
        self._report(pod, "Succeeded" if code == 0 else "Failed", ended)

    def _report(
        self, pod: _Pod, phase: str, state: Document, conditions: list[Document] | None = None
    ) -> None:
        container = {
            "name": pod.container,
            "image": self._image,
            "restartCount": 0,
            "ready": phase == "Running",
            "state": state,
        }
        status: dict[str, Any] = {
            "phase": phase,
            "podIP": _ADDRESS,
            "containerStatuses": [container],
        }
        if conditions is not None:
            status["conditions"] = conditions
        self._api.update("pods", pod.name, {"status": status})


def _value(variable: Document, pod: _Pod, mounts: dict[str, Path]) -> str:
    """A variable's value; that of a field is the pod's name or its address."""
    field_path = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
    if field_path is not None:
        return {"metadata.name": pod.name, "status.podIP": _ADDRESS}[field_path]
    return _translate(variable.get("value") or "", mounts)


def _translate(value: str, mounts: dict[str, Path]) -> str:
    for inside, path in mounts.items():
        if value == inside or value.startswith(f"{inside}/"):
            return f"{path}{value.removeprefix(inside)}"
    return value


def _kill_all(pod: _Pod) -> None:
    """Kill the pod's process and all that it has started."""
    if pod.process is not None:
        with suppress(ProcessLookupError):
            os.killpg(pod.process.pid, signal.SIGKILL)


def _read(process: subprocess.Popen[bytes], log: list[tuple[int, bytes]]) -> None:
    for line in cast("Any", process.stdout):
        log.append((time.time_ns(), line.rstrip(b"\n")))  # noqa: PERF401 - each as it comes
