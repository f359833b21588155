"""Transfers files and rows between the store and the drivers, on a separate thread.

A driver's messages arrive on the driver's own thread, which must not wait for the store. A failed
transfer is repeated until it succeeds; meanwhile the driver keeps its message, and waits.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from queue import SimpleQueue

from maintainer.adapters.spark.driver.link.outbox import ROWS
from maintainer.adapters.spark.driver.lists.portions import read_text, write_text
from maintainer.adapters.spark.link import Driver
from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.domain.errors import InvalidValueError, StoreUnavailableError
from maintainer.ports.store.portions import Portion

WANTED = "files.wanted"
CARRIED = frozenset({ROWS, WANTED})  # the events that a courier answers
_RETRY_SECONDS = 1.0
_MAX_AT_ONCE = 100  # portions in one request
_LOG = logging.getLogger(__name__)


class Courier:
    """Answers the messages about files and rows, in their order."""

    def __init__(self, files: OrphanFiles) -> None:
        self._files = files
        self._queue: SimpleQueue[tuple[Driver, Mapping[str, object]] | None] = SimpleQueue()
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._work, name="spark-courier", daemon=True)
        self._thread.start()

    def take(self, driver: Driver, message: Mapping[str, object]) -> None:
        """Take a message of one of the CARRIED events."""
        self._queue.put((driver, message))

    def close(self) -> None:
        """Transfer nothing more, and end the thread."""
        self._is_closed.set()
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (taken := self._queue.get()) is not None:
            self._answer(*taken)

    def _answer(self, driver: Driver, message: Mapping[str, object]) -> None:
        while not driver.is_ended.is_set() and not self._is_closed.is_set():
            try:
                for order in self._orders(message):
                    driver.send(order)
            except StoreUnavailableError as error:
                _LOG.warning("spark.portions_wait", extra={"error": str(error)})
                self._is_closed.wait(_RETRY_SECONDS)
                continue
            number = message.get("number")
            if isinstance(number, int):
                driver.acknowledge([number])
            return

    def _orders(self, message: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
        match message:
            case {"job": str(job_id), "event": str(event), "portion": int(number)} if event == ROWS:
                stored = {"id": job_id, "portion": number}
                try:
                    self._files.store_rows(job_id, number, _read_rows(message))
                except (InvalidValueError, ValueError) as error:
                    yield {"stored": stored | {"error": str(error)}}
                else:
                    yield {"stored": stored}
            case {"job": str(job_id), "kind": str(kind), "first": int(first), "count": int(count)}:
                for number in range(first, first + min(count, _MAX_AT_ONCE)):
                    brought = {"id": job_id, "kind": kind, "portion": number}
                    try:
                        data = self._files.read_portion(job_id, kind, number)
                    except InvalidValueError as error:
                        yield {"bring": brought | {"error": str(error)}}
                    else:
                        yield {"bring": brought | {"data": write_text(data)}}
            case _:
                _LOG.warning("spark.message_not_understood", extra={"fields": sorted(message)})


def _read_rows(message: Mapping[str, object]) -> Portion:
    match message:
        case {"lines": int(lines), "is_last": bool(is_last), "data": str(data)}:
            return Portion(lines, read_text(data), is_last)
        case _:
            raise InvalidValueError("the portion of rows has no lines or no data")
