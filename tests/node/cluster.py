"""A namespace of a real cluster, with the documented rights of a daemon that runs outside."""

from __future__ import annotations

import os
import socket
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from lightkube.resources.core_v1 import ConfigMap, Event, Namespace, Pod, Secret, Service

from maintainer.adapters.spark.launcher.kubernetes.options import DRIVER_ROLE, ROLE, Operator
from tests.adapters.spark.launcher.kubernetes.administrator import Administrator

_PROVIDED = {"kube-root-ca.crt"}  # the cluster puts it into every namespace


@dataclass(frozen=True)
class NodeCluster:
    """The cluster as the tests see it; `host` is this machine's address for its pods."""

    administrator: Administrator
    kubeconfig: Path  # of the daemon
    host: str
    image: str

    @property
    def namespace(self) -> str:
        return self.administrator.namespace

    def drivers(self) -> list[str]:
        """Names of the pods of drivers that have not ended."""
        pods = self.administrator.client.list(Pod, labels={ROLE: DRIVER_ROLE})
        return sorted(
            pod.metadata.name or ""
            for pod in pods
            if pod.metadata and pod.status and pod.status.phase in {"Pending", "Running"}
        )

    def leftovers(self) -> list[str]:
        """Names of everything that a driver's launch makes."""
        found = {each.metadata.name for each in self._list(Pod, Secret, Service, ConfigMap)}
        return sorted(found - _PROVIDED)

    def incidents(self, *, are_probed: bool = False) -> list[str]:
        """Events of restarts, failures and evictions; a probe of a starting pod fails at first."""
        bad = {"BackOff", "Failed", "Unhealthy", "Evicted", "OOMKilling", "FailedCreatePodSandBox"}
        bad -= {"Unhealthy"} if are_probed else set()
        return [
            f"{each.involvedObject.name}: {each.reason}: {each.message}"
            for each in self.administrator.client.list(Event)
            if each.reason in bad
        ]

    def count_starts(self, role: str) -> int:
        """Return how many containers of that name were started, restarts included."""
        return sum(
            each.count or 1
            for each in self.administrator.client.list(Event)
            if each.reason == "Started" and role in (each.involvedObject.fieldPath or "")
        )

    def everything(self) -> str:
        """All objects and events of the namespace as text, with Secrets decoded."""
        texts = [str(each.to_dict()) for each in self._list(Pod, Service, ConfigMap, Event)]
        for secret in self._list(Secret):
            texts += [b64decode(value).decode() for value in (secret.data or {}).values()]
        return "\n".join(texts)

    # The library's types do not join several kinds.
    def _list(self, *kinds: Any) -> list[Any]:
        return [each for kind in kinds for each in self.administrator.client.list(kind)]


@contextmanager
def open_cluster(directory: Path, operator: Operator = Operator.NONE) -> Iterator[NodeCluster]:
    """Use the cluster of NODE_KUBECONFIG in a namespace that is deleted with the context.

    The daemon has the Role that is documented for the operator.
    """
    kubeconfig = Path(os.environ["NODE_KUBECONFIG"])
    administrator = Administrator(kubeconfig, f"maintainer-{uuid4().hex[:8]}")
    administrator.create_namespace("restricted")
    try:
        administrator.allow_drivers()
        account = administrator.allow_daemon(operator)
        daemon = administrator.issue(account, directory / "daemon.kubeconfig")
        host = _find_own_address(administrator)
        yield NodeCluster(administrator, daemon, host, os.environ["NODE_IMAGE"])
    finally:
        administrator.client.delete(Namespace, administrator.namespace)
        administrator.close()


def _find_own_address(administrator: Administrator) -> str:
    """Return this machine's address on the way to the API server; nothing is sent."""
    server = urlsplit(str(administrator.client.config.cluster.server))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((server.hostname, server.port or 443))
        return str(probe.getsockname()[0])
