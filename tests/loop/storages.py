"""What a storage is to the loop: where tables lie, how both sides reach it, what lies there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from hdfs_native import Client

from maintainer.domain.location import Aliases
from tests.amazon import REGION, client, create_bucket
from tests.gcs import reach, set_time, upload
from tests.java_servers.s3 import ACCESS_KEY_ID, SECRET_ACCESS_KEY

BUCKET = "lake"
S3_KEYS = {
    "s3.access-key-id": ACCESS_KEY_ID,
    "s3.secret-access-key": SECRET_ACCESS_KEY,
    "s3.region": REGION,
    "s3.path-style-access": "true",
}


class Storage(Protocol):
    """One storage."""

    properties: Mapping[str, str]  # of the catalog in the daemon's configuration
    endpoint: str  # of a server that speaks HTTP; else empty
    spark: Mapping[str, str]  # what stands there under `spark:`
    server: Mapping[str, str]  # of a catalog's server that writes metadata itself
    aliases: Aliases

    @property
    def warehouse(self) -> str:
        """The location of all tables, as Spark writes it."""

    def put(self, location: str) -> None:
        """Write a small file that no table knows."""

    def has(self, location: str) -> bool:
        """Whether a file lies there."""

    def grow_old(self, location: str, moment: datetime) -> None:
        """Let all files below the location be as old as that."""

    def copy(self, location: str, target: Path) -> None:
        """Copy all files below the location into a new directory."""


@dataclass
class Directory:
    """A directory of this machine; files of a server may be its contents."""

    root: Path
    warehouse: str
    properties: Mapping[str, str] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)
    server: Mapping[str, str] = field(default_factory=dict)
    aliases: Aliases = field(default_factory=Aliases)
    endpoint: str = ""

    def put(self, location: str) -> None:
        self._path(location).write_bytes(b"left over by a writer that failed")

    def has(self, location: str) -> bool:
        return self._path(location).is_file()

    def grow_old(self, location: str, moment: datetime) -> None:
        for path in self._path(location).rglob("*"):
            os.utime(path, (moment.timestamp(), moment.timestamp()))

    def copy(self, location: str, target: Path) -> None:
        shutil.copytree(self._path(location), target)

    def _path(self, location: str) -> Path:
        assert location.startswith(f"{self.warehouse}/"), location
        return self.root / location.removeprefix(f"{self.warehouse}/")


class GoogleBucket(Directory):
    """A bucket of a server that keeps the time of an object beside the object's file."""

    def put(self, location: str) -> None:
        name = location.removeprefix(f"gs://{BUCKET}/")
        upload(self.endpoint, BUCKET, name, b"left over by a writer that failed")

    def grow_old(self, location: str, moment: datetime) -> None:
        for path in self._path(location).rglob("*"):
            if path.is_file():
                set_time(path, moment)


@dataclass
class Hdfs:
    """A name node."""

    address: str
    properties: Mapping[str, str] = field(default_factory=dict)
    spark: Mapping[str, str] = field(
        default_factory=lambda: {"io-impl": "org.apache.iceberg.hadoop.HadoopFileIO"}
    )
    server: Mapping[str, str] = field(default_factory=dict)
    aliases: Aliases = field(default_factory=Aliases)
    endpoint: str = ""

    @property
    def warehouse(self) -> str:
        return f"{self.address}/warehouse"

    def put(self, location: str) -> None:
        with self._client.create(location.removeprefix(self.address)) as file:
            file.write(b"left over by a writer that failed")

    def has(self, location: str) -> bool:
        try:
            self._client.get_file_info(location.removeprefix(self.address))
        except FileNotFoundError:
            return False
        return True

    def grow_old(self, location: str, moment: datetime) -> None:
        seconds = int(moment.timestamp())
        place = location.removeprefix(self.address)
        for found in self._client.list_status(place, recursive=True):
            if not found.isdir:
                self._client.set_times(found.path, seconds * 1000, seconds * 1000)

    def copy(self, location: str, target: Path) -> None:
        client, place = self._client, location.removeprefix(self.address)
        for found in client.list_status(place, recursive=True):
            if not found.isdir:
                path = target / found.path.partition(f"{place}/")[2]
                path.parent.mkdir(parents=True, exist_ok=True)
                with client.read(found.path) as file:
                    path.write_bytes(file.read())

    @property
    def _client(self) -> Any:
        return Client(self.address)


