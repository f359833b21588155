"""What the driver finds out about its Spark, with a JVM of the test."""

from __future__ import annotations

from threading import Event
from types import SimpleNamespace
from typing import Any

from maintainer.adapters.spark.driver.facts import find_catalogs, load_catalogs, read_versions

CONF = {
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.uri": "http://127.0.0.1:1",
    "spark.sql.catalog.far": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.far.jdbc.password": "hunter22",
    "spark.sql.catalog.mute": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.extensions": "x",
}


def java_of(**paths: Any) -> Any:
    """Java's packages, with what lies at these paths (`__` is a dot)."""
    root = SimpleNamespace()
    for path, value in paths.items():
        *packages, name = path.split("__")
        place = root
        for package in packages:
            if not hasattr(place, package):
                setattr(place, package, SimpleNamespace())
            place = getattr(place, package)
        setattr(place, name, value)
    return root


def test_versions_are_read_and_what_cannot_be_asked_is_empty() -> None:
    java = java_of(
        scala__util__Properties__versionNumberString=lambda: "2.13.17",
        java__lang__System__getProperty={"java.version": "21.0.8"}.__getitem__,
        org__apache__iceberg__IcebergBuild__version=None,
    )
    assert read_versions(java) == {"scala": "2.13.17", "java": "21.0.8", "iceberg": ""}
    assert set(read_versions(java_of()).values()) == {""}


def test_a_catalog_is_named_by_a_key_without_more_dots() -> None:
    assert find_catalogs(CONF) == {"lake", "far", "mute"}


def test_each_catalog_is_loaded_or_has_its_error_in_a_line_without_secrets() -> None:
    over = Event()

    def sql(statement: str) -> None:
        if statement == "SET CATALOG `far`":
            message = "no such user\nfor password hunter22"
            raise RuntimeError(message)
        if statement == "SET CATALOG `mute`":
            over.wait(60)

    try:
        assert load_catalogs(lambda: SimpleNamespace(sql=sql), CONF, 0.2) == {
            "far": "no such user for password ***",
            "lake": "",
            "mute": "no answer within 0.2 s",
        }
    finally:
        over.set()
