"""Catalogs whose package is not installed say which extra brings it."""

from __future__ import annotations

import sys

import pytest

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.inventory import CatalogFault
from tests.adapters.catalog.lake import StoppedClock

NOWHERE = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("properties", "package", "extra"),
    [
        ({"type": "glue"}, "boto3", "glue"),
        ({"type": "dynamodb"}, "boto3", "dynamodb"),
        ({"type": "hive", "uri": "thrift://127.0.0.1:1"}, "thrift", "hive"),
        ({"uri": "thrift://127.0.0.1:1"}, "thrift", "hive"),
        ({"type": "rest", "uri": NOWHERE, "rest.sigv4-enabled": "true"}, "boto3", "sigv4"),
    ],
)
def test_a_catalog_without_its_package_names_the_extra_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, properties: dict[str, str], package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    catalog = PyIcebergCatalog("lake", properties, StoppedClock())
    said = (
        f"needs the Python package {package}, which is not installed; install it with: "
        f"pip install 'iceberg-maintainer[{extra}]'"
    )
    with pytest.raises(CatalogUnavailableError) as raised:
        catalog.ping()
    assert str(raised.value).endswith(said)
    (fault,) = catalog.tables()
    assert isinstance(fault, CatalogFault)
    assert fault.reason.endswith(said)


def test_a_class_of_the_users_own_needs_none_of_these_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "thrift", None)
    own = {"uri": "thrift://127.0.0.1:1", "py-catalog-impl": "pyiceberg.catalog.noop.NoopCatalog"}
    with pytest.raises(CatalogUnavailableError, match="does not answer"):
        PyIcebergCatalog("lake", own, StoppedClock()).ping()
