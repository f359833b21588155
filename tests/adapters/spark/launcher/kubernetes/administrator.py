"""An administrator of a real cluster, who grants what the documentation shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from lightkube import Client, KubeConfig, codecs
from lightkube.models.authentication_v1 import TokenRequestSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, ServiceAccount, ServiceAccountToken

from maintainer.adapters.spark.launcher.kubernetes.kinds import role
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions, Operator
from tests.adapters.spark.launcher.kubernetes.test_documentation import documents

_TOKEN_SECONDS = 3600
_DAEMON, _DRIVERS = "maintainer", "maintainer-spark"  # names of the documentation


@dataclass
class Administrator:
    """Who may do everything, in one namespace for drivers and the daemon's service account."""

    kubeconfig: Path
    namespace: str

    def __post_init__(self) -> None:
        self.client = Client(
            config=KubeConfig.from_file(self.kubeconfig).get(), namespace=self.namespace
        )

    def create_namespace(self, security: str = "privileged") -> None:
        """Create it with this Pod Security standard."""
        labels = {"pod-security.kubernetes.io/enforce": security}
        self.client.create(Namespace(metadata=ObjectMeta(name=self.namespace, labels=labels)))

    def allow_drivers(self) -> None:
        """Create the drivers' service account with its documented Role."""
        for document in documents():
            if document["metadata"]["name"] == _DRIVERS:
                self._apply(document)

    def allow_daemon(self, operator: Operator) -> str:
        """Create a service account with the operator's documented Role alone; return its name."""
        name = f"{_DAEMON}-{operator}"
        options = KubernetesOptions(namespace="spark-jobs", image="x", operator=operator)
        shown = [each for each in documents() if each["metadata"]["name"] == _DAEMON]
        [its_role] = [each for each in shown if each == role(options, _DAEMON)]
        [binding] = [each for each in shown if each["kind"] == "RoleBinding"]
        self._apply(its_role, name=name)
        self._apply(
            binding,
            name=name,
            roleRef={**binding["roleRef"], "name": name},
            subjects=[{"kind": "ServiceAccount", "name": name, "namespace": self.namespace}],
        )
        return name

    def issue(self, account: str, file: Path) -> Path:
        """Create the service account, and a kubeconfig with a token that the server issues."""
        self.client.create(ServiceAccount(metadata=ObjectMeta(name=account)))
        request = ServiceAccountToken(
            metadata=ObjectMeta(name=account),
            spec=TokenRequestSpec(expirationSeconds=_TOKEN_SECONDS),
        )
        answer = self.client.create(request, account)
        assert answer.status is not None
        document = yaml.safe_load(self.kubeconfig.read_text())
        context = document["contexts"][0]["context"]
        document["users"] = [{"name": context["user"], "user": {"token": answer.status.token}}]
        file.write_text(yaml.safe_dump(document))
        file.chmod(0o600)
        return file

    def close(self) -> None:
        self.client.close()

    def _apply(self, document: dict[str, Any], name: str = "", **changes: object) -> None:
        """Create what the documentation shows, in this administrator's namespace."""
        metadata = {"name": name or document["metadata"]["name"], "namespace": self.namespace}
        changed = {**document, **changes, "metadata": metadata}
        for subject in changed.get("subjects", []):
            subject["namespace"] = self.namespace
        self.client.create(codecs.from_dict(changed))
