"""The options and the labels of drivers and executors on Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from maintainer.adapters.spark.launcher import DriverSpec

INSTALLATION = "iceberg-maintainer/installation"
DRIVER = "iceberg-maintainer/driver"
ROLE = "iceberg-maintainer/role"
SIZE = "iceberg-maintainer/size"
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
YUNIKORN_QUEUE = "yunikorn.apache.org/queue"
YUNIKORN_APPLICATION = "yunikorn.apache.org/app-id"
DRIVER_ROLE, EXECUTOR_ROLE = "driver", "executor"


class Operator(StrEnum):
    """The program that creates the driver's pod."""

    NONE = "none"  # this daemon
    KUBEFLOW = "kubeflow"  # SparkApplication of sparkoperator.k8s.io/v1beta2
    APACHE = "apache"  # SparkApplication of spark.apache.org/v1


class Queueing(StrEnum):
    """The system that manages the queue."""

    NONE = "none"
    KUEUE = "kueue"
    YUNIKORN = "yunikorn"


@dataclass(frozen=True, slots=True)
class KubernetesOptions:
    """The namespace of the jobs, the image, and the settings of every pod.

    The image contains this package, pyspark, Java and the jars. Hadoop's login fails for a user
    without a name, so `run_as_user` must be in `/etc/passwd`, or the image must have
    libnss_wrapper.
    """

    namespace: str
    image: str
    operator: Operator = Operator.NONE
    kubeconfig: Path | None = None  # None: the daemon's service account, or else $KUBECONFIG
    context: str = ""  # of the kubeconfig; empty: its current context
    image_pull_policy: str = "IfNotPresent"
    image_pull_secrets: tuple[str, ...] = ()
    service_account: str = "maintainer-spark"  # of drivers, which create their executors with it
    run_as_user: int | None = 10001
    driver_cores: int = 2  # requested; a driver without executors runs as many tasks at once
    # container memory beyond the heap, as a share of the heap; at least MINIMUM_OVERHEAD_MEGABYTES
    driver_overhead: float = 0.25
    executor_overhead: float = 0.1
    # a pod (metadata and spec) that the daemon completes: sidecars, volumes, security contexts, ...
    pod_template: Mapping[str, object] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, object], ...] = ()
    priority_class: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)  # of drivers; visible in manifests
    queueing: Queueing = Queueing.NONE
    queue: str = ""
    spark_version: str = "4.1.4"  # for the operators, which need it
    timeout_seconds: float = 10.0  # for each request to the API server


def labels_of(spec: DriverSpec, options: KubernetesOptions, role: str) -> dict[str, str]:
    """Return the labels of a pod; labels in the options do not replace the daemon's labels."""
    return {
        **options.labels,
        **_queue_labels(spec, options),
        "app.kubernetes.io/name": "iceberg-maintainer",
        "app.kubernetes.io/component": role,
        INSTALLATION: spec.installation,
        DRIVER: spec.name,
        ROLE: role,
        SIZE: spec.size.value,
    }


def select_drivers(installation: str) -> Mapping[str, str]:
    """Return the selector of all drivers of an installation, without their executors."""
    return {INSTALLATION: installation, ROLE: DRIVER_ROLE}


def _queue_labels(spec: DriverSpec, options: KubernetesOptions) -> dict[str, str]:
    match options.queueing:
        case Queueing.KUEUE:
            return {KUEUE_QUEUE: options.queue}
        case Queueing.YUNIKORN:
            return {YUNIKORN_QUEUE: options.queue, YUNIKORN_APPLICATION: spec.name}
        case Queueing.NONE:
            return {}
