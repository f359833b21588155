"""A REST catalog whose answers never end, or are too large, is a fault and costs no memory."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.tables import answers, conditional, pointer
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.units import KIB
from maintainer.ports.catalog import Polled
from tests.adapters.catalog.lake import StoppedClock, know_nothing, small_target
from tests.small_http import SmallHandler, serve_on_loopback

TABLE = TableIdentifier("lake", ("sales",), "orders")
CONFIG: dict[str, object] = {"defaults": {}, "overrides": {}}


class EndlessServer(ThreadingHTTPServer):
    """Answers as `kind` says, until the client hangs up or the test is over."""

    daemon_threads = True

    def __init__(self, kind: str) -> None:
        super().__init__(("127.0.0.1", 0), EndlessHandler)
        self.kind = kind
        self.sent_bytes = 0
        self.pages = 0
        self.is_over = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Quiet: the client hangs up."""


class EndlessHandler(SmallHandler):
    server: EndlessServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path.endswith("/config"):
            self.answer(200, CONFIG)
        elif url.path.endswith("/namespaces"):
            self._answer_namespaces("parent" in parse_qs(url.query))
        elif self.server.kind == "pages" or not url.path.endswith("/tables"):
            self._answer_one(url.path)
        else:
            self.answer(200, {"identifiers": [{"namespace": ["sales"], "name": "orders"}]})

    def _answer_namespaces(self, is_inner: bool) -> None:
        if self.server.kind == "namespaces":
            self.server.pages += 1
            self.answer(200, {"namespaces": [[f"n{self.server.pages}"]]})
        else:
            self.answer(200, {"namespaces": [] if is_inner else [["sales"]]})

    def _answer_one(self, path: str) -> None:
        match self.server.kind:
            case "pages" if path.endswith("/tables"):
                self.server.pages += 1
                self.answer(200, {"identifiers": [], "next-page-token": str(self.server.pages)})
            case "odd":
                self.answer(
                    200,
                    {
                        "metadata-location": "file:///nowhere/1.metadata.json",
                        "metadata": {"properties": None, "snapshots": "all"},
                        "config": {"a": 1, "b": None, "c": True},
                        "storage-credentials": None,
                    },
                )
            case "slow":
                self._stream(b" ", rest=0.01)
            case "packed":
                packed = gzip.compress(json.dumps({"a": " " * 50_000_000}).encode())
                self.send_response(200)
                self.send_header("Content-Encoding", "gzip")
                self.send_header("Content-Length", str(len(packed)))
                self.end_headers()
                self.wfile.write(packed)
            case _:
                self._stream(b" " * (64 * KIB), rest=0)

    def _stream(self, piece: bytes, rest: float) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while not self.server.is_over.wait(rest):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.server.sent_bytes += len(piece)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[EndlessServer]:
    made = EndlessServer(request.param)
    with serve_on_loopback(made):
        yield made
        made.is_over.set()


@pytest.fixture
def catalog(server: EndlessServer) -> Iterator[PyIcebergCatalog]:
    properties = {"type": "rest", "uri": f"http://127.0.0.1:{server.server_port}"}
    made = PyIcebergCatalog("lake", properties, StoppedClock())
    yield made
    made.close()


@pytest.mark.parametrize("server", ["fast", "slow", "packed"], indirect=True)
def test_an_answer_without_an_end_is_a_fault_of_the_catalog(
    server: EndlessServer, catalog: PyIcebergCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MAX_ANSWER_BYTES", 256 * KIB)
    monkeypatch.setattr(answers, "MAX_ANSWER_SECONDS", 0.5)
    started = time.monotonic()
    found = catalog.inventory(TABLE, small_target, know_nothing)
    assert isinstance(found, TableFault)
    assert found.kind is FaultKind.CATALOG_UNAVAILABLE
    is_slow = server.kind == "slow"
    reason = "takes longer than 0.5 s" if is_slow else "has more than 256 KiB"
    assert found.reason == f"an answer {reason}"
    assert time.monotonic() - started < 10
    assert server.sent_bytes < 8_000_000, "the client has hung up"


@pytest.mark.parametrize("server", ["fast"], indirect=True)
def test_a_large_answer_to_a_poll_is_left_to_loading_the_table(
    server: EndlessServer, catalog: PyIcebergCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conditional, "MAX_POLLED_BYTES", 256 * KIB)
    assert list(catalog.poll({TABLE: "known"})) == [
        Polled(TABLE, "", is_changed=True, metadata_location="")
    ]
    assert server.sent_bytes < 8_000_000


@pytest.mark.parametrize("server", ["odd"], indirect=True)
def test_a_configuration_of_numbers_and_nulls_is_taken(catalog: PyIcebergCatalog) -> None:
    found = catalog.inventory(TABLE, small_target, know_nothing)
    assert isinstance(found, TableFault)
    assert found.kind is FaultKind.METADATA_MISSING, "the pointer was read"


@pytest.mark.parametrize("server", ["pages"], indirect=True)
def test_a_listing_without_an_end_is_a_fault_of_its_namespace(
    server: EndlessServer, catalog: PyIcebergCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MAX_LISTING_PAGES", 20)
    (fault,) = catalog.tables()
    assert isinstance(fault, CatalogFault)
    assert fault.reason.endswith("a listing has more than 20 pages")
    assert server.pages == 20 + 1


@pytest.mark.parametrize("server", ["pages"], indirect=True)
def test_the_pages_of_a_listing_are_bounded_together(
    server: EndlessServer, catalog: PyIcebergCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MAX_LISTING_BYTES", 1000)
    (fault,) = catalog.tables()
    assert isinstance(fault, CatalogFault)
    assert "an answer has more than" in fault.reason
    assert server.pages < 40


@pytest.mark.parametrize("server", ["namespaces"], indirect=True)
def test_namespaces_within_namespaces_without_an_end_are_a_fault(
    catalog: PyIcebergCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pointer, "MAX_NAMESPACES", 20)
    *tables, fault = catalog.tables()
    assert isinstance(fault, CatalogFault)
    assert fault.reason.endswith("it lists more than 20 namespaces; the others are left out")
    assert len(tables) <= 20
