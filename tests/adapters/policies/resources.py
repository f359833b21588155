"""An API server with policy resources."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from maintainer.adapters.policies.kubernetes import POLICY
from tests.adapters.spark.launcher.kubernetes.api_server import ApiServer, open_api_server

LIST: dict[str, Any] = {
    "rules": [{"apiGroups": [POLICY.group], "resources": [POLICY.plural], "verbs": ["list"]}]
}
REPORT: dict[str, Any] = {
    "rules": [
        *LIST["rules"],
        {
            "apiGroups": [POLICY.group],
            "resources": [f"{POLICY.plural}/status"],
            "verbs": ["patch"],
        },
    ]
}


def open_policy_server(*namespaces: str) -> AbstractContextManager[ApiServer]:
    return open_api_server(namespaces, (POLICY.group,))


def write_resource(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": POLICY.api_version,
        "kind": POLICY.name,
        "metadata": {"name": name},
        "spec": spec,
    }


def create(api: ApiServer, namespace: str, name: str, spec: dict[str, Any]) -> None:
    api.create(POLICY.plural, write_resource(name, spec), POLICY.group, namespace)
