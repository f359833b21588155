"""The server's bounds, on real sockets: connections, and requests that never arrive whole."""

from __future__ import annotations

import os
import re
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from maintainer.api import documentation, jobs, server
from maintainer.api.application import build_probes
from maintainer.api.guard import Limits, Streams
from maintainer.api.server import PROBE_BOUNDS, ConnectionBounds
from maintainer.domain.access import Role
from tests.api.listening import DEADLINE_SECONDS, Listening, listening, wait_for
from tests.api.nouns import ORDERS
from tests.api.people import let_in, secret_of
from tests.api.serving import Client, path_of

WHOLE = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = b"GET /livez HTTP/1.1\r\nHost: localh"
STREAM = (
    b"GET /api/v1/jobs/job-2/events HTTP/1.1\r\nHost: localhost\r\n"
    b"Accept: text/event-stream\r\n\r\n"
)
RUN = (
    f"POST {path_of(ORDERS)}/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
    f"application/json\r\nContent-Length: 13\r\n\r\n"
).encode()
SHORT = 0.3
Serve = Callable[[ConnectionBounds], "Service"]


@dataclass
class Service:
    """A served API, and the connections that a test has made to it."""

    listening: Listening
    connections: ExitStack

    def connect(self, source: str = "127.0.0.1") -> socket.socket:
        return self.connections.enter_context(
            closing(
                socket.create_connection(
                    ("127.0.0.1", self.listening.port), DEADLINE_SECONDS, (source, 0)
                )
            )
        )


@pytest.fixture
def serve(client: Client) -> Iterator[Callable[[ConnectionBounds], Service]]:
    with ExitStack() as stack:

        def begin(bounds: ConnectionBounds) -> Service:
            served = stack.enter_context(listening(client.api, client.daemon.stopping, bounds))
            return Service(
                served, stack.enter_context(ExitStack())
            )  # connections end before the server

        yield begin


