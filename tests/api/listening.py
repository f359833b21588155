"""An API behind the daemon's own server on the loopback, for clients with sockets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event

from fastapi import FastAPI

from maintainer.api.server import ConnectionBounds, bind, make_server

DEADLINE_SECONDS = 30


@dataclass(frozen=True)
class Listening:
    """Where an application is served."""

    port: int
    count_connections: Callable[[], int]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


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
        yield Listening(
            int(listener.getsockname()[1]), lambda: len(server.server_state.connections)
        )
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
