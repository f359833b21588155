"""Policies from Apache Polaris: attachments to its catalog, namespaces and tables become layers."""

from __future__ import annotations

from contextlib import closing
from threading import Lock

from maintainer.adapters.policies.directory import digest_layers
from maintainer.adapters.policies.polaris_client import NotThereError, PolarisClient, PolarisOptions
from maintainer.adapters.policies.polaris_content import Attachment, PolarisPolicy, make_layer
from maintainer.adapters.policies.reading import read_table_properties
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.policy import PolicyLayer, PolicyProblem, PolicySet


class PolarisPolicies:
    """The policies of one Polaris catalog. refresh() reads all of them or keeps the last valid set.

    A partial set is worse than an old set: a policy that switches a rule off might be missing.
    """

    def __init__(self, catalog: str, options: PolarisOptions, *, with_tables: bool = True) -> None:
        self._catalog = catalog
        self._options = options
        self._with_tables = with_tables
        self._set: PolicySet | None = None
        self._lock = Lock()

    def current(self) -> PolicySet:
        """Return the last valid set; only the first call sends requests."""
        with self._lock:
            if self._set is None:
                self._refresh()
            return self._set or PolicySet(())

    def refresh(self) -> None:
        """Read all policies again; errors become problems in the last valid set."""
        with self._lock:
            self._refresh()

    def _refresh(self) -> None:
        try:
            layers, notes = self._read()
        except CatalogUnavailableError as error:
            before = self._set
            kept = before.layers if before is not None else ()
            unread = before.unread if before is not None else (self._catalog,)
            fallback = (
                "its tables are only observed until it was read once"
                if unread
                else "its last good policies stay in force"
            )
            problem = PolicyProblem(f"polaris_policies.{self._catalog}", f"{error}; {fallback}")
            self._set = PolicySet(
                kept, (problem,), digest_layers(kept), read_table_properties, unread
            )
        else:
            self._set = PolicySet(layers, notes, digest_layers(layers), read_table_properties)

    def _read(self) -> tuple[tuple[PolicyLayer, ...], tuple[PolicyProblem, ...]]:
        layers: list[PolicyLayer] = []
        notes: list[PolicyProblem] = []

        def take(policies: list[PolarisPolicy], attachment: Attachment) -> None:
            for policy in policies:
                if attachment.table is None and not policy.is_inheritable:
                    # The policy is for the catalog or the namespace itself, not for its tables.
                    continue
                layer, said = make_layer(policy, attachment)
                notes.extend(said)
                if layer is not None:
                    layers.append(layer)

        with closing(PolarisClient(self._options)) as client:
            try:
                client.connect()
                known: dict[tuple[str, ...], list[PolarisPolicy]] = {(): client.policies()}
                take(_find_direct(known[()], []), Attachment(self._catalog))
            except NotThereError as error:
                raise CatalogUnavailableError(f"Polaris has nothing at {error}") from error
            for namespace in client.namespaces():
                try:
                    known[namespace] = client.policies(namespace)
                    take(
                        _find_direct(known[namespace], known.get(namespace[:-1], [])),
                        Attachment(self._catalog, namespace),
                    )
                    for table in client.tables(namespace) if self._with_tables else ():
                        take(
                            _find_direct(client.policies(namespace, table), known[namespace]),
                            Attachment(self._catalog, namespace, table),
                        )
                except NotThereError:
                    continue  # the policy was dropped after the listing
        return tuple(layers), tuple(notes)


def _find_direct(
    policies: list[PolarisPolicy], parents: list[PolarisPolicy]
) -> list[PolarisPolicy]:
    """Return the policies attached to the target itself.

    If the server does not mark them, they are those that the parent does not have.
    """
    inherited = {(policy.namespace, policy.name) for policy in parents}
    return [
        policy
        for policy in policies
        if not (
            policy.is_inherited
            if policy.is_inherited is not None
            else (policy.namespace, policy.name) in inherited
        )
    ]
