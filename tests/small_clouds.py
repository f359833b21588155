"""As much of two clouds' storage as Iceberg's clients of them ask for: Alibaba's OSS and the blobs
of Azure. Objects are in memory; signatures are not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import md5
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from threading import Lock
from urllib.parse import parse_qs, unquote, urlsplit

from tests.small_http import SmallHandler, serve_on_loopback

_MODIFIED = "Tue, 03 Nov 2026 10:00:00 GMT"
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
_BLOCK = re.compile(rb"<(?:Latest|Uncommitted|Committed)>([^<]+)<")


class SmallCloud(ThreadingHTTPServer):
    """The objects by path, and the parts of those that are not whole yet."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = Lock()
        self.objects: dict[str, bytes] = {}
        self.blocks: dict[tuple[str, str], bytes] = {}
        self.clients: set[str] = set()  # as they call themselves
        self.signers: set[str] = set()  # the scheme and the key that signed, without the signature


class _Handler(SmallHandler):
    server: SmallCloud
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        path, query, body = self._read()
        with self.server.lock:
            match query.get("comp"):
                case ["block"]:
                    self.server.blocks[path, query["blockid"][0]] = body
                case ["blocklist"]:
                    names = [name.decode() for name in _BLOCK.findall(body)]
                    parts = [self.server.blocks.pop((path, name)) for name in names]
                    self.server.objects[path] = b"".join(parts)
                case _:
                    self.server.objects[path] = body
        self.answer(HTTPStatus.CREATED if self._is_azure else HTTPStatus.OK, b"", self._about(body))

    def do_GET(self) -> None:
        path, _, _ = self._read()
        with self.server.lock:
            whole = self.server.objects.get(path)
        if whole is None:
            self._miss()
            return
        found = _RANGE.fullmatch(self.headers.get("x-ms-range") or self.headers.get("Range") or "")
        if found is None:
            self.answer(HTTPStatus.OK, whole, self._about(whole))
            return
        start, end = int(found[1]), min(int(found[2] or len(whole)), len(whole) - 1)
        part = {"Content-Range": f"bytes {start}-{end}/{len(whole)}"}
        self.answer(
            HTTPStatus.PARTIAL_CONTENT, whole[start : end + 1], {**self._about(whole), **part}
        )

    def do_HEAD(self) -> None:
        path, _, _ = self._read()
        with self.server.lock:
            whole = self.server.objects.get(path)
        if whole is None:
            self._miss()
            return
        self.send_response(HTTPStatus.OK)
        for name, value in {**self._about(whole), "Content-Length": str(len(whole))}.items():
            self.send_header(name, value)
        self.end_headers()

    def do_DELETE(self) -> None:
        path, _, _ = self._read()
        with self.server.lock:
            self.server.objects.pop(path, None)
        self.answer(HTTPStatus.ACCEPTED if self._is_azure else HTTPStatus.NO_CONTENT)

    @property
    def _is_azure(self) -> bool:
        return "x-ms-version" in self.headers

    def _read(self) -> tuple[str, dict[str, list[str]], bytes]:
        """The path, the query and the body of the request."""
        asked = urlsplit(self.path)
        self.server.clients.add((self.headers.get("User-Agent") or "").partition("/")[0])
        self.server.signers.add((self.headers.get("Authorization") or "").rpartition(":")[0])
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(iter(self._read_chunk, b""))
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return unquote(asked.path), parse_qs(asked.query, keep_blank_values=True), body

    def _read_chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0], 16)
        chunk = self.rfile.read(size)
        self.rfile.readline()
        return chunk

    def _about(self, whole: bytes) -> dict[str, str]:
        tag = md5(whole, usedforsecurity=False).hexdigest().upper()
        return {
            "ETag": f'"{tag}"',
            "Last-Modified": _MODIFIED,
            "x-oss-request-id": "1",
            "x-ms-request-id": "1",
            "x-ms-version": "2021-12-02",
            "x-ms-blob-type": "BlockBlob",
            "x-ms-creation-time": _MODIFIED,
            "x-ms-request-server-encrypted": "false",
        }

    def _miss(self) -> None:
        code = "BlobNotFound" if self._is_azure else "NoSuchKey"
        error = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>no</Message></Error>"
        body = b"" if self.command == "HEAD" else error.encode()
        headers = {"x-ms-error-code": code, "x-oss-request-id": "1"}
        self.answer(HTTPStatus.NOT_FOUND, body, {**headers, "Content-Type": "application/xml"})


@contextmanager
def serve_small_cloud() -> Iterator[SmallCloud]:
    """A storage that ends with the block."""
    cloud = SmallCloud()
    with serve_on_loopback(cloud):
        yield cloud
