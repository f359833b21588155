"""Catalog and store on PostgreSQL: PyIceberg, Spark and the daemon meet in one database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.end_to_end.programs import run, run_json
from tests.postgres import PostgresServer

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.slow]

POLICY = "tables: '*'\nmode: enforce\nrules:\n  rewrite_data_files: {when: {average_file_size_below: 32MiB}}\n"


@contextmanager
def opened(url: str, home: Path) -> Iterator[SqlCatalog]:
    catalog = SqlCatalog("lake", uri=url, warehouse=f"file://{home}/warehouse")
    try:
        yield catalog
    finally:
        catalog.close()


def test_a_table_is_compacted_with_everything_on_postgresql(tmp_path: Path, postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database().replace("postgresql://", "postgresql+psycopg://", 1)
    rows = pa.table({"id": pa.array(range(10), pa.int64())})
    with opened(url, tmp_path) as catalog:
        catalog.create_namespace("sales")
        table = catalog.create_table("sales.orders", rows.schema)
        for _ in range(6):
            table.append(rows)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "all.yaml").write_text(POLICY)
    lake = f"{{type: sql, uri: '{url}', warehouse: 'file://{tmp_path}/warehouse'}}"
    (tmp_path / "maintainer.yaml").write_text(f"catalogs:\n  lake: {lake}\nstore: '{postgres_server.create_database()}'\npolicies: policies\n")
    assert run_json("scan", cwd=tmp_path)[0]["data_files"] == 6
    done = run("run", "lake.sales.orders", "--yes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "6 data files became 1" in done.stdout
    assert run_json("scan", cwd=tmp_path)[0]["data_files"] == 1
    with opened(url, tmp_path) as catalog:
        assert catalog.load_table("sales.orders").scan().to_arrow().num_rows == 60
    password = url.partition("@")[0].rpartition(":")[2]
    log = "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*.log"))
    assert password
    assert password not in done.stdout + done.stderr + log
