"""A small Kubernetes API server on the loopback; api_objects has what it answers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from tests.adapters.spark.launcher.kubernetes.api_objects import (
    ADMIN,
    APACHE,
    KUBEFLOW,
    ApiServer,
    Asked,
    Call,
    Document,
    RefusedError,
)

__all__ = ["ADMIN", "ApiServer", "Document", "open_api_server"]

_PATH = re.compile(
    r"/(?:api/v1|apis/(?P<group>[^/]+)/(?P<version>[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/]+))?/(?P<resource>[a-z]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<subresource>[a-z]+))?"
)
_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "AlreadyExists",
    422: "Invalid",
}


class _Handler(BaseHTTPRequestHandler):
    server: _HttpServer

    def log_message(self, *_: object) -> None:
        pass

    def _handle(self) -> None:
        content = self._read_body()
        url = urlsplit(self.path)
        parsed = _PATH.fullmatch(url.path)
        user = self.headers.get("Authorization", "").removeprefix("Bearer ")
        api = self.server.api
        if user != ADMIN and user not in api.grants:
            return self._refuse(RefusedError(401, "Unauthorized"))
        if parsed is None or not api.knows(
            parsed["group"] or "", parsed["version"] or "", parsed["resource"]
        ):
            return self._send(404, b"404 page not found\n", "text/plain; charset=utf-8")
        asked = self._read(parsed, user, {k: v[0] for k, v in parse_qs(url.query).items()})
        try:
            code, found = api.answer(asked, self.command, json.loads(content or b"{}"))
        except RefusedError as refused:
            return self._refuse(refused)
        if isinstance(found, bytes):
            return self._send(code, found, "text/plain")
        return self._send(code, json.dumps(found).encode(), "application/json")

    do_GET = do_POST = do_DELETE = do_PATCH = _handle

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content = b""
        while length := int(self.rfile.readline(), 16):
            content += self.rfile.read(length)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def _read(self, parsed: re.Match[str], user: str, query: dict[str, str]) -> Asked:
        name, subresource = parsed["name"] or "", parsed["subresource"] or ""
        verb = {
            "GET": "get" if name else "watch" if query.get("watch") else "list",
            "POST": "create",
            "DELETE": "delete" if name else "deletecollection",
            "PATCH": "patch",
        }[self.command]
        resource = parsed["resource"]
        named = f"{resource}/{subresource}" if subresource else resource
        call = Call(user, verb, parsed["group"] or "", named)
        return Asked(call, parsed["namespace"] or "", resource, name, subresource, query)

    def _refuse(self, refused: RefusedError) -> None:
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": str(refused),
            "reason": _REASONS.get(refused.code, "InternalError"),
            "code": refused.code,
        }
        self._send(refused.code, json.dumps(status).encode(), "application/json")

    def _send(self, code: int, content: bytes, kind: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    api: ApiServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no error of the server."""


@contextmanager
def open_api_server(
    namespaces: tuple[str, ...] = ("spark-jobs",), groups: tuple[str, ...] = (KUBEFLOW, APACHE)
) -> Iterator[ApiServer]:
    """Serve on a port of the loopback until the end."""
    api = ApiServer(namespaces, groups)
    with _HttpServer(("127.0.0.1", 0), _Handler) as http:
        http.api = api
        api.port = http.server_address[1]
        serving = threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True)
        serving.start()
        try:
            yield api
        finally:
            if api.delay is not None:
                api.delay.set()
            http.shutdown()
            serving.join()
