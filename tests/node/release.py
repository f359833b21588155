"""The chart in a real cluster, with PostgreSQL and the Secrets that its values name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any

import trustme
from helm_python import Config
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Event as ClusterEvent
from lightkube.resources.core_v1 import Pod, Secret, Service

from tests.amazon import ACCESS_KEY_ID
from tests.end_to_end.programs import Server, wait_for
from tests.helm.charts import FULLNAME, RELEASE
from tests.node.cluster import NodeCluster
from tests.node.lake import PLANTED_SECRET, BucketLake
from tests.node.rest_catalog import GATE_SECONDS

Values = dict[str, Any]
_SECONDS = 300  # of each action of Helm
# Small enough that five replicas, one more of each kind, a driver and its executors fit two CPUs.
_SMALL = {"requests": {"cpu": "40m", "memory": "384Mi"}, "limits": {"memory": "2Gi"}}


@dataclass
class NodeRelease(Server):
    """A release whose pods are ready; `url` is the Service's."""

    cluster: NodeCluster
    helm: Config
    values: Values
    url: str
    chart: Path

    def upgrade(self, **changed: Mapping[str, object]) -> None:
        """Change keys of sections of the values, and wait until all pods are ready."""
        for section, keys in changed.items():
            self.values[section] = self.values.get(section, {}) | keys
        self.helm.upgrade(self.chart, RELEASE, self.values, wait="watcher", timeout=_SECONDS)
        wait_for(lambda: not self._find_ending(), _SECONDS, "replaced pods to end")

    def roll_back(self) -> None:
        """Return to the revision before, and wait until all pods are ready."""
        self.helm.rollback(RELEASE, wait="watcher", timeout=_SECONDS)

    def _find_ending(self) -> list[str]:
        """Return the names of pods that end."""
        labels: Any = {"app.kubernetes.io/instance": RELEASE}
        found = (pod.metadata for pod in self.cluster.administrator.client.list(Pod, labels=labels))
        return [each.name or "" for each in found if each and each.deletionTimestamp]

    @contextmanager
    def always_answering(self) -> Iterator[None]:
        """Ask ten times a second; no request may fail until the end of the block."""
        is_over, failures = Event(), list[str]()

        def ask() -> None:
            while not is_over.wait(0.1):
                try:
                    self.get("/livez")
                except OSError as error:
                    failures.append(f"{datetime.now(UTC):%H:%M:%S} {error}")

        thread = Thread(target=ask)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
        assert failures == []

    def replicas(self, component: str) -> dict[str, Server]:
        """Return the component's pods that do not end, by name."""
        found = {}
        labels: Any = {
            "app.kubernetes.io/instance": RELEASE,
            "app.kubernetes.io/component": component,
        }
        for pod in self.cluster.administrator.client.list(Pod, labels=labels):
            if pod.metadata and pod.status and pod.metadata.deletionTimestamp is None:
                server = found[pod.metadata.name or ""] = Server()
                server.url = f"http://{pod.status.podIP}:8080"
        return found

    def pods(self) -> dict[str, set[str]]:
        """Return the names of the daemon's pods by component, without those that end."""
        return {component: set(self.replicas(component)) for component in ("api", "worker")}

    def kill(self, pod: str) -> None:
        """End a pod without a warning."""
        self.cluster.administrator.client.delete(Pod, pod, grace_period=0)

    def restarts(self) -> list[str]:
        """Return the containers that were started twice, ended pods included."""
        starts: Counter[str] = Counter()
        for each in self.cluster.administrator.client.list(ClusterEvent):
            if each.reason == "Started":
                container = f"{each.involvedObject.name} {each.involvedObject.fieldPath}"
                starts[container] += each.count or 1
        return [container for container, number in starts.items() if number > 1]


@contextmanager
def install(
    cluster: NodeCluster, lake: BucketLake, store: str, policies: Mapping[str, str], chart: Path
) -> Iterator[NodeRelease]:
    """Install a chart in mode cluster; nothing of the release is left at the end.

    `policies` are texts by file name.
    """
    _create_secret(cluster, "store", {"uri": store})
    _create_secret(cluster, "lake", {"id": ACCESS_KEY_ID, "key": PLANTED_SECRET})
    _create_secret(cluster, "link", _certify(f"{FULLNAME}-link.{cluster.namespace}.svc"))
    before = cluster.leftovers()
    values = _make_values(cluster, lake, policies)
    with Config(
        kubeconfig_path=cluster.administrator.kubeconfig, namespace=cluster.namespace
    ) as helm:
        helm.install(chart, RELEASE, values, wait="watcher", timeout=_SECONDS)
        service = cluster.administrator.client.get(Service, FULLNAME)
        assert service.spec
        yield NodeRelease(cluster, helm, values, f"http://{service.spec.clusterIP}:8080", chart)
        # A warm driver would outlive the release for a time.
        wait_for(lambda: not cluster.drivers(), 120, "idle drivers to end")
        helm.uninstall(RELEASE, wait="watcher", timeout=_SECONDS)
    wait_for(lambda: cluster.leftovers() == before, 120, f"{before}, not {cluster.leftovers()}")


def _make_values(cluster: NodeCluster, lake: BucketLake, policies: Mapping[str, str]) -> Values:
    name, _, tag = cluster.image.rpartition(":")
    registry, _, repository = name.rpartition("/")
    rhythm = {"interval": "1s"}
    return {
        "mode": "cluster",
        "image": {
            "registry": registry, "repository": repository, "tag": tag, "pullPolicy": "Never",
        },
        "store": {"secretName": "store"},
        "link": {"secretName": "link"},
        "secretEnv": {
            "LAKE_ID": {"secretName": "lake", "key": "id"},
            "LAKE_KEY": {"secretName": "lake", "key": "key"},
        },
        "config": {
            "catalogs": {
                "lake": {
                    **lake.properties,
                    "s3.access-key-id": "${LAKE_ID}",
                    "s3.secret-access-key": "${LAKE_KEY}",
                    # Spark must not give up a commit that a test holds.
                    "spark": {"rest.client.socket-timeout-ms": str(GATE_SECONDS * 1000)},
                }
            },
            **dict.fromkeys(("scan", "plan", "submit", "watch", "review"), rhythm),
            "spark": {
                "driver_memory": "1g",
                "executors": {"count": 2, "memory": "640m", "cores": 1},
                "conf": {"spark.kubernetes.executor.request.cores": "200m"},
                "idle_timeout": "5s",
                "kubernetes": {"driver_cores": 1},
            },
        },
        "policies": dict(policies),
        "networkPolicy": {"enabled": True},
        "api": {"resources": _SMALL},
        "worker": {"resources": _SMALL, "replicas": 3},
    }  # fmt: skip


def _certify(host: str) -> dict[str, str]:
    authority = trustme.CA()
    certificate = authority.issue_cert(host)
    return {
        "ca.crt": authority.cert_pem.bytes().decode(),
        "tls.crt": b"".join(each.bytes() for each in certificate.cert_chain_pems).decode(),
        "tls.key": certificate.private_key_pem.bytes().decode(),
    }


def _create_secret(cluster: NodeCluster, name: str, data: dict[str, str]) -> None:
    cluster.administrator.client.create(Secret(metadata=ObjectMeta(name=name), stringData=data))
