"""The storage of the catalogs, read at most every minute however many clients ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

from maintainer.measure.catalog_storage import CatalogStorage
from maintainer.ports.clock import Clock

MAX_AGE = timedelta(minutes=1)
# Reading 100,000 tables takes some seconds, and must not become the daemon's main work.
REST_FACTOR = 10
MOST_VIEWS = 16  # of people who see different tables

Within = tuple[str, ...] | None  # prefixes of the names of the tables that a person sees; None: all


@dataclass(frozen=True, slots=True)
class _View:
    at: datetime
    took: timedelta
    storages: Sequence[CatalogStorage]


@dataclass(slots=True)
class StorageBoard:
    """Keeps the last answer for each set of visible tables; safe for threads."""

    read_storage: Callable[[Within], Sequence[CatalogStorage]]
    clock: Clock
    _views: dict[Within, _View] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def read(self, within: Within) -> Sequence[CatalogStorage]:
        """The storage of each catalog, at most MAX_AGE or ten times its reading time old."""
        with self._lock:
            view = self._views.get(within)
            now = self.clock.now()
            if view is None or now - view.at >= max(MAX_AGE, REST_FACTOR * view.took):
                view = self._renew(within, now)
            return view.storages

    def _renew(self, within: Within, now: datetime) -> _View:
        storages = self.read_storage(within)
        self._views.pop(within, None)
        while len(self._views) >= MOST_VIEWS:
            del self._views[next(iter(self._views))]
        view = self._views[within] = _View(now, self.clock.now() - now, storages)
        return view
