"""Compare versions of the policies."""

from __future__ import annotations

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.policy_version import PolicyChange, PolicyVersion
from maintainer.policy.versions import compare_layers, version_of
from maintainer.ports import Ports

CURRENT = "current"  # names the version in force wherever a version is expected


def compare_versions(ports: Ports, before: str, after: str = CURRENT) -> tuple[PolicyChange, ...]:
    """The changes from one version to another; InvalidValueError for an unknown version."""
    return compare_layers(_find_version(ports, before).layers, _find_version(ports, after).layers)


def _find_version(ports: Ports, name: str) -> PolicyVersion:
    if name == CURRENT:
        return version_of(ports.policies.current(), ports.clock.now())
    found = ports.store.policy_version(name)
    if found is None:
        raise InvalidValueError(
            f"no policy version {name!r} is kept; `maintainer policies versions` lists those "
            f"that are"
        )
    return found
