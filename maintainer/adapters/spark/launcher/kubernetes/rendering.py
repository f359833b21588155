"""The objects that start one driver: first the owner, then the objects that it owns.

They contain the image, sizes, the daemon's address and the driver's name. Only the Secret contains
the start token. No object contains catalog settings; the driver gets them over the link.
"""

from __future__ import annotations

from base64 import b64encode

from maintainer.adapters.kubernetes.objects import Manifest
from maintainer.adapters.spark.launcher import DriverSpec
from maintainer.adapters.spark.launcher.kubernetes.options import (
    DRIVER,
    DRIVER_ROLE,
    ROLE,
    KubernetesOptions,
    Operator,
    labels_of,
)
from maintainer.adapters.spark.launcher.kubernetes.pods import (
    AUTHORITY_KEY,
    BLOCK_PORT,
    DRIVER_CONTAINER,
    DRIVER_PORT,
    TEMPLATE_KEY,
    TOKEN_KEY,
    driver_pod,
    executor_template,
)
from maintainer.adapters.spark.options import overhead_megabytes

# In cluster mode Spark needs a main file; the pod's command runs the driver program instead.
_MAIN_FILE = "local:///opt/maintainer/driver.py"
_KEPT_SECONDS = 86_400  # after this time the operators clean up, if the daemon never comes back
_DAY_MILLISECONDS = 86_400_000


def render(spec: DriverSpec, options: KubernetesOptions) -> list[Manifest]:
    """Return the objects in the order of their creation; the first object owns the others."""
    service = [_service(spec, options)] if spec.executors is not None else []
    return [_owner(spec, options), _secret(spec, options), *service]


def own(manifest: Manifest, owner: Manifest, uid: str) -> Manifest:
    """Return the manifest with its owner, so that the cluster deletes both together."""
    metadata = manifest["metadata"]
    assert isinstance(metadata, dict)  # noqa: S101 - made in this module
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": uid,
    }
    return {**manifest, "metadata": {**metadata, "ownerReferences": [reference]}}


def _owner(spec: DriverSpec, options: KubernetesOptions) -> Manifest:
    match options.operator:
        case Operator.NONE:
            return _pod(spec, options)
        case Operator.KUBEFLOW:
            return _kubeflow_application(spec, options)
        case Operator.APACHE:
            return _apache_application(spec, options)


def _metadata(spec: DriverSpec, options: KubernetesOptions) -> Manifest:
    return {
        "name": spec.name,
        "namespace": options.namespace,
        "labels": labels_of(spec, options, DRIVER_ROLE),
    }


def _pod(spec: DriverSpec, options: KubernetesOptions) -> Manifest:
    pod = driver_pod(spec, options)
    given = pod["metadata"]
    assert isinstance(given, dict)  # noqa: S101 - made in this module
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        **pod,
        "metadata": {**given, "name": spec.name, "namespace": options.namespace},
    }


def _secret(spec: DriverSpec, options: KubernetesOptions) -> Manifest:
    """Return the Secret with the driver's files: its token, the authority, the template."""
    files = {TOKEN_KEY: spec.start_token}
    if spec.authority:
        files[AUTHORITY_KEY] = spec.authority
    if spec.executors is not None:
        files[TEMPLATE_KEY] = executor_template(spec, options)
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "immutable": True,
        "metadata": _metadata(spec, options),
        "data": {name: b64encode(text.encode()).decode() for name, text in files.items()},
    }


def _service(spec: DriverSpec, options: KubernetesOptions) -> Manifest:
    """Return the Service that executors use to reach the driver."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(spec, options),
        "spec": {
            "clusterIP": "None",
            "selector": {DRIVER: spec.name, ROLE: DRIVER_ROLE},
            "publishNotReadyAddresses": True,
            "ports": [
                {"name": "driver", "port": DRIVER_PORT, "targetPort": DRIVER_PORT},
                {"name": "blocks", "port": BLOCK_PORT, "targetPort": BLOCK_PORT},
            ],
        },
    }


def _kubeflow_application(spec: DriverSpec, options: KubernetesOptions) -> Manifest:
    overhead = overhead_megabytes(spec.memory, options.driver_overhead)
    executors = spec.executors
    return {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": _metadata(spec, options),
        "spec": {
            "type": "Python",
            "pythonVersion": "3",
            "mode": "cluster",
            "sparkVersion": options.spark_version,
            "image": options.image,
            "imagePullPolicy": options.image_pull_policy,
            "imagePullSecrets": list(options.image_pull_secrets),
            "mainApplicationFile": _MAIN_FILE,
            "restartPolicy": {"type": "Never"},
            "timeToLiveSeconds": _KEPT_SECONDS,
            "driver": {
                "podName": spec.name,
                "cores": options.driver_cores,
                "memory": spec.memory,
                "memoryOverhead": f"{overhead}m",
                "serviceAccount": options.service_account,
                "labels": labels_of(spec, options, DRIVER_ROLE),
                "template": driver_pod(spec, options),
            },
            # Queueing systems count this number; the driver creates its executors by itself.
            "executor": {
                "instances": executors.count if executors else 1,
                "cores": executors.cores if executors else 1,
                "memory": executors.memory if executors else "512m",
            },
        },
    }


def _apache_application(spec: DriverSpec, options: KubernetesOptions) -> Manifest:
    overhead = overhead_megabytes(spec.memory, options.driver_overhead)
    conf = {
        "spark.kubernetes.container.image": options.image,
        "spark.kubernetes.container.image.pullPolicy": options.image_pull_policy,
        "spark.kubernetes.container.image.pullSecrets": ",".join(options.image_pull_secrets),
        "spark.kubernetes.authenticate.driver.serviceAccountName": options.service_account,
        "spark.kubernetes.driver.pod.name": spec.name,
        "spark.kubernetes.driver.podTemplateContainerName": DRIVER_CONTAINER,
        "spark.driver.cores": str(options.driver_cores),
        "spark.driver.memory": spec.memory,
        "spark.driver.memoryOverhead": f"{overhead}m",
    }
    if spec.executors is not None:
        conf |= {
            "spark.executor.instances": str(spec.executors.count),
            "spark.executor.cores": str(spec.executors.cores),
            "spark.executor.memory": spec.executors.memory,
        }
    return {
        "apiVersion": "spark.apache.org/v1",
        "kind": "SparkApplication",
        "metadata": _metadata(spec, options),
        "spec": {
            "pyFiles": _MAIN_FILE,
            "runtimeVersions": {"sparkVersion": options.spark_version},
            "sparkConf": {key: value for key, value in conf.items() if value},
            "driverSpec": {"podTemplateSpec": driver_pod(spec, options)},
            "applicationTolerations": {
                "restartConfig": {"restartPolicy": "Never"},
                # The daemon reads the log of a failed driver before it deletes the driver.
                "resourceRetainPolicy": "Always",
                "ttlAfterStopMillis": _DAY_MILLISECONDS,
                # The daemon's own start timeout ends a driver that does not start.
                "applicationTimeoutConfig": {"driverStartTimeoutMillis": _DAY_MILLISECONDS},
            },
        },
    }
