"""All servers that the loop needs, and one Spark that has all catalogs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection
from pyiceberg.catalog import load_catalog
from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO
from pyiceberg.table import Table
from sqlalchemy.engine import make_url

from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.identifier import TableIdentifier
from tests.adapters.spark.lakes import ALL_JARS, APPLICATION, QUICK_OPTIONS, Lake, WallClock
from tests.amazon import REGION, serve_amazon
from tests.duckdb_iceberg import duckdb_with_iceberg, read_by_duckdb
from tests.fakes.adapters.store import FakeStore
from tests.gcs import serve_gcs
from tests.hdfs import serve_hdfs
from tests.java_servers.iceberg_rest import serve_iceberg_rest
from tests.java_servers.nessie import WAREHOUSE, Lends, serve_nessie
from tests.java_servers.s3 import ACCESS_KEY_ID, SECRET_ACCESS_KEY, serve_s3
from tests.java_servers.signatures import serve_signatures
from tests.loop.cells import (
    CELLS,
    DUCKDB_READS,
    CatalogKind,
    Cell,
    DuckDBReads,
    StorageKind,
)
from tests.loop.storages import (
    Hdfs,
    Storage,
    bucket_of_roles,
    google_bucket,
    local_directory,
    other_scheme,
    s3_bucket,
)
from tests.postgres import PostgresServer

_LENDS = {
    CatalogKind.NESSIE: Lends.NOTHING,
    CatalogKind.NESSIE_SIGNING: Lends.SIGNATURES,
    CatalogKind.NESSIE_VENDING: Lends.KEYS,
}
# Under `spark:`, this takes the daemon's keys away from Spark, which has its requests signed.
_SIGNED = {
    "s3.access-key-id": "",
    "s3.secret-access-key": "",
    "header.X-Iceberg-Access-Delegation": "remote-signing",
}


class AliasedFileIO(PyArrowFileIO):
    """Reads what Spark wrote under another scheme from where it lies."""

    def new_input(self, location: str) -> PyArrowFile:
        return super().new_input(_as_s3(location))


def _as_s3(location: str) -> str:
    """The name under which S3 has a file that Spark wrote, perhaps under another scheme."""
    scheme, _, rest = location.partition("://")
    if scheme == "s3":
        return location
    assert scheme in {"ofs", "oss"}, location
    return f"s3://{scheme}/{rest.partition('/volume/')[2]}"


class SiteLake(Lake):
    """The tables of one cell."""

    def __init__(
        self,
        cell: Cell,
        properties: Mapping[str, str],
        storage: Storage,
        spark: Mapping[str, str],
        home: Path,
    ) -> None:
        self.given = spark
        self.reads, self.home = DUCKDB_READS[cell.storage], home
        self.name, self.storage, self.aliases = cell.name, storage, storage.aliases
        is_rest = properties["type"] == "rest"
        self.namespace = ("db", "deep") if is_rest else ("db",)
        self.properties = {**properties, **storage.properties}
        reading = (
            {"py-io-impl": f"{__name__}.{AliasedFileIO.__name__}"} if self.aliases.pairs else {}
        )
        self.catalog = load_catalog(cell.name, **self.properties, **reading)
        self.spark = spark_configuration(cell.name, self.properties, spark)

    def read_rows(self, table: TableIdentifier) -> list[tuple[int, int]]:
        """The rows in order, read without Spark and without the daemon: by PyIceberg, whose plan
        may have no deletes left, and by DuckDB, which must see the same.
        """
        rows = self._read_by_pyiceberg(table)
        assert self._read_by_duckdb(table) == rows
        return rows

    def _read_by_pyiceberg(self, table: TableIdentifier) -> list[tuple[int, int]]:
        loaded = self.load(table)
        tasks = list(loaded.scan().plan_files())
        assert not any(task.delete_files for task in tasks)
        parts = []
        for task in tasks:
            with loaded.io.new_input(task.file.file_path).open() as file:
                parts.append(pq.read_table(BytesIO(file.read())))
        whole = pa.concat_tables(parts)
        return sorted(zip(whole["id"].to_pylist(), whole["part"].to_pylist(), strict=True))

    def _read_by_duckdb(self, table: TableIdentifier) -> list[tuple[int, int]]:
        with (
            TemporaryDirectory(dir=self.home) as scratch,
            duckdb_with_iceberg(Path(scratch)) as connection,
        ):
            metadata = self._show(self.load(table), connection, Path(scratch) / "copies")
            return read_by_duckdb(connection, metadata, "id, part")

    def _show(self, table: Table, connection: DuckDBPyConnection, copies: Path) -> str:
        """Let DuckDB read the table's files; returns its name of the metadata file."""
        metadata = table.metadata_location
        match self.reads:
            case DuckDBReads.FILES:
                return metadata.removeprefix("file://")
            case DuckDBReads.S3:
                connection.execute(_secret(self.storage.endpoint))
                return _as_s3(metadata)
            case DuckDBReads.HTTP:
                return metadata.replace("gs://", f"{self.storage.endpoint}/")
            case DuckDBReads.COPIES:
                self.storage.copy(table.location(), copies)
                return f"{copies}{metadata.removeprefix(table.location())}"


