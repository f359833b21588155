"""Tables with a column whose type PyIceberg does not know, on a catalog of each kind."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from pydantic import ValidationError
from pyiceberg.table.metadata import TableMetadataV2

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.tables.unknown_types import names_unknown_type, with_known_types
from maintainer.domain.effect import CanaryResult
from maintainer.domain.inventory import TableInventory
from tests.adapters.catalog.lake import (
    Lake,
    StoppedClock,
    identify,
    know_nothing,
    local_path,
    rows,
    small_target,
)
from tests.adapters.catalog.test_rest import RestServer
from tests.small_http import serve_on_loopback

TABLE = identify("sales", "t")


@pytest.fixture(params=["sql", "rest"])
def catalog(lake: Lake, request: pytest.FixtureRequest) -> Iterator[PyIcebergCatalog]:
    if request.param == "sql":
        yield lake.catalog
        return
    server = RestServer(lake)
    properties = {"type": "rest", "uri": f"http://127.0.0.1:{server.server_port}"}
    with serve_on_loopback(server):
        opened = PyIcebergCatalog("lake", properties, StoppedClock())
        yield opened
        opened.close()


def doctor(lake: Lake, type_name: object, **changes: object) -> int:
    """Give the column `name` that type in the metadata; returns the id of the one snapshot."""
    table = lake.make_table("sales", "t")
    table.append(rows(10))
    path = local_path(table.metadata_location)
    document = json.loads(path.read_text())
    for field in document["schemas"][0]["fields"]:
        if field["name"] == "name":
            field["type"] = type_name
    path.write_text(json.dumps(document | changes))
    return int(document["current-snapshot-id"])


@pytest.mark.parametrize(
    "type_name",
    [
        "variant",
        {"type": "struct", "fields": [{"id": 9, "name": "a", "type": "variant"}]},
        {"type": "list", "element-id": 9, "element": "variant", "element-required": False},
        {
            "type": "map",
            "key-id": 8,
            "key": "string",
            "value-id": 9,
            "value": "variant",
            "value-required": False,
        },
    ],
)
def test_its_table_is_measured_and_its_files_are_read(
    lake: Lake, catalog: PyIcebergCatalog, type_name: object
) -> None:
    snapshot_id = doctor(lake, type_name)
    found = catalog.inventory(TABLE, small_target, know_nothing)
    assert isinstance(found, TableInventory), found
    assert found.unreadable == ()
    assert catalog.read_canary(TABLE, [snapshot_id]) == CanaryResult(1)


def test_metadata_that_pyiceberg_refuses_is_measured_from_a_rest_catalog_too(lake: Lake) -> None:
    """The daemon's own reader reads it, as it does from a SQL catalog."""
    snapshot_id = doctor(lake, "variant", **{"last-column-id": "many"})
    assert lake.catalog.read_canary(TABLE, [snapshot_id]) is None
    server = RestServer(lake)
    properties = {"type": "rest", "uri": f"http://127.0.0.1:{server.server_port}"}
    with serve_on_loopback(server):
        catalog = PyIcebergCatalog("lake", properties, StoppedClock())
        found = catalog.inventory(TABLE, small_target, know_nothing)
        catalog.close()
    assert isinstance(found, TableInventory)


def test_known_types_and_metadata_without_schemas_stay_as_they_are() -> None:
    fields = [{"id": 1, "name": "a", "type": "decimal(9, 2)"}, {"id": 2, "name": "b", "type": 7}]
    document = {"format-version": 3, "schemas": [{"fields": fields}]}
    assert with_known_types(document) == document
    assert with_known_types({"format-version": 1}) == {"format-version": 1}


def test_an_answer_that_is_no_metadata_at_all_is_no_unknown_type() -> None:
    with pytest.raises(ValidationError) as caught:
        TableMetadataV2.model_validate({})
    assert not names_unknown_type(caught.value)
