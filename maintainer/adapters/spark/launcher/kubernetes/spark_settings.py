"""Spark's settings inside a driver's pod, which the start order adds."""

from __future__ import annotations

from maintainer.adapters.spark.launcher import DriverSpec
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions
from maintainer.adapters.spark.launcher.kubernetes.pods import (
    BLOCK_PORT,
    DRIVER_PORT,
    EXECUTOR_CONTAINER,
    EXECUTOR_TEMPLATE,
    WORK_DIRECTORY,
)
from maintainer.adapters.spark.options import allocation_settings, overhead_megabytes

_API_SERVER = "k8s://https://kubernetes.default.svc"


def pod_settings(spec: DriverSpec, options: KubernetesOptions) -> dict[str, str]:
    """Return the settings of a driver in its pod: client mode, with executors as pods of its own.

    Without executors the tasks run in the driver. Spark finds the pod's service account by itself
    and follows its renewals; a token file given here would be read once only.
    """
    directories = {"spark.local.dir": f"{WORK_DIRECTORY}/spark"}
    if spec.executors is None:
        return {"spark.master": f"local[{options.driver_cores}]", **directories}
    executors = spec.executors
    overhead = overhead_megabytes(executors.memory, options.executor_overhead)
    settings = {
        "spark.master": _API_SERVER,
        "spark.submit.deployMode": "client",
        "spark.driver.host": f"{spec.name}.{options.namespace}.svc",
        "spark.driver.bindAddress": "0.0.0.0",  # noqa: S104 - the pod's own network
        "spark.driver.port": str(DRIVER_PORT),
        "spark.driver.blockManager.port": str(BLOCK_PORT),
        "spark.executor.instances": str(executors.count),
        "spark.executor.memory": executors.memory,
        "spark.executor.cores": str(executors.cores),
        "spark.executor.memoryOverhead": f"{overhead}m",
        "spark.kubernetes.namespace": options.namespace,
        # executors are owned by this pod: the cluster deletes them with it
        "spark.kubernetes.driver.pod.name": spec.name,
        "spark.kubernetes.container.image": options.image,
        "spark.kubernetes.container.image.pullPolicy": options.image_pull_policy,
        "spark.kubernetes.container.image.pullSecrets": ",".join(options.image_pull_secrets),
        "spark.kubernetes.executor.podNamePrefix": spec.name,
        "spark.kubernetes.executor.podTemplateFile": EXECUTOR_TEMPLATE,
        "spark.kubernetes.executor.podTemplateContainerName": EXECUTOR_CONTAINER,
        # settings reach executors over Spark's own connection, and no ConfigMap holds them
        "spark.kubernetes.executor.disableConfigMap": "true",
    }
    given = {key: value for key, value in settings.items() if value}
    return given | allocation_settings(executors) | directories
