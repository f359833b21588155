"""Hive as PyIceberg knows it: a real catalog on a real metastore."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from pyiceberg.catalog import Catalog, hive, load_catalog
from pyiceberg.table import Table

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault, TableInventory
from maintainer.domain.location import TableLocation, normalise_path, paths_of
from maintainer.ports.catalog import Polled
from tests.adapters.catalog.lake import (
    ROWS,
    StoppedClock,
    identify,
    partitions,
    partitions_by_pyiceberg,
    read_by,
    rows,
    total,
)
from tests.adapters.catalog.metastore import running_metastore

pytestmark = [pytest.mark.spark, pytest.mark.slow]

MANY = 24


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_metastore(tmp_path_factory.mktemp("metastore")) as found:
        yield found


@pytest.fixture
def properties(address: str, tmp_path: Path) -> dict[str, str]:
    return {"type": "hive", "uri": address, "warehouse": f"file://{tmp_path}/warehouse"}


@pytest.fixture
def writer(properties: dict[str, str]) -> Iterator[Catalog]:
    with closing(load_catalog("lake", **properties)) as opened:
        yield opened
        for namespace in opened.list_namespaces():
            for table in opened.list_tables(namespace):
                opened.drop_table(table)


@pytest.fixture
def catalog(properties: dict[str, str]) -> Iterator[PyIcebergCatalog]:
    with closing(PyIcebergCatalog("lake", properties, StoppedClock(), workers=8)) as opened:
        yield opened


@pytest.fixture
def orders(writer: Catalog, tmp_path: Path) -> Table:
    """Committed to a SQL catalog and registered: this metastore has no tables for the locks with
    which PyIceberg commits.
    """
    with closing(
        load_catalog(
            "other",
            type="sql",
            uri=f"sqlite:///{tmp_path}/other.db",
            warehouse=f"file://{tmp_path}/warehouse",
        )
    ) as other:
        other.create_namespace("sales")
        table = other.create_table("sales.orders", ROWS)
        with table.update_spec() as update:
            update.add_identity("day")
        for day in (1, 2):
            table.append(rows(5, day))
        writer.create_namespace_if_not_exists("sales")
        writer.register_table("sales.orders", table.metadata_location)
        return table


def test_a_tables_inventory_is_what_pyiceberg_says_of_it(
    catalog: PyIcebergCatalog, orders: Table
) -> None:
    assert list(catalog.tables()) == [identify("sales", "orders")]
    inventory = read_by(catalog, identify("sales", "orders"))
    assert (inventory.metadata_location, inventory.unreadable, total(inventory)[2]) == (
        orders.metadata_location,
        (),
        10,
    )
    assert partitions(inventory) == partitions_by_pyiceberg(orders)
    (polled,) = catalog.poll({})
    assert polled == Polled(
        identify("sales", "orders"),
        orders.metadata_location,
        is_changed=True,
        metadata_location=orders.metadata_location,
    )


def test_each_of_many_tables_is_reported_as_itself_however_many_are_asked_for_at_once(
    writer: Catalog, catalog: PyIcebergCatalog
) -> None:
    writer.create_namespace_if_not_exists("many")
    locations = {
        identify("many", f"t{number:02}"): writer.create_table(
            f"many.t{number:02}", ROWS
        ).metadata_location
        for number in range(MANY)
    }
    for _ in range(3):
        polled = list(catalog.poll({}))
        assert {one.table: one.token for one in polled if isinstance(one, Polled)} == locations, (
            polled
        )
        taken = [
            one.outcome for one in catalog.inventories(locations, lambda *_: 2000, lambda *_: {})
        ]
        assert {
            one.table: one.metadata_location for one in taken if isinstance(one, TableInventory)
        } == locations, taken


def test_a_dropped_table_is_reported_as_dropped(
    writer: Catalog, catalog: PyIcebergCatalog, orders: Table
) -> None:
    assert len(list(catalog.tables())) == 1
    writer.drop_table(orders.name())
    found = catalog.inventory(identify("sales", "orders"), lambda *_: 2000, lambda *_: {})
    assert isinstance(found, TableFault)
    assert found.kind is FaultKind.DROPPED


def make_foreign(address: str, name: str, location: str | None, path: str | None = None) -> None:
    """A table of Hive's own, as any engine makes it; `path` is where Spark keeps the place of its
    own formats' tables.
    """
    serializer = hive.SerDeInfo(  # type: ignore[attr-defined]
        name,
        "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
        {"path": path} if path else {},
    )
    stored = hive.StorageDescriptor(  # type: ignore[attr-defined]
        [hive.FieldSchema("id", "bigint", "")],  # type: ignore[attr-defined]
        location,
        serdeInfo=serializer,
    )
    table = hive.HiveTable(  # type: ignore[attr-defined]
        name,
        "raw",
        "root",
        sd=stored,
        parameters={"EXTERNAL": "TRUE"},
        tableType="EXTERNAL_TABLE",
        partitionKeys=[],
    )
    with hive._HiveClient(address) as client:
        client.create_table(table)


def test_guard_1_the_locations_of_hives_own_tables_are_reported(  # noqa: PLR0917 - fixtures
    address: str,
    writer: Catalog,
    catalog: PyIcebergCatalog,
    orders: Table,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("maintainer.adapters.catalog.tables.hive.TABLES_AT_ONCE", 2)
    writer.create_namespace("raw")
    inside = f"file://{orders.location().removeprefix('file://')}/data/raw"
    for name, location, path in (
        ("events", inside, None),
        ("beside", f"file://{tmp_path}/beside", None),
        ("delta", f"file://{tmp_path}/delta", f"{inside}_2"),
    ):
        make_foreign(address, name, location, path)
    try:
        found = [
            place
            for place in catalog.foreign_locations(paths_of(orders.location(), {}), timedelta(0))
            if isinstance(place, TableLocation)
        ]
        own = normalise_path(orders.location())
        assert [(place.path, place.table, place.table_uuid) for place in found] == [
            (f"{own}data/raw/", "lake.raw.events", ""),
            (f"{own}data/raw_2/", "lake.raw.delta", ""),
        ]
        assert list(catalog.tables()) == [identify("sales", "orders")]
    finally:
        with hive._HiveClient(address) as client:
            for name in client.get_all_tables("raw"):
                client.drop_table("raw", name, deleteData=False)


def test_a_metastore_that_does_not_answer_is_a_fault_of_the_catalog(
    properties: dict[str, str],
) -> None:
    with closing(
        PyIcebergCatalog("lake", {**properties, "uri": "thrift://127.0.0.1:1"}, StoppedClock())
    ) as catalog:
        (fault,) = catalog.tables()
        (unknown,) = catalog.foreign_locations(("/warehouse/",), timedelta(0))
        assert isinstance(unknown, CatalogFault)
    assert isinstance(fault, CatalogFault)
    assert "127.0.0.1" in fault.reason
