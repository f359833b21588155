"""The driver's messages to its daemon: numbered, and kept until they are acknowledged.

A transport sends them: `channel` (a Unix socket) or `polling` (HTTP).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

Message: TypeAlias = dict[str, Any]

MAX_KEPT = 2_000  # messages; a job has about ten messages
MAX_KEPT_BYTES = 16 * 1024**2  # of all kept messages as JSON
MAX_MESSAGE_BYTES = 256 * 1024  # of one message as JSON; the fields of a longer message are cut
_MAX_FIELD_CHARACTERS = 8_000  # the length to which the fields of a too long message are cut
_ENVELOPE = frozenset({"number", "at", "event", "job"})
ROWS = "job.rows"  # a portion of a job's rows, for whose acknowledgement its sender waits
# These are never dropped: without them a job that has ended would count as lost.
_NEVER_DROPPED = frozenset({ROWS, "job.finished", "job.failed", "job.cancelled"})
# A message of these events replaces the former message of the same job (and portion).
_REPLACED = frozenset({"spark.progress", "files.wanted", ROWS})


class Transport(Protocol):
    """Sends messages to the daemon, and receives its orders."""

    @property
    def left_at(self) -> float | None:
        """When the connection to the daemon was lost, by read_clock; None while it exists."""

    def send(self, event: str, job: str | None = None, **fields: object) -> None:
        """Send the event of a job, or of the driver itself."""

    def acknowledge(self, numbers: list[int]) -> None:
        """Drop the messages that the daemon has stored."""

    def flush(self, seconds: float) -> None:
        """Return when all messages were delivered, at the latest after so many seconds."""


class Outbox:
    """Numbers messages and keeps some of them. Only one thread at a time may call it."""

    def __init__(self) -> None:
        self._number = 0
        self._kept: dict[int, Message] = {}
        self._sizes: dict[int, int] = {}
        self._kept_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def write(self, event: str, job: str | None, fields: dict[str, object]) -> Message:
        """Return the event as a message with the next number."""
        self._number += 1
        message: Message = {"number": self._number, "at": time.time(), "event": event, **fields}
        if job is not None:
            message["job"] = job
        return message

    def keep(self, message: Message) -> Message:
        """Keep the message until it is dropped, and return the kept message.

        Of a job's progress and requests only the newest message is kept. Beyond the bounds the
        oldest messages are dropped, except rows and ends of jobs.
        """
        message, size = _shorten(message)
        if message["event"] in _REPLACED:
            same = _subject(message)
            self.drop(
                [number for number, kept in self._kept.items() if _subject(kept) == same],
            )
        self._kept[message["number"]] = message
        self._sizes[message["number"]] = size
        self._kept_bytes += size
        while len(self._kept) > MAX_KEPT or self._kept_bytes > MAX_KEPT_BYTES:
            oldest = (
                number for number, kept in self._kept.items() if kept["event"] not in _NEVER_DROPPED
            )
            number = next(oldest, None)
            if number is None:
                break
            self.drop([number])
        return message

    def drop(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if self._kept.pop(number, None) is not None:
                self._kept_bytes -= self._sizes.pop(number)

    def drop_until(self, number: int) -> None:
        """Drop the messages with numbers up to this number."""
        self.drop([kept for kept in self._kept if kept <= number])

    def kept(self) -> list[Message]:
        """Return the kept messages, oldest first."""
        return list(self._kept.values())


def _subject(message: Message) -> tuple[object, ...]:
    return message["event"], message.get("job"), message.get("portion")


def _shorten(message: Message) -> tuple[Message, int]:
    """Return the message and its size; if the message is too long, its long fields are cut."""
    size = len(json.dumps(message))
    if size <= MAX_MESSAGE_BYTES:
        return message, size
    cut = {name: value if name in _ENVELOPE else _cut(value) for name, value in message.items()} | {
        "is_shortened": True
    }
    return cut, len(json.dumps(cut))


def _cut(value: object) -> object:
    if isinstance(value, str):
        return value[:_MAX_FIELD_CHARACTERS]
    return value if len(json.dumps(value)) <= _MAX_FIELD_CHARACTERS else None
