"""Polling a catalog table by table: over REST with conditional requests, and by loading where there
is nothing better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.tables import conditional as conditional_requests
from maintainer.adapters.catalog.tables.request_rate import PollLimits
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.ports.catalog import Polled
from tests.adapters.catalog.conditional_server import ConditionalServer
from tests.adapters.catalog.lake import NOW, Lake, identify, rows
from tests.fakes.adapters.clock import FakeClock

ORDERS = identify("sales", "orders")
LIMITS = PollLimits(
    requests_per_second=10_000, min_interval=timedelta(0), max_interval=timedelta(0)
)


@pytest.fixture
def server() -> Iterator[ConditionalServer]:
    with ConditionalServer.running() as running:
        running.versions = {("sales", "orders"): 1, ("sales", "items"): 1}
        yield running


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def catalog(server: ConditionalServer, clock: FakeClock) -> Iterator[PyIcebergCatalog]:
    opened = PyIcebergCatalog(
        "lake",
        {"type": "rest", "uri": server.address, "token": "a-bearer", "header.X-Tenant": "blue"},
        clock,
        limits=LIMITS,
    )
    yield opened
    opened.close()


def poll(catalog: PyIcebergCatalog, known: dict[TableIdentifier, str]) -> dict[str, bool]:
    found = [one for one in catalog.poll(known) if isinstance(one, Polled)]
    known.clear()
    known.update({one.table: one.token for one in found})
    return {one.table.name: one.is_changed for one in found}


@pytest.mark.parametrize("has_etags", [True, False])
def test_only_a_new_version_is_a_change(
    server: ConditionalServer, catalog: PyIcebergCatalog, has_etags: bool
) -> None:
    server.has_etags = has_etags
    known: dict[TableIdentifier, str] = {}
    assert poll(catalog, known) == {"items": True, "orders": True}
    assert poll(catalog, known) == {"items": False, "orders": False}
    server.versions["sales", "orders"] = 2
    assert poll(catalog, known) == {"items": False, "orders": True}
    assert poll(catalog, known) == {"items": False, "orders": False}
    assert server.given[304] == (5 if has_etags else 0)


def test_a_new_etag_of_the_same_metadata_is_no_change(catalog: PyIcebergCatalog) -> None:
    known: dict[TableIdentifier, str] = {}
    poll(catalog, known)
    known = {table: '"another"\n' + token.partition("\n")[2] for table, token in known.items()}
    assert poll(catalog, known) == {"items": False, "orders": False}
    assert known[ORDERS] == 'W/"orders-1"\nfile:///orders/1.json'


def test_every_request_asks_for_the_same_form_and_for_no_credentials(
    server: ConditionalServer, catalog: PyIcebergCatalog
) -> None:
    known: dict[TableIdentifier, str] = {}
    for _ in range(2):
        poll(catalog, known)
    assert len(server.seen) == 4
    assert {query for query, _ in server.seen} == {"snapshots=refs"}
    for _, headers in server.seen:
        assert "X-Iceberg-Access-Delegation" not in headers
        assert headers["X-Tenant"] == "blue"
        assert headers["Authorization"] == "Bearer a-bearer"


def test_names_with_separators_arrive_whole(
    server: ConditionalServer, catalog: PyIcebergCatalog
) -> None:
    server.versions = {("sales", "a/b", "it ems%2F"): 1}
    known: dict[TableIdentifier, str] = {}
    assert poll(catalog, known) == {"it ems%2F": True}
    assert poll(catalog, known) == {"it ems%2F": False}


def test_a_request_that_is_put_off_is_repeated(
    server: ConditionalServer, catalog: PyIcebergCatalog
) -> None:
    server.versions = {("sales", "orders"): 1}
    server.refusals = [429, 503]
    assert poll(catalog, {}) == {"orders": True}
    assert len(server.seen) == 3


def test_a_table_that_the_server_does_not_tell_of_is_a_fault_beside_the_others(
    server: ConditionalServer, catalog: PyIcebergCatalog
) -> None:
    server.refusals = [500]
    found = list(catalog.poll({}))
    (fault,) = (one for one in found if isinstance(one, TableFault))
    assert (fault.kind, fault.reason) == (
        FaultKind.CATALOG_UNAVAILABLE,
        "catalog lake: the server answers 500",
    )
    assert sum(isinstance(one, Polled) for one in found) == 1


def test_a_catalog_that_no_longer_answers_is_not_asked_for_every_table(
    server: ConditionalServer, catalog: PyIcebergCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conditional_requests, "MAX_UNANSWERED", 3)
    server.versions = {("sales", f"t{number:03}"): 1 for number in range(200)}
    server.refusals = [500] * 200
    assert len([one for one in catalog.poll({}) if isinstance(one, TableFault)]) == 200
    assert len(server.seen) <= 3 + LIMITS.concurrency


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_only_loading_the_table_tells_counts_as_a_change(
    server: ConditionalServer, catalog: PyIcebergCatalog, status: int
) -> None:
    server.versions = {("sales", "orders"): 1}
    server.refusals = [status]
    assert list(catalog.poll({})) == [Polled(ORDERS, "", is_changed=True)]


def test_a_namespace_that_cannot_be_listed_is_a_fault_of_its_own(
    server: ConditionalServer, catalog: PyIcebergCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.versions["hidden", "orders"] = 1
    catalog.ping()
    assert catalog._loaded is not None
    listing = catalog._loaded.list_tables

    def refuse(namespace: tuple[str, ...]) -> object:
        if namespace == ("hidden",):
            message = "not for you"
            raise PermissionError(message)
        return listing(namespace)

    monkeypatch.setattr(catalog._loaded, "list_tables", refuse)
    found = list(catalog.poll({}))
    assert [one.namespace for one in found if isinstance(one, CatalogFault)] == [("hidden",)]
    assert sum(isinstance(one, Polled) for one in found) == 2


@pytest.mark.slow
def test_an_idle_table_is_asked_more_rarely_and_still_counts_as_there(
    server: ConditionalServer, clock: FakeClock
) -> None:
    limits = replace(LIMITS, min_interval=timedelta(minutes=1), max_interval=timedelta(minutes=30))
    catalog = PyIcebergCatalog(
        "lake", {"type": "rest", "uri": server.address}, clock, limits=limits
    )
    known: dict[TableIdentifier, str] = {}
    for _ in range(30):
        assert set(poll(catalog, known)) == {"items", "orders"}
        clock.advance(timedelta(minutes=1))
    asked = len(server.seen)
    assert 2 * 5 <= asked < 2 * 15
    poll(catalog, {})
    assert len(server.seen) - asked == 2, "a table that nothing is known of is asked at once"
    catalog.close()


def test_a_bound_on_age_has_idle_tables_asked_that_were_not_for_so_long(
    server: ConditionalServer, clock: FakeClock
) -> None:
    catalog = PyIcebergCatalog(
        "lake",
        {"type": "rest", "uri": server.address},
        clock,
        limits=replace(LIMITS, min_interval=timedelta(hours=1)),
    )
    known: dict[TableIdentifier, str] = {}
    poll(catalog, known)
    server.versions["sales", "orders"] = 2
    clock.advance(timedelta(minutes=9))
    assert poll(catalog, known) == {"items": False, "orders": False}, "it was not asked"
    assert not any(
        one.is_changed
        for one in catalog.poll(known, within=timedelta(minutes=10))
        if isinstance(one, Polled)
    )
    asked = len(server.seen)
    clock.advance(timedelta(minutes=1))
    changed = [
        one
        for one in catalog.poll(known, within=timedelta(minutes=10))
        if isinstance(one, Polled) and one.is_changed
    ]
    assert [(one.table, one.metadata_location) for one in changed] == [
        (ORDERS, "file:///orders/2.json")
    ]
    asked, before = len(server.seen), asked
    assert asked - before >= 2
    assert not any(
        one.is_changed
        for one in catalog.poll({**known, ORDERS: changed[0].token}, within=timedelta(minutes=10))
        if isinstance(one, Polled)
    )
    assert len(server.seen) == asked, "once in the time for all callers"
    catalog.close()


def test_requests_keep_to_the_rate(server: ConditionalServer, clock: FakeClock) -> None:
    server.versions = {("sales", f"t{number:03}"): 1 for number in range(30)}
    catalog = PyIcebergCatalog(
        "lake",
        {"type": "rest", "uri": server.address},
        clock,
        limits=replace(LIMITS, requests_per_second=100),
    )
    started = datetime.now(UTC)
    assert len(poll(catalog, {})) == 30
    assert datetime.now(UTC) - started >= timedelta(seconds=0.28)
    catalog.close()


def test_a_catalog_of_another_kind_is_polled_by_loading(
    lake: Lake, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "maintainer.adapters.catalog.tables.changes.SqlCatalog", type("NoSqlCatalog", (), {})
    )
    lake.make_table("sales", "orders")
    table = lake.make_table("sales", "items")
    known: dict[TableIdentifier, str] = {}
    catalog = PyIcebergCatalog("lake", lake.properties, clock, limits=LIMITS)
    assert poll(catalog, known) == {"items": True, "orders": True}
    table.append(rows(1))
    assert poll(catalog, known) == {"items": True, "orders": False}
    assert known[identify("sales", "items")] == table.metadata_location
    lake.point_to("file:///nowhere.json", "items")
    (fault,) = (one for one in catalog.poll(known) if isinstance(one, TableFault))
    assert (fault.table, fault.kind) == (identify("sales", "items"), FaultKind.METADATA_MISSING)
    catalog.close()
