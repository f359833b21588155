"""The SQL catalog on PostgreSQL, by way of TCP and a password."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyiceberg.catalog import load_catalog

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.domain.errors import CatalogUnavailableError
from tests.adapters.catalog.lake import ROWS, StoppedClock, identify, read_by, rows, total
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]

pytestmark = pytest.mark.postgres


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg", "postgresql+psycopg2"])
def test_tables_in_postgresql_are_listed_and_read(
    postgres_server: PostgresServer, tmp_path: Path, scheme: str
) -> None:
    uri = postgres_server.create_database()
    read_by_scheme = f"{scheme}:{uri.partition(':')[2]}"
    catalog = PyIcebergCatalog("lake", {"type": "sql", "uri": read_by_scheme}, StoppedClock())
    with pytest.raises(CatalogUnavailableError, match="no table iceberg_tables"):
        catalog.ping()
    writer = load_catalog("lake", type="sql", uri=uri, warehouse=f"file://{tmp_path}")
    writer.create_namespace(("sales", "deep"))
    writer.create_table(("sales", "deep", "orders"), ROWS).append(rows(4))
    writer.close()
    assert list(catalog.tables()) == [identify("sales", "deep", "orders")]
    assert total(read_by(catalog, identify("sales", "deep", "orders")))[2] == 4
    catalog.close()


def test_a_wrong_password_is_one_line_that_does_not_show_it(
    postgres_server: PostgresServer,
) -> None:
    uri = postgres_server.url().replace(postgres_server.password, "open-sesame")
    with pytest.raises(CatalogUnavailableError) as raised:
        PyIcebergCatalog("lake", {"type": "sql", "uri": uri}, StoppedClock()).ping()
    assert "open-sesame" not in str(raised.value)
    assert "password authentication failed" in str(raised.value)
    assert "\n" not in str(raised.value)
