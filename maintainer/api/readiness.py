"""Check that the daemon is ready: its store is writable and it has reached a catalog."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from maintainer.domain.errors import MaintainerError
from maintainer.ports.store import Store

Check = tuple[str, bool, str]  # name, success, sentence


def check_store(store: Store) -> Check:
    """Try to write: a read-only store would lose requests."""
    try:
        store.ensure_writable()
        return "store", True, store.describe()
    except MaintainerError as error:
        return "store", False, str(error)


@dataclass(slots=True)
class Reach:
    """Which configured catalogs this process has listed since its start.

    A daemon that has never reached a catalog is not ready: it shows nothing, or what another
    daemon has measured. After the first success it stays ready, because it can still show its
    last measurements.
    """

    catalogs: frozenset[str] = frozenset()
    reached: frozenset[str] = frozenset()
    # why the last scan could not list a catalog, by catalog
    reasons: dict[str, str] = field(default_factory=dict)
    has_scanned: bool = False

    def note(self, store: Store, catalog: str) -> None:
        """Read the listing faults that the catalog's finished scan left in the store."""
        with suppress(MaintainerError):
            faults = store.catalog_faults()
            self.reasons = {
                fault.catalog: fault.reason
                for fault in faults
                if not fault.namespace and fault.catalog in self.catalogs
            }
            self.reached |= (self.catalogs & {catalog}) - self.reasons.keys()
            self.has_scanned = True

    def check(self) -> Check:
        """Ready when at least one catalog was listed; the sentence names the faults."""
        if not self.has_scanned:
            return "catalogs", True, "the first scan is under way"
        if self.reached or not self.catalogs:
            return (
                "catalogs",
                True,
                f"{len(self.reached)} of {len(self.catalogs)} reached since the start",
            )
        return (
            "catalogs",
            False,
            "none reached since the start: "
            + "; ".join(f"{name}: {reason}" for name, reason in sorted(self.reasons.items())),
        )
