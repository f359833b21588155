"""Asking an unchanged fleet what has changed, against loading each of its tables by PyIceberg."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from pyiceberg.catalog import Catalog as PeerCatalog
from pyiceberg.catalog import load_catalog

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.tables.request_rate import PollLimits
from maintainer.adapters.clock import SystemClock
from maintainer.adapters.store import open_store
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.catalog import Polled
from maintainer.steps.scan import scan
from tests.benchmarks.harness import Measured, measure, more_is_better
from tests.steps.world import World

FLEET = 100_000
LEAST_FLEET = 2_000
SCANNED = 2_000  # tables of the whole step: the store is filled by a real first scan of them
LOADED = 300  # tables that the peer loads: its rate does not depend on how many there are
LIMITS = PollLimits(
    requests_per_second=1_000_000,
    concurrency=128,
    min_interval=timedelta(0),
    max_interval=timedelta(0),
)
Known = dict[TableIdentifier, str]


def run(scale: float) -> list[Measured]:
    """SQL by one query and by the whole step, REST by conditional requests."""
    tables = max(LEAST_FLEET, int(FLEET * scale))
    with TemporaryDirectory() as directory:
        return [
            *_run_sql(Path(directory), tables),
            _run_rest(Path(directory), max(LEAST_FLEET, tables // 10)),
        ]


def _run_sql(directory: Path, tables: int) -> list[Measured]:
    properties = {
        "type": "sql",
        "uri": f"sqlite:///{directory}/catalog.db",
        "warehouse": f"file://{directory}/warehouse",
    }
    writer = _make_lake(properties)
    _register(directory, SCANNED)
    peer = _rate_of_loading(writer, "unchanged")
    ours = PyIcebergCatalog("lake", properties, SystemClock(), limits=LIMITS)
    store = open_store(f"sqlite:///{directory}/store.db")
    ports = replace(World().ports, catalogs={"lake": ours}, store=store, clock=SystemClock())
    scan(ports)
    step = measure(lambda: scan(ports).unchanged)
    assert step.result == SCANNED + 1
    _register(directory, tables)
    known = _poll(ours, {}, 0)
    polled = measure(lambda: _poll(ours, known, len(known)))
    store.close()
    ours.close()
    writer.close()
    name, unit = "pyiceberg load_table", "tables/s"
    return [
        more_is_better(
            f"unchanged fleet, SQL poll of {len(known):,}",
            len(known) / polled.cpu_seconds,
            peer,
            name,
            unit,
            reach=100,
        ),
        more_is_better(
            f"unchanged fleet, SQL scan step of {step.result:,}",
            step.result / step.cpu_seconds,
            peer,
            name,
            unit,
        ),
    ]


def _run_rest(directory: Path, tables: int) -> Measured:
    metadata = json.loads(next((directory / "warehouse").rglob("*.metadata.json")).read_bytes())
    with _serving(
        tables,
        json.dumps(
            {"metadata-location": "file:///v1.json", "metadata": metadata, "config": {}}
        ).encode(),
    ) as uri:
        properties = {"type": "rest", "uri": uri}
        peer = _rate_of_loading(load_catalog("lake", **properties), "sales")
        ours = PyIcebergCatalog("lake", properties, SystemClock(), limits=LIMITS)
        known = _poll(ours, {}, 0)
        polled = measure(lambda: _poll(ours, known, len(known)))
        ours.close()
    rate = len(known) / polled.cpu_seconds
    return more_is_better(
        f"unchanged fleet, REST 304 of {len(known):,}",
        rate,
        peer,
        "pyiceberg load_table",
        "tables/s",
        reach=10,
    )


def _poll(catalog: PyIcebergCatalog, known: Known, unchanged: int) -> Known:
    found = [one for one in catalog.poll(known) if isinstance(one, Polled)]
    assert sum(not one.is_changed for one in found) == unchanged
    return {one.table: one.token for one in found}


def _rate_of_loading(catalog: PeerCatalog, namespace: str) -> float:
    timed = measure(
        lambda: [catalog.load_table((namespace, f"t{number:06}")) for number in range(LOADED)]
    )
    return LOADED / timed.cpu_seconds


def _make_lake(properties: dict[str, str]) -> PeerCatalog:
    catalog = load_catalog("lake", **properties)
    catalog.create_namespace("unchanged")
    rows = pa.table({f"column_{number}": [1] for number in range(20)})
    table = catalog.create_table("unchanged.origin", rows.schema)
    for _ in range(5):
        table.append(rows)
    return catalog


def _register(directory: Path, tables: int) -> None:
    with closing(sqlite3.connect(directory / "catalog.db")) as connection, connection:
        location = connection.execute(
            "select metadata_location from iceberg_tables where table_name = 'origin'"
        ).fetchone()[0]
        connection.executemany(
            "insert or ignore into iceberg_tables (catalog_name, table_namespace, table_name, "
            "metadata_location, iceberg_type)"
            " values ('lake', 'unchanged', ?, ?, 'TABLE')",
            [(f"t{number:06}", location) for number in range(tables)],
        )


@contextmanager
def _serving(tables: int, body: bytes) -> Iterator[str]:
    """A REST catalog in a process of its own, so that its CPU is not counted as ours or the
    peer's.
    """
    context = get_context("spawn")
    near, far = context.Pipe()
    process = context.Process(target=_serve, args=(far, tables, body), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{near.recv()}"
    finally:
        process.kill()
        process.join()


class _RestProtocol(asyncio.Protocol):
    """Just enough of HTTP for one request after another on a kept connection."""

    def __init__(self, tables: int, body: bytes) -> None:
        self._names = json.dumps(
            {
                "identifiers": [
                    {"namespace": ["sales"], "name": f"t{number:06}"} for number in range(tables)
                ]
            }
        ).encode()
        self._body = body
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            request, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            self._transport.write(self._answer(request))

    def _answer(self, request: bytes) -> bytes:
        path = request.split(b" ", 2)[1].partition(b"?")
        if b"/tables/" in path[0]:
            if b"if-none-match:" in request.lower():
                return b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n'
            return (
                b'HTTP/1.1 200 OK\r\nETag: "v1"\r\nContent-Type: application/json\r\n'
                b"Content-Length: %d\r\n\r\n" % len(self._body) + self._body
            )
        if path[0].endswith(b"/tables"):
            body = self._names
        elif path[0].endswith(b"/namespaces"):
            body = b'{"namespaces": []}' if b"parent" in path[2] else b'{"namespaces": [["sales"]]}'
        else:
            body = b'{"defaults": {}, "overrides": {}}'
        return (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            % len(body)
            + body
        )


def _serve(far: Connection, tables: int, body: bytes) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(
            lambda: _RestProtocol(tables, body), "127.0.0.1", 0, backlog=1024
        )
        far.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())
