"""An HTTP proxy of the tests: it asks for a password, and leads to names that no other server
knows.
"""

from __future__ import annotations

import selectors
import socket
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import ThreadingHTTPServer

from tests.small_http import SmallHandler, serve_on_loopback

_BYTES = 65536


class ConnectProxy(ThreadingHTTPServer):
    """Connects to the ports of this machine that stand behind the names."""

    daemon_threads = True

    def __init__(self, ports: Mapping[str, int], user: str, password: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.ports = ports  # by HOST:PORT as clients ask for it
        self.expected = "Basic " + b64encode(f"{user}:{password}".encode()).decode()
        self.address = f"http://{user}:{password}@127.0.0.1:{self.server_port}"
        self.clients: list[str] = []  # as they call themselves, of each connection

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client may go at any time."""


class _Handler(SmallHandler):
    server: ConnectProxy
    protocol_version = "HTTP/1.1"

    def do_CONNECT(self) -> None:
        if self.headers.get("Proxy-Authorization") != self.server.expected:
            challenge = {"Proxy-Authenticate": 'Basic realm="tests"'}
            self.answer(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED, b"", challenge)
            return
        port = self.server.ports.get(self.path)
        if port is None:
            self.answer(HTTPStatus.BAD_GATEWAY)
            return
        self.server.clients.append(self.headers.get("User-Agent") or "")
        self.close_connection = True
        with socket.create_connection(("127.0.0.1", port)) as upstream:
            self.send_response(HTTPStatus.OK)
            self.end_headers()
            _hand_on(self.connection, upstream)


def _hand_on(client: socket.socket, upstream: socket.socket) -> None:
    """Copy what each side says to the other, until one of them has gone."""
    others = {client: upstream, upstream: client}
    with selectors.DefaultSelector() as selector:
        for side in others:
            selector.register(side, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                side = client if key.fileobj is client else upstream
                said = side.recv(_BYTES)
                if not said:
                    return
                others[side].sendall(said)


@contextmanager
def serve_connect_proxy(
    ports: Mapping[str, int], user: str, password: str
) -> Iterator[ConnectProxy]:
    """A proxy that ends with the block."""
    proxy = ConnectProxy(ports, user, password)
    with serve_on_loopback(proxy):
        yield proxy
