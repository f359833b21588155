"""Real tables to read: PyIceberg's SQL catalog on SQLite, and a clock that stands still."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.tables.pointer import locate
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Content, ManifestDigest, TableInventory
from maintainer.ports.catalog import Catalog

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
TARGET_BYTES = 2000
ROWS = pa.schema(
    [("id", pa.int64()), ("name", pa.string()), ("day", pa.date32()), ("at", pa.timestamp("us"))]
)


class StoppedClock:
    def now(self) -> datetime:
        return NOW


@dataclass
class Memory:
    """The digests of earlier readings, as the store would keep them."""

    digests: dict[str, ManifestDigest] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)

    def remember(self, inventory: TableInventory) -> None:
        self.digests.update({digest.path: digest for digest in inventory.manifests})

    def known(
        self, table_uuid: str, paths: Iterable[str], target: int
    ) -> Mapping[str, ManifestDigest]:
        self.asked.append((table_uuid, target))
        return {path: self.digests[path] for path in paths if path in self.digests}


def know_nothing(_uuid: str, _paths: Iterable[str], _target: int) -> Mapping[str, ManifestDigest]:
    return {}


def small_target(_table: TableIdentifier, _properties: Mapping[str, str]) -> int:
    return TARGET_BYTES


class Lake:
    """One SQLite catalog with a warehouse beside it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.database = directory / "catalog.db"
        self.properties = {
            "type": "sql",
            "uri": f"sqlite:///{self.database}",
            "warehouse": f"file://{directory}/warehouse",
        }
        loaded = load_catalog("lake", **self.properties)
        assert isinstance(loaded, SqlCatalog)
        self.writer = loaded
        self.catalog = PyIcebergCatalog("lake", self.properties, StoppedClock())

    def close(self) -> None:
        self.catalog.close()
        self.writer.close()

    def make_table(self, *name: str, schema: pa.Schema = ROWS, **properties: str) -> Table:
        self.writer.create_namespace_if_not_exists(name[:-1])
        return self.writer.create_table(name, schema, properties=properties)

    def read(self, *name: str) -> TableInventory:
        inventory = self.catalog.inventory(identify(*name), small_target, know_nothing)
        assert isinstance(inventory, TableInventory), inventory
        return inventory

    def execute(self, statement: str, *values: str | None) -> None:
        """Straight at the database, as another writer would."""
        with sqlite3.connect(self.database) as connection:
            connection.execute(statement, values)
        connection.close()

    def location(self, *name: str) -> str:
        """Where the metadata of a table lies, even of one that PyIceberg cannot load."""
        return locate(self.writer, identify(*name), lambda *_: PyArrowFileIO()).location

    def point_to(self, metadata_location: str | None, table: str) -> None:
        self.execute(
            "update iceberg_tables set metadata_location = ? where table_name = ?",
            metadata_location,
            table,
        )


def identify(*name: str) -> TableIdentifier:
    return TableIdentifier("lake", name[:-1], name[-1])


def rows(count: int, day: int = 1, hour: int = 0) -> pa.Table:
    at = datetime(2026, 1, day, hour)  # noqa: DTZ001 - Iceberg's timestamp without a zone
    return pa.table(
        {
            "id": list(range(count)),
            "name": [f"name {n}" for n in range(count)],
            "day": [at.date()] * count,
            "at": [at] * count,
        },
        schema=ROWS,
    )


def local_path(location: str) -> Path:
    return Path("/" + location.removeprefix("file:").lstrip("/"))


def total(inventory: TableInventory, content: Content = Content.DATA) -> tuple[int, int, int]:
    """(files, bytes, records) of a content."""
    shares = [
        share
        for digest in inventory.manifests
        for share in digest.partitions
        if share.content is content
    ]
    return (
        sum(s.file_count for s in shares),
        sum(s.bytes for s in shares),
        sum(s.record_count for s in shares),
    )


def partitions(inventory: TableInventory) -> dict[tuple[int, str], tuple[int, int, int]]:
    """(spec, partition) -> (files, bytes, records) of data."""
    found: dict[tuple[int, str], tuple[int, int, int]] = defaultdict(lambda: (0, 0, 0))
    for digest in inventory.manifests:
        for s in digest.partitions:
            if s.content is Content.DATA:
                files, size, records = found[s.spec_id, s.partition]
                found[s.spec_id, s.partition] = (
                    files + s.file_count,
                    size + s.bytes,
                    records + s.record_count,
                )
    return dict(found)


def partitions_by_pyiceberg(table: Table) -> dict[tuple[int, str], tuple[int, int, int]]:
    """The same, from PyIceberg's own entries, specs and transforms."""
    found: dict[tuple[int, str], tuple[int, int, int]] = defaultdict(lambda: (0, 0, 0))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    for manifest in snapshot.manifests(table.io):
        spec = table.specs()[manifest.partition_spec_id]
        types = spec.partition_type(table.schema()).fields
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
            file = entry.data_file
            text = "/".join(
                f"{part.name}={part.transform.to_human_string(kind.field_type, value)}"
                for part, kind, value in zip(
                    spec.fields,
                    types,
                    [file.partition[i] for i in range(len(spec.fields))],
                    strict=True,
                )
            )
            files, size, records = found[spec.spec_id, text]
            found[spec.spec_id, text] = (
                files + 1,
                size + file.file_size_in_bytes,
                records + file.record_count,
            )
    return dict(found)


def entries_by_fastavro(inventory: TableInventory) -> list[dict[str, Any]]:
    """Every live entry's data_file, read whole and without any of our readers."""
    snapshot_list = next(
        local_path(inventory.metadata_location).parent.glob(
            f"snap-{inventory.current_snapshot_id}-*.avro"
        )
    )
    return [
        entry["data_file"]
        for listed in records_of(snapshot_list.read_bytes())
        for entry in records_of(local_path(listed["manifest_path"]).read_bytes())
        if entry["status"] != 2
    ]


def records_of(raw: bytes) -> list[dict[str, Any]]:
    """An Avro file's records, whole."""
    return [record for record in fastavro.reader(BytesIO(raw)) if isinstance(record, dict)]


def read_by(
    catalog: Catalog, table: TableIdentifier, memory: Memory | None = None
) -> TableInventory:
    inventory = catalog.inventory(table, small_target, memory.known if memory else know_nothing)
    assert isinstance(inventory, TableInventory), inventory
    return inventory


def list_of(table: Table) -> Path:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return local_path(snapshot.manifest_list)


def manifest_of(table: Table) -> Path:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return local_path(snapshot.manifests(table.io)[0].manifest_path)
