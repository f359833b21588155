"""A kept connection takes a 304 at its word and nothing else: what it cannot tell from a head
alone, it does not guess.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from yarl import URL

from maintainer.adapters.catalog.tables import connections as kept
from maintainer.adapters.catalog.tables.connections import Head, KeptConnections

UNCHANGED = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
ADDRESS = "http://ignored/v1/namespaces/sales/tables/orders?snapshots=refs"
HEAD_304 = Head(304)


class Script:
    """A server that says what it is told to, one text a request, and then hangs up or keeps
    silent.
    """

    def __init__(self, answers: list[bytes], *, stays: bool) -> None:
        self.answers = answers
        self.stays = stays
        self.requests: list[bytes] = []
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                self.requests.append(await reader.readuntil(b"\r\n\r\n"))
                if self.answers:
                    writer.write(self.answers.pop(0))
                elif not self.stays:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def asking(
    *answers: bytes, stays: bool = False, seconds: float = 5
) -> AsyncIterator[tuple[KeptConnections, Script]]:
    script = Script(list(answers), stays=stays)
    server = await asyncio.start_server(script.serve, "127.0.0.1", 0)
    connections = KeptConnections(
        URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/api"), None, 5, seconds
    )
    connections.set_headers({"Authorization": "Bearer a-bearer"})
    async with server:
        yield connections, script
        await connections.close()


async def ask_all(
    times: int, *answers: bytes, stays: bool = False, seconds: float = 5
) -> tuple[list[Head | None], Script]:
    async with asking(*answers, stays=stays, seconds=seconds) as (connections, script):
        return [await connections.ask(ADDRESS, '"1"') for _ in range(times)], script


def test_one_connection_serves_one_question_after_another() -> None:
    heads, script = asyncio.run(ask_all(3, UNCHANGED, UNCHANGED, UNCHANGED))
    assert heads == [HEAD_304] * 3
    assert script.connections == 1
    first, *lines = script.requests[0].decode().split("\r\n")
    assert first == "GET /v1/namespaces/sales/tables/orders?snapshots=refs HTTP/1.1"
    assert set(lines) >= {"Authorization: Bearer a-bearer", 'If-None-Match: "1"'}
    assert lines[0].startswith("Host: 127.0.0.1:")


@pytest.mark.parametrize(
    "ending",
    [
        b"HTTP/1.1 304 Not Modified\r\nConnection: keep, Close\r\n\r\n",
        UNCHANGED + b"a body that no 304 has",
    ],
    ids=["it says so", "it says more"],
)
def test_a_connection_that_ends_is_made_anew(ending: bytes) -> None:
    heads, script = asyncio.run(ask_all(2, ending, UNCHANGED))
    assert heads == [HEAD_304] * 2
    assert script.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 301 Moved\r\nLocation: /elsewhere\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\n",
        b"HTTP/1.0 304 Not Modified\r\n\r\n",
        b"SSH-2.0-server\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\nX: " + b"x" * kept.MAX_HEAD_BYTES,
    ],
    ids=[
        "a body",
        "a redirect",
        "a preface",
        "an old version",
        "another protocol",
        "a head without end",
    ],
)
def test_what_a_head_does_not_tell_is_not_told(answer: bytes) -> None:
    heads, script = asyncio.run(ask_all(2, answer, UNCHANGED))
    assert heads == [None, HEAD_304]
    assert script.connections == 2, "nothing is read on after what was not understood"


def test_a_refusal_is_told_by_its_head() -> None:
    heads, _ = asyncio.run(
        ask_all(1, b"HTTP/1.1 503 Busy\r\nretry-after: 7\r\nContent-Length: 4\r\n\r\nbusy")
    )
    assert heads == [Head(503, "7")]


def test_a_head_may_come_in_pieces() -> None:
    loop = asyncio.new_event_loop()
    connection = kept._Connection(loop, 5)
    told = loop.create_future()
    connection._waiting = told
    for byte in UNCHANGED:
        assert not told.done()
        connection.data_received(bytes([byte]))
    assert told.result() == HEAD_304
    loop.close()


def test_a_connection_that_is_lost_while_asked_tells_nothing() -> None:
    heads, script = asyncio.run(ask_all(2, UNCHANGED))
    assert heads == [HEAD_304, None]
    assert len(script.requests) == 2


def test_a_server_that_never_answers_is_waited_for_so_long() -> None:
    with pytest.raises(TimeoutError, match=r"no answer within 0\.05 s"):
        asyncio.run(asyncio.wait_for(ask_all(1, stays=True, seconds=0.05), 5))


def test_a_server_that_always_sends_bodies_is_not_asked_in_this_way_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept, "ALLOWANCE", 3)

    async def ask() -> int:
        async with asking(*[b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"] * 9) as (
            connections,
            _,
        ):
            asked = 0
            while connections.is_worth_asking:
                await connections.ask(ADDRESS, '"1"')
                asked += 1
            return asked

    assert asyncio.run(ask()) == 3


def test_a_server_that_is_not_there_is_an_error() -> None:
    connections = KeptConnections(URL("http://127.0.0.1:1"), None, 5, 5)
    with pytest.raises(OSError, match=r"127\.0\.0\.1"):
        asyncio.run(connections.ask(ADDRESS, '"1"'))
