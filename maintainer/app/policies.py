"""The sources of policies, and their check against the configuration that they refer to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.adapters.policies.kubernetes import (
    KubernetesPolicies,
    KubernetesPolicyOptions,
)
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


class CheckedPolicies:
    """Implements Policies: those of another source, with a problem for each unknown pool."""

    def __init__(self, policies: Policies, pools: Collection[str]) -> None:
        self._policies = policies
        self._pools = pools
        # the policies as they were read, and with the problems that were found
        self._checked: tuple[PolicySet, PolicySet] | None = None

    def current(self) -> PolicySet:
        """Return the layers in force; they are checked again when they were read again."""
        found = self._policies.current()
        if self._checked is None or self._checked[0] is not found:
            problems = (*found.problems, *find_unknown_pools(found.layers, self._pools))
            self._checked = found, replace(found, problems=problems)
        return self._checked[1]


def open_policies(settings: Settings) -> PolicySources:
    """The policies of the files, joined with those of the other sources that are configured."""
    policies: Policies = PolicyDirectory(settings.policies)
    polaris, kubernetes = _open_polaris(settings), _open_kubernetes(settings)
    others = [source for source in (polaris, kubernetes) if source is not None]
    if others:
        from maintainer.adapters.policies.polaris import JoinedPolicies  # noqa: PLC0415 - as below

        policies = JoinedPolicies(policies, *others)
    return PolicySources(CheckedPolicies(policies, settings.spark.every_pool), polaris, kubernetes)


def _open_polaris(settings: Settings) -> PolarisPolicies | None:
    """The policies in Polaris, if they are configured.

    Settings that are missing there are taken from the catalog's own properties.
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
