"""Tables in a bucket behind a REST catalog, both on this machine and reachable by pods."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from moto.s3.models import s3_backends
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import parquet_file_to_data_file
from pyiceberg.partitioning import PartitionSpec

from maintainer.adapters.demo.history import (
    DatedCommit,
    NewTable,
    create_with_history,
    describe_table,
)
from maintainer.domain.identifier import TableIdentifier
from tests.adapters.spark.lakes import BY_PART, SCHEMA, Lake, WallClock
from tests.amazon import ACCESS_KEY_ID, REGION, client, create_bucket, serve_amazon
from tests.node.rest_catalog import serve_catalog

PLANTED_SECRET = "storage-key-that-no-object-may-hold"  # noqa: S105 - planted
_AGE = timedelta(days=40)  # of each table's first commit
_ROWS = 500  # of each file


class BucketLake(Lake):
    """Written by a catalog of the tests' own; daemon and Spark use the REST catalog before it."""

    def __init__(self, root: Path, endpoint: str) -> None:
        """Create a bucket of its own: the server's contents outlive it in this process."""
        self.root = root
        self.bucket = f"lake-{uuid4().hex[:8]}"
        create_bucket(endpoint, self.bucket)
        self.storage = {
            "s3.endpoint": endpoint,
            "s3.access-key-id": ACCESS_KEY_ID,
            "s3.secret-access-key": PLANTED_SECRET,
            "s3.region": REGION,
            "s3.path-style-access": "true",
        }
        self.catalog = SqlCatalog(
            "lake",
            uri=f"sqlite:///{root}/catalog.db",
            warehouse=f"s3://{self.bucket}/warehouse",
            **self.storage,
        )
        self.catalog.create_namespace("db")
        self.gates: dict[str, Event] = {}
        self._objects = client("s3", endpoint)

    def create(
        self,
        name: str,
        namespace: str = "db",
        files: int = 60,
        partitions: int = 1,
        commits: int = 1,
    ) -> TableIdentifier:
        """Spread small files over the partitions, and over commits that are one hour apart."""
        spec = BY_PART if partitions > 1 else PartitionSpec()
        new = NewTable((namespace, name), SCHEMA, spec)
        metadata, io = describe_table(self.catalog, new)
        location = metadata.location
        new = NewTable((namespace, name), SCHEMA, spec, location=location)
        written = []
        for number in range(files):
            path = f"{location}/data/{number:05}.parquet"
            first = number * _ROWS
            rows = pa.table(
                {
                    "id": pa.array(range(first, first + _ROWS), pa.int64()),
                    "part": pa.array([number % partitions] * _ROWS, pa.int64()),
                    "text": [f"row {row}" for row in range(first, first + _ROWS)],
                },
                schema=SCHEMA.as_arrow(),
            )
            with io.new_output(path).create(overwrite=True) as stream:
                pq.write_table(rows, stream)
            written.append(parquet_file_to_data_file(io, metadata, path))
        begun = WallClock().now() - _AGE
        create_with_history(
            self.catalog,
            new,
            [
                DatedCommit(begun + timedelta(hours=number), tuple(written[number::commits]))
                for number in range(commits)
            ],
        )
        return TableIdentifier("lake", (namespace,), name)

    @contextmanager
    def holding(self, name: str) -> Iterator[None]:
        """Let no new snapshot of a table of this name pass until the end of the block."""
        gate = self.gates[name] = Event()
        try:
            yield
        finally:
            gate.set()
            del self.gates[name]

    def contents(self, table: TableIdentifier) -> pa.Table:
        """All rows in the order of their ids."""
        return self.load(table).scan().to_arrow().cast(SCHEMA.as_arrow()).sort_by("id")

    def leave_orphan(self, table: TableIdentifier, name: str) -> str:
        """Put a file where a failed writer leaves one; return its key."""
        location = self.load(table).location().removeprefix(f"s3://{self.bucket}/")
        key = f"{location}/data/{name}"
        self._objects.put_object(Bucket=self.bucket, Key=key, Body=b"left by a failed writer")
        return key

    def keys(self) -> set[str]:
        """All objects."""
        pages = self._objects.get_paginator("list_objects_v2").paginate(Bucket=self.bucket)
        return {found["Key"] for page in pages for found in page.get("Contents", ())}

    def grow_old(self) -> None:
        """Let all objects be as old as the tables; the server is in this process."""
        for found in s3_backends["123456789012"]["aws"].buckets[self.bucket].keys.values():
            found.last_modified = (WallClock().now() - _AGE).replace(tzinfo=None)


@contextmanager
def open_lake(root: Path, host: str) -> Iterator[BucketLake]:
    """Serve an empty lake on this address; its properties are those for daemon and Spark."""
    with serve_amazon(host) as endpoint:
        lake = BucketLake(root, endpoint)
        with serve_catalog(host, lake.catalog, lake.gates) as uri:
            lake.properties = {"type": "rest", "uri": uri, **lake.storage}
            yield lake
        lake.catalog.close()
