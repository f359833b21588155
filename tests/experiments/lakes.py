"""A SQL catalog over each storage, with files made beforehand, a Spark and a daemon for it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import pyarrow as pa
from hdfs_native import Client
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import PyArrowFileIO, parquet_file_to_data_file
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata

from maintainer.adapters.spark.catalogs import spark_configuration
from tests.benchmarks.bench_rewrite_hdfs import WritingFileIO
from tests.conformance.session import Session
from tests.end_to_end.programs import Daemon, serving, wait_for
from tests.hdfs import serve_hdfs
from tests.java_servers.s3 import serve_s3
from tests.loop.storages import Directory, Hdfs, Storage, local_directory, s3_bucket

CATALOG = "lake"
DEADLINE_SECONDS = 1_800
_PATH = 1  # of a data file's fields
_AT_ONCE = 128  # uploads to HDFS, each of which waits for the data node
_SPARK = {
    "spark.driver.memory": "3g",
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",  # with both compilers, unlike in tests
    "spark.sql.shuffle.partitions": "4",
}
_QUICK_STEPS = {
    f"MAINTAINER_{step}__INTERVAL": "500ms" for step in ("PLAN", "SUBMIT", "WATCH", "REVIEW")
}
_QUICK_SCANS = {"MAINTAINER_SCAN__INTERVAL": "1s"}


class Kind(StrEnum):
    """A storage by the name that the published figures have."""

    LOCAL = "local disk"
    S3 = "S3"
    HDFS = "HDFS"


@dataclass(frozen=True)
class Lake:
    """One catalog over one storage."""

    kind: Kind
    root: Path
    storage: Storage

    @property
    def properties(self) -> dict[str, str]:
        """The catalog's properties in the daemon's configuration."""
        return {
            "type": "sql",
            "uri": f"sqlite:///{self.root}/catalog.db",
            "warehouse": self.storage.warehouse,
            **self.storage.properties,
        }

    def open_catalog(self) -> SqlCatalog:
        """The catalog in this process, which writes on each storage."""
        writing = {"py-io-impl": f"{WritingFileIO.__module__}.{WritingFileIO.__qualname__}"}
        is_hdfs = self.kind is Kind.HDFS
        return SqlCatalog(CATALOG, **self.properties, **(writing if is_hdfs else {}))

    def open_spark(self) -> Session:
        """A Spark of two cores with the catalog."""
        catalog = spark_configuration(CATALOG, self.properties, dict(self.storage.spark))
        return Session(self.root, {**catalog, **_SPARK})

    def put(self, directory: Path, name: str) -> str:
        """Copy the files of a directory into the storage; the location that has them now.

        A link is a copy where the storage is a directory.
        """
        location = f"{self.storage.warehouse}/{name}"
        files = sorted(directory.iterdir())
        if isinstance(self.storage, Directory):
            target = self.storage.root / name
            target.mkdir(parents=True)
            for file in files:
                os.link(file, target / file.name)
            return location
        assert isinstance(self.storage, Hdfs)
        client = Client(self.storage.address)
        path = location.removeprefix(self.storage.address)

        def bring(file: Path) -> None:
            with client.create(f"{path}/{file.name}") as output:
                output.write(file.read_bytes())

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(bring, files))
        return location

    def create(self, catalog: SqlCatalog, name: str, schema: pa.Schema, directory: Path) -> None:
        """Create a table from the Parquet files of a directory, in one commit."""
        table = catalog.create_table(name, schema)
        mapping = table.schema().name_mapping.model_dump_json()
        location = self.put(directory, f"{'/'.join(name.split('.'))}/data")
        with table.transaction() as transaction:
            transaction.set_properties({"schema.name-mapping.default": mapping})
        append_files(table, describe(table.metadata, directory, location))

    @contextmanager
    def serve(self, policy: str, *, is_quick: bool = False) -> Iterator[Daemon]:
        """The daemon on the catalog; a quick one scans every second."""
        home = self.root / f"home-{time.time_ns()}"
        (home / "policies").mkdir(parents=True)
        (home / "policies" / "default.yaml").write_text(policy)
        lake: dict[str, Any] = {**self.properties, "spark": dict(self.storage.spark)}
        settings = {"catalogs": {CATALOG: lake}, "store": "sqlite:///store.db"}
        (home / "maintainer.yaml").write_text(json.dumps(settings))
        steps = {**_QUICK_STEPS, **(_QUICK_SCANS if is_quick else {})}
        with serving(home, **steps) as daemon:
            yield daemon
            daemon.stop()


def append_files(table: Table, files: Iterable[DataFile]) -> None:
    """Commit the files as one snapshot."""
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        for file in files:
            append.append_data_file(file)


def describe(metadata: TableMetadata, directory: Path, location: str) -> list[DataFile]:
    """The data files at the location, whose footers are read from the directory they came from."""
    here, found = PyArrowFileIO(), []
    for path in sorted(directory.iterdir()):
        file = parquet_file_to_data_file(here, metadata, f"file://{path}")
        file[_PATH] = f"{location}/{path.name}"
        found.append(file)
    return found


@contextmanager
def open_lake(kind: Kind, root: Path) -> Iterator[Lake]:
    """A lake in the directory; its server ends with the context."""
    root.mkdir(parents=True)
    if kind is Kind.LOCAL:
        yield Lake(kind, root, local_directory(root / "local"))
    elif kind is Kind.S3:
        with serve_s3(root / "s3") as endpoint:
            yield Lake(kind, root, s3_bucket(root / "s3" / "objects", endpoint))
    else:
        with serve_hdfs(root / "hdfs") as address:
            yield Lake(kind, root, Hdfs(address))


def run_jobs(daemon: Daemon, tables: Sequence[str], rule: str) -> Mapping[str, Any]:
    """Ask for one rule on these tables of the catalog; the jobs by table, without the tables where
    the daemon found nothing to gain.
    """
    wait_for(
        lambda: (
            {one["table"] for one in daemon.get("/api/v1/tables?limit=1000")["items"]}
            >= {f"{CATALOG}.{table}" for table in tables}
        ),
        DEADLINE_SECONDS,
        "the first scan",
    )
    asked = {}
    for table in tables:
        namespace, _, name = table.partition(".")
        path = f"/api/v1/tables/{CATALOG}/{namespace}/{name}/run"
        for job in daemon.post(path, {"rules": [rule]})["jobs"]:
            asked[table] = job["job_id"]
    return {table: wait_for_job(daemon, job_id) for table, job_id in asked.items()}


def wait_for_job(daemon: Daemon, job_id: str) -> Any:
    """The job once it has succeeded."""

    def look() -> Any | None:
        job = daemon.get(f"/api/v1/jobs/{job_id}")
        return job if job["state"] in {"succeeded", "failed", "cancelled"} else None

    job = wait_for(look, DEADLINE_SECONDS, f"job {job_id}")
    assert job["state"] == "succeeded", job["failure_message"]
    return job
