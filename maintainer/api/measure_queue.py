"""Tables that other programs have named, measured one after another beside the requests."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock, Thread

from maintainer.domain.errors import MaintainerError
from maintainer.domain.identifier import TableIdentifier

MAX_WAITING = 1000

_LOG = logging.getLogger(__name__)


class MeasureQueue:
    """Safe for threads. What waits at the end of the process is left to the next scan."""

    def __init__(
        self, measure: Callable[[TableIdentifier], object], most: int = MAX_WAITING
    ) -> None:
        self._measure = measure
        self._most = most
        self._lock = Lock()
        self._waiting: dict[TableIdentifier, None] = {}  # in the order of their arrival
        self._is_working = False

    def add(self, table: TableIdentifier) -> bool:
        """Have the table measured soon; False when too many wait. One that waits stays once."""
        with self._lock:
            if table not in self._waiting and len(self._waiting) >= self._most:
                return False
            self._waiting[table] = None
            if not self._is_working:
                self._is_working = True
                Thread(target=self._work, name="measure-queue", daemon=True).start()
        return True

    def _work(self) -> None:
        while (table := self._take()) is not None:
            try:
                self._measure(table)
            except MaintainerError as error:
                _LOG.warning("event.not_measured table=%s error=%s", table, error)
            except Exception:  # noqa: BLE001 - an error on one table must not stop the others
                _LOG.exception("event.not_measured table=%s", table)

    def _take(self) -> TableIdentifier | None:
        """Take the next table before it is measured: a change during that counts again."""
        with self._lock:
            table = next(iter(self._waiting), None)
            if table is None:
                self._is_working = False
            else:
                del self._waiting[table]
            return table
