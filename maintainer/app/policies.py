"""Policies checked against the configuration that they refer to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from maintainer.domain.policy import PolicySet
from maintainer.policy.pools import find_unknown_pools
from maintainer.ports.policies import Policies


class CheckedPolicies:
    """Implements Policies: those of another source, with a problem for each unknown pool."""

    def __init__(self, policies: Policies, pools: Collection[str]) -> None:
        self._policies = policies
        self._pools = pools
        self._checked: tuple[PolicySet, PolicySet] | None = None  # as it came, and with problems

    def current(self) -> PolicySet:
        """Return the layers in force; they are checked again when they were read again."""
        found = self._policies.current()
        if self._checked is None or self._checked[0] is not found:
            problems = (*found.problems, *find_unknown_pools(found.layers, self._pools))
            self._checked = found, replace(found, problems=problems)
        return self._checked[1]
