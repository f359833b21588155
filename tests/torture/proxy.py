"""A TCP proxy in front of a database, on loopback, that can cut, refuse, delay, and lose the answer
to a commit.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field

CHUNK_BYTES = 65536
START_SECONDS = 10
# named twice by the statement that commits: the file that was, and the one that shall be
_METADATA_FILE = b".metadata.json"


def spare_none(_said: bytes) -> bool:
    """Any answer may be lost."""
    return False


@dataclass(slots=True, eq=False)
class _Connection:
    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    loses_answer: bool = False

    def cut(self) -> None:
        """End both sides at once, without goodbye."""
        for writer in (self.client, self.server):
            writer.transport.abort()


@dataclass(slots=True)
class Proxy:
    """Forwards connections to a port of this machine; its switches may be thrown from any
    thread. Of several target ports each connection gets the next that takes it.
    """

    target_port: InitVar[int]
    port: int = 0
    delay_seconds: float = 0.0
    is_refusing: bool = False
    answers_to_lose: int = 0
    lost_answers: int = 0
    broken: int = 0  # connections that were cut or refused
    delayed: int = 0  # what was said and had to wait
    spares: Callable[[bytes], bool] = (
        spare_none  # commits whose answers are not lost, by what the client says
    )
    target_ports: list[int] = field(default_factory=list)
    _served: int = 0  # connections
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _connections: set[_Connection] = field(default_factory=set)
    _clients: set[asyncio.StreamWriter] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _thread: threading.Thread | None = None
    _is_up: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self, target_port: int) -> None:
        self.target_ports.append(target_port)

    def start(self) -> None:
        """Listen on a free port."""
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)
        self._thread.start()
        assert self._is_up.wait(START_SECONDS)

    def stop(self) -> None:
        """End all connections and the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        if self._thread is not None:
            self._thread.join(START_SECONDS)

    def cut(self) -> None:
        """Cut every connection there is."""
        self._loop.call_soon_threadsafe(self._cut)

    def heal(self) -> None:
        """Forward everything as it comes."""
        self.is_refusing, self.delay_seconds, self.answers_to_lose = False, 0.0, 0

    def _cut(self) -> None:
        for connection in list(self._connections):
            self.broken += 1
            connection.cut()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._take, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._is_up.set()
        self._loop.run_forever()
        server.close()
        # A connection that was just taken has no transport yet, and nobody would close its socket.
        self._turn()
        self._cut()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        for client in self._clients:  # of tasks that were cancelled before they began
            client.transport.abort()
        self._turn()  # an aborted transport closes its socket in a later turn
        self._loop.close()

    def _turn(self) -> None:
        for _ in range(3):
            self._loop.run_until_complete(asyncio.sleep(0))

    def _take(self, client_reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        self._clients.add(client)
        task = self._loop.create_task(self._serve(client_reader, client))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(
        self, client_reader: asyncio.StreamReader, client: asyncio.StreamWriter
    ) -> None:
        try:
            await self._carry(client_reader, client)
        finally:
            self._clients.discard(client)
            client.transport.abort()

    async def _carry(
        self, client_reader: asyncio.StreamReader, client: asyncio.StreamWriter
    ) -> None:
        if self.is_refusing:
            self.broken += 1
            return
        reached = await self._reach()
        if reached is None:
            return
        server_reader, server = reached
        connection = _Connection(client, server)
        self._connections.add(connection)
        try:
            await asyncio.gather(
                self._forward_requests(connection, client_reader),
                self._forward_answers(connection, server_reader),
            )
        finally:
            self._connections.discard(connection)
            connection.cut()

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        self._served += 1
        begin = self._served % len(self.target_ports)
        for port in (*self.target_ports[begin:], *self.target_ports[:begin]):
            with contextlib.suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", port)
        return None

    async def _forward_requests(
        self, connection: _Connection, reader: asyncio.StreamReader
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while chunk := await reader.read(CHUNK_BYTES):
                if self.delay_seconds:
                    self.delayed += 1
                    await asyncio.sleep(self.delay_seconds)
                if (
                    self.answers_to_lose
                    and chunk.count(_METADATA_FILE) > 1
                    and not self.spares(chunk)
                ):
                    self.answers_to_lose -= 1
                    connection.loses_answer = True
                connection.server.write(chunk)
                await connection.server.drain()
        connection.cut()

    async def _forward_answers(self, connection: _Connection, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(ConnectionError):
            while chunk := await reader.read(CHUNK_BYTES):
                if connection.loses_answer:
                    self.lost_answers += 1
                    break
                connection.client.write(chunk)
                await connection.client.drain()
        connection.cut()
