"""Glue and DynamoDB as PyIceberg knows them: real catalogs on moto's servers of both, with their
files on its S3.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.table import Table

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.location import TableLocation
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
from tests.amazon import (
    ACCESS_KEY_ID,
    REGION,
    SECRET_ACCESS_KEY,
    client,
    create_bucket,
    serve_amazon,
)

pytestmark = pytest.mark.slow

KINDS = ("glue", "dynamodb")
KEYS = {
    "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
    "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
    "AWS_DEFAULT_REGION": REGION,
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve_amazon() as address:
        yield address


@pytest.fixture
def endpoint(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Keys come from the environment, as on a machine of AWS; so does DynamoDB's address, which
    PyIceberg has no property for.
    """
    requests.post(f"{server}/moto-api/reset", timeout=10)
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": server}.items():
        monkeypatch.setenv(name, value)
    create_bucket(server, "lake")
    return server


def properties(kind: str, endpoint: str) -> dict[str, str]:
    return {
        "type": kind,
        "warehouse": "s3://lake/warehouse",
        "s3.endpoint": endpoint,
        "s3.region": REGION,
        "glue.endpoint": endpoint,
    }


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def writer(kind: str, endpoint: str) -> Iterator[Catalog]:
    with closing(load_catalog("lake", **properties(kind, endpoint))) as opened:
        opened.create_namespace("sales")
        yield opened


@pytest.fixture
def catalog(kind: str, endpoint: str) -> Iterator[PyIcebergCatalog]:
    with closing(PyIcebergCatalog("lake", properties(kind, endpoint), StoppedClock())) as opened:
        yield opened


@dataclass
class Maker:
    """Commits to tables. PyIceberg does so on Glue alone: what DynamoDB is to have is committed to
    a SQL catalog, and DynamoDB gets the new location.
    """

    kind: str
    endpoint: str
    writer: Catalog
    other: Catalog

    def make(self, name: str) -> Table:
        table = self.writer.create_table(name, ROWS)
        if self.kind == "dynamodb":
            self.other.create_namespace_if_not_exists(table.name()[0])
            table = self.other.register_table(name, table.metadata_location)
        return table

    def tell(self, table: Table) -> None:
        """What was committed to the table is what the catalog has."""
        if self.kind == "dynamodb":
            key = {"identifier": {"S": ".".join(table.name())}, "namespace": {"S": table.name()[0]}}
            reported = {
                "AttributeUpdates": {
                    "p.metadata_location": {"Value": {"S": table.metadata_location}}
                }
            }
            client("dynamodb", self.endpoint).update_item(TableName="iceberg", Key=key, **reported)


@pytest.fixture
def maker(kind: str, endpoint: str, writer: Catalog, tmp_path: Path) -> Iterator[Maker]:
    with closing(
        load_catalog(
            "other", **{**properties("sql", endpoint), "uri": f"sqlite:///{tmp_path}/other.db"}
        )
    ) as other:
        yield Maker(kind, endpoint, writer, other)


@pytest.fixture
def orders(maker: Maker) -> Table:
    table = maker.make("sales.orders")
    with table.update_spec() as update:
        update.add_identity("day")
    for day in (1, 2):
        table.append(rows(5, day))
    table.delete("id < 2")
    maker.tell(table)
    return table


def polled(catalog: PyIcebergCatalog, known: dict[Any, str] | None = None) -> dict[Any, Polled]:
    found = list(catalog.poll(known or {}))
    assert all(isinstance(one, Polled) for one in found), found
    return {one.table: one for one in found if isinstance(one, Polled)}


def test_every_table_of_every_namespace_is_listed(
    writer: Catalog, catalog: PyIcebergCatalog
) -> None:
    writer.create_namespace("logs")
    for name in ("sales.orders", "sales.returns", "logs.requests"):
        writer.create_table(name, ROWS)
    assert sorted(map(str, catalog.tables())) == [
        "lake.logs.requests",
        "lake.sales.orders",
        "lake.sales.returns",
    ]
    assert "answers, with 2 namespaces at the top level" in catalog.ping()


def test_a_poll_tells_which_table_changed(
    maker: Maker, catalog: PyIcebergCatalog, orders: Table
) -> None:
    maker.make("sales.returns")
    first = polled(catalog)
    assert {str(table): one.is_changed for table, one in first.items()} == {
        "lake.sales.orders": True,
        "lake.sales.returns": True,
    }
    known = {table: one.token for table, one in first.items()}
    orders.append(rows(1))
    maker.tell(orders)
    with closing(
        PyIcebergCatalog("lake", catalog._properties, StoppedClock())
    ) as later:  # which has asked nothing yet
        second = polled(later, known)
    assert {str(table): one.is_changed for table, one in second.items()} == {
        "lake.sales.orders": True,
        "lake.sales.returns": False,
    }
    assert second[identify("sales", "orders")].token == orders.metadata_location


