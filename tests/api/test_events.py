from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from maintainer.app.api import MeasureQueue
from maintainer.domain.access import Role
from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.identifier import TableIdentifier
from tests.api.listening import wait_for
from tests.api.nouns import GRADE, ORDERS, measure
from tests.api.people import let_in
from tests.api.serving import Client, expect_problem

EVENTS = "/api/v1/events"
ITEMS = TableIdentifier("lake", ("sales", "eu.west"), "items")
CLOUD_EVENT = {
    "specversion": "1.0",
    "id": "1",
    "source": "catalog",
    "type": "updateTable",
    "namespace": "sales",
    "name": "orders",
    "data": {"anything": [1, 2]},
}


@pytest.fixture
def items(client: Client) -> Client:
    client.daemon.store.record_health(measure(ITEMS), GRADE)
    return client


def test_named_tables_are_measured_soon_once_each(items: Client) -> None:
    names = ["lake.sales.orders", str(ITEMS), "lake.sales.orders", "lake.sales.unknown"]
    answer = items.post(EVENTS, {"tables": names})
    assert answer.status_code == 202
    assert answer.json() == {
        "measured_soon": ["lake.sales.orders", str(ITEMS)],
        "left_to_scans": ["lake.sales.unknown"],
    }
    assert items.daemon.measured_soon == [ORDERS, ITEMS]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", CLOUD_EVENT),
        ("application/cloudevents+json; charset=utf-8", CLOUD_EVENT),
        ("application/cloudevents-batch+json", [CLOUD_EVENT, CLOUD_EVENT]),
    ],
)
def test_a_cloud_event_names_a_table_of_the_catalog_in_the_address(
    client: Client, kind: str, body: Any
) -> None:
    content = json.dumps(body).encode()
    sent = client.send("POST", EVENTS, {"Content-Type": kind}, content, query={"catalog": "lake"})
    assert sent.json() == {"measured_soon": ["lake.sales.orders"], "left_to_scans": []}
    assert client.daemon.measured_soon == [ORDERS]


def test_levels_of_a_namespace_are_read_as_they_are_written(items: Client) -> None:
    event = CLOUD_EVENT | {"namespace": "sales.`eu.west`", "name": "items"}
    sent = items.send(
        "POST",
        EVENTS,
        {"Content-Type": "application/json"},
        json.dumps(event).encode(),
        query={"catalog": "lake"},
    )
    assert sent.json()["measured_soon"] == [str(ITEMS)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (CLOUD_EVENT, "add the parameter catalog"),
        ({"tables": ["orders"]}, "orders"),
        ({"tables": "lake.sales.orders"}, "tables"),
        ({"specversion": "0.3", "namespace": "a", "name": "b"}, "specversion"),
        ({"tables": ["lake.sales.orders"] * 1001}, "1000"),
    ],
)
def test_what_names_no_table_is_refused(client: Client, body: object, message: str) -> None:
    assert message in expect_problem(client.post(EVENTS, body), 422)
    assert client.daemon.measured_soon == []


def test_tables_on_which_the_role_is_missing_are_left_to_scans(items: Client) -> None:
    operator = let_in(items, "pipeline", Role.OPERATOR, "lake.sales.orders")
    answer = items.post(EVENTS, {"tables": [str(ORDERS), str(ITEMS)]}, operator).json()
    assert answer == {"measured_soon": [str(ORDERS)], "left_to_scans": [str(ITEMS)]}


def test_tables_beyond_those_that_may_wait_are_left_to_scans(items: Client) -> None:
    items.daemon.most_measured = 1
    answer = items.post(EVENTS, {"tables": [str(ORDERS), str(ITEMS)]}).json()
    assert answer == {"measured_soon": [str(ORDERS)], "left_to_scans": [str(ITEMS)]}


class Measured:
    """Tables in the order in which they were measured; each waits for the door."""

    def __init__(self, error: Exception | None = None) -> None:
        self.tables: list[TableIdentifier] = []
        self.door = Event()
        self.error = error

    def measure(self, table: TableIdentifier) -> None:
        self.tables.append(table)
        self.door.wait(30)
        if self.error is not None and table == ORDERS:
            raise self.error


def table(number: int) -> TableIdentifier:
    return replace(ORDERS, name=f"t{number}")


def come_to(measured: Measured, *tables: TableIdentifier) -> Callable[[], bool]:
    return lambda: measured.tables == list(tables)


def test_a_table_that_changes_while_it_is_measured_is_measured_again() -> None:
    measured = Measured()
    queue = MeasureQueue(measured.measure)
    assert queue.add(ORDERS)
    wait_for(come_to(measured, ORDERS))
    assert all(queue.add(one) for one in (ORDERS, table(1), ORDERS))
    measured.door.set()
    wait_for(come_to(measured, ORDERS, ORDERS, table(1)))


def test_more_tables_than_may_wait_are_refused_until_there_is_room() -> None:
    measured = Measured()
    queue = MeasureQueue(measured.measure, most=2)
    assert queue.add(ORDERS)
    wait_for(come_to(measured, ORDERS))
    assert [queue.add(table(number)) for number in (1, 2, 3, 1)] == [True, True, False, True]
    measured.door.set()
    wait_for(come_to(measured, ORDERS, table(1), table(2)))
    wait_for(lambda: queue.add(table(3)))
    wait_for(come_to(measured, ORDERS, table(1), table(2), table(3)))


@pytest.mark.parametrize("error", [StoreUnavailableError("away"), RuntimeError("a bug")])
def test_an_error_of_one_table_stops_no_other(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    measured = Measured(error)
    measured.door.set()
    queue = MeasureQueue(measured.measure)
    assert all(queue.add(one) for one in (ORDERS, table(1)))
    wait_for(come_to(measured, ORDERS, table(1)))
    assert "event.not_measured table=lake.sales.orders" in caplog.text
