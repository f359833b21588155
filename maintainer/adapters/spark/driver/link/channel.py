"""The driver's end of the socket to its daemon.

Both sides send lines of JSON. Messages about a job are kept until they are acknowledged, so that
the next daemon can receive them again.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable

from ..clock import read_clock
from .outbox import Message, Outbox

_SEND_SECONDS = 5  # a daemon that reads nothing for so long counts as gone; it may connect again


def bound_sending(connection: socket.socket) -> None:
    """Make a write fail if the other side does not read in time."""
    connection.setsockopt(
        socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", _SEND_SECONDS, 0)
    )


class Channel:
    """Sends to the latest connection, and receives from it."""

    def __init__(
        self,
        listener: socket.socket,
        take: Callable[[Message], None],
        introduce: Callable[[], Message],
    ) -> None:
        """``take`` is called with each order.

        ``introduce`` returns the driver's description and state for a new connection.
        """
        self._listener = listener
        self._take = take
        self._introduce = introduce
        self._lock = threading.RLock()
        self._outbox = Outbox()
        self._connection: socket.socket | None = None
        # The time when the connection was lost; None while a connection is open.
        self.left_at: float | None = read_clock()
        threading.Thread(target=self._accept, daemon=True).start()

    def send(self, event: str, job: str | None = None, **fields: object) -> None:
        """Send the event if a daemon is connected.

        Events of a job are kept; of its progress events only the newest is kept.
        """
        with self._lock:
            message = self._outbox.write(event, job, fields)
            self._write(message if job is None else self._outbox.keep(message))

    def acknowledge(self, numbers: list[int]) -> None:
        with self._lock:
            self._outbox.drop(numbers)

    def flush(self, seconds: float) -> None:
        """Return at once: each message was written when it was sent, or is kept."""

    def _write(self, message: Message) -> None:
        if self._connection is not None:
            try:
                self._connection.sendall(json.dumps(message).encode() + b"\n")
            except OSError:
                self._leave(self._connection)

    def _accept(self) -> None:
        while (connection := self._await_connection()) is not None:
            bound_sending(connection)
            with self._lock:
                if self._connection is not None:
                    self._leave(self._connection)
                self._connection, self.left_at = connection, None
                self._write({"event": "hello", "at": time.time(), **self._introduce()})
                for message in self._outbox.kept():
                    self._write(message)
                self._write({"event": "replayed", "at": time.time()})
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _await_connection(self) -> socket.socket | None:
        """Wait for the next connection; None if the socket is closed."""
        try:
            return self._listener.accept()[0]
        except OSError:
            return None

    def _read(self, connection: socket.socket) -> None:
        # If the daemon ends, its last line may be incomplete.
        with contextlib.suppress(OSError, ValueError), connection.makefile("rb") as lines:
            for line in lines:
                self._take(json.loads(line))
        self._leave(connection)

    def _leave(self, connection: socket.socket) -> None:
        with self._lock:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
            if self._connection is connection:
                self._connection, self.left_at = None, read_clock()
