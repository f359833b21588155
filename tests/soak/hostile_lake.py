"""A lake of sound tables, and of tables whose metadata is made to fill the memory of its reader."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import NestedField, StringType

from tests.adapters.catalog.lake import list_of, local_path, manifest_of

SOUND = 5
ROWS = pa.table({"name": pa.array(["a", "b", "c"], pa.string())})
BY_NAME = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "name"))
SCHEMA = Schema(NestedField(1, "name", StringType()))
PARTITIONS = 99_000  # of one manifest, just below the reader's bound
ENTRIES = 1_500_000  # of one manifest
LISTED = 240_000  # manifests in one list, as above
REPEATS = 500
SYNC_BYTES = 16


def build(directory: Path) -> list[str]:
    """The catalog, a configuration and an empty directory of policies; returns the hostile ones."""
    warehouse, database = f"file://{directory}/warehouse", f"sqlite:///{directory}/catalog.db"
    catalog = load_catalog("lake", type="sql", uri=database, warehouse=warehouse)
    assert isinstance(catalog, SqlCatalog)
    catalog.create_namespace("soak")
    for number in range(SOUND):
        catalog.create_table(f"soak.sound_{number}", SCHEMA).append(ROWS)
    for name, spoil in HOSTILE.items():
        table = catalog.create_table(f"soak.{name}", SCHEMA, partition_spec=BY_NAME)
        table.append(ROWS)
        spoil(table)
    catalog.close()
    (directory / "policies").mkdir()
    properties = {"type": "sql", "uri": database, "warehouse": warehouse}
    (directory / "maintainer.yaml").write_text(
        f"catalogs: {{lake: {json.dumps(properties)}}}\nscan: {{interval: 1s}}\n",
        encoding="utf-8",
    )
    return sorted(HOSTILE)


def metadata_of(table: Table) -> Path:
    return local_path(table.metadata_location)


def stuff(table: Table, key: str, item: str, count: int, *, is_packed: bool = True) -> None:
    """Put a list of `count` equal items into the metadata, as text: no JSON library can."""
    path = metadata_of(table)
    document = json.loads(path.read_bytes())
    document.pop(key, None)
    text = json.dumps(document)[:-1] + f', "{key}": [{",".join([item] * count)}]' + "}"
    path.write_bytes(gzip.compress(text.encode(), 6) if is_packed else text.encode())


def many_snapshots(table: Table) -> None:
    """Four million snapshots of 60 bytes in 700 kB."""
    current = table.current_snapshot()
    assert current is not None
    item = json.dumps({"snapshot-id": current.snapshot_id, "timestamp-ms": 1_700_000_000_000})
    stuff(table, "snapshots", item, 3_900_000)


def many_statistics(table: Table) -> None:
    item = json.dumps({"snapshot-id": 1, "statistics-path": "s", "file-size-in-bytes": 1})
    stuff(table, "statistics", item, 2_500_000)


def many_fields(table: Table) -> None:
    """One partition spec of a million fields."""
    field = json.dumps({"name": "a", "transform": "identity", "field-id": 1000, "source-id": 1})
    spec = f'{{"spec-id": 7, "fields": [{",".join([field] * 1_900_000)}]}}'
    stuff(table, "partition-specs", spec, 1)


def many_properties(table: Table) -> None:
    """Plain JSON of a million different properties."""
    path = metadata_of(table)
    document = json.loads(path.read_bytes())
    document["properties"] = {f"p{number}": "v" for number in range(1_500_000)}
    path.write_text(json.dumps(document), encoding="utf-8")


def rewrite_avro(
    path: Path, change: Callable[[list[dict[str, Any]]], Iterable[Mapping[str, Any]]]
) -> None:
    """Write an Avro file again with other records."""
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        records: list[dict[str, Any]] = [record for record in reader if isinstance(record, dict)]
        schema, metadata = reader.writer_schema, dict(reader.metadata)
    assert schema is not None
    kept = {key: text for key, text in metadata.items() if not key.startswith("avro.")}
    stream = BytesIO()
    fastavro.writer(
        stream, schema, change(records), codec="deflate", metadata=kept, sync_interval=1 << 22
    )
    path.write_bytes(stream.getvalue())


def repeat_blocks(path: Path, times: int) -> None:
    """Let the file hold what it holds so many times."""
    raw = path.read_bytes()
    end_of_header = raw.index(raw[-SYNC_BYTES:]) + SYNC_BYTES
    path.write_bytes(raw[:end_of_header] + raw[end_of_header:] * times)


def set_length(table: Table, manifest: Path, entries: int) -> None:
    """Let the manifest list say how long the manifest is now, and how much it holds."""
    length = manifest.stat().st_size

    def change(records: list[dict[str, Any]]) -> Iterable[Mapping[str, Any]]:
        return [{**records[0], "manifest_length": length, "added_files_count": entries}]

    rewrite_avro(list_of(table), change)


def many_partitions(table: Table) -> None:
    """A partition with a name of 150 characters for each of very many files."""
    manifest = manifest_of(table)

    def change(records: list[dict[str, Any]]) -> Iterable[Mapping[str, Any]]:
        first = records[0]
        for number in range(PARTITIONS):
            partition = {"name": f"{number:0150}"}
            yield {**first, "data_file": {**first["data_file"], "partition": partition}}

    rewrite_avro(manifest, change)
    set_length(table, manifest, PARTITIONS)


def one_path(table: Table) -> None:
    """One file that is listed very many times, in a manifest of some kilobytes."""
    manifest = manifest_of(table)

    def change(records: list[dict[str, Any]]) -> Iterable[Mapping[str, Any]]:
        return (records[0] for _ in range(ENTRIES // REPEATS))

    rewrite_avro(manifest, change)
    repeat_blocks(manifest, REPEATS)
    set_length(table, manifest, ENTRIES)


def modest_claim(table: Table) -> None:
    """The same, in a manifest of which the list says that it holds two files."""
    one_path(table)
    set_length(table, manifest_of(table), 2)


def many_manifests(table: Table) -> None:
    """A list of very many manifests, each of another name."""

    def change(records: list[dict[str, Any]]) -> Iterable[Mapping[str, Any]]:
        for number in range(LISTED):
            yield {**records[0], "manifest_path": f"file:///nowhere/{number:0100}.avro"}

    rewrite_avro(list_of(table), change)


def one_manifest(table: Table) -> None:
    """A list that names the same manifest very many times."""

    def change(records: list[dict[str, Any]]) -> Iterable[Mapping[str, Any]]:
        return (records[0] for _ in range(20_000))

    rewrite_avro(list_of(table), change)


HOSTILE: Mapping[str, Callable[[Table], None]] = {
    spoil.__name__: spoil
    for spoil in (
        many_snapshots,
        many_statistics,
        many_fields,
        many_properties,
        many_partitions,
        one_path,
        modest_claim,
        many_manifests,
        one_manifest,
    )
}
