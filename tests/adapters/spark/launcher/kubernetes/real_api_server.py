"""A real etcd, API server and controller manager on the loopback, without nodes.

Authorization, quotas, Pod Security, admission and garbage collection are real. No pod ever runs: an
administrator reports what a node would.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import trustme
import yaml

from maintainer.adapters.kubernetes.objects import Kind
from maintainer.adapters.spark.launcher.kubernetes.kinds import APACHE, KUBEFLOW
from maintainer.adapters.spark.launcher.kubernetes.options import Operator
from tests.adapters.spark.launcher.kubernetes.administrator import Administrator

NAMESPACE = "spark-jobs"
_READY_SECONDS = 120
_STOP_SECONDS = 20


def find_programs() -> Path:
    """The directory that KUBEBUILDER_ASSETS names."""
    return Path(os.environ["KUBEBUILDER_ASSETS"])


@dataclass(frozen=True)
class RealServer:
    """The server as the launcher's suite wants it."""

    url: str
    directory: Path

    @property
    def admin(self) -> Path:
        return self.directory / "admin.kubeconfig"

    @property
    def stranger(self) -> Path:
        return self.directory / "stranger.kubeconfig"

    def daemon(self, operator: Operator) -> Path:
        return self.directory / f"maintainer-{operator}.kubeconfig"

    def set_quota(self, *, pods: int | None) -> None:
        path = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas"
        if pods is None:
            self.ask("DELETE", f"{path}/few")
            return
        metadata = {"name": "few", "namespace": NAMESPACE}
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata}
        self.ask("POST", path, {**quota, "spec": {"hard": {"pods": str(pods)}}})
        self.wait_until(
            lambda: self.ask("GET", f"{path}/few").get("status", {}).get("used") == {"pods": "0"}
        )

    def restrict(self, level: str) -> None:
        """Enforce a Pod Security standard in the namespace."""
        labels = {"pod-security.kubernetes.io/enforce": level}
        self.ask("PATCH", f"/api/v1/namespaces/{NAMESPACE}", {"metadata": {"labels": labels}})

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        token: str = "admin",  # noqa: S107 - of this server alone
    ) -> dict[str, Any]:
        """Ask as the administrator, or with another token; refusals are errors."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        # The server's certificate is its own, made for this run.
        with httpx2.Client(verify=False, timeout=20) as client:
            answer = client.request(
                method,
                f"{self.url}{path}",
                json=body,
                headers={"Authorization": f"Bearer {token}", "Content-Type": kind},
            )
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def is_ready(self) -> bool:
        try:
            with httpx2.Client(verify=False, timeout=5) as client:
                headers = {"Authorization": "Bearer admin"}
                return client.get(f"{self.url}/readyz", headers=headers).text == "ok"
        except httpx2.HTTPError:
            return False

    @staticmethod
    def wait_until(holds: Any) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not holds():
            assert time.monotonic() < deadline, "it did not become true in time"
            time.sleep(0.1)


@contextmanager
def open_real_server(directory: Path) -> Iterator[RealServer]:
    """Ready when it is given; all its processes are gone at the end."""
    programs = find_programs()
    etcd, peers, secure, controllers = _find_free_ports(4)
    server = RealServer(f"https://127.0.0.1:{secure}", directory)
    _write_files(server)
    with ExitStack() as stack:
        store = f"http://127.0.0.1:{etcd}"
        home = f"http://127.0.0.1:{peers}"
        stack.enter_context(
            _running(
                [
                    str(programs / "etcd"),
                    f"--data-dir={directory / 'data'}",
                    f"--listen-client-urls={store}",
                    f"--advertise-client-urls={store}",
                    f"--listen-peer-urls={home}",
                    f"--initial-advertise-peer-urls={home}",
                    f"--initial-cluster=default={home}",
                    "--unsafe-no-fsync",
                ],
                directory / "etcd.log",
            )
        )
        stack.enter_context(
            _running(
                [
                    str(programs / "kube-apiserver"),
                    f"--etcd-servers={store}",
                    "--bind-address=127.0.0.1",
                    "--advertise-address=127.0.0.1",
                    f"--secure-port={secure}",
                    "--endpoint-reconciler-type=none",
                    f"--cert-dir={directory / 'certificates'}",
                    "--service-cluster-ip-range=10.0.0.0/24",
                    "--authorization-mode=RBAC",
                    f"--token-auth-file={directory / 'tokens.csv'}",
                    "--service-account-issuer=https://kubernetes.default.svc",
                    f"--service-account-key-file={directory / 'accounts.pem'}",
                    f"--service-account-signing-key-file={directory / 'accounts.pem'}",
                ],
                directory / "apiserver.log",
            )
        )
        server.wait_until(server.is_ready)
        stack.enter_context(
            _running(
                [
                    str(programs / "kube-controller-manager"),
                    f"--kubeconfig={server.admin}",
                    f"--authentication-kubeconfig={server.admin}",
                    f"--authorization-kubeconfig={server.admin}",
                    "--bind-address=127.0.0.1",
                    f"--secure-port={controllers}",
                    f"--cert-dir={directory / 'certificates'}",
                    f"--service-account-private-key-file={directory / 'accounts.pem'}",
                    "--leader-elect=false",
                ],
                directory / "controllers.log",
            )
        )
        _prepare(server)
        yield server


def _write_files(server: RealServer) -> None:
    """Write the administrator's token and kubeconfig, and the key of service accounts."""
    (server.directory / "tokens.csv").write_text('admin,admin,admin,"system:masters"\n')
    key = trustme.CA().issue_cert("accounts").private_key_pem.bytes()
    (server.directory / "accounts.pem").write_bytes(key)
    cluster = {"server": server.url, "insecure-skip-tls-verify": True}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "real", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": "admin"}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "admin"}}],
        "current-context": "real",
    }
    server.admin.write_text(yaml.safe_dump(document))


def _prepare(server: RealServer) -> None:
    """Create the operators' kinds, and the accounts of the drivers, the daemons and a stranger."""
    administrator = Administrator(server.admin, NAMESPACE)
    administrator.create_namespace()
    for kind in (KUBEFLOW, APACHE):
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        name = f"{kind.plural}.{kind.group}"
        server.ask("POST", definitions, _definition(kind, name))
        server.wait_until(
            lambda path=f"{definitions}/{name}": _is_established(server.ask("GET", path))
        )
    administrator.allow_drivers()
    for operator in Operator:
        administrator.issue(administrator.allow_daemon(operator), server.daemon(operator))
    administrator.issue("stranger", server.stranger)
    administrator.close()


def _definition(kind: Kind, name: str) -> dict[str, Any]:
    """A definition of our own with the shape that matters here: a spec, a status, a subresource."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": name,
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests only"},
        },
        "spec": {
            "group": kind.group,
            "scope": "Namespaced",
            "names": {
                "kind": kind.name,
                "listKind": f"{kind.name}List",
                "plural": kind.plural,
                "singular": kind.name.lower(),
            },
            "versions": [
                {
                    "name": kind.version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"spec": anything, "status": anything},
                        }
                    },
                }
            ],
        },
    }


def _is_established(definition: Mapping[str, Any]) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []  # null at first
    return ("Established", "True") in [(each["type"], each["status"]) for each in conditions]


def _find_free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[None]:
    with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