def read_to_end(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    reported = b""
    try:
        while received := connection.recv(65536):
            reported += received
    except ConnectionResetError:
        pass
    return reported


def count_bytes_taken(connection: socket.socket) -> int:
    """How many single bytes could be sent, one after each of the connection's time-outs, until the
    server closed it.
    """
    for sent in range(int(DEADLINE_SECONDS / (connection.gettimeout() or 1))):
        try:
            connection.sendall(b"G")
            if not connection.recv(1):
                return sent
        except TimeoutError:
            continue
        except OSError:
            return sent
    pytest.fail("the connection was never closed")


def ask(connection: socket.socket, request: bytes = WHOLE) -> bytes:
    """One whole answer."""
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(1)
    length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
    assert length is not None
    whole = len(answer) + int(length[1])
    while len(answer) < whole:
        answer += connection.recv(whole - len(answer))
    return answer


def test_an_answer_is_sent_without_waiting_for_acknowledgements(serve: Serve) -> None:
    service = serve(ConnectionBounds())
    service.connect().sendall(HALF)
    wait_for(lambda: service.listening.count_connections() == 1)
    assert service.listening.sends_at_once()


@pytest.mark.parametrize("sent", [b"", b"G", HALF, WHOLE[:-2]])
def test_a_request_whose_headers_never_end_is_given_up(serve: Serve, sent: bytes) -> None:
    connection = serve(ConnectionBounds(header_seconds=SHORT)).connect()
    connection.sendall(sent)
    assert read_to_end(connection) == b""


def test_single_bytes_do_not_prolong_the_time(serve: Serve) -> None:
    connection = serve(ConnectionBounds(header_seconds=SHORT)).connect()
    connection.settimeout(SHORT / 20)
    assert 1 < count_bytes_taken(connection) < DEADLINE_SECONDS / (SHORT / 20)


def test_a_second_request_of_a_connection_is_bounded_too(serve: Serve) -> None:
    connection = serve(ConnectionBounds(header_seconds=SHORT)).connect()
    assert ask(connection).startswith(b"HTTP/1.1 200")
    assert ask(connection, WHOLE + HALF).startswith(b"HTTP/1.1 200")
    connection.sendall(b"o")
    assert b"HTTP/1.1" not in read_to_end(connection)


def test_a_body_that_never_ends_is_given_up_without_a_run(
    serve: Serve, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    connection = serve(ConnectionBounds(body_seconds=SHORT)).connect()
    connection.sendall(RUN + b'{"rules"')
    assert read_to_end(connection) == b""
    assert client.daemon.runs == []
    assert "Traceback" not in caplog.text


def test_a_body_that_comes_in_time_is_read(serve: Serve, client: Client) -> None:
    connection = serve(ConnectionBounds()).connect()
    connection.sendall(RUN + b'{"rules"')
    assert ask(connection, b": []}").startswith(b"HTTP/1.1 202")
    assert len(client.daemon.runs) == 1


@pytest.mark.parametrize("sent", [b"", HALF])
def test_a_probe_is_answered_while_one_address_holds_every_connection(
    serve: Serve, sent: bytes
) -> None:
    service = serve(ConnectionBounds())
    held = [service.connect() for _ in range(300)]
    for connection in held:
        with suppress(ConnectionError):
            connection.sendall(sent)
    for _ in range(73):
        assert ask(service.connect()).startswith(b"HTTP/1.1 200")
        held.append(service.connect())
        held[-1].sendall(HALF)
    # A connection that is ended is counted until the loop's next turn.
    most = ConnectionBounds().connections_per_address
    wait_for(lambda: service.listening.count_connections() <= most)


@contextmanager
def beside(client: Client, service: Service) -> Iterator[Service]:
    """The probes on their own port, beside a served API."""
    context = replace(client.api.state.context, is_stuck=lambda: service.listening.server.is_stuck)
    with listening(build_probes(context), bounds=PROBE_BOUNDS) as served, ExitStack() as stack:
        yield Service(served, stack)


def test_probes_on_their_own_port_are_answered_while_the_other_port_answers_nobody(
    serve: Serve, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A stream notices that its client has left when it sends the next comment.
    monkeypatch.setattr(jobs, "KEEP_ALIVE_SECONDS", 0.1)
    most = 4
    service = serve(ConnectionBounds(connections=most))
    for connection in [service.connect() for _ in range(most)]:
        connection.sendall(STREAM)
        assert connection.recv(12) == b"HTTP/1.1 200"
    for connection in [service.connect() for _ in range(260)]:
        with suppress(ConnectionError):
            connection.sendall(HALF)
    assert read_to_end(service.connect()).startswith(b"HTTP/1.1 503")
    with beside(client, service) as probes:
        for path in ("livez", "readyz", "metrics"):
            request = WHOLE.replace(b"livez", path.encode())
            assert ask(probes.connect(), request).startswith(b"HTTP/1.1 200"), path
        # Nor can half-open connections to their own port hold them.
        for connection in [probes.connect() for _ in range(260)]:
            with suppress(ConnectionError):
                connection.sendall(HALF)
        assert ask(probes.connect()).startswith(b"HTTP/1.1 200")
        most = PROBE_BOUNDS.connections_per_address
        wait_for(lambda: probes.listening.count_connections() <= most)


def test_the_own_port_of_probes_serves_nothing_else_and_guards_the_metrics(
    serve: Serve, client: Client
) -> None:
    let_in(client, "prometheus", Role.VIEWER)
    with beside(client, serve(ConnectionBounds())) as probes:
        address = probes.listening.address

        def status(path: str, **headers: str) -> int:
            answer = httpx.get(f"{address}{path}", headers=headers, timeout=DEADLINE_SECONDS)
            return answer.status_code

        bearer = f"Bearer {secret_of('prometheus')}"
        for path in ("/", "/api/v1/overview", "/docs", "/openapi.json"):
            assert status(path, Authorization=bearer) == 404
        assert [status(path) for path in ("/livez", "/readyz", "/metrics")] == [200, 200, 401]
        assert status("/metrics", Authorization=bearer) == 200


def test_the_own_port_of_probes_says_when_the_api_no_longer_answers(
    serve: Serve, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Event()

    async def hold(_request: Request) -> Response:
        held.wait(DEADLINE_SECONDS)  # which no endpoint does: the whole server waits
        return Response("held")

    client.api.router.routes.insert(0, Route("/hold", hold))
    service = serve(ConnectionBounds())
    monkeypatch.setattr(server, "STUCK_SECONDS", SHORT)
    with beside(client, service) as probes:
        assert ask(probes.connect()).startswith(b"HTTP/1.1 200")
        waiting = service.connect()
        waiting.sendall(WHOLE.replace(b"livez", b"hold"))
        wait_for(lambda: ask(probes.connect()).startswith(b"HTTP/1.1 503"))
        held.set()
        wait_for(lambda: ask(probes.connect()).startswith(b"HTTP/1.1 200"))


def test_the_connection_that_waits_longest_goes_first(serve: Serve) -> None:
    service = serve(ConnectionBounds(connections=3))
    first, second, third = (service.connect() for _ in range(3))
    first.sendall(HALF)
    second.sendall(HALF)
    assert ask(third).startswith(b"HTTP/1.1 200")
    wait_for(lambda: service.listening.count_connections() == 3)
    assert ask(service.connect()).startswith(b"HTTP/1.1 200")
    assert read_to_end(first) == b""
    assert ask(second, WHOLE[len(HALF) :]).startswith(b"HTTP/1.1 200")
    assert ask(third).startswith(b"HTTP/1.1 200")


def test_an_answer_under_way_is_not_ended_for_a_new_connection(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A stream notices that its client has left when it sends the next comment.
    monkeypatch.setattr(jobs, "KEEP_ALIVE_SECONDS", 0.1)
    most = 2
    service = serve(ConnectionBounds(connections=most))
    streams = [service.connect() for _ in range(most)]
    for connection in streams:
        connection.sendall(STREAM)
        assert connection.recv(12) == b"HTTP/1.1 200"
    refused = [service.connect() for _ in range(10)]
    assert {read_to_end(connection).split(b"\r\n")[0] for connection in refused} == {
        b"HTTP/1.1 503 Service Unavailable"
    }
    streams[0].close()
    wait_for(lambda: service.listening.count_connections() < most)
    assert ask(service.connect()).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("is_late", [False, True])
def test_a_client_that_is_being_answered_is_not_ended_for_what_it_still_owes(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    monkeypatch.setattr(jobs, "KEEP_ALIVE_SECONDS", SHORT)
    service = serve(ConnectionBounds(connections=1, body_seconds=SHORT if is_late else 30))
    stream = service.connect()
    stream.sendall(STREAM.replace(b"Accept:", b"Content-Length: 5\r\nAccept:"))
    assert stream.recv(12) == b"HTTP/1.1 200"
    if not is_late:
        assert read_to_end(service.connect()).startswith(b"HTTP/1.1 503")
    comments = b""
    while comments.count(b": still here") < 4:
        received = stream.recv(65536)
        assert received, "the answer was ended"
        comments += received


def test_a_client_that_was_answered_still_owes_the_end_of_its_body(serve: Serve) -> None:
    connection = serve(ConnectionBounds(body_seconds=SHORT)).connect()
    ask(connection, WHOLE.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n"))
    assert read_to_end(connection) == b""


def test_a_process_without_free_descriptors_says_so_once_and_goes_on(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    service = serve(ConnectionBounds())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    waiting = [service.connections.enter_context(closing(socket.socket())) for _ in range(20)]
    used = max(int(entry.name) for entry in Path("/proc/self/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (used, hard))
    taken: list[int] = []
    with suppress(OSError):
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    try:
        for connection in waiting:
            connection.connect(("127.0.0.1", service.listening.port))
        wait_for(lambda: "server.cannot_accept" in caplog.text)
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert ask(waiting[-1]).startswith(b"HTTP/1.1 200")
    assert caplog.text.count("server.cannot_accept") == 1
    assert "Traceback" not in caplog.text


def test_an_answer_that_nobody_reads_is_given_up(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 50_000_000
    monkeypatch.setattr(documentation, "write_documentation", lambda _: "x" * size)
    service = serve(ConnectionBounds(write_seconds=SHORT))
    connection = service.connect()
    connection.sendall(b"GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n")
    wait_for(lambda: service.listening.count_connections() == 1)
    wait_for(lambda: service.listening.count_connections() == 0)
    assert 0 < len(read_to_end(connection)) < size


def test_a_person_follows_so_many_streams_at_once(
    client: Client, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A stream notices that its client has left when it sends the next comment.
    monkeypatch.setattr(jobs, "KEEP_ALIVE_SECONDS", 0.1)
    for name in ("one", "other"):
        let_in(client, name, Role.VIEWER)
    client.daemon.streams = Streams(1)
    service = serve(ConnectionBounds())

    def follow(path: str, name: str) -> tuple[socket.socket, bytes]:
        connection = service.connect()
        connection.sendall(
            f"GET /api/v1/jobs/job-2/{path} HTTP/1.1\r\nHost: localhost\r\nAccept: "
            f"text/event-stream\r\nAuthorization: Bearer {secret_of(name)}\r\n\r\n".encode()
        )
        return connection, connection.recv(65536)

    first, answer = follow("events", "one")
    assert answer.startswith(b"HTTP/1.1 200 ")
    for path in ("events", "log"):
        connection, refused = follow(path, "one")
        while b"}" not in refused:
            refused += connection.recv(65536)
        assert refused.startswith(b"HTTP/1.1 429 ")
        assert b"token one follows 1 streams already, as many as auth.streams allows" in refused
    assert follow("log", "other")[1].startswith(b"HTTP/1.1 200 ")
    first.close()
    wait_for(lambda: follow("events", "one")[1].startswith(b"HTTP/1.1 200 "))


def test_the_clients_address_is_what_a_known_proxy_says(client: Client) -> None:
    let_in(client, "ci", Role.VIEWER)
    client.daemon.failures = Limits(1)
    for proxies, said in (((), "127.0.0.1"), (("127.0.0.0/8",), "192.0.2.7")):
        with listening(client.api, client.daemon.stopping, proxies=proxies) as served:
            first, second = (
                httpx.get(
                    f"{served.address}/api/v1/pauses",
                    headers={"Authorization": "Bearer wrong", "X-Forwarded-For": "192.0.2.7"},
                    timeout=DEADLINE_SECONDS,
                )
                for _ in range(2)
            )
        assert first.status_code == 401
        assert f"{said} has failed to sign in" in second.json()["detail"]
