"""The HTTP server, with bounds that uvicorn lacks: connections, and the time to send a request."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from maintainer.domain.errors import ConfigurationError

STOP_SECONDS = 5  # for open answers after the server is asked to stop
STUCK_SECONDS = 30.0  # a server whose loop has not run for so long answers nobody
BACKLOG = 128  # connections that wait to be accepted
SAID_EVERY_SECONDS = 60.0
_OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_LOG = logging.getLogger(__name__)
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n"
    b"Content-Length: 0\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class ConnectionBounds:
    """How many connections there may be, and how long a client may take."""

    connections: int = 256  # a process may by default have 1024 open files
    # Of one client address. Behind a proxy many people have one address.
    connections_per_address: int = 192
    # from the connection, or a request's first byte, to the end of the headers
    header_seconds: float = 10
    body_seconds: float = 30  # from the end of the headers to the end of the body
    write_seconds: float = 60  # how long a client may leave an answer unread


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files: the server's certificate with those between it and its authority, and its key."""

    certificate: Path
    key: Path


def bind(section: str, host: str, port: int, name: str = "port") -> socket.socket:
    """Return a listening socket; ConfigurationError if the address is in use or of another machine.

    ``section`` is the section of the settings with the address, and ``name`` its setting of the
    port.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # asyncio sends each part of an answer at once only if the protocol is given. Otherwise the
        # second part waits 40 ms for the client's acknowledgement of the first part.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        raise ConfigurationError(
            f"{section}.host {host}, {section}.{name} {port}: cannot listen there: "
            f"{error.strerror or error}"
        ) from error
    return listener


def make_server(
    api: FastAPI,
    bounds: ConnectionBounds | None = None,
    tls: TlsFiles | None = None,
    proxies: Sequence[str] = (),
) -> ApiServer:
    """A server for the application; its run() is given listening sockets.

    Proxies are addresses and networks whose X-Forwarded headers are believed.
    """
    config = _Config(
        api,
        http=_BoundedProtocol,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=STOP_SECONDS,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        lifespan="off",  # these applications have nothing to start
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
    )
    config.bounds = bounds or ConnectionBounds()
    return ApiServer(config)


class _Config(uvicorn.Config):
    bounds: ConnectionBounds


# For probes and metrics alone: an orchestrator and a few Prometheus servers.
PROBE_BOUNDS = ConnectionBounds(connections=32, connections_per_address=24)


class ApiServer(uvicorn.Server):
    """A server that says once a minute that no more connections can be accepted.

    asyncio would log a hundred tracebacks a second while the process has no free descriptor.
    """

    _said_at = float("-inf")

    def __init__(self, config: _Config) -> None:
        super().__init__(config)
        self._ticked_at = monotonic()

    @property
    def is_stuck(self) -> bool:
        """Whether the loop that answers has not run for STUCK_SECONDS."""
        return monotonic() - self._ticked_at > STUCK_SECONDS

    async def on_tick(self, counter: int) -> bool:
        """Note that the loop runs; uvicorn calls this ten times a second."""
        self._ticked_at = monotonic()
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._report)
        await super().startup(sockets)

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _OUT_OF_RESOURCES:
            loop.default_exception_handler(context)
            return
        if loop.time() - self._said_at >= SAID_EVERY_SECONDS:
            self._said_at = loop.time()
            _LOG.error("server.cannot_accept error=%s", error.strerror)


class _BoundedProtocol(H11Protocol):
    """One connection, with a deadline for what the client has yet to send or read.

    Single bytes do not extend the deadline.
    """

    # The arguments are those of uvicorn.
    def __init__(self, config: _Config, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        super().__init__(config, *arguments, **named)
        self._bounds = config.bounds
        self._owed: object = None  # the part of a request that the client is sending
        self.waiting_since = 0.0  # the last moment at which the client owed nothing
        self._deadline: asyncio.TimerHandle | None = None
        self._write_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection; when there are too many, the one that waits longest goes.

        A connection that waits for its client takes no other's place for long: a probe is answered
        while somebody holds every connection with half a request. When all are being answered,
        the new one is refused.
        """
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        if self._makes_room():
            self._watch()
        else:
            transport.write(_TOO_MANY)
            transport.close()

    def _makes_room(self) -> bool:
        """Return whether there is room for this connection, perhaps after ending another one."""
        others = [one for one in self._siblings() if not one.transport.is_closing()]
        addresses = Counter(one.address for one in others)
        addresses[self.address] += 1
        if addresses[self.address] > self._bounds.connections_per_address:
            return _end_longest([one for one in others if one.address == self.address])
        if len(others) < self._bounds.connections:
            return True
        most = max(addresses.values())
        return _end_longest([one for one in others if addresses[one.address] == most]) or (
            _end_longest(others)
        )

    def _siblings(self) -> list[_BoundedProtocol]:
        return [
            one for one in self.connections if isinstance(one, _BoundedProtocol) and one is not self
        ]

    @property
    def address(self) -> str:
        """The client's address without its port; a proxy's own address behind a proxy."""
        peer = self.transport.get_extra_info("peername")
        return str(peer[0]) if peer else ""

    @property
    def waits(self) -> bool:
        """Whether the client has yet to send the rest of a request, or a next one.

        A client that is being answered does not wait, although it may owe the end of its body.
        """
        is_answered = self.conn.our_state is h11.SEND_BODY
        return self.conn.their_state in {h11.IDLE, h11.SEND_BODY} and not is_answered

    def data_received(self, data: bytes) -> None:
        """Read on, and set the deadline for what is still missing."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Set a deadline if the next request has begun; uvicorn itself ends idle connections."""
        super().on_response_complete()
        self.waiting_since = self.loop.time()
        if self.conn.their_state is not h11.IDLE:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadlines."""
        self._owe(None)
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Set a deadline, because the client does not read."""
        super().pause_writing()
        self._write_deadline = self.loop.call_later(
            self._bounds.write_seconds, self.transport.abort
        )

    def resume_writing(self) -> None:
        """Cancel the deadline, because the client reads again."""
        super().resume_writing()
        if self._write_deadline is not None:
            self._write_deadline.cancel()
            self._write_deadline = None

    def _watch(self) -> None:
        state = self.conn.their_state
        self._owe(
            state
            if state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing()
            else None
        )

    def _owe(self, part: object) -> None:
        if part is self._owed and part is not None:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        seconds = self._bounds.header_seconds if part is h11.IDLE else self._bounds.body_seconds
        self._deadline = self.loop.call_later(seconds, self._give_up) if part is not None else None
        self._owed = part

    def _give_up(self) -> None:
        """End the connection, unless it is being answered: what it owes waits for that."""
        self._owed = None
        if self.waits:
            self.transport.abort()


def _end_longest(connections: Sequence[_BoundedProtocol]) -> bool:
    """End the connection that waits longest for its client; False if none waits."""
    waiting = [one for one in connections if one.waits]
    if not waiting:
        return False
    min(waiting, key=lambda one: one.waiting_since).transport.abort()
    return True
