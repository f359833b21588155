"""Which version of the policies is in force, and how it differs from others."""

from __future__ import annotations

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.policy_version import PolicyChange, PolicyVersion
from maintainer.policy.versions import compare_layers, write_layers
from maintainer.steps.ports import Ports

CURRENT = "current"  # the name of what is in force now, wherever a version is asked for


def note_policies(ports: Ports) -> bool:
    """Keep the version in force in the store; False when it was kept before."""
    policies = ports.policies.current()
    newest = next(iter(ports.store.policy_versions(1).items), None)
    if newest is not None and (newest.version, newest.problems) == (
        policies.version,
        policies.problems,
    ):
        return False  # without writing thousands of files as text at every plan
    return ports.store.record_policies(version_now(ports))


def version_now(ports: Ports) -> PolicyVersion:
    """What is in force now, as the store would keep it."""
    policies, now = ports.policies.current(), ports.clock.now()
    layers = write_layers(policies.layers)
    return PolicyVersion(policies.version, now, now, len(layers), policies.problems, layers)


def compare_versions(ports: Ports, before: str, after: str = CURRENT) -> tuple[PolicyChange, ...]:
    """What the second version has differently; InvalidValueError for one that the store does not
    have.
    """
    return compare_layers(_find_version(ports, before).layers, _find_version(ports, after).layers)


def _find_version(ports: Ports, name: str) -> PolicyVersion:
    if name == CURRENT:
        return version_now(ports)
    found = ports.store.policy_version(name)
    if found is None:
        message = (
            f"no policy version {name!r} is kept; `maintainer policies versions` lists those "
            f"that are"
        )
        raise InvalidValueError(message)
    return found
