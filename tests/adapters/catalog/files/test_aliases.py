"""A table whose metadata names its directory otherwise than this process reaches it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from maintainer.adapters.catalog.files.aliases import every_path
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.domain.inventory import TableInventory
from maintainer.domain.location import Aliases
from tests.adapters.catalog.lake import (
    Lake,
    StoppedClock,
    identify,
    know_nothing,
    rows,
    small_target,
)

ORDERS = identify("sales", "orders")


@pytest.fixture
def moved(lake: Lake) -> Aliases:
    """The lake's warehouse is moved, and every path in its metadata has the old name."""
    table = lake.make_table("sales", "orders")
    table.append(rows(3))
    table.delete("id = 0")
    old, new = lake.directory / "warehouse", lake.directory / "moved"
    old.rename(new)
    return Aliases(((f"file://{old}/", f"file://{new}/"),))


def test_all_of_a_table_is_read_under_the_other_name(lake: Lake, moved: Aliases) -> None:
    given = PyIcebergCatalog("lake", lake.properties, StoppedClock(), aliases=moved)
    with closing(given) as catalog:
        inventory = catalog.inventory(ORDERS, small_target, know_nothing)
        assert isinstance(inventory, TableInventory)
        assert not inventory.unreadable
        old, new = (f"{lake.directory}/{name}/sales/orders/" for name in ("warehouse", "moved"))
        assert inventory.location == f"file://{old.rstrip('/')}", "as Spark must spell it"
        assert set(inventory.paths) == {old, new}
        newest = inventory.current_snapshot_id
        assert newest is not None
        assert catalog.count_rows(ORDERS, newest, 10**6) == 2
        canary = catalog.read_canary(ORDERS, [newest])
        assert canary is not None
        assert (canary.problems, canary.unread) == ((), ())
        assert canary.files_read
        assert catalog.file_bytes(ORDERS, inventory.metadata_location)
        assert all(catalog.stat_files(ORDERS, [inventory.metadata_location]))
        (polled,) = catalog.poll({})
        assert f"file://{new}" in str(polled), "guards compare what all catalogs can compare"


@pytest.mark.parametrize("spelling", ["FILE://{}/warehouse", "file:///{}/x/../warehouse"])
def test_a_table_is_read_under_the_other_name_in_every_spelling(
    lake: Lake, moved: Aliases, spelling: str
) -> None:
    file = max((lake.directory / "moved/sales/orders/metadata").glob("*.metadata.json"))
    start = spelling.format(lake.directory)
    lake.point_to(f"{start}/sales/orders/metadata/{file.name}", "orders")
    given = PyIcebergCatalog("lake", lake.properties, StoppedClock(), aliases=moved)
    with closing(given) as catalog:
        inventory = catalog.inventory(ORDERS, small_target, know_nothing)
    assert isinstance(inventory, TableInventory), inventory
    assert not inventory.unreadable


def test_without_the_alias_the_table_cannot_be_read(lake: Lake, moved: Aliases) -> None:
    del moved
    found = lake.catalog.inventory(ORDERS, small_target, know_nothing)
    assert not isinstance(found, TableInventory)


def test_the_target_of_a_symlink_is_a_name_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    real = Path(tmp_path / "real").resolve()
    assert every_path(Aliases(), f"file://{tmp_path}/link", {}) == (
        f"{tmp_path}/link/",
        f"{real}/",
    )
