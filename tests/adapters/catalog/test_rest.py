"""A REST catalog: a small server of our own on the loopback answers with tables that PyIceberg
wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from maintainer.adapters.catalog.manifests.metadata import MetadataError
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.tables.loading import CONNECT_TIMEOUT_SECONDS, READ_TIMEOUT_SECONDS
from maintainer.adapters.catalog.tables.rest import BoundedRestCatalog
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from tests.adapters.catalog.lake import (
    Lake,
    StoppedClock,
    identify,
    know_nothing,
    local_path,
    read_by,
    rows,
    small_target,
    total,
)
from tests.small_http import SmallHandler, serve_on_loopback

TREE = {"": ["sales", "secret"], "sales": ["sales\x1fdeep"], "sales\x1fdeep": [], "secret": []}


class RestServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, lake: Lake) -> None:
        super().__init__(("127.0.0.1", 0), RestHandler)
        self.lake = lake
        self.refusal: int | None = None
        self.bad_answer: tuple[int, bytes, int] | None = None  # status, what is sent of how much
        self.views: set[str] = set()


class RestHandler(SmallHandler):
    server: RestServer

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        match url.path.removeprefix("/v1/").split("/"):
            case ["namespaces", *_] if self.server.bad_answer is not None:
                status, sent, length = self.server.bad_answer
                self.send_response(status)
                self.send_header("Retry-After", "0")
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(sent)
            case _ if self.server.refusal is not None:
                self.answer(
                    self.server.refusal,
                    {
                        "error": {
                            "message": "refused",
                            "type": "RefusedException",
                            "code": self.server.refusal,
                        }
                    },
                )
            case ["config"]:
                self.answer(200, {"defaults": {}, "overrides": {}})
            case ["namespaces"]:
                parent = parse_qs(url.query).get("parent", [""])[0]
                self.answer(200, {"namespaces": [child.split("\x1f") for child in TREE[parent]]})
            case ["namespaces", "secret", "tables"]:
                self.answer(
                    403,
                    {
                        "error": {
                            "message": "not for you",
                            "type": "ForbiddenException",
                            "code": 403,
                        }
                    },
                )
            case ["namespaces", namespace, "tables"]:
                levels = unquote(namespace).split("\x1f")
                self.answer(
                    200,
                    {
                        "identifiers": [
                            {"namespace": list(found[:-1]), "name": found[-1]}
                            for found in self.server.lake.writer.list_tables(tuple(levels))
                        ]
                    },
                )
            case ["namespaces", namespace, "tables", table]:
                self.load(tuple(unquote(namespace).split("\x1f")), unquote(table))
            case _:
                self.answer(
                    404,
                    {
                        "error": {
                            "message": "no such thing",
                            "type": "NotFoundException",
                            "code": 404,
                        }
                    },
                )

    def do_HEAD(self) -> None:
        self.send_response(
            204 if unquote(self.path.rpartition("/")[2]) in self.server.views else 404
        )
        self.end_headers()

    def load(self, namespace: tuple[str, ...], name: str) -> None:
        try:
            location = self.server.lake.location(*namespace, name)
        except MetadataError:
            self.answer(
                404,
                {
                    "error": {
                        "message": "no such table",
                        "type": "NoSuchTableException",
                        "code": 404,
                    }
                },
            )
            return
        self.answer(
            200,
            {
                "metadata-location": location,
                "metadata": json.loads(local_path(location).read_bytes()),
                "config": {},
            },
        )


@pytest.fixture
def server(lake: Lake) -> Iterator[RestServer]:
    running = RestServer(lake)
    with serve_on_loopback(running):
        yield running


@pytest.fixture
def catalog(server: RestServer) -> Iterator[PyIcebergCatalog]:
    opened = PyIcebergCatalog(
        "lake",
        {
            "type": "rest",
            "uri": f"http://127.0.0.1:{server.server_port}",
            "view-endpoints-supported": "true",
        },
        StoppedClock(),
    )
    yield opened
    opened.close()


def test_nested_namespaces_are_walked_and_one_refusal_is_a_fault_of_its_own(
    lake: Lake, catalog: PyIcebergCatalog
) -> None:
    lake.make_table("sales", "orders")
    lake.make_table("sales", "deep", "items")
    found = list(catalog.tables())
    assert [table for table in found if not isinstance(table, CatalogFault)] == [
        identify("sales", "orders"),
        identify("sales", "deep", "items"),
    ]
    (fault,) = (table for table in found if isinstance(table, CatalogFault))
    assert fault.namespace == ("secret",)
    assert "not for you" in fault.reason


def test_an_inventory_is_the_one_that_the_sql_catalog_gives(
    lake: Lake, catalog: PyIcebergCatalog
) -> None:
    table = lake.make_table("sales", "deep", "items")
    table.append(rows(1))
    assert read_by(catalog, identify("sales", "deep", "items")) == lake.read(
        "sales", "deep", "items"
    )
    table.append(rows(2))
    inventory = read_by(catalog, identify("sales", "deep", "items"))
    assert inventory == lake.read("sales", "deep", "items")
    assert total(inventory)[2] == 3
    assert (
        catalog.count_rows(
            identify("sales", "deep", "items"), inventory.snapshots[0].snapshot_id, limit_bytes=0
        )
        == 1
    )


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, FaultKind.ACCESS_DENIED),
        (403, FaultKind.ACCESS_DENIED),
        (500, FaultKind.CATALOG_UNAVAILABLE),
        (503, FaultKind.CATALOG_UNAVAILABLE),
    ],
)
def test_a_refusal_is_reported_as_what_it_means(
    server: RestServer, catalog: PyIcebergCatalog, status: int, kind: FaultKind
) -> None:
    catalog.ping()
    server.refusal = status
    found = catalog.inventory(identify("sales", "orders"), small_target, know_nothing)
    assert isinstance(found, TableFault)
    assert found.kind is kind


VENDED = "vended-secret"
TOO_MANY = b'{"error": {"message": "slow down", "type": "TooManyRequestsException", "code": 429}}'
CUT_OFF = b'{"config": {"s3.secret-access-key": "' + VENDED.encode()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((429, TOO_MANY, len(TOO_MANY)), "TooManyRequestsException: slow down"),
        ((200, CUT_OFF, len(CUT_OFF)), "the catalog's answer is not valid: "),
        ((200, CUT_OFF, 10_000), "the server's answer broke off before its end"),
        ((200, b"<html>", 6), "the catalog's answer is not valid: "),
        ((200, b"", 0), "the catalog's answer is not valid: "),
    ],
    ids=["too many requests", "cut JSON", "cut connection", "a gateway's page", "nothing"],
)
def test_a_bad_answer_is_a_fault_of_the_catalog_quotes_no_secret_and_is_over_with_the_next(
    lake: Lake,
    server: RestServer,
    catalog: PyIcebergCatalog,
    answer: tuple[int, bytes, int],
    reason: str,
) -> None:
    lake.make_table("sales", "orders").append(rows(1))
    table = identify("sales", "orders")
    before = read_by(catalog, table)
    server.bad_answer = answer
    found = catalog.inventory(table, small_target, know_nothing)
    (listed,) = catalog.poll({})
    assert isinstance(found, TableFault)
    assert isinstance(listed, CatalogFault), "an incomplete listing forgets no table"
    assert found.kind is FaultKind.CATALOG_UNAVAILABLE, "the table's own metadata is whole"
    assert found.reason.startswith(reason)
    assert listed.reason.startswith(f"catalog lake cannot be listed: {reason}")
    assert VENDED not in found.reason + listed.reason
    server.bad_answer = None
    assert read_by(catalog, table) == before


def test_what_is_gone_is_dropped_and_what_became_a_view_is_a_view(
    server: RestServer, catalog: PyIcebergCatalog
) -> None:
    server.views.add("seen")
    kinds = []
    for name in ("gone", "seen"):
        found = catalog.inventory(identify("sales", name), small_target, know_nothing)
        assert isinstance(found, TableFault)
        kinds.append(found.kind)
    assert kinds == [FaultKind.DROPPED, FaultKind.VIEW]


def test_ping_tells_of_a_rest_catalog(catalog: PyIcebergCatalog) -> None:
    assert catalog.ping() == "REST catalog lake answers, with 2 namespaces at the top level."


def test_every_request_has_a_timeout(
    catalog: PyIcebergCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def watch(_session: object, _method: str, _url: str, **options: object) -> None:
        seen.append(options["timeout"])
        message = "stop here"
        raise ConnectionError(message)

    catalog.ping()
    assert isinstance(catalog._loaded, BoundedRestCatalog)
    monkeypatch.setattr("requests.Session.request", watch)
    catalog.close()
    (fault,) = catalog.tables()
    assert isinstance(fault, CatalogFault)
    assert seen == [(CONNECT_TIMEOUT_SECONDS, READ_TIMEOUT_SECONDS)]