@dataclass
class Bucket:
    """A bucket of a server that issues keys too; nobody is given any but by the catalog."""

    endpoint: str
    warehouse: str = f"s3://{BUCKET}/warehouse"
    properties: Mapping[str, str] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)
    server: Mapping[str, str] = field(default_factory=dict)
    aliases: Aliases = field(default_factory=Aliases)

    def put(self, location: str) -> None:
        body = b"left over by a writer that failed"
        self._client.put_object(Bucket=BUCKET, Key=self._key(location), Body=body)

    def has(self, location: str) -> bool:
        found = self._client.list_objects_v2(Bucket=BUCKET, Prefix=self._key(location))
        return bool(found["KeyCount"])

    def grow_old(self, location: str, moment: datetime) -> None:
        """Refuse: the server notes the time itself."""
        message = f"{location} cannot become as old as {moment}"
        raise NotImplementedError(message)

    def copy(self, location: str, target: Path) -> None:
        """Refuse: readers ask the server."""
        message = f"{location} need not be copied to {target}"
        raise NotImplementedError(message)

    def _key(self, location: str) -> str:
        return location.removeprefix(f"s3://{BUCKET}/")

    @property
    def _client(self) -> Any:
        return client("s3", self.endpoint)


def bucket_of_roles(endpoint: str) -> Bucket:
    create_bucket(endpoint, BUCKET)
    return Bucket(endpoint)


def local_directory(root: Path) -> Directory:
    warehouse = root / "warehouse"
    warehouse.mkdir(parents=True)
    return Directory(warehouse, f"file://{warehouse}")


def s3_bucket(objects: Path, endpoint: str) -> Directory:
    """A bucket of S3Proxy, whose objects are files."""
    properties = {"s3.endpoint": endpoint, **S3_KEYS}
    server = {
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "client.region": REGION,
        "http-client.type": "urlconnection",  # jobs' newer Amazon bundle lacks the server's default
        **{name: value for name, value in properties.items() if name != "s3.region"},
    }
    (objects / BUCKET).mkdir(exist_ok=True)
    root = objects / BUCKET / "warehouse"
    return Directory(root, f"s3://{BUCKET}/warehouse", properties, server=server, endpoint=endpoint)


def google_bucket(objects: Path, endpoint: str) -> GoogleBucket:
    """A bucket of fake-gcs-server, whose objects are files."""
    root = objects / BUCKET / "warehouse"
    root.parent.mkdir()
    return GoogleBucket(root, f"gs://{BUCKET}/warehouse", reach(endpoint), endpoint=endpoint)


def other_scheme(scheme: str, server: str, objects: Path, endpoint: str) -> Directory:
    """A bucket that Spark writes under another scheme, by Hadoop's file systems.

    Hadoop's own client of that scheme is replaced by a view of the directory that the bucket is.
    """
    bucket = objects / scheme
    bucket.mkdir()
    view = "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme"
    spark = {
        "io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
        f"spark.hadoop.fs.{scheme}.impl": view,
        f"spark.hadoop.fs.viewfs.overload.scheme.target.{scheme}.impl": view,
        f"spark.hadoop.fs.viewfs.mounttable.{server}.link./volume": f"file://{bucket}",
    }
    aliases = Aliases(((f"{scheme}://{server}/volume/", f"s3://{scheme}/"),))
    warehouse = f"{scheme}://{server}/volume/warehouse"
    properties = {"s3.endpoint": endpoint, **S3_KEYS}
    return Directory(
        bucket / "warehouse", warehouse, properties, spark, aliases=aliases, endpoint=endpoint
    )
