"""Check that the daemon is ready: its store is writable and it has reached a catalog."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread

from maintainer.domain.errors import MaintainerError
from maintainer.ports.store import Store

Check = tuple[str, bool, str]  # name, success, sentence


STORE_SECONDS = 2.0  # for the store's answer; an orchestrator waits a few seconds for a probe's


class StoreCheck:
    """Tries to write, because a read-only store would lose requests.

    A store that is locked by another program, or does not answer, must not hold the probe: it is
    tried in a thread of its own, and not again before that thread has an answer.
    """

    def __init__(self, store: Store, seconds: float = STORE_SECONDS) -> None:
        self._store = store
        self._seconds = seconds
        self._lock = Lock()
        self._trial: Future[Check] | None = None

    def __call__(self) -> Check:
        with self._lock:
            if self._trial is None or self._trial.done():
                self._trial = self._begin()
            trial = self._trial
        try:
            return trial.result(self._seconds)
        except TimeoutError:
            return "store", False, f"the store has not answered within {self._seconds:g} s"

    def _begin(self) -> Future[Check]:
        trial: Future[Check] = Future()
        Thread(target=lambda: trial.set_result(self._try()), name="ready", daemon=True).start()
        return trial

    def _try(self) -> Check:
        try:
            self._store.ensure_writable()
            return "store", True, self._store.describe()
        except MaintainerError as error:
            return "store", False, str(error)
        # An answer is needed in any case.
        except Exception as error:  # noqa: BLE001
            return "store", False, f"{type(error).__name__}: {error}"


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
