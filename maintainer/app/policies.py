"""The sources of policies, and their check against the configuration that they refer to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from maintainer.adapters.policies.directory import VERSION_DIGITS, PolicyDirectory
from maintainer.adapters.policies.kubernetes import (
    KubernetesPolicies,
    KubernetesPolicyOptions,
)
from maintainer.adapters.policies.reading import read_table_properties
from maintainer.domain.identifier import TablePattern
from maintainer.domain.policy import PolicySet
from maintainer.policy.ambiguity import find_unknown_pools
from maintainer.ports.policies import Policies
from maintainer.settings import Settings

if TYPE_CHECKING:
    from maintainer.adapters.policies.polaris import PolarisPolicies


@dataclass(frozen=True, slots=True)
class PolicySources:
    """All policies, and those of their sources that are read again at intervals."""

    policies: Policies
    polaris: PolarisPolicies | None
    kubernetes: KubernetesPolicies | None

    def close(self) -> None:
        if self.kubernetes is not None:
            self.kubernetes.close()


class JoinedPolicies:
    """Implements Policies: several sources as one, with a problem for each unknown pool.

    They are joined and checked again only after one of them changes.
    """

    def __init__(self, pools: Collection[str], *sources: Policies) -> None:
        self._pools = pools
        self._sources = sources
        self._known: tuple[PolicySet, ...] = ()
        self._joined = PolicySet(())
        self._lock = Lock()

    def current(self) -> PolicySet:
        """Return the layers and the problems of all sources."""
        found = tuple(source.current() for source in self._sources)
        with self._lock:
            if list(map(id, found)) != list(map(id, self._known)):
                self._known, joined = found, _join(found)
                problems = (*joined.problems, *find_unknown_pools(joined.layers, self._pools))
                self._joined = replace(joined, problems=problems)
            return self._joined


def _join(sets: tuple[PolicySet, ...]) -> PolicySet:
    if len(sets) == 1:
        return sets[0]
    unread = tuple(catalog for one in sets for catalog in one.unread)
    text = repr(([one.version for one in sets], unread))
    return PolicySet(
        layers=tuple(layer for one in sets for layer in one.layers),
        problems=tuple(problem for one in sets for problem in one.problems),
        version=sha256(text.encode()).hexdigest()[:VERSION_DIGITS],
        read_properties=read_table_properties,
        unread=unread,
    )


def open_policies(settings: Settings) -> PolicySources:
    """The policies of the files, joined with those of the other sources that are configured."""
    polaris, kubernetes = _open_polaris(settings), _open_kubernetes(settings)
    sources = (PolicyDirectory(settings.policies), polaris, kubernetes)
    given = (source for source in sources if source is not None)
    return PolicySources(JoinedPolicies(settings.spark.every_pool, *given), polaris, kubernetes)


def _open_polaris(settings: Settings) -> PolarisPolicies | None:
    """The policies in Polaris, if they are configured.

    Missing settings are taken from the catalog's properties.
    """
    wanted = settings.polaris_policies
    if wanted is None:
        return None
    # The import of their HTTP client takes 0.05 s of CPU.
    from maintainer.adapters.policies.polaris import PolarisPolicies  # noqa: PLC0415
    from maintainer.adapters.policies.polaris_client import PolarisOptions  # noqa: PLC0415

    properties = settings.catalogs[wanted.catalog].properties
    options = PolarisOptions(
        uri=wanted.uri or properties.get("uri", ""),
        warehouse=properties.get("warehouse", ""),
        prefix=wanted.prefix or properties.get("prefix"),
        token=wanted.token or properties.get("token"),
        credential=wanted.credential or properties.get("credential"),
        scope=wanted.scope or properties.get("scope"),
        oauth_uri=wanted.oauth_uri or properties.get("oauth2-server-uri"),
        timeout=wanted.timeout,
        deadline=wanted.deadline,
        max_requests=wanted.max_requests,
    )
    return PolarisPolicies(wanted.catalog, options, with_tables=wanted.tables)


def _open_kubernetes(settings: Settings) -> KubernetesPolicies | None:
    """The policies that are resources of Kubernetes, if they are configured."""
    wanted = settings.kubernetes_policies
    if wanted is None:
        return None
    options = KubernetesPolicyOptions(
        namespaces={
            name: tuple(TablePattern(text) for text in bounds)
            for name, bounds in wanted.namespaces.items()
        },
        kubeconfig=wanted.kubeconfig,
        context=wanted.context,
        timeout_seconds=wanted.timeout.total_seconds(),
    )
    return KubernetesPolicies(options, settings.catalogs)
