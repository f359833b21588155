"""An API behind the daemon's own server on the loopback, for clients with sockets."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event

from fastapi import FastAPI

from maintainer.api.server import ApiServer, ConnectionBounds, bind, make_server

DEADLINE_SECONDS = 30


@dataclass(frozen=True)
class Listening:
    """Where an application is served."""

    port: int
    server: ApiServer

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def count_connections(self) -> int:
        return len(self.server.server_state.connections)

    def sends_at_once(self) -> bool:
        """True if no connection waits for an acknowledgement before it sends more."""
        sockets = [
            connection.transport.get_extra_info("socket")
            for connection in self.server.server_state.connections
        ]
        return all(each.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for each in sockets)


@contextmanager
def listening(
    api: FastAPI,
    stopping: Event | None = None,
    bounds: ConnectionBounds | None = None,
    proxies: Sequence[str] = (),
) -> Iterator[Listening]:
    """The application on a free port; stopping is set before the server ends."""
    server = make_server(api, bounds, proxies=proxies)
    listener = bind("server", "127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        wait_for(lambda: server.started)
        yield Listening(int(listener.getsockname()[1]), server)
    finally:
        if stopping is not None:
            stopping.set()
        server.should_exit = True
        thread.join(DEADLINE_SECONDS)
        listener.close()
        assert not thread.is_alive()


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        threading.Event().wait(0.01)
