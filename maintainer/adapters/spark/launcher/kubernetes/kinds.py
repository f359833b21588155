"""The kinds of objects that the launcher uses, and its rights on them."""

from __future__ import annotations

from dataclasses import dataclass

from maintainer.adapters.kubernetes.objects import POD, Kind
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions, Operator

SECRET = Kind("", "v1", "Secret", "secrets")
SERVICE = Kind("", "v1", "Service", "services")
EVENT = Kind("", "v1", "Event", "events")
KUBEFLOW = Kind("sparkoperator.k8s.io", "v1beta2", "SparkApplication", "sparkapplications")
APACHE = Kind("spark.apache.org", "v1", "SparkApplication", "sparkapplications")
KINDS = (POD, SECRET, SERVICE, EVENT, KUBEFLOW, APACHE)


@dataclass(frozen=True, slots=True)
class Permission:
    """Verbs on one resource; a subresource is written as in pods/log."""

    group: str
    resource: str
    verbs: tuple[str, ...]


def owner_kind(operator: Operator) -> Kind:
    """Return the kind of the object that owns all other objects of a driver."""
    return {Operator.NONE: POD, Operator.KUBEFLOW: KUBEFLOW, Operator.APACHE: APACHE}[operator]


def deleted_kinds(operator: Operator) -> tuple[Kind, ...]:
    """Return the kinds of objects that the launcher deletes; the cluster deletes the others.

    Kubeflow's operator makes its application the owner of the driver's pod only if its webhook is
    on. Without the webhook the pod would remain after the application is deleted.
    """
    return (KUBEFLOW, POD) if operator is Operator.KUBEFLOW else (owner_kind(operator),)


def permissions(operator: Operator) -> tuple[Permission, ...]:
    """Return exactly the rights that the launcher needs in the namespace of the jobs.

    The launcher creates Secrets, but the daemon cannot read any Secret of that namespace.
    """
    owner = owner_kind(operator)
    beside = Permission("", "pods", ("list",))
    if owner is POD:
        beside = Permission("", "events", ("list",))
    elif POD in deleted_kinds(operator):
        beside = Permission("", "pods", ("delete", "list"))
    return (
        Permission(owner.group, owner.plural, ("create", "delete", "list")),
        beside,
        Permission("", "pods/log", ("get",)),
        Permission("", "secrets", ("create",)),
        Permission("", "services", ("create",)),
    )


def role(options: KubernetesOptions, name: str) -> dict[str, object]:
    """Return the Role of the launcher as the documentation shows it."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": name, "namespace": options.namespace},
        "rules": [
            {
                "apiGroups": [each.group],
                "resources": [each.resource],
                "verbs": list(each.verbs),
            }
            for each in permissions(options.operator)
        ],
    }
