"""Protocols that adapters implement and steps use. Tests have a fake of each, of the same name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from maintainer.domain.admission import AdmissionRules
from maintainer.domain.errors import UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.replica import LeaseTerms
from maintainer.ports.catalog import Catalog
from maintainer.ports.clock import Clock
from maintainer.ports.notifier import NoNotifier, Notifier
from maintainer.ports.policies import Policies
from maintainer.ports.runner import Runner
from maintainer.ports.store import Store
from maintainer.ports.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class Ports:
    """All ports and shared settings of one process."""

    catalogs: Mapping[str, Catalog]
    store: Store
    policies: Policies
    runner: Runner
    telemetry: Telemetry
    clock: Clock
    new_id: Callable[[], str]
    notifier: Notifier = field(default_factory=NoNotifier)
    admission: AdmissionRules = field(default_factory=AdmissionRules)
    lease_terms: LeaseTerms = field(default_factory=LeaseTerms)
    # why the runner cannot use a catalog, by catalog
    no_runner: Mapping[str, str] = field(default_factory=dict)
    # True if the process is about to end, so that steps start no new work
    is_stopping: Callable[[], bool] = lambda: False

    def catalog_of(self, table: TableIdentifier) -> Catalog:
        """The catalog of a table; UnknownTableError when it is not configured."""
        if table.catalog not in self.catalogs:
            known = ", ".join(sorted(self.catalogs)) or "none"
            raise UnknownTableError(
                f"table {table}: catalog {table.catalog!r} is not configured (configured: {known})"
            )
        return self.catalogs[table.catalog]
