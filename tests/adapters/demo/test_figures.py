"""The demo's tables, measured by us and counted by three others."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.clock import SystemClock
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import DEFAULT_TARGET_FILE_SIZE_BYTES, Content, TableInventory
from maintainer.measure.health import measure
from tests.adapters.demo.conftest import BuiltLake
from tests.adapters.demo.figures import (
    Figures,
    counted_by_duckdb,
    counted_by_pyiceberg,
    counted_by_spark,
    measured,
    rows_by_duckdb,
)
from tests.duckdb_iceberg import duckdb_with_iceberg
from tests.lake_contents import list_tables
from tests.plain_manifests import FIRST_ROW_ID, check_every_manifest

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.timeout(900),
]  # the build comes first, on a machine that may be busy

# What DuckDB cannot scan, with its words; its listing of files reads every table. A table that it
# learns to scan fails here, to be taken off the list.
UNSCANNABLE = {"lake.logs.raw_requests": "File format 'ORC' not supported"}


@pytest.fixture(scope="module")
def ours(built: BuiltLake) -> Mapping[str, Figures]:
    properties = {
        "type": "sql",
        "uri": f"sqlite:///{built.directory}/catalog.db",
        "warehouse": f"file://{built.directory}/warehouse",
    }
    catalog = PyIcebergCatalog("lake", properties, SystemClock())
    found: dict[str, Figures] = {}
    for name, namespace, table, _ in list_tables(built.directory):
        identifier = TableIdentifier("lake", tuple(namespace.split(".")), table)
        inventory = catalog.inventory(
            identifier, lambda _table, _properties: DEFAULT_TARGET_FILE_SIZE_BYTES, lambda *_: {}
        )
        assert isinstance(inventory, TableInventory), inventory
        found[name] = measured(measure(inventory))
    catalog.close()
    return found


@pytest.fixture
def quack(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb_with_iceberg(tmp_path) as connection:
        yield connection


def test_what_we_measure_is_what_pyiceberg_inspects(
    built: BuiltLake, ours: Mapping[str, Figures]
) -> None:
    logging.getLogger("pyiceberg").setLevel(logging.ERROR)
    catalog = SqlCatalog(
        "lake",
        uri=f"sqlite:///{built.directory}/catalog.db",
        warehouse=f"file://{built.directory}/warehouse",
    )
    found = {
        name: counted_by_pyiceberg(catalog.load_table((namespace, table)))
        for name, namespace, table, _ in list_tables(built.directory)
    }
    catalog.close()
    assert ours == found
    kinds = {
        kind
        for kind in ("position_delete_files", "deletion_vectors")
        if any(getattr(figures, kind) for figures in found.values())
    }
    assert kinds == {"position_delete_files", "deletion_vectors"}, (
        "without them the lake would say nothing of deletes"
    )


def test_every_manifest_of_the_lake_is_read_as_fastavro_reads_it(built: BuiltLake) -> None:
    checked = check_every_manifest(built.directory / "warehouse")
    assert checked.refused == set()
    assert checked.contents == {Content.DATA, Content.POSITION_DELETES, Content.DELETION_VECTORS}
    assert FIRST_ROW_ID in checked.field_ids, (
        "without tables of format version 3 the lake would say nothing of row lineage"
    )


def test_what_we_measure_is_what_sparks_metadata_tables_say(
    ours: Mapping[str, Figures], by_spark: Mapping[str, Any]
) -> None:
    assert ours == {name: counted_by_spark(found["metadata"]) for name, found in by_spark.items()}


def test_what_we_measure_is_what_duckdb_lists(
    built: BuiltLake, ours: Mapping[str, Figures], quack: duckdb.DuckDBPyConnection
) -> None:
    assert ours == {
        name: counted_by_duckdb(quack, metadata)
        for name, _, _, metadata in list_tables(built.directory)
    }


def test_duckdb_scans_the_rows_that_spark_counts(
    built: BuiltLake, by_spark: Mapping[str, Any], quack: duckdb.DuckDBPyConnection
) -> None:
    refused: dict[str, str] = {}
    for name, _, _, metadata in list_tables(built.directory):
        try:
            assert rows_by_duckdb(quack, metadata) == by_spark[name]["rows"], name
        except duckdb.Error as error:
            refused[name] = str(error)
    assert refused.keys() == UNSCANNABLE.keys(), refused
    assert all(words in refused[name] for name, words in UNSCANNABLE.items()), refused
