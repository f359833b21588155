"""Kept connections for requests that are mostly answered 304.

Such an answer is a head without a body, and needs no whole HTTP client. Every other answer is known
by its status alone, or requested again with a client that reads bodies.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, cast

from yarl import URL

MAX_HEAD_BYTES: Final = 64 * 1024
# Answers with a body, in excess of those without: a server that never answers 304 is soon asked in
# another way.
ALLOWANCE: Final = 100
_END_OF_HEAD: Final = b"\r\n\r\n"
_VERSION: Final = b"HTTP/1.1 "
_CLOSES: Final = re.compile(rb"\r\nconnection:[^\r\n]*\bclose\b", re.IGNORECASE)
_RETRY_AFTER: Final = re.compile(rb"\r\nretry-after:[ \t]*([^\r\n]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a response whose body does not matter."""

    status: int
    retry_after: str = ""


_UNCHANGED: Final = Head(HTTPStatus.NOT_MODIFIED)


class KeptConnections:
    """One connection for each concurrent request to one server."""

    def __init__(
        self, origin: URL, trust: ssl.SSLContext | None, connect_seconds: float, read_seconds: float
    ) -> None:
        """Take the server's address (its path is ignored), certificates and timeouts."""
        self._origin = origin
        self._trust = trust
        self._connect_seconds = connect_seconds
        self._read_seconds = read_seconds
        self._free: list[_Connection] = []
        self._balance = ALLOWANCE
        self._lines = b""

    @property
    def is_worth_asking(self) -> bool:
        """Say whether enough of the answers so far had no body."""
        return self._balance > 0

    def set_headers(self, headers: Mapping[str, str]) -> None:
        """Set the headers of each request, its condition apart."""
        port = "" if self._origin.is_default_port() else f":{self._origin.port}"
        host = (
            {}
            if any(name.lower() == "host" for name in headers)
            else {"Host": f"{self._origin.host_subcomponent}{port}"}
        )
        self._lines = "".join(
            f"{name}: {value}\r\n" for name, value in {**host, **headers}.items()
        ).encode()

    async def ask(self, address: str, etag: str) -> Head | None:
        """Return the head of the answer; None if the body is needed or the connection was lost.

        OSError if no connection can be made.
        """
        connection = self._free.pop() if self._free else await self._connect()
        target = address[address.index("/", address.index("//") + 2) :]
        try:
            head = await connection.ask(
                b"GET %b HTTP/1.1\r\n%bIf-None-Match: %b\r\n\r\n"
                % (target.encode(), self._lines, etag.encode())
            )
        finally:
            if connection.is_idle:
                self._free.append(connection)
            else:
                connection.close()
        self._balance = max(0, min(ALLOWANCE, self._balance + (1 if head is _UNCHANGED else -1)))
        return head

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        host, port = self._origin.raw_host or "", self._origin.port or 0
        async with asyncio.timeout(self._connect_seconds):
            _, connection = await loop.create_connection(
                lambda: _Connection(loop, self._read_seconds),
                host,
                port,
                ssl=self._trust,
                happy_eyeballs_delay=0.25,
            )
        return connection

    async def close(self) -> None:
        """Close all connections."""
        for connection in self._free:
            connection.close()
        self._free.clear()
        await asyncio.sleep(0)  # the loop closes them in this turn


class _Connection(asyncio.Protocol):
    """One request at a time; an unexpected byte closes the connection."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._seconds = seconds
        self._waiting: asyncio.Future[Head | None] | None = None
        self._deadline = 0.0
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    @property
    def is_idle(self) -> bool:
        return self._transport is not None and self._waiting is None

    async def ask(self, request: bytes) -> Head | None:
        if self._transport is None:
            return None
        self._waiting = self._loop.create_future()
        self._deadline = self._loop.time() + self._seconds
        self._transport.write(request)
        return await self._waiting

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._timer = self._loop.call_later(self._seconds, self._look_at_clock)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(_END_OF_HEAD)
        if end < 0 and len(self._buffer) <= MAX_HEAD_BYTES:
            return
        head, rest = self._buffer[: end + 2], self._buffer[end + len(_END_OF_HEAD) :]
        self._buffer = b""
        answer = _read_head(head) if end >= 0 else None
        if answer is not _UNCHANGED or rest or _CLOSES.search(head):
            self.close()
        self._answer(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.close()
        self._answer(None)

    def close(self) -> None:
        if self._transport is not None:
            self._timer.cancel()
            self._transport.abort()
            self._transport = None

    def _answer(self, head: Head | None) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(head)
        elif head is not None:
            self.close()

    def _look_at_clock(self) -> None:
        """Check the timeout with one timer for each connection, not for each request."""
        left = self._deadline - self._loop.time()
        if self._waiting is not None and left <= 0:
            waiting, self._waiting = self._waiting, None
            self.close()
            waiting.set_exception(TimeoutError(f"no answer within {self._seconds:g} s"))
            return
        self._timer = self._loop.call_later(
            left if self._waiting is not None else self._seconds, self._look_at_clock
        )


def _read_head(head: bytes) -> Head | None:
    """Parse the head.

    None for 200 (which needs its body), redirects, 1xx, or other than HTTP/1.1.
    """
    digits = head[len(_VERSION) : len(_VERSION) + 3]
    if not head.startswith(_VERSION) or not digits.isdigit():
        return None
    status = int(digits)
    if status == HTTPStatus.NOT_MODIFIED:
        return _UNCHANGED
    if status < HTTPStatus.BAD_REQUEST:
        return None
    found = _RETRY_AFTER.search(head)
    return Head(status, found[1].decode("latin-1").strip() if found else "")