def _secret(endpoint: str) -> str:
    """The statement that lets DuckDB into each bucket of a server."""
    return (
        f"CREATE SECRET (TYPE s3, KEY_ID '{ACCESS_KEY_ID}', SECRET '{SECRET_ACCESS_KEY}', "
        f"REGION '{REGION}', ENDPOINT '{urlsplit(endpoint).netloc}', URL_STYLE 'path', "
        "USE_SSL false)"
    )


class Site:
    """The lakes by cell, and the runner."""

    def __init__(self, lakes: Mapping[Cell, SiteLake], root: Path) -> None:
        self.lakes, self.root = lakes, root
        catalogs = {lake.name: lake.spark for lake in lakes.values()}
        self.runner = LocalRunner(
            replace(QUICK_OPTIONS, jars_dir=ALL_JARS),
            catalogs,
            "loop-1",
            APPLICATION,
            root / "run",
            FakeStore(),
            WallClock(),
        )

    def log_of(self, cell: Cell) -> str:
        """What the catalog's server has noted, if it is Nessie."""
        return (self.root / cell.name / "nessie.log").read_text(errors="replace")


@contextmanager
def open_site(root: Path, postgres: PostgresServer) -> Iterator[Site]:
    with ExitStack() as servers:
        endpoint = servers.enter_context(serve_s3(root / "s3"))
        objects = root / "s3" / "objects"
        google = servers.enter_context(serve_gcs(root / "gcs"))
        storages: dict[StorageKind, Storage] = {
            StorageKind.LOCAL: local_directory(root / "local"),
            StorageKind.S3: s3_bucket(objects, endpoint),
            StorageKind.HDFS: Hdfs(servers.enter_context(serve_hdfs(root / "hdfs"))),
            StorageKind.GCS: google_bucket(root / "gcs" / "objects", google),
            StorageKind.OFS: other_scheme("ofs", "om", objects, endpoint),
            StorageKind.OSS: other_scheme("oss", "account", objects, endpoint),
        }
        lakes = {}
        for cell in CELLS:
            storage = storages[cell.storage]
            spark = dict(storage.spark)
            if cell.catalog is CatalogKind.NESSIE_VENDING:
                storage = bucket_of_roles(servers.enter_context(serve_amazon()))
            warehouse = f"{storage.warehouse}/{cell.name}"
            home = root / cell.name
            home.mkdir()
            if cell.catalog is CatalogKind.SQLITE:
                reach = {"type": "sql", "uri": f"sqlite:///{home}/catalog.db"}
            elif cell.catalog is CatalogKind.POSTGRESQL:
                reach = {"type": "sql", "uri": postgres.create_database()}
            elif cell.catalog in _LENDS:
                server = serve_nessie(home, warehouse, storage.endpoint, _LENDS[cell.catalog])
                reach = {"type": "rest", "uri": servers.enter_context(server)}
                warehouse = WAREHOUSE
                if cell.catalog is CatalogKind.NESSIE_SIGNING:
                    signer = servers.enter_context(serve_signatures(reach["uri"]))
                    spark |= {**_SIGNED, "signer.uri": signer}
            else:
                database = {"uri": f"jdbc:sqlite:{home}/catalog.db"}
                if cell.storage is StorageKind.S3:
                    database = _jdbc(postgres.create_database())
                server = serve_iceberg_rest(home, warehouse, {**database, **storage.server})
                reach = {"type": "rest", "uri": servers.enter_context(server)}
            lakes[cell] = SiteLake(cell, {**reach, "warehouse": warehouse}, storage, spark, home)
        site = Site(lakes, root)
        servers.enter_context(closing(site.runner))
        for lake in lakes.values():
            servers.callback(lake.catalog.close)
        yield site


def _jdbc(url: str) -> dict[str, str]:
    """How a catalog on JDBC reaches that database."""
    parts = make_url(url)
    assert parts.username
    assert parts.password
    return {
        "uri": f"jdbc:postgresql://{parts.host}:{parts.port}/{parts.database}",
        "jdbc.user": parts.username,
        "jdbc.password": parts.password,
    }
