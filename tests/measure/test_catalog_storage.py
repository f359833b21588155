"""Each catalog has the storage of its measured tables, and the load of its name services."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.identifier import TableIdentifier
from maintainer.measure.health import measure
from maintainer.measure.impact import ImpactModel, ImpactModels, StorageProfile
from maintainer.measure.report import describe_storage
from tests.samples import inventory, manifest, share

TABLE = measure(inventory((manifest("m1", [share([1000] * 3)]),)))


def test_a_catalog_has_the_storages_and_name_services_of_its_tables() -> None:
    tables = [
        replace(TABLE, table=TableIdentifier("lake", (), "a"), location="hdfs://ns1/a"),
        replace(TABLE, table=TableIdentifier("lake", (), "b"), location="s3://bucket/b"),
    ]
    (found,) = describe_storage(tables, ImpactModels(), ["lake"])
    assert [storage.profile for storage in found.storages] == [
        StorageProfile.HDFS,
        StorageProfile.OBJECT_STORE,
    ]
    assert [(service.name, service.tables) for service in found.name_services] == [("ns1", 1)]


def test_a_catalog_without_tables_has_the_storage_of_its_settings() -> None:
    models = ImpactModels(by_catalog={"lake": ImpactModel(profile=StorageProfile.OZONE)})
    lake, other = describe_storage([], models, ["lake", "other"])
    assert [storage.profile for storage in lake.storages] == [StorageProfile.OZONE]
    assert other.storages == ()
