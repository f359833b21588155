"""The pods of drivers and executors, and Spark's settings in these pods.

The pods satisfy the Pod Security level "restricted". The settings are part of the start order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from maintainer.adapters.kubernetes.objects import Manifest
from maintainer.adapters.spark.launcher import DriverSpec
from maintainer.adapters.spark.launcher.kubernetes.options import (
    DRIVER_ROLE,
    EXECUTOR_ROLE,
    KubernetesOptions,
    Queueing,
    labels_of,
)
from maintainer.adapters.spark.options import allocation_settings, megabytes, overhead_megabytes

# Spark's names. The operators read the exit code of the container with this name.
DRIVER_CONTAINER = "spark-kubernetes-driver"
EXECUTOR_CONTAINER = "spark-kubernetes-executor"
SECRET_DIRECTORY = "/var/run/maintainer"  # noqa: S105 - where the token is mounted
WORK_DIRECTORY = "/var/lib/maintainer"
EXECUTOR_TEMPLATE = f"{SECRET_DIRECTORY}/executor.json"
TOKEN_KEY, AUTHORITY_KEY, TEMPLATE_KEY = "token", "ca.crt", "executor.json"
DRIVER_PORT, BLOCK_PORT = 7078, 7079
_API_SERVER = "k8s://https://kubernetes.default.svc"
_DRIVER_PROGRAM = "maintainer.adapters.spark.driver"
# The operators' Spark adds arguments, which the shell drops.
DRIVER_COMMAND = ("/bin/sh", "-c", f"exec python -m {_DRIVER_PROGRAM}")
_GRACE_SECONDS = 10
# With fsGroup the files belong to the pod's group. Without it they belong to root's group, so all
# users must be able to read them.
_READ_BY_GROUP, _READ_BY_ALL = 0o440, 0o444


def lay_over(under: Mapping[str, object], over: Mapping[str, object]) -> Manifest:
    """Merge two manifests; where both have a value, ``over`` wins.

    Mappings are merged key by key. Lists of mappings with names (containers, volumes, variables)
    are merged by name; other lists are replaced.
    """
    merged: Manifest = dict(under)
    for key, value in over.items():
        merged[key] = _merge(merged[key], value) if key in merged else value
    return merged


def _merge(under: object, over: object) -> object:
    if isinstance(under, Mapping) and isinstance(over, Mapping):
        return lay_over(under, over)
    if isinstance(under, list) and isinstance(over, list):
        return _merge_lists(under, over)
    return over


def _merge_lists(under: list[object], over: list[object]) -> list[object]:
    key = next((key for key in ("mountPath", "name") if _all_have(key, [*under, *over])), None)
    if key is None:
        return over
    merged = {_value(item, key): item for item in under}
    for item in over:
        name = _value(item, key)
        merged[name] = _merge(merged[name], item) if name in merged else item
    return list(merged.values())


def _all_have(key: str, items: list[object]) -> bool:
    return all(isinstance(item, Mapping) and key in item for item in items)


def _value(item: object, key: str) -> str:
    return str(item[key]) if isinstance(item, Mapping) else ""


def driver_pod(spec: DriverSpec, options: KubernetesOptions) -> Manifest:
    """Return metadata and spec of the driver's pod: defaults, then the template, then fixed values.

    The template may change defaults such as the security context. It cannot change the fixed
    values, which are needed to find the pod and to reach the daemon.
    """
    return _compose(options, DRIVER_CONTAINER, _fixed_pod(spec, options))


def executor_template(spec: DriverSpec, options: KubernetesOptions) -> str:
    """Return the pod template of executors as JSON; Spark adds image, sizes and its variables.

    The command replaces the entry point of Spark's own image with a program of this package.
    """
    fixed: Manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "labels": labels_of(spec, options, EXECUTOR_ROLE),
            "annotations": dict(options.annotations),
        },
        "spec": {
            **_scheduling(options),
            "automountServiceAccountToken": False,
            "containers": [
                {
                    "name": EXECUTOR_CONTAINER,
                    "command": ["python", "-m", f"{_DRIVER_PROGRAM}.executor"],
                }
            ],
        },
    }
    return json.dumps(_compose(options, EXECUTOR_CONTAINER, fixed), sort_keys=True)


def _compose(options: KubernetesOptions, container: str, fixed: Manifest) -> Manifest:
    template = _template_for(container, options.pod_template)
    return lay_over(lay_over(_default_pod(options, container), template), fixed)


def _template_for(container: str, template: Mapping[str, object]) -> Mapping[str, object]:
    """Return the template without the container of the other role."""
    spec = template.get("spec")
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    if not isinstance(spec, Mapping) or not isinstance(containers, list):
        return template
    other = ({DRIVER_CONTAINER, EXECUTOR_CONTAINER} - {container}).pop()
    kept = [
        each for each in containers if not (isinstance(each, Mapping) and each.get("name") == other)
    ]
    return {**template, "spec": {**spec, "containers": kept}}


def _default_pod(options: KubernetesOptions, container: str) -> Manifest:
    user: Manifest = (
        {}
        if options.run_as_user is None
        else {"runAsUser": options.run_as_user, "fsGroup": options.run_as_user}
    )
    return {
        "spec": {
            "securityContext": {
                "runAsNonRoot": True,
                "seccompProfile": {"type": "RuntimeDefault"},
                **user,
            },
            "enableServiceLinks": False,
            # A driver that is ended need not finish anything: its fence prevents later commits.
            "terminationGracePeriodSeconds": _GRACE_SECONDS,
            "containers": [
                {
                    "name": container,
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]},
                    },
                    "volumeMounts": [
                        {"name": "work", "mountPath": WORK_DIRECTORY},
                        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - inside the pod
                    ],
                }
            ],
            "volumes": [{"name": "work", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}],
        },
    }


def _fixed_pod(spec: DriverSpec, options: KubernetesOptions) -> Manifest:
    memory = megabytes(spec.memory) + overhead_megabytes(spec.memory, options.driver_overhead)
    return {
        "metadata": {
            "labels": labels_of(spec, options, DRIVER_ROLE),
            "annotations": dict(options.annotations),
        },
        "spec": {
            **_scheduling(options),
            "restartPolicy": "Never",
            "serviceAccountName": options.service_account,
            # Only a driver that creates executors needs the API server.
            "automountServiceAccountToken": spec.executors is not None,
            "imagePullSecrets": [{"name": name} for name in options.image_pull_secrets],
            "containers": [
                {
                    "name": DRIVER_CONTAINER,
                    "image": options.image,
                    "imagePullPolicy": options.image_pull_policy,
                    "command": list(DRIVER_COMMAND),
                    "env": _environment(spec, options),
                    "resources": {
                        "requests": {"cpu": str(options.driver_cores), "memory": f"{memory}Mi"},
                        "limits": {"memory": f"{memory}Mi"},
                    },
                    "ports": [
                        {"name": "driver", "containerPort": DRIVER_PORT},
                        {"name": "blocks", "containerPort": BLOCK_PORT},
                    ],
                    "volumeMounts": [
                        {"name": "link", "mountPath": SECRET_DIRECTORY, "readOnly": True}
                    ],
                }
            ],
            "volumes": [
                {
                    "name": "link",
                    "secret": {
                        "secretName": spec.name,
                        "defaultMode": _READ_BY_ALL
                        if options.run_as_user is None
                        else _READ_BY_GROUP,
                    },
                }
            ],
        },
    }


def _environment(spec: DriverSpec, options: KubernetesOptions) -> list[Manifest]:
    ours = {
        "HOME": WORK_DIRECTORY,
        "MAINTAINER_WORK_DIR": WORK_DIRECTORY,
        "MAINTAINER_LINK": spec.address,
        "MAINTAINER_DRIVER": spec.name,
        "MAINTAINER_TOKEN_FILE": f"{SECRET_DIRECTORY}/{TOKEN_KEY}",
    }
    if spec.authority:
        ours["MAINTAINER_LINK_CA_FILE"] = f"{SECRET_DIRECTORY}/{AUTHORITY_KEY}"
    return [{"name": name, "value": value} for name, value in {**options.env, **ours}.items()]


def _scheduling(options: KubernetesOptions) -> Manifest:
    chosen: Manifest = {
        "nodeSelector": dict(options.node_selector),
        "tolerations": [dict(toleration) for toleration in options.tolerations],
        "priorityClassName": options.priority_class,
        "schedulerName": "yunikorn" if options.queueing is Queueing.YUNIKORN else "",
    }
    return {key: value for key, value in chosen.items() if value}


def pod_settings(spec: DriverSpec, options: KubernetesOptions) -> dict[str, str]:
    """Return the settings of a driver in its pod: client mode, with a pod for each executor.

    Without executors the tasks run in the driver. Spark finds the pod's service account and its
    renewed tokens by itself; a token file in the settings would be read only once.
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
        # The driver's pod owns the executors, so the cluster deletes them with the pod.
        "spark.kubernetes.driver.pod.name": spec.name,
        "spark.kubernetes.container.image": options.image,
        "spark.kubernetes.container.image.pullPolicy": options.image_pull_policy,
        "spark.kubernetes.container.image.pullSecrets": ",".join(options.image_pull_secrets),
        "spark.kubernetes.executor.podNamePrefix": spec.name,
        "spark.kubernetes.executor.podTemplateFile": EXECUTOR_TEMPLATE,
        "spark.kubernetes.executor.podTemplateContainerName": EXECUTOR_CONTAINER,
        # Executors get the settings over Spark's own connection, not from a ConfigMap.
        "spark.kubernetes.executor.disableConfigMap": "true",
    }
    given = {key: value for key, value in settings.items() if value}
    return given | allocation_settings(executors) | directories
