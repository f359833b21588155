"""Whether the daemon can do its work: its store can be written, and it has reached a catalog since
it was started.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from maintainer.domain.errors import MaintainerError
from maintainer.ports.store import Store

Check = tuple[str, bool, str]  # what, whether it works, and a sentence on it


def check_store(store: Store) -> Check:
    """Tries a write: a store that can only be read loses what people ask for."""
    try:
        store.ensure_writable()
        return "store", True, store.describe()
    except MaintainerError as error:
        return "store", False, str(error)


@dataclass(slots=True)
class Reach:
    """Which of the configured catalogs a scan of this process has listed.

    A daemon that has never reached any shows nothing, or what another one has measured: it is not
    ready. One that has is, whatever becomes of its catalogs: what it shows of them is what it last
    measured, and people can still look at it.
    """

    catalogs: frozenset[str] = frozenset()
    reached: frozenset[str] = frozenset()
    reasons: dict[str, str] = field(
        default_factory=dict
    )  # why the last scan could not list a catalog
    has_scanned: bool = False

    def note(self, store: Store) -> None:
        """A scan has ended, and left what it could not list in the store."""
        with suppress(MaintainerError):
            faults = store.catalog_faults()
            self.reasons = {
                fault.catalog: fault.reason
                for fault in faults
                if not fault.namespace and fault.catalog in self.catalogs
            }
            self.reached |= self.catalogs - self.reasons.keys()
            self.has_scanned = True

    def check(self) -> Check:
        """See the class."""
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
