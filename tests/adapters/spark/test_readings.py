"""Manifests that real Spark wrote, of all kinds of tables, held against another library."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Content, TableInventory
from tests.adapters.catalog.lake import know_nothing
from tests.adapters.spark.lakes import Lake, WallClock
from tests.adapters.spark.reading_tables import NAMESPACE, TABLES, make_all
from tests.plain_manifests import check_every_manifest

pytestmark = [pytest.mark.spark, pytest.mark.slow]
TARGET_BYTES = 1 << 29


def target(*_: object) -> int:
    return TARGET_BYTES


@pytest.fixture(scope="module")
def catalog(lake: Lake, warm: LocalRunner) -> Iterator[PyIcebergCatalog]:
    make_all(warm, lake)
    found = PyIcebergCatalog("lake", lake.properties, WallClock())
    yield found
    found.close()


def find(table: str) -> TableIdentifier:
    return TableIdentifier("lake", (NAMESPACE,), table)


def read_here(catalog: PyIcebergCatalog, table: str) -> TableInventory:
    inventory = catalog.inventory(find(table), target, know_nothing)
    assert isinstance(inventory, TableInventory)
    assert inventory.unreadable == ()
    return inventory


def test_the_tables_have_all_that_digests_tell_apart(catalog: PyIcebergCatalog) -> None:
    inventories = {table: read_here(catalog, table) for table in TABLES}
    shares = [
        share
        for inventory in inventories.values()
        for digest in inventory.manifests
        for share in digest.partitions
    ]
    assert {share.content for share in shares} == set(Content)
    assert len({digest.spec_id for digest in inventories["evolved"].manifests}) == 4
    assert any(share.sizes.runs for share in shares)
    assert any(share.sizes.listed for share in shares)
    assert {share.newest_sequence_number is None for share in shares} == {True, False}
    assert {
        digest.lists_files for inventory in inventories.values() for digest in inventory.manifests
    } == {True, False}
    assert {len(digest.formats) for digest in inventories["many"].manifests} == {2}


@pytest.mark.usefixtures("catalog")
def test_every_manifest_is_read_as_fastavro_reads_it(lake: Lake) -> None:
    checked = check_every_manifest(lake.root)
    assert checked.refused == set()
    assert checked.contents == set(Content)
