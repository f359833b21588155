from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast

import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchNamespaceError

from maintainer.adapters.catalog.tables.foreign_tables import ForeignLocations, is_iceberg
from maintainer.adapters.catalog.tables.pointer import NamespaceError
from maintainer.domain.location import TableLocation
from tests.adapters.catalog.lake import NOW
from tests.fakes.adapters.clock import FakeClock

WITHIN = timedelta(minutes=10)
ORDERS = "lake/sales/orders/"


@dataclass
class TellingCatalog:
    """Tables of other kinds by database; an exception is what listing it brings."""

    databases: dict[str, list[tuple[str, str]] | Exception] = field(default_factory=dict)
    listed: int = 0

    def list_namespaces(self) -> list[tuple[str, ...]]:
        self.listed += 1
        return [(name,) for name in self.databases]

    def foreign_locations(self, database: str) -> Iterator[tuple[str, str]]:
        found = self.databases[database]
        if isinstance(found, Exception):
            raise found
        yield from found


@pytest.fixture
def catalog() -> TellingCatalog:
    return TellingCatalog(
        {
            "sales": [
                ("raw", "s3a://lake/sales/orders/raw"),
                ("beside", "s3://lake/sales/orders_2"),
                ("around", "s3://lake/sales/"),
            ]
        }
    )


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def places(clock: FakeClock) -> ForeignLocations:
    return ForeignLocations("lake", clock)


def near(
    places: ForeignLocations, catalog: object, *paths: str
) -> list[TableLocation | NamespaceError]:
    return list(places.near(cast("Catalog", catalog), paths or (ORDERS,), WITHIN))


def names(found: list[TableLocation | NamespaceError]) -> list[str]:
    return [place.table for place in found if isinstance(place, TableLocation)]


def test_tables_in_or_around_a_location_are_reported_with_the_time_of_the_listing(
    places: ForeignLocations, catalog: TellingCatalog
) -> None:
    assert near(places, catalog) == [
        TableLocation("lake/sales/", "lake.sales.around", "", seen_at=NOW),
        TableLocation("lake/sales/orders/raw/", "lake.sales.raw", "", seen_at=NOW),
    ]
    assert names(near(places, catalog, "lake/else/")) == []


def test_a_catalog_is_listed_once_in_the_time_for_all_callers(
    places: ForeignLocations, catalog: TellingCatalog, clock: FakeClock
) -> None:
    for _ in range(3):
        assert len(near(places, catalog)) == 2
    catalog.databases["sales"] = []
    clock.advance(WITHIN)
    assert (len(near(places, catalog)), catalog.listed) == (2, 1)
    clock.advance(timedelta(seconds=1))
    assert (near(places, catalog), catalog.listed) == ([], 2)


def test_a_database_that_cannot_be_listed_is_reported_beside_the_others_and_asked_again(
    places: ForeignLocations, catalog: TellingCatalog
) -> None:
    catalog.databases["hidden"] = PermissionError("not for you")
    catalog.databases["dropped"] = NoSuchNamespaceError("gone")
    found = near(places, catalog)
    assert [one.namespace for one in found if isinstance(one, NamespaceError)] == [("hidden",)]
    assert len(names(found)) == 2
    del catalog.databases["hidden"]
    assert (len(near(places, catalog)), catalog.listed) == (2, 2)


def test_a_catalog_that_cannot_be_listed_at_all_is_reported(
    places: ForeignLocations, catalog: TellingCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "list_namespaces", lambda: 1 / 0)
    (found,) = near(places, catalog)
    assert isinstance(found, NamespaceError)
    assert found.namespace == ()


def test_a_catalog_that_knows_icebergs_tables_alone_tells_nothing(places: ForeignLocations) -> None:
    assert near(places, object()) == []


@pytest.mark.parametrize(
    ("parameters", "answer"),
    [
        ({"table_type": "ICEBERG"}, True),
        ({"table_type": "delta"}, False),
        ({}, False),
        (None, False),
    ],
)
def test_what_is_icebergs_says_so(parameters: dict[str, str] | None, answer: bool) -> None:
    assert is_iceberg(parameters) is answer


def test_a_listing_of_before_the_clock_was_set_back_is_not_trusted(
    places: ForeignLocations, catalog: TellingCatalog, clock: FakeClock
) -> None:
    near(places, catalog)
    clock.advance(-timedelta(hours=2))
    near(places, catalog)
    assert catalog.listed == 2
