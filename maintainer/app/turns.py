"""The duties of this worker, renewed at intervals, and shared with the other workers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import timedelta
from threading import Lock

from maintainer.admit.replicas import choose_duties
from maintainer.domain.errors import MaintainerError
from maintainer.domain.replica import Duty, DutyKind, list_duties
from maintainer.ports.store.upkeep import DutyStore

log = logging.getLogger("maintainer")

RENEWALS_PER_SPAN = 3
_ATTEMPTS = 3  # to take free duties, while other replicas take them too


class Turns:
    """Says which duties this process has. Thread-safe.

    It takes no duties before its first use. A duty that is not renewed in time ends
    here before another worker can take it: the time is counted from before the request,
    by the monotonic clock.
    """

    def __init__(  # noqa: PLR0913 - the composition root passes all of them, once
        self,
        store: DutyStore,
        worker: str,
        catalogs: Collection[str],
        span: timedelta,
        *,
        is_gone: Callable[[str], bool] = lambda _holder: False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`worker` is Runner.owner; `is_gone` knows the ended processes of this machine."""
        self._store = store
        self._worker = worker
        self.wanted = list_duties(frozenset(catalogs), worker)
        self._span = span
        self._is_gone = is_gone
        self._monotonic = monotonic
        self._mutex = Lock()  # one change at a time; readers need none
        self._until: Mapping[Duty, float] | None = None  # None: none was taken yet
        self._is_over = False

    @property
    def interval(self) -> timedelta:
        """How often to call `take`."""
        return self._span / RENEWALS_PER_SPAN

    def take(self) -> int:
        """Renew this worker's duties, give back duties above its share, and take free duties.

        Returns the number of new duties.
        """
        with self._mutex:
            before = self._held()
            for _ in range(_ATTEMPTS):
                if self._is_over or self._is_settled():
                    break
            held = self._held()
        for duty in sorted(held ^ before):
            log.info("duty.%s duty=%r", "taken" if duty in held else "left", str(duty))
        return len(held - before)

    def _is_settled(self) -> bool:
        """Do what `take` does; False if another worker was faster."""
        known = self._store.duties()
        gone = {held.holder for held in known if self._is_gone(held.holder)}
        live = [held for held in known if held.holder not in gone]
        chosen = choose_duties(self.wanted, live, self._worker)
        surplus = {held.duty for held in live if held.holder == self._worker} - chosen
        self._until = {
            duty: until for duty, until in (self._until or {}).items() if duty not in surplus
        }
        if surplus:
            self._store.give_back_duties(self._worker, surplus)
        until = self._monotonic() + self._span.total_seconds()
        taken = self._store.hold_duties(self._worker, chosen, self._span, gone)
        self._until = dict.fromkeys(taken, until)
        return taken == chosen

    def holds(self, kind: DutyKind, scope: str = "") -> bool:
        """True while this worker has the duty; takes duties if none were taken yet."""
        if self._until is None and not self._is_over:
            self.take()
        return Duty(kind, scope) in self._held()

    def _held(self) -> frozenset[Duty]:
        now = self._monotonic()
        return frozenset(duty for duty, until in (self._until or {}).items() if now < until)

    def has(self, duty: Duty) -> bool:
        """The same as `holds`, but takes nothing."""
        return duty in self._held()

    def __str__(self) -> str:
        """List the duties for people."""
        held = sorted(self._held() - {Duty(DutyKind.WORK, self._worker)})
        return ", ".join(map(str, held)) or "none: other replicas have them"

    def stop(self) -> None:
        """Give all duties back, so that others take them at once, and take no more."""
        self._is_over = True
        with self._mutex:
            given, self._until = self._until, {}
            if given:
                with suppress(MaintainerError):  # otherwise the duties end at their time
                    self._store.give_back_duties(self._worker, given.keys())
