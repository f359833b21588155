"""Sends the rows of a job's statements in portions, and waits until the daemon has stored them."""

from __future__ import annotations

import json
import threading
from typing import Any, TypeAlias

from ..clock import read_clock
from ..link.outbox import ROWS, Transport
from .portions import Packed, Packer, write_text

_AT_ONCE = 4  # portions that are sent and not yet stored
_REPEAT_SECONDS = 10.0  # after this time a portion or its confirmation counts as lost
_ROUND_SECONDS = 0.1

JavaObject: TypeAlias = Any  # py4j creates its classes at run time


class Rows:
    """The rows of one job: the schema, the rows and their number, for each statement in order."""

    def __init__(self, job_id: str, output: Transport, is_cancelled: threading.Event) -> None:
        self._job_id = job_id
        self._output = output
        self._is_cancelled = is_cancelled
        self._packer = Packer()
        self._next = 0
        self._changed = threading.Condition()
        self._sent: dict[int, Packed] = {}  # the portions that are not yet confirmed
        self._error = ""

    def write(self, frame: JavaObject) -> dict[str, Any]:
        """Send the rows of a statement; return their number."""
        self._add(json.dumps({"schema": frame.schema.jsonValue()}))
        count = 0
        for row in frame.toLocalIterator():
            self._add(json.dumps(list(row)))
            count += 1
        self._add(json.dumps({"rows": count}))
        return {"rows": count}

    def end(self, *, is_complete: bool) -> None:
        """Send the rest; if the rows are complete, wait until all of them are stored.

        RuntimeError if they cannot be stored.
        """
        self._send(self._packer.finish(is_last=is_complete))
        if is_complete:
            self._await_room(1)

    def confirm(self, portion: int, error: str) -> None:
        """Record that the daemon has stored the portion, or the error why it cannot."""
        with self._changed:
            self._sent.pop(portion, None)
            self._error = self._error or error
            self._changed.notify_all()

    def _add(self, line: str) -> None:
        packed = self._packer.add(line)
        if packed is not None:
            self._await_room(_AT_ONCE)
            self._send(packed)

    def _send(self, packed: Packed) -> None:
        number = self._next
        self._next += 1
        with self._changed:
            self._sent[number] = packed
        self._tell(number, packed)

    def _tell(self, number: int, packed: Packed) -> None:
        self._output.send(
            ROWS,
            job=self._job_id,
            portion=number,
            lines=packed.lines,
            is_last=packed.is_last,
            data=write_text(packed.data),
        )

    def _await_room(self, most: int) -> None:
        """Wait until fewer than `most` portions are unconfirmed; send lost ones again."""
        sent_at = read_clock()
        while True:
            with self._changed:
                if len(self._sent) >= most and not self._error:
                    self._changed.wait(_ROUND_SECONDS)
                left = dict(self._sent)
            if self._is_cancelled.is_set():
                raise RuntimeError("the job is cancelled")
            if self._error:
                raise RuntimeError(f"the job's rows cannot be stored: {self._error}")
            if len(left) < most:
                return
            if read_clock() - sent_at > _REPEAT_SECONDS:
                sent_at = read_clock()
                for number, packed in left.items():
                    self._tell(number, packed)
