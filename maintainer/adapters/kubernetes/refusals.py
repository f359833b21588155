"""What the API server refuses, in words that name the thing and the cause."""

from __future__ import annotations

import re

from maintainer.adapters.kubernetes.kinds import Kind

_QUOTA = re.compile(
    r"exceeded quota: (?P<name>[^,]+), requested: (?P<requested>.+?), "
    r"used: (?P<used>.+?), limited: (?P<limit>.+)$"
)
_STANDARD = re.compile(r'violates PodSecurity "(?P<level>[^"]+)": (?P<why>.+)$')
_RIGHTS = re.compile(r'cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)"')
_NAMESPACE = re.compile(r'namespaces "[^"]+" not found')
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _INVALID, _TOO_MANY = 401, 403, 404, 422, 429
_FIRST_SERVER_ERROR = 500


def explain_refusal(code: int, message: str, kind: Kind, namespace: str) -> str:
    """Return one sentence for an answer of the API server that is not a success."""
    text = " ".join(message.split())
    if code == _UNAUTHORIZED:
        return "the Kubernetes API server does not accept the daemon's credentials"
    if code == _FORBIDDEN:
        return _explain_forbidden(text, namespace)
    if code == _NOT_FOUND and _NAMESPACE.search(text):
        return f"the namespace {namespace} does not exist"
    if code == _NOT_FOUND:
        return (
            f"the cluster has no {kind.name} of {kind.api_version}: is its {kind.origin} installed?"
        )
    if code == _INVALID:
        return f"the cluster finds the {kind.name} invalid: {text}"
    if code == _TOO_MANY:
        return "the Kubernetes API server asks for fewer requests"
    if code >= _FIRST_SERVER_ERROR:
        return f"the Kubernetes API server failed ({code}): {text}"
    return f"the Kubernetes API server refused ({code}): {text}"


def _explain_forbidden(text: str, namespace: str) -> str:
    if quota := _QUOTA.search(text):
        return (
            f"the quota {quota['name']} of the namespace {namespace} is used up: "
            f"requested {quota['requested']}, used {quota['used']}, limit {quota['limit']}"
        )
    if standard := _STANDARD.search(text):
        return (
            f"the namespace {namespace} refuses the pod by Pod Security "
            f'"{standard["level"]}": {standard["why"]}'
        )
    if rights := _RIGHTS.search(text):
        return (
            f"the daemon may not {rights['verb']} {rights['resource']} in the namespace "
            f"{namespace}: its Role does not allow it"
        )
    return f"the namespace {namespace} refuses it: {text}"
