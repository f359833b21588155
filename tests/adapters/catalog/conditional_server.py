"""A REST catalog of the tests' own that answers conditional requests, on the loopback."""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

from tests.small_http import SmallHandler, serve_on_loopback


class ConditionalServer(ThreadingHTTPServer):
    """Tables are names with a version, which is their metadata's location and, where it has any,
    their ETag.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ConditionalHandler)
        self.versions: dict[tuple[str, ...], int] = {}
        self.loadable: dict[
            tuple[str, ...], tuple[str, object]
        ] = {}  # the real metadata's location, and what it says
        self.has_etags = True
        self.refusals: list[int] = []  # statuses that are answered before the truth
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.given: Counter[int] = Counter()
        self.tokens = 0  # 0: nobody is asked for one; else the number of the only one that is good
        self.fetched = 0
        self.listings = 0  # of the namespaces at the top, one for each scan
        self.opens_listing = False  # without a token
        self.scheme = "http"

    def handle_error(self, request: object, client_address: object) -> None:
        """Quiet: a client that distrusts us hangs up."""

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}"

    @classmethod
    @contextmanager
    def running(cls, tls: ssl.SSLContext | None = None) -> Iterator[ConditionalServer]:
        with cls() as server:
            if tls is not None:
                server.scheme = "https"
                server.socket = tls.wrap_socket(
                    server.socket, server_side=True, do_handshake_on_connect=False
                )
            with serve_on_loopback(server):
                yield server


class ConditionalHandler(SmallHandler):
    server: ConditionalServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.fetched += 1
        self.answer(200, {"access_token": f"token-{self.server.tokens}", "token_type": "bearer"})

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        is_listing = "/tables/" not in url.path
        if (
            self.server.tokens
            and self.headers["Authorization"] != f"Bearer token-{self.server.tokens}"
            and not (self.server.opens_listing and is_listing)
        ):
            if "/tables/" in url.path:
                self.server.seen.append((url.query, dict(self.headers)))
            self.answer(
                401,
                {
                    "error": {
                        "message": "who are you",
                        "type": "NotAuthorizedException",
                        "code": 401,
                    }
                },
            )
            return
        match url.path.removeprefix("/v1/").split("/"):
            case ["config"]:
                self.answer(200, {"defaults": {}, "overrides": {}})
            case ["namespaces"]:
                parent = tuple(
                    part
                    for part in parse_qs(url.query).get("parent", [""])[0].split("\x1f")
                    if part
                )
                self.server.listings += not parent
                self.answer(200, {"namespaces": self.list_children(parent)})
            case ["namespaces", namespace, "tables"]:
                levels = split_path(namespace)
                found = [
                    {"namespace": list(name[:-1]), "name": name[-1]}
                    for name in self.server.versions
                    if name[:-1] == levels
                ]
                self.answer(200, {"identifiers": found})
            case ["namespaces", namespace, "tables", table]:
                self.load((*split_path(namespace), unquote(table)), url.query)
            case _:
                self.answer(
                    404,
                    {
                        "error": {
                            "message": "no such thing",
                            "type": "NotFoundException",
                            "code": 404,
                        }
                    },
                )

    def list_children(self, parent: tuple[str, ...]) -> list[list[str]]:
        depth = len(parent) + 1
        namespaces = {
            name[:-1][:depth]
            for name in self.server.versions
            if len(name) > depth and name[: len(parent)] == parent
        }
        return [list(namespace) for namespace in sorted(namespaces)]

    def load(self, name: tuple[str, ...], query: str) -> None:
        self.server.seen.append((query, dict(self.headers)))
        if self.server.refusals:
            self.answer(
                self.server.refusals.pop(0),
                {"error": {"message": "refused", "type": "Refused", "code": 500}},
                {"Retry-After": "0"},
            )
            return
        if name not in self.server.versions:
            self.answer(
                404,
                {
                    "error": {
                        "message": "no such table",
                        "type": "NoSuchTableException",
                        "code": 404,
                    }
                },
            )
            return
        version = self.server.versions[name]
        headers = {"ETag": f'W/"{name[-1]}-{version}"'} if self.server.has_etags else {}
        if headers and self.headers.get("If-None-Match") == headers["ETag"]:
            self.answer(304, headers=headers)
        else:
            location, metadata = self.server.loadable.get(
                name, (f"file:///{name[-1]}/{version}.json", {"snapshots": []})
            )
            self.answer(
                200, {"metadata-location": location, "metadata": metadata, "config": {}}, headers
            )

    def answer(
        self, status: int, content: object = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        self.server.given[status] += 1
        super().answer(status, content, headers)


def split_path(namespace: str) -> tuple[str, ...]:
    """PyIceberg encodes each level, and joins them by an encoded separator."""
    return tuple(unquote(part) for part in namespace.split("%1F"))
