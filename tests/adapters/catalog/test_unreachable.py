"""A catalog that cannot be reached is described in a sentence, not in the words of an HTTP
library.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Thread

import pytest
import requests

from maintainer.adapters.catalog.faults import explain
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.clock import SystemClock
from maintainer.domain.errors import CatalogUnavailableError

RAW_WORDS = (
    "HTTPConnectionPool",
    "Max retries",
    "NewConnectionError",
    "urllib3",
    "object at 0x",
    "[Errno",
    "_ssl.c",
)


def ping(uri: str) -> str:
    catalog = PyIcebergCatalog(
        "lake", {"type": "rest", "uri": uri, "warehouse": "w"}, SystemClock()
    )
    with closing(catalog), pytest.raises(CatalogUnavailableError) as caught:
        catalog.ping()
    text = str(caught.value)
    assert not [word for word in RAW_WORDS if word in text], text
    return text


@contextmanager
def listen(answer: bytes | None = None) -> Iterator[int]:
    """A port where connections are accepted, and each gets the answer and its end; none where the
    answer is None.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            try:
                while True:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(answer or b"")
            except OSError:
                return  # the server was closed

        if answer is not None:
            Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts


def test_a_closed_port_says_that_nothing_listens_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert ping(f"http://127.0.0.1:{port}") == (
        f"catalog lake cannot be reached: nothing listens at http://127.0.0.1:{port} "
        f"(Connection refused)"
    )


def test_credentials_in_the_address_are_not_repeated() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert "geheim" not in ping(f"http://ada:geheim@127.0.0.1:{port}")


def test_a_host_without_an_address_is_named() -> None:
    text = ping("http://catalog.invalid:8181")
    assert text.startswith(
        "catalog lake cannot be reached: no address is known for host catalog.invalid ("
    )


def test_a_server_that_closes_the_connection_is_described() -> None:
    with listen(b"") as port:
        assert ping(f"http://127.0.0.1:{port}").startswith(
            f"catalog lake cannot be reached: the connection to http://127.0.0.1:{port} failed ("
        )


def test_a_server_without_tls_is_described() -> None:
    with listen(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        assert ping(f"https://127.0.0.1:{port}").startswith(
            f"catalog lake cannot be reached: no secure connection to https://127.0.0.1:{port} "
            f"can be made ("
        )


def test_a_server_that_does_not_answer_in_time_is_described() -> None:
    with listen() as port, pytest.raises(requests.Timeout) as caught:
        requests.get(f"http://127.0.0.1:{port}/v1/config", timeout=0.05)
    assert explain(caught.value) == f"http://127.0.0.1:{port} took too long to answer"


def test_a_connection_that_is_not_made_in_time_is_described(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hang(*_: object, **__: object) -> None:
        raise TimeoutError

    monkeypatch.setattr("urllib3.util.connection.create_connection", hang)
    with pytest.raises(requests.Timeout) as caught:
        requests.get("http://127.0.0.1:8181/v1/config", timeout=1)
    assert (
        explain(caught.value) == "http://127.0.0.1:8181 cannot be reached (no connection in time)"
    )


def test_a_proxy_that_is_not_there_is_called_the_proxy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(requests.exceptions.ProxyError) as caught:
        requests.get(
            "http://catalog.invalid/v1", proxies={"http": f"http://127.0.0.1:{port}"}, timeout=5
        )
    assert (
        explain(caught.value)
        == "the proxy on the way to http://catalog.invalid cannot be used (Connection refused)"
    )


def test_an_error_without_a_request_names_no_server() -> None:
    assert (
        explain(requests.ConnectionError("broken"))
        == "the connection to the server failed (broken)"
    )


def test_other_errors_keep_their_words() -> None:
    assert explain(ValueError("no such property")) == "no such property"
