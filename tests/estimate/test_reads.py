from __future__ import annotations

from datetime import UTC, datetime

import pytest

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.reads import TableReads
from maintainer.estimate.score import rate_reads

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ORDERS = TableIdentifier("lake", ("sales",), "orders")
ITEMS = TableIdentifier("lake", ("sales",), "items")
LOGS = TableIdentifier("archive", ("raw",), "logs")


def test_reads_are_divided_by_the_days_since_the_first_report_of_the_catalog() -> None:
    known = [
        TableReads(ORDERS, 70, "2026-11-18"),
        TableReads(ITEMS, 7, "2026-11-21"),
        TableReads(LOGS, 6, "2026-11-20"),
    ]
    assert rate_reads(known, NOW) == {ORDERS: 20.0, ITEMS: 2.0, LOGS: 4.0}


def test_reports_of_today_alone_count_as_those_of_a_day() -> None:
    assert rate_reads([TableReads(ORDERS, 5, "2026-11-21")], NOW) == {ORDERS: pytest.approx(5.0)}


def test_nothing_is_known_without_reports() -> None:
    assert rate_reads([], NOW) == {}
