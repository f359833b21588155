"""The labels of drivers, and the selectors that find drivers by their labels."""

from __future__ import annotations

from collections.abc import Mapping

from maintainer.adapters.spark.launcher import DriverSpec
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions, Queueing

INSTALLATION = "iceberg-maintainer/installation"
DRIVER = "iceberg-maintainer/driver"
ROLE = "iceberg-maintainer/role"
SIZE = "iceberg-maintainer/size"
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
YUNIKORN_QUEUE = "yunikorn.apache.org/queue"
YUNIKORN_APPLICATION = "yunikorn.apache.org/app-id"
DRIVER_ROLE, EXECUTOR_ROLE = "driver", "executor"


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
