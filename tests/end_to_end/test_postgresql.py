"""Catalog and store on PostgreSQL: PyIceberg, Spark and the daemon meet in one database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlsplit

import psycopg
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy.exc import ProgrammingError

from tests.end_to_end.programs import run, run_json
from tests.postgres import PostgresServer

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.slow]

POLICY = (
    "tables: '*'\nmode: enforce\nrules:\n  rewrite_data_files: {when: {average_file_size_below: "
    "32MiB}}\n"
)


@contextmanager
def opened(url: str, home: Path) -> Iterator[SqlCatalog]:
    catalog = SqlCatalog("lake", uri=url, warehouse=f"file://{home}/warehouse")
    try:
        yield catalog
    finally:
        catalog.close()


def create_observer(url: str) -> str:
    """The URL of a role that may read the catalog's tables, and nothing else."""
    name, password = f"observer_{token_hex(6)}", token_hex(16)
    with psycopg.connect(
        url.replace("postgresql+psycopg://", "postgresql://", 1), autocommit=True
    ) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'".encode())
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}".encode())
    scheme, _, place = url.partition("://")
    return f"{scheme}://{name}:{password}@{place.partition('@')[2]}"


def test_guard_30_the_daemon_only_reads_and_its_jobs_write_with_credentials_of_their_own(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    url = postgres_server.create_database().replace("postgresql://", "postgresql+psycopg://", 1)
    rows = pa.table({"id": pa.array(range(10), pa.int64())})
    with opened(url, tmp_path) as catalog:
        catalog.create_namespace("sales")
        table = catalog.create_table("sales.orders", rows.schema)
        for _ in range(6):
            table.append(rows)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "all.yaml").write_text(POLICY)
    observer = create_observer(url)
    password = urlsplit(url).password
    assert password
    writer = f"{{jdbc.user: postgres, jdbc.password: '{password}'}}"
    lake = (
        f"{{type: sql, uri: '{observer}', warehouse: 'file://{tmp_path}/warehouse', spark: "
        f"{writer}}}"
    )
    (tmp_path / "maintainer.yaml").write_text(
        f"catalogs:\n  lake: {lake}\nstore: '{postgres_server.create_database()}'\npolicies: "
        f"policies\n"
    )
    assert run_json("scan", cwd=tmp_path)[0]["data_files"] == 6
    done = run("run", "lake.sales.orders", "--yes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "6 data files became 1" in done.stdout
    assert run_json("scan", cwd=tmp_path)[0]["data_files"] == 1
    with opened(url, tmp_path) as catalog:
        assert catalog.load_table("sales.orders").scan().to_arrow().num_rows == 60
    with (
        opened(observer, tmp_path) as catalog,
        pytest.raises(ProgrammingError, match="permission denied"),
    ):
        catalog.drop_table("sales.orders")
    log = "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*.log"))
    for secret in (password, urlsplit(observer).password):
        assert secret
        assert secret not in done.stdout + done.stderr + log
