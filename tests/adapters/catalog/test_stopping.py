"""A scan that is asked to stop while a server keeps it waiting."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.reader import MetadataReader, ReadLimits
from maintainer.ports import Ports
from maintainer.steps.scan import ScanResult, scan
from tests.adapters.catalog.lake import Lake, StoppedClock, rows
from tests.small_http import SmallHandler, serve_on_loopback
from tests.steps.world import World

STOP_SECONDS = 5.0
WAIT_SECONDS = 20.0


class HangingServer:
    """Takes connections and what is said on them, and never answers."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.is_asked = threading.Event()
        self._connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            if connection.recv(1):
                self.is_asked.set()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(WAIT_SECONDS)
        for connection in self._connections:
            connection.close()


@pytest.fixture
def hanging() -> Iterator[HangingServer]:
    with closing(HangingServer()) as server:
        yield server


class _HalfCatalog(SmallHandler):
    """Lists one table, and says nothing more about it."""

    server: _HalfServer

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.endswith("/tables/orders"):
            self.server.is_asked.set()
            self.server.may_end.wait(WAIT_SECONDS * 3)
            return
        answers: dict[str, object] = {
            "/v1/config": {"defaults": {}, "overrides": {}},
            "/v1/namespaces": {"namespaces": [] if "parent=" in self.path else [["sales"]]},
            "/v1/namespaces/sales/tables": {
                "identifiers": [{"namespace": ["sales"], "name": "orders"}]
            },
        }
        self.answer(200, answers[path])


class _HalfServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _HalfCatalog)
        self.is_asked = threading.Event()
        self.may_end = threading.Event()


@pytest.fixture
def half_answering() -> Iterator[_HalfServer]:
    server = _HalfServer()
    with serve_on_loopback(server):
        yield server
        server.may_end.set()


@contextmanager
def scanning(
    world: World, catalog: PyIcebergCatalog, stopping: threading.Event
) -> Iterator[Callable[[], ScanResult]]:
    """A scan in a thread of its own, and what waits for its end."""
    results: list[ScanResult] = []
    ports = Ports(
        {"lake": catalog},
        world.store,
        world.policies,
        world.runner,
        world.telemetry,
        world.clock,
        world.ports.new_id,
    )
    thread = threading.Thread(
        target=lambda: results.append(scan(ports, should_stop=stopping.is_set)), daemon=True
    )

    def end() -> ScanResult:
        thread.join(STOP_SECONDS)
        assert not thread.is_alive(), (
            f"the scan still runs {STOP_SECONDS} s after it was asked to stop"
        )
        return results[0]

    thread.start()
    yield end
    stopping.set()


def stop_it(world: World, catalog: PyIcebergCatalog, is_asked: threading.Event) -> ScanResult:
    stopping = threading.Event()
    with closing(catalog), scanning(world, catalog, stopping) as end:
        assert is_asked.wait(WAIT_SECONDS), "the scan never came to what hangs"
        started = time.monotonic()
        stopping.set()
        result = end()
        catalog.close()
        assert time.monotonic() - started < STOP_SECONDS
    return result


def test_a_catalog_that_never_answers_does_not_hold_up_the_end(hanging: HangingServer) -> None:
    world = World()
    result = stop_it(
        world,
        PyIcebergCatalog("lake", {"type": "rest", "uri": hanging.address}, StoppedClock()),
        hanging.is_asked,
    )
    assert not result.is_complete
    assert list(world.store.table_names()) == []


def test_a_table_that_the_catalog_never_loads_does_not_hold_up_the_end(
    half_answering: _HalfServer,
) -> None:
    world = World()
    uri = f"http://127.0.0.1:{half_answering.server_port}"
    result = stop_it(
        world,
        PyIcebergCatalog("lake", {"type": "rest", "uri": uri}, StoppedClock()),
        half_answering.is_asked,
    )
    assert (result.measured, result.is_complete) == (0, False)
    assert list(world.store.table_names()) == []


@pytest.mark.parametrize("way", ["obstore", "pyiceberg"])
def test_a_storage_that_never_answers_does_not_hold_up_the_end(
    lake: Lake, hanging: HangingServer, way: str
) -> None:
    """The table before it was recorded whole; of the one that hangs there is nothing."""
    lake.make_table("sales", "first").append(rows(3))
    lake.make_table("sales", "orders").append(rows(3))
    lake.point_to("s3://bucket/orders.metadata.json", "orders")
    keys = {
        "s3.endpoint": hanging.address,
        "s3.access-key-id": "an-id",
        "s3.secret-access-key": "a-secret",
        "s3.region": "r",
    }
    other = {"py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO"} if way == "pyiceberg" else {}
    world = World()
    result = stop_it(
        world,
        PyIcebergCatalog("lake", {**lake.properties, **keys, **other}, StoppedClock()),
        hanging.is_asked,
    )
    assert (result.measured, result.is_complete) == (1, False)
    assert [table.name for table in world.store.table_names()] == ["first"]
    assert [table.name for table in world.store.marks("lake")] == ["first"]


@pytest.mark.slow
def test_decoding_processes_end_with_the_reader_at_any_work(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = lake.make_table("sales", "orders")
    for _ in range(2):
        table.append(rows(3))
    for name in ("POOLED_ENTRIES", "STARTING_ENTRIES", "INLINE_ENTRIES"):
        monkeypatch.setattr(f"maintainer.adapters.catalog.reader.{name}", -1)
    reader = MetadataReader(ReadLimits(decode_processes=1))
    catalog = PyIcebergCatalog("lake", lake.properties, StoppedClock(), reader=reader)
    world = World()
    with scanning(world, catalog, threading.Event()) as end:
        assert end().measured == 1
    [process_id] = reader.pool.ids()
    catalog.close()
    assert reader.pool.ids() == [process_id], (
        "a reader that is shared is not the catalog's to close"
    )
    reader.close()
    assert not Path(f"/proc/{process_id}").exists()
