"""A proxy of the tests in front of a REST catalog: it hands requests on, or has a bad day."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from ssl import SSLContext
from threading import Lock
from urllib.parse import urlsplit

from tests.small_http import SmallHandler, serve_on_loopback

_UPSTREAM_SECONDS = 60
_GRACE = 1.5  # how much longer than said a token is good: on a busy machine a client is late
_LEFT_OUT = frozenset(
    {"host", "connection", "transfer-encoding", "content-length", "server", "date"}
)


@dataclass(frozen=True)
class Request:
    """What the proxy was asked."""

    method: str
    path: str  # without the query
    authorization: str = ""
    body: bytes = b""


@dataclass(frozen=True)
class Answer:
    """What the catalog answered."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


# Given the request and a function that asks the catalog: the answer, None to break the connection.
Fault = Callable[[Request, Callable[[], Answer]], Answer | None]


class FaultyProxy(ThreadingHTTPServer):
    """Hands requests on to the catalog, until it is given a fault."""

    daemon_threads = True

    def __init__(self, upstream: str, token_seconds: int, tokens_of: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._token_seconds, self._tokens_of = token_seconds, tokens_of
        self._ends: dict[str, float] = {}  # of each token, by how it comes with a request
        self._upstream = urlsplit(upstream)
        self._lock = Lock()
        self._fault: Fault | None = None
        self._met = 0
        self._waiting = 0
        self.asked: list[Request] = []
        self.tokens = 0  # that it has given; each is another one

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def met(self) -> int:
        """How many requests have met the present fault."""
        with self._lock:
            return self._met

    @property
    def waiting(self) -> int:
        """How many requests have no answer yet."""
        with self._lock:
            return self._waiting

    def is_valid(self, authorization: str) -> bool:
        """Whether that is a token of this server which has not ended."""
        with self._lock:
            return time.monotonic() < self._ends.get(authorization, 0)

    @contextmanager
    def having(self, fault: Fault) -> Iterator[None]:
        """Have this fault until the end of the block."""
        with self._lock:
            self._fault, self._met = fault, 0
        try:
            yield
        finally:
            with self._lock:
                self._fault = None

    def reply(self, request: Request, headers: Mapping[str, str]) -> Answer | None:
        """The answer to a request, by the present fault."""
        with self._lock:
            self.asked.append(request)
            fault = self._fault

        if request.path.endswith("/oauth/tokens"):
            return self._give_token()

        def ask() -> Answer:
            return self._ask(request.method, headers[":target"], request.body, headers)

        if fault is None:
            return ask()
        with self._lock:
            self._waiting += 1
        try:
            return fault(request, ask)
        finally:
            with self._lock:
                self._waiting -= 1
                self._met += 1

    def _give_token(self) -> Answer:
        with self._lock:
            self.tokens += 1
            name = f"{self._tokens_of}-{self.tokens}"
            seconds = _GRACE * self._token_seconds
            self._ends[f"Bearer {name}"] = time.monotonic() + seconds
            token = {
                "access_token": name,
                "token_type": "bearer",
                "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
                "expires_in": self._token_seconds,
            }
        return Answer(200, json.dumps(token).encode(), {"Content-Type": "application/json"})

    def _ask(self, method: str, target: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        assert self._upstream.hostname is not None
        connection = HTTPConnection(
            self._upstream.hostname, self._upstream.port, timeout=_UPSTREAM_SECONDS
        )
        kept = {
            name: text
            for name, text in headers.items()
            if name.lower() not in _LEFT_OUT and not name.startswith(":")
        }
        try:
            connection.request(method, target, body or None, kept)
            response = connection.getresponse()
            found = {k: v for k, v in response.getheaders() if k.lower() not in _LEFT_OUT}
            return Answer(response.status, response.read(), found)
        finally:
            connection.close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that was made to wait may have gone."""


class _Handler(SmallHandler):
    server: FaultyProxy
    protocol_version = "HTTP/1.1"

    def _reply(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {**dict(self.headers.items()), ":target": self.path}
        request = Request(
            self.command, urlsplit(self.path).path, self.headers.get("Authorization", ""), body
        )
        answer = self.server.reply(request, headers)
        if answer is None:
            self.close_connection = True
            return
        if self.command == "HEAD":
            self.send_response(answer.status)
            for name, text in answer.headers.items():
                self.send_header(name, text)
            self.end_headers()
            return
        self.answer(answer.status, answer.body, answer.headers)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _reply


@contextmanager
def serve_faulty_proxy(
    upstream: str,
    tls: SSLContext | None = None,
    token_seconds: int = 3600,
    tokens_of: str = "token",
) -> Iterator[FaultyProxy]:
    """A proxy that ends with the block; it asks for TLS if it has a certificate."""
    proxy = FaultyProxy(upstream, token_seconds, tokens_of)
    if tls is not None:  # a handshake in the thread of its connection
        proxy.socket = tls.wrap_socket(
            proxy.socket, server_side=True, do_handshake_on_connect=False
        )
    with serve_on_loopback(proxy):
        yield proxy
