"""GET /api/v1/trends: the histories of several tables in one answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.api.trends import MAX_SAMPLES, MAX_TABLES
from maintainer.domain.access import Role
from tests.api.nouns import GRADE, NOW, ORDERS, measure
from tests.api.people import let_in
from tests.api.serving import Client, expect_problem

URL = "/api/v1/trends"


def test_each_table_has_its_history_in_the_order_of_the_request(client: Client) -> None:
    stock = replace(ORDERS, name="stock")
    for day in (9, 3, 1):
        health = replace(measure(stock), data_files=day, measured_at=NOW - timedelta(days=day))
        client.daemon.store.record_health(health, GRADE)
    names = [str(stock), "lake.no.such", str(ORDERS)]
    items = client.get(URL, table=names, metric="data_files").json()["items"]
    assert [one["table"] for one in items] == names
    values = [[sample["value"] for sample in one["samples"]] for one in items]
    assert (values[0][-2:], values[1], values[2]) == ([3.0, 1.0], [], [100.0])


def test_a_long_history_is_short(client: Client) -> None:
    for minute in range(MAX_SAMPLES * 3):
        at = NOW - timedelta(days=1, minutes=-minute)
        health = replace(measure(ORDERS), data_files=minute, measured_at=at)
        client.daemon.store.record_health(health, GRADE)
    (one,) = client.get(URL, table=[str(ORDERS)], metric="data_files").json()["items"]
    assert len(one["samples"]) <= MAX_SAMPLES
    assert one["samples"][-1]["value"] == MAX_SAMPLES * 3 - 1


def test_tables_of_others_are_left_out(client: Client) -> None:
    clerk = let_in(client, "clerk", Role.VIEWER, "lake.hr.")
    assert client.get(URL, clerk, table=[str(ORDERS)]).json() == {"items": []}


def test_too_many_tables_and_wrong_names_are_refused(client: Client) -> None:
    expect_problem(client.get(URL, table=["lake.a.b"] * (MAX_TABLES + 1)), 422)
    expect_problem(client.get(URL, table=["no-table"]), 422)
    expect_problem(client.get(URL), 422)
