from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterator

import pytest

from tests.torture.proxy import Proxy

COMMIT = b"UPDATE ... /a/2.metadata.json ... /a/1.metadata.json"


class Echo(socketserver.BaseRequestHandler):
    """Answers what it hears."""

    def handle(self) -> None:
        while heard := self.request.recv(4096):
            self.server.heard.append(heard)  # type: ignore[attr-defined]
            self.request.sendall(heard)


class EchoServer(socketserver.ThreadingTCPServer):
    """Remembers what it heard."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Echo)
        self.heard: list[bytes] = []


@pytest.fixture
def server() -> Iterator[EchoServer]:
    with EchoServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def proxy(server: EchoServer) -> Iterator[Proxy]:
    proxy = Proxy(server.server_address[1])
    proxy.start()
    yield proxy
    proxy.stop()


def connect(proxy: Proxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=10)


def is_ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(4096) == b""
    except ConnectionError:
        return True


def ask(connection: socket.socket, question: bytes) -> bytes:
    connection.sendall(question)
    return connection.recv(4096)


def test_what_is_said_arrives_and_is_answered(proxy: Proxy) -> None:
    with connect(proxy) as connection:
        assert ask(connection, COMMIT) == COMMIT


def test_a_cut_ends_every_connection_and_refusing_ends_new_ones(proxy: Proxy) -> None:
    with connect(proxy) as connection:
        assert ask(connection, b"one") == b"one"
        proxy.is_refusing = True
        proxy.cut()
        assert is_ended(connection)
    with connect(proxy) as refused:
        assert is_ended(refused)
    proxy.heal()
    with connect(proxy) as connection:
        assert ask(connection, b"two") == b"two"


def test_an_answer_is_lost_only_after_the_commit_has_arrived(
    proxy: Proxy, server: EchoServer
) -> None:
    proxy.answers_to_lose = 1
    with connect(proxy) as connection:
        assert ask(connection, b"SELECT /a/1.metadata.json") == b"SELECT /a/1.metadata.json", (
            "a question that commits nothing"
        )
        connection.sendall(COMMIT)
        assert is_ended(connection)
    assert server.heard[-1] == COMMIT
    assert (proxy.lost_answers, proxy.answers_to_lose) == (1, 0)


def test_a_delay_holds_back_what_is_said(proxy: Proxy) -> None:
    proxy.delay_seconds = 0.2
    with connect(proxy) as connection:
        start = time.monotonic()
        assert ask(connection, b"one") == b"one"
        assert time.monotonic() - start >= 0.2
