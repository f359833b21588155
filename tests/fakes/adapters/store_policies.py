"""What the store in memory knows of versions of the policies."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from maintainer.domain.policy_version import PolicyVersion
from maintainer.ports.store.pages import Page
from maintainer.ports.store.plans import MAX_POLICY_VERSIONS
from tests.fakes.adapters.store_reading import check_limit, page_of


@dataclass
class FakePolicyVersions:
    """The part of the store that keeps them."""

    _versions: dict[str, PolicyVersion] = field(default_factory=dict, kw_only=True)

    def _open(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def record_policies(self, version: PolicyVersion) -> bool:
        with self._open():
            newest = next(iter(self._newest_first()), None)
            if newest is not None and (newest.version, newest.problems) == (
                version.version,
                version.problems,
            ):
                return False
            known = self._versions.get(version.version, version)
            self._versions[version.version] = replace(
                version, first_seen_at=known.first_seen_at, layer_count=len(version.layers)
            )
            for old in self._newest_first()[MAX_POLICY_VERSIONS:]:
                del self._versions[old.version]
            return True

    def policy_versions(self, limit: int = 100, cursor: str | None = None) -> Page[PolicyVersion]:
        with self._open():
            check_limit(limit)
            summaries = [replace(version, layers=()) for version in self._newest_first()]
            return page_of(
                summaries,
                limit,
                cursor,
                "policy_versions",
                lambda one: f"{one.last_seen_at.isoformat()} {one.version}",
            )

    def policy_version(self, version: str) -> PolicyVersion | None:
        with self._open():
            return self._versions.get(version)

    def _newest_first(self) -> list[PolicyVersion]:
        return sorted(
            self._versions.values(), key=lambda one: (one.last_seen_at, one.version), reverse=True
        )
