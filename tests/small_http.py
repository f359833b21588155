"""A small HTTP server of a test: it answers on loopback, in threads of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class SmallHandler(BaseHTTPRequestHandler):
    """Answers with whole bodies, and logs nothing."""

    def answer(
        self, status: int, content: object = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer with bytes as they are, and with anything else as JSON."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@contextmanager
def serve_on_loopback(server: ThreadingHTTPServer) -> Iterator[str]:
    """Serve until the end of the block; yields the server's address."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
