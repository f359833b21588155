"""What the driver finds out about its Spark, with a JVM of the test."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from maintainer.adapters.spark.driver.facts import read_versions


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
