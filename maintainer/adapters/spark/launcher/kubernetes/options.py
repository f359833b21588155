"""How drivers and executors run on Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Operator(StrEnum):
    """The creator of the driver's pod."""

    NONE = "none"  # this daemon
    KUBEFLOW = "kubeflow"  # SparkApplication of sparkoperator.k8s.io/v1beta2
    APACHE = "apache"  # SparkApplication of spark.apache.org/v1


class Queueing(StrEnum):
    """The queueing system of the queue."""

    NONE = "none"
    KUEUE = "kueue"
    YUNIKORN = "yunikorn"


@dataclass(frozen=True, slots=True)
class KubernetesOptions:
    """The namespace of the jobs, the image, and what every pod gets.

    The image contains this package, pyspark, Java and the jars. Hadoop's login fails for a user
    without a name: `run_as_user` must be in `/etc/passwd`, or the image must have libnss_wrapper.
    """

    namespace: str
    image: str
    operator: Operator = Operator.NONE
    kubeconfig: Path | None = None  # None: the daemon's own service account, else $KUBECONFIG
    context: str = ""  # of the kubeconfig; empty: its current one
    image_pull_policy: str = "IfNotPresent"
    image_pull_secrets: tuple[str, ...] = ()
    service_account: str = "maintainer-spark"  # of drivers; it creates their executors
    run_as_user: int | None = 10001
    driver_cores: int = 2  # requested; a driver without executors runs as many tasks at once
    # container memory beyond the heap, as a share of it; at least MINIMUM_OVERHEAD_MEGABYTES
    driver_overhead: float = 0.25
    executor_overhead: float = 0.1
    # a pod (metadata and spec) under ours: for sidecars, volumes, affinity, security contexts
    pod_template: Mapping[str, object] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, object], ...] = ()
    priority_class: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)  # of drivers; visible in manifests
    queueing: Queueing = Queueing.NONE
    queue: str = ""
    spark_version: str = "4.1.4"  # for the operators, which ask for it
    timeout_seconds: float = 10.0  # of each call of the API server
