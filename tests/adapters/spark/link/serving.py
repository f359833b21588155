"""The endpoint on a port of the loopback, as a daemon serves it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from maintainer.api.server import TlsFiles, make_server
from tests.adapters.spark.lakes import wait_until


@contextmanager
def served(endpoint: FastAPI, tls: TlsFiles | None = None, port: int = 0) -> Iterator[str]:
    """Its address, while it is served."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
        server = make_server(endpoint, tls=tls)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        wait_until(lambda: server.started)
        try:
            yield f"{'http' if tls is None else 'https'}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
