"""The store's versions of the policies."""

from __future__ import annotations

from typing import Protocol

from maintainer.domain.policy_version import PolicyVersion
from maintainer.ports.store.pages import Page

MAX_POLICY_VERSIONS = 1000


class PolicyVersionStore(Protocol):
    """The part of the store that remembers which policies were in force."""

    def record_policies(self, version: PolicyVersion) -> bool:
        """Store a version as the one in force; False when it was in force with the same problems.

        It keeps the time when it was first seen and gets a new last_seen_at. Of more than
        MAX_POLICY_VERSIONS, those that were in force longest ago are deleted.
        """

    def policy_versions(self, limit: int = 100, cursor: str | None = None) -> Page[PolicyVersion]:
        """A page of the versions without their layers, ordered by when each last came into force.

        The version in force comes first.
        """

    def policy_version(self, version: str) -> PolicyVersion | None:
        """One version with its layers."""
