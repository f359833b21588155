"""Settings of drivers and executors that are pods."""

from __future__ import annotations

from pathlib import Path
from re import compile as compile_regex
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from maintainer.adapters.policies.validation import Strict, refuse
from maintainer.settings.paths import read_path

CLUSTERS_CHOICE = "cluster"  # a file has no null
_LABEL = compile_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def _check_label(value: object) -> object:
    if isinstance(value, str) and _LABEL.fullmatch(value) is None:
        refuse(
            f"is {value[:100]!r}, but must be a DNS label: at most 63 lower-case letters, digits "
            f"and dashes"
        )
    return value


def _read_list(value: object) -> object:
    if not isinstance(value, list):
        refuse("must be a list")
    return tuple(value)


def _read_user(value: object) -> object:
    return None if value == CLUSTERS_CHOICE else value


Label = Annotated[str, BeforeValidator(_check_label)]


class KubernetesSettings(Strict):
    """Where the pods run, from which image, and what every pod gets."""

    namespace: Annotated[Label, Field(description="The namespace of the pods.")]
    image: Annotated[
        str,
        Field(
            min_length=1,
            max_length=500,
            description="The image of drivers and executors, with this package, Java and Spark.",
        ),
    ]
    operator: Annotated[
        Literal["none", "kubeflow", "apache"],
        Field(description="Who creates the driver's pod: the daemon, or an operator for Spark."),
    ] = "none"
    kubeconfig: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None,
        description="The file with the cluster's address and credentials. Default: the daemon's "
        "own service account, else `KUBECONFIG`.",
    )
    context: str = Field(default="", description="The kubeconfig's context. Default: its current.")
    image_pull_policy: Annotated[
        Literal["Always", "IfNotPresent", "Never"],
        Field(description="When the image is pulled."),
    ] = "IfNotPresent"
    image_pull_secrets: Annotated[
        tuple[Label, ...],
        BeforeValidator(_read_list),
        Field(description="The Secrets with the registry's credentials."),
    ] = ()
    service_account: Annotated[
        Label, Field(description="The service account of drivers, which creates their executors.")
    ] = "maintainer-spark"
    run_as_user: Annotated[
        Annotated[int, Field(ge=1)] | None,
        BeforeValidator(_read_user),
        WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": CLUSTERS_CHOICE}]}),
        Field(description="The user id of all pods. `cluster` lets the cluster choose."),
    ] = 10001
    driver_cores: Annotated[int, Field(ge=1, le=64, description="Cores of a driver's pod.")] = 2
    driver_overhead: Annotated[
        float, Field(ge=0.0, le=4.0, description="Memory beyond the driver's heap, as its share.")
    ] = 0.25
    executor_overhead: Annotated[
        float, Field(ge=0.0, le=4.0, description="Memory beyond an executor's heap, as its share.")
    ] = 0.1
    pod_template: dict[str, Any] = Field(
        default_factory=dict,
        description="A pod (metadata and spec) under ours, for volumes, affinity and the like.",
    )
    node_selector: dict[str, str] = Field(
        default_factory=dict, description="Labels of the nodes for the pods."
    )
    tolerations: Annotated[
        tuple[dict[str, Any], ...],
        BeforeValidator(_read_list),
        Field(description="Tolerations of the pods, as Kubernetes writes them."),
    ] = ()
    priority_class: str = Field(default="", description="The PriorityClass of the pods.")
    labels: dict[str, str] = Field(default_factory=dict, description="Further labels of all pods.")
    annotations: dict[str, str] = Field(
        default_factory=dict, description="Annotations of all pods."
    )
    env: dict[str, str] = Field(
        default_factory=dict,
        description="Variables of drivers. They stand in the pod's manifest: no secrets here.",
    )
    queueing: Annotated[
        Literal["none", "kueue", "yunikorn"],
        Field(description="The queueing system, if the cluster has one."),
    ] = "none"
    queue: str = Field(default="", description="The queue of that system.")
    timeout: Annotated[
        float, Field(ge=1.0, le=300.0, description="Seconds that the API server may take.")
    ] = 10.0
