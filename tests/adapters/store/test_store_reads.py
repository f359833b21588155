from __future__ import annotations

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.reads import TableReads
from maintainer.ports.store import Store
from tests.adapters.store.values import ORDERS

ODD = TableIdentifier("lake", ("sales", "eu.west"), "items")


def test_reads_are_added_up_for_each_table_and_day(store: Store) -> None:
    store.add_reads("2026-11-20", {ORDERS: 3, ODD: 1})
    store.add_reads("2026-11-20", {ORDERS: 4})
    store.add_reads("2026-11-21", {ORDERS: 5})
    store.add_reads("2026-11-21", {})
    assert store.reads("2026-11-20", "2026-11-21") == (
        TableReads(ODD, 1, "2026-11-20"),
        TableReads(ORDERS, 12, "2026-11-20"),
    )
    assert store.reads("2026-11-21", "2026-11-21") == (TableReads(ORDERS, 5, "2026-11-21"),)
    assert store.reads("2026-11-22", "2026-11-30") == ()


def test_the_reads_of_one_table_count_from_the_first_day_of_its_catalog(store: Store) -> None:
    other = TableIdentifier("lake_2", ("sales",), "orders")
    store.add_reads("2026-11-18", {other: 1, ODD: 1})
    store.add_reads("2026-11-19", {other: 1})
    store.add_reads("2026-11-20", {ODD: 1})
    store.add_reads("2026-11-21", {ORDERS: 2})
    store.add_reads("2026-11-22", {ORDERS: 3})
    assert store.reads_of(ORDERS, "2026-11-19", "2026-11-25") == TableReads(ORDERS, 5, "2026-11-20")
    assert store.reads_of(ORDERS, "2026-11-19", "2026-11-21") == TableReads(ORDERS, 2, "2026-11-20")
    assert store.reads_of(ORDERS, "2026-11-23", "2026-11-25") is None


def test_the_reads_of_earlier_days_are_pruned(store: Store) -> None:
    store.add_reads("2026-11-19", {ORDERS: 1, ODD: 1})
    store.add_reads("2026-11-20", {ORDERS: 1})
    assert store.prune_reads("2026-11-20") == 2
    assert store.reads("2026-11-01", "2026-11-30") == (TableReads(ORDERS, 1, "2026-11-20"),)
    assert store.prune_reads("2026-11-20") == 0
