"""Settings of drivers and executors that are pods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from maintainer.adapters.policies.validation import matching, refuse
from maintainer.settings.paths import read_path
from maintainer.settings.spark.sizes import ContainerSettings

CLUSTERS_CHOICE = "cluster"  # a file cannot contain null


def _read_list(value: object) -> object:
    if not isinstance(value, list):
        refuse("must be a list")
    return tuple(value)


def _read_user(value: object) -> object:
    return None if value == CLUSTERS_CHOICE else value


Label = Annotated[
    str,
    matching(
        r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?",
        "a DNS label: at most 63 lower-case letters, digits and dashes",
    ),
]


class KubernetesSettings(ContainerSettings):
    """Where the pods run, from which image, and what every pod gets."""

    namespace: Label = Field(description="The namespace of the pods.")
    image: str = Field(
        min_length=1,
        max_length=500,
        description="The image of drivers and executors, with this package, Java and Spark.",
    )
    operator: Literal["none", "kubeflow", "apache"] = Field(
        default="none",
        description="Who creates the driver's pod: the daemon, or an operator for Spark.",
    )
    kubeconfig: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None,
        description="The file with the cluster's address and credentials. Default: the daemon's "
        "own service account, else `KUBECONFIG`.",
    )
    context: str = Field(default="", description="The kubeconfig's context. Default: its current.")
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = Field(
        default="IfNotPresent", description="The pull policy of the image."
    )
    image_pull_secrets: Annotated[tuple[Label, ...], BeforeValidator(_read_list)] = Field(
        default=(), description="The Secrets with the registry's credentials."
    )
    service_account: Label = Field(
        default="maintainer-spark",
        description="The service account of drivers, which creates their executors.",
    )
    run_as_user: Annotated[
        Annotated[int, Field(ge=1)] | None,
        BeforeValidator(_read_user),
        WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": CLUSTERS_CHOICE}]}),
    ] = Field(
        default=10001, description="The user id of all pods. `cluster` lets the cluster choose."
    )
    pod_template: dict[str, Any] = Field(
        default_factory=dict,
        description="A pod template (metadata and spec) on which all pods are based, for volumes, "
        "affinity and the like.",
    )
    node_selector: dict[str, str] = Field(
        default_factory=dict, description="Labels that a node must have."
    )
    tolerations: Annotated[tuple[dict[str, Any], ...], BeforeValidator(_read_list)] = Field(
        default=(), description="Tolerations of the pods, as Kubernetes writes them."
    )
    priority_class: str = Field(default="", description="The PriorityClass of the pods.")
    labels: dict[str, str] = Field(default_factory=dict, description="Further labels of all pods.")
    annotations: dict[str, str] = Field(
        default_factory=dict, description="Annotations of all pods."
    )
    env: dict[str, str] = Field(
        default_factory=dict,
        description="Environment variables of drivers. They are visible in the pod's manifest, so "
        "use no secrets here.",
    )
    queueing: Literal["none", "kueue", "yunikorn"] = Field(
        default="none", description="The queueing system, if the cluster has one."
    )
    queue: str = Field(default="", description="The queue of that system.")
    timeout: float = Field(
        default=10.0, ge=1.0, le=300.0, description="Seconds for each request to the API server."
    )