def test_a_tables_inventory_is_what_pyiceberg_says_of_it(
    catalog: PyIcebergCatalog, orders: Table
) -> None:
    inventory = read_by(catalog, identify("sales", "orders"))
    assert inventory.metadata_location == orders.metadata_location
    assert (inventory.unreadable, len(inventory.snapshots), total(inventory)[2]) == (
        (),
        len(orders.snapshots()),
        6,
    )
    assert partitions(inventory) == partitions_by_pyiceberg(orders)
    taken = [
        one.outcome
        for one in catalog.inventories(
            [identify("sales", "orders")], lambda *_: 2000, lambda *_: {}
        )
    ]
    assert taken == [inventory]


def test_a_dropped_table_is_reported_as_dropped(
    writer: Catalog, catalog: PyIcebergCatalog, orders: Table
) -> None:
    assert list(catalog.tables()) == [identify("sales", "orders")]
    writer.drop_table(orders.name())
    found = catalog.inventory(identify("sales", "orders"), lambda *_: 2000, lambda *_: {})
    assert isinstance(found, TableFault)
    assert found.kind is FaultKind.DROPPED
    assert list(catalog.tables()) == []


def test_a_catalog_that_does_not_answer_is_a_fault_of_the_catalog(
    kind: str, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = "http://127.0.0.1:1"
    monkeypatch.setenv("AWS_ENDPOINT_URL", nowhere)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with closing(
        PyIcebergCatalog(
            "lake",
            {**properties(kind, endpoint), "glue.endpoint": nowhere, "glue.max-retries": "0"},
            StoppedClock(),
        )
    ) as catalog:
        (fault,) = catalog.tables()
        assert isinstance(fault, CatalogFault)
        assert "127.0.0.1:1" in fault.reason
        with pytest.raises(CatalogUnavailableError):
            catalog.ping()


def test_a_table_of_glue_that_is_no_iceberg_table_is_left_out(endpoint: str) -> None:
    glue = client("glue", endpoint)
    glue.create_database(DatabaseInput={"Name": "sales"})
    glue.create_table(
        DatabaseName="sales",
        TableInput={"Name": "plain", "Parameters": {"classification": "parquet"}},
    )
    with closing(PyIcebergCatalog("lake", properties("glue", endpoint), StoppedClock())) as catalog:
        assert list(catalog.tables()) == []
        found = catalog.inventory(identify("sales", "plain"), lambda *_: 2000, lambda *_: {})
    assert isinstance(found, TableFault)
    assert found.kind is FaultKind.UNSUPPORTED


def test_guard_1_the_locations_of_glues_other_tables_are_reported(endpoint: str) -> None:
    glue = client("glue", endpoint)
    glue.create_database(DatabaseInput={"Name": "raw"})
    for name, location in (
        ("events", "s3://lake/warehouse/orders/raw"),
        ("around", "s3a://lake/warehouse/"),
        ("beside", "s3://lake/warehouse/orders_2"),
        ("view", ""),
    ):
        glue.create_table(
            DatabaseName="raw",
            TableInput={
                "Name": name,
                "StorageDescriptor": {"Location": location},
                "Parameters": {"classification": "parquet"},
            },
        )
    iceberg = {
        "Name": "orders",
        "StorageDescriptor": {"Location": "s3://lake/warehouse/orders"},
        "Parameters": {"table_type": "ICEBERG"},
    }
    glue.create_table(DatabaseName="raw", TableInput=iceberg)
    with closing(PyIcebergCatalog("lake", properties("glue", endpoint), StoppedClock())) as catalog:
        found = [
            place
            for place in catalog.foreign_locations(("lake/warehouse/orders/",), timedelta(0))
            if isinstance(place, TableLocation)
        ]
        assert [(place.path, place.table) for place in found] == [
            ("lake/warehouse/", "lake.raw.around"),
            ("lake/warehouse/orders/raw/", "lake.raw.events"),
        ]
        assert catalog.ping().startswith("Glue catalog lake answers")


def test_a_catalog_that_knows_icebergs_tables_alone_tells_of_no_others(endpoint: str) -> None:
    with closing(
        PyIcebergCatalog("lake", properties("dynamodb", endpoint), StoppedClock())
    ) as catalog:
        load_catalog("lake", **properties("dynamodb", endpoint)).close()
        assert list(catalog.foreign_locations(("lake/",), timedelta(0))) == []


def test_looking_at_dynamodb_makes_no_table_there(endpoint: str) -> None:
    with closing(
        PyIcebergCatalog("lake", properties("dynamodb", endpoint), StoppedClock())
    ) as catalog:
        (fault,) = catalog.tables()
    assert isinstance(fault, CatalogFault)
    assert "has no table iceberg" in fault.reason
    assert client("dynamodb", endpoint).list_tables()["TableNames"] == []
