from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.location import TableLocation
from maintainer.ports.store import Store
from tests.adapters.store.values import NOW, ORDERS, make_grade, make_health


def record(
    store: Store, name: str, location: str, properties: dict[str, str] | None = None
) -> None:
    table = replace(ORDERS, name=name)
    health = replace(
        make_health(),
        table=table,
        table_uuid=f"uuid-{name}",
        location=location,
        properties=properties or {},
    )
    store.record_health(health, make_grade())


@pytest.fixture
def lake(store: Store) -> Store:
    record(store, "orders", "s3://lake/sales/orders")
    record(store, "orders_2", "s3://lake/sales/orders_2")
    record(store, "inner", "s3a://lake/sales/orders/inner/")
    record(store, "outer", "s3://lake/sales")
    record(store, "far", "s3://else/far", {"write.data.path": "s3://lake/sales/orders/data"})
    return store


def near(store: Store, *paths: str) -> list[tuple[str, str]]:
    return [(place.path, place.table.rpartition(".")[2]) for place in store.locations_near(paths)]


def test_places_in_and_around_a_directory_are_found_and_no_others(lake: Store) -> None:
    assert near(lake, "lake/sales/orders/") == [
        ("lake/sales/", "outer"),
        ("lake/sales/orders/", "orders"),
        ("lake/sales/orders/data/", "far"),
        ("lake/sales/orders/inner/", "inner"),
    ]
    assert near(lake, "lake/sales/orders_2/") == [
        ("lake/sales/", "outer"),
        ("lake/sales/orders_2/", "orders_2"),
    ]
    assert near(lake, "nowhere/") == []
    assert near(lake) == []
    assert near(lake, "else/", "lake/sales/orders/inner/deep/") == [
        ("else/far/", "far"), ("lake/sales/", "outer"), ("lake/sales/orders/", "orders"),
        ("lake/sales/orders/inner/", "inner"),
    ]  # fmt: skip


def test_a_dropped_tables_place_is_remembered_as_gone(lake: Store) -> None:
    lake.record_fault(TableFault(replace(ORDERS, name="inner"), FaultKind.DROPPED, "dropped", NOW))
    inner = [place for place in lake.locations_near(["lake/sales/orders/"]) if place.is_gone]
    assert inner == [
        TableLocation(
            "lake/sales/orders/inner/",
            str(replace(ORDERS, name="inner")),
            "uuid-inner",
            is_gone=True,
        )
    ]


def test_a_table_that_moved_is_remembered_in_both_places(lake: Store) -> None:
    record(lake, "orders", "s3://lake/new")
    assert ("lake/sales/orders/", "orders") in near(lake, "lake/sales/orders/")
    assert near(lake, "lake/new/") == [("lake/new/", "orders")]


def test_a_table_under_two_names_has_two_places_until_one_name_is_gone(lake: Store) -> None:
    twin = replace(
        make_health(),
        table=replace(ORDERS, name="twin"),
        table_uuid="uuid-orders",
        location="s3://lake/sales/orders",
        properties={},
    )
    lake.record_health(twin, make_grade())
    assert ("lake/sales/orders/", "twin") in near(lake, "lake/sales/orders/")
    assert ("lake/sales/orders/", "orders") in near(lake, "lake/sales/orders/")
    lake.record_fault(TableFault(twin.table, FaultKind.DROPPED, "dropped", NOW))
    assert [
        place.table for place in lake.locations_near(["lake/sales/orders/"]) if place.is_gone
    ] == [str(twin.table)]


def test_a_place_of_a_table_that_is_none_of_icebergs_is_remembered_with_when_it_was_seen_last(
    lake: Store,
) -> None:
    raw = TableLocation("lake/sales/orders/raw/", "lake.sales.raw", "", seen_at=NOW)
    lake.record_foreign_locations([raw, replace(raw, path="lake/far/")])
    lake.record_foreign_locations([])
    assert [
        place for place in lake.locations_near(["lake/sales/orders/"]) if place.seen_at is not None
    ] == [raw]
    later = replace(raw, seen_at=NOW + timedelta(days=8))
    lake.record_foreign_locations([later])
    assert [
        place
        for place in lake.locations_near(["lake/sales/orders/raw/deep/"])
        if place.seen_at is not None
    ] == [later]
    assert not any(place.is_gone for place in lake.locations_near(["lake/"]))
