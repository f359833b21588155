"""Answers of real API servers that are not a success, and the sentences that they become."""

from __future__ import annotations

import pytest

from maintainer.adapters.kubernetes.cluster import explain_refusal
from maintainer.adapters.kubernetes.objects import POD, Kind
from maintainer.adapters.spark.launcher.kubernetes.kinds import KUBEFLOW, SECRET

RESTRICTED = (
    'pods "driver-1" is forbidden: violates PodSecurity "restricted:latest": '
    'unrestricted capabilities (container "driver" must set '
    'securityContext.capabilities.drop=["ALL"])'
)
QUOTA = (
    'pods "driver-1" is forbidden: exceeded quota: compute, requested: limits.memory=10Gi,'
    "requests.cpu=2, used: limits.memory=60Gi,requests.cpu=9, limited: limits.memory=64Gi,"
    "requests.cpu=10"
)
RANGE = 'pods "driver-1" is forbidden: maximum memory usage per Container is 8Gi, but limit is 10Gi'


@pytest.mark.parametrize(
    ("code", "message", "kind", "sentence"),
    [
        (
            401,
            "Unauthorized",
            POD,
            "the Kubernetes API server does not accept the daemon's credentials",
        ),
        (
            403,
            QUOTA,
            POD,
            (
                "the quota compute of the namespace jobs is used up: requested limits.memory=10Gi,"
                "requests.cpu=2, used limits.memory=60Gi,requests.cpu=9, limit limits.memory=64Gi,"
                "requests.cpu=10"
            ),
        ),
        (
            403,
            RESTRICTED,
            POD,
            (
                'the namespace jobs refuses the pod by Pod Security "restricted:latest": '
                'unrestricted capabilities (container "driver" must set '
                'securityContext.capabilities.drop=["ALL"])'
            ),
        ),
        (
            403,
            (
                'secrets is forbidden: User "system:serviceaccount:m:maintainer" cannot create '
                'resource "secrets" in API group "" in the namespace "jobs"'
            ),
            SECRET,
            "the daemon may not create secrets in the namespace jobs: its Role does not allow it",
        ),
        (403, RANGE, POD, f"the namespace jobs refuses it: {RANGE}"),
        (404, 'namespaces "jobs" not found', POD, "the namespace jobs does not exist"),
        (
            404,
            "the server could not find the requested resource",
            KUBEFLOW,
            (
                "the cluster has no SparkApplication of sparkoperator.k8s.io/v1beta2: "
                "is its operator installed?"
            ),
        ),
        (
            422,
            'Pod "x" is invalid:\n* spec.priorityClassName: no such class',
            POD,
            (
                'the cluster finds the Pod invalid: Pod "x" is invalid: * spec.priorityClassName: '
                "no such class"
            ),
        ),
        (429, "too many", POD, "the Kubernetes API server asks for fewer requests"),
        (503, "starting", POD, "the Kubernetes API server failed (503): starting"),
        (418, "a teapot", POD, "the Kubernetes API server refused (418): a teapot"),
    ],
)
def test_a_refusal_names_the_thing_and_the_cause(
    code: int, message: str, kind: Kind, sentence: str
) -> None:
    assert explain_refusal(code, message, kind, "jobs") == sentence
