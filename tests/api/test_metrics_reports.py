from __future__ import annotations

import json
from typing import Any

import pytest

from maintainer.domain.access import Role
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import day_of
from maintainer.domain.reads import TableReads
from tests.api.nouns import GRADE, NOW, ORDERS, measure
from tests.api.people import let_in
from tests.api.serving import Client, expect_problem

REPORTS = "/api/v1/metrics-reports"
ITEMS = TableIdentifier("lake", ("sales", "eu.west"), "items")
SCAN = {
    "report-type": "scan-report",
    "table-name": "lake.sales.orders",
    "snapshot-id": 23,
    "filter": True,
    "schema-id": 0,
    "projected-field-ids": [1],
    "projected-field-names": ["id"],
    "metrics": {"result-data-files": {"unit": "count", "value": 3}},
}
COMMIT = SCAN | {"report-type": "commit-report"}


def reads(client: Client) -> tuple[TableReads, ...]:
    today = day_of(NOW)
    return tuple(client.daemon.store.reads(today, today))


def test_each_report_of_a_scan_counts_as_a_read(client: Client) -> None:
    today = day_of(NOW)
    client.daemon.store.record_health(measure(ITEMS), GRADE)
    assert client.post(REPORTS, SCAN).json() == {"counted": 1, "left_out": 0}
    answer = client.post(REPORTS, [SCAN, SCAN, COMMIT, SCAN | {"table-name": str(ITEMS)}])
    assert answer.status_code == 202
    assert answer.json() == {"counted": 3, "left_out": 1}
    assert reads(client) == (TableReads(ITEMS, 1, today), TableReads(ORDERS, 3, today))


@pytest.mark.parametrize(
    "name", ["lake.sales.unknown", "other.sales.orders", "orders", "s3://b/sales/orders", "a..b"]
)
def test_reports_of_unknown_tables_are_left_out(client: Client, name: str) -> None:
    answer = client.post(REPORTS, SCAN | {"table-name": name})
    assert answer.json() == {"counted": 0, "left_out": 1}
    assert reads(client) == ()


def test_the_address_names_the_catalog_that_engines_call_otherwise(client: Client) -> None:
    report = SCAN | {"table-name": "spark_catalog.sales.orders"}
    kind = {"Content-Type": "application/json"}
    sent = client.send(
        "POST", REPORTS, kind, json.dumps(report).encode(), query={"catalog": "lake"}
    )
    assert sent.json()["counted"] == 1
    assert [one.table for one in reads(client)] == [ORDERS]


@pytest.mark.parametrize("body", [{}, {"report-type": "scan-report"}, [1], [SCAN] * 1001])
def test_what_is_no_report_is_refused(client: Client, body: Any) -> None:
    expect_problem(client.post(REPORTS, body), 422)


def test_reads_count_only_on_tables_on_which_the_sender_is_an_operator(client: Client) -> None:
    client.daemon.store.record_health(measure(ITEMS), GRADE)
    engine = let_in(client, "engine", Role.OPERATOR, "lake.sales.orders")
    both = [SCAN, SCAN | {"table-name": str(ITEMS)}]
    assert client.post(REPORTS, both, engine).json() == {"counted": 1, "left_out": 1}
    assert [one.table for one in reads(client)] == [ORDERS]
    viewer = let_in(client, "guest", Role.VIEWER)
    expect_problem(client.post(REPORTS, SCAN, viewer), 403)
