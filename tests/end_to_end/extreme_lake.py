"""A catalog of extremes: real tables of PyIceberg whose metadata is then stretched, or damaged, by
hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
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
from pyiceberg.types import LongType, NestedField

HISTORY = 10_000
PARTITIONS = 100_000
MANIFESTS = 25  # that list them
WIDTH = 200
FIVE_TERABYTES = 5 * 10**12
FIVE_TERABYTE_RECORDS = 10**11
FILE_BYTES = 1_000_000  # of every file of the table with many partitions
BY_ID = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "id"))
ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64())})

Record = dict[str, Any]


def build(directory: Path) -> None:
    """The catalog, a configuration and an empty directory of policies."""
    catalog = load_catalog(
        "lake",
        type="sql",
        uri=f"sqlite:///{directory}/catalog.db",
        warehouse=f"file://{directory}/warehouse",
    )
    assert isinstance(catalog, SqlCatalog)
    catalog.create_namespace("x")
    for make in (
        plain,
        empty,
        corrupt_manifest,
        truncated_list,
        long_history,
        many_partitions,
        wide,
        one_huge_file,
    ):
        make(catalog)
    catalog.close()
    lake = (
        f"{{type: sql, uri: 'sqlite:///{directory}/catalog.db', warehouse: "
        f"'file://{directory}/warehouse'}}"
    )
    (directory / "maintainer.yaml").write_text(
        f"catalogs: {{lake: {lake}}}\nstore: sqlite:///store.db\n"
    )
    (directory / "policies").mkdir()


def plain(catalog: SqlCatalog) -> None:
    make_table(catalog, "plain", appends=3)


def empty(catalog: SqlCatalog) -> None:
    make_table(catalog, "empty", appends=0)


def corrupt_manifest(catalog: SqlCatalog) -> None:
    table = make_table(catalog, "corrupt_manifest", appends=3)
    path = local_path(manifests_of(table)[1])
    raw = path.read_bytes()
    path.write_bytes(raw[:-1] + bytes([raw[-1] ^ 0xFF]))  # the marker at its very end


def truncated_list(catalog: SqlCatalog) -> None:
    path = list_of(make_table(catalog, "truncated_list", appends=3))
    path.write_bytes(path.read_bytes()[:-40])


def long_history(catalog: SqlCatalog) -> None:
    def lengthen(document: Record) -> None:
        (last,) = document["snapshots"]
        earlier = [
            {key: value for key, value in last.items() if key != "parent-snapshot-id"}
            | {
                "snapshot-id": number,
                "sequence-number": number,
                "timestamp-ms": last["timestamp-ms"] - 60_000 * (HISTORY - number),
            }
            | ({"parent-snapshot-id": number - 1} if number > 1 else {})
            for number in range(1, HISTORY)
        ]
        document["snapshots"] = [
            *earlier,
            last | {"parent-snapshot-id": HISTORY - 1, "sequence-number": HISTORY},
        ]
        document["last-sequence-number"] = HISTORY

    change_metadata(make_table(catalog, "long_history", appends=1), lengthen)


def many_partitions(catalog: SqlCatalog) -> None:
    """One file in each partition, which many manifests list."""
    table = catalog.create_table(
        "x.many_partitions", Schema(NestedField(1, "id", LongType())), partition_spec=BY_ID
    )
    table.append(ROWS.slice(0, 1))
    change_entries(
        table, lambda entry: [spread(entry, number) for number in range(PARTITIONS)], MANIFESTS
    )
    change_metadata(table, forget_totals)


def spread(entry: Record, number: int) -> Record:
    file = entry["data_file"]
    path = f"{file['file_path']}-{number}"
    return entry | {
        "data_file": file
        | {
            "file_path": path,
            "partition": {"id": number},
            "record_count": 10,
            "file_size_in_bytes": FILE_BYTES,
        }
    }


def wide(catalog: SqlCatalog) -> None:
    rows = pa.table({f"c{number}": [1, 2, 3] for number in range(WIDTH)})
    catalog.create_table("x.wide", rows.schema).append(rows)


def one_huge_file(catalog: SqlCatalog) -> None:
    table = make_table(catalog, "one_huge_file", appends=1)
    huge = {"file_size_in_bytes": FIVE_TERABYTES, "record_count": FIVE_TERABYTE_RECORDS}
    change_entries(table, lambda entry: [entry | {"data_file": entry["data_file"] | huge}])
    change_metadata(table, forget_totals)


# -- stretching


def make_table(catalog: SqlCatalog, name: str, appends: int) -> Table:
    table = catalog.create_table(f"x.{name}", ROWS.schema)
    for _ in range(appends):
        table.append(ROWS)
    return table


def change_metadata(table: Table, change: Callable[[Record], None]) -> None:
    path = local_path(table.metadata_location)
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document))


def forget_totals(document: Record) -> None:
    """The summary's totals are those of the table before it was stretched."""
    for snapshot in document["snapshots"]:
        snapshot["summary"] = {
            key: value
            for key, value in snapshot["summary"].items()
            if not key.startswith(("total-", "added-"))
        }


def change_entries(
    table: Table, change: Callable[[Record], list[Record]], manifests: int = 1
) -> None:
    """Put what the change makes of the table's only entry in the place of its only manifest, dealt
    out to so many.
    """
    list_path = list_of(table)
    list_header, (listed,) = read_avro(list_path)
    manifest = local_path(listed["manifest_path"])
    header, (entry,) = read_avro(manifest)
    entries = change(entry)
    rows = []
    for number in range(manifests):
        path = manifest.with_name(f"{number}-{manifest.name}")
        share = entries[number::manifests]
        write_avro(path, header, share)
        rows.append(
            listed
            | {
                "manifest_path": f"file://{path}",
                "manifest_length": path.stat().st_size,
                "added_files_count": len(share),
            }
        )
    write_avro(list_path, list_header, rows)


def list_of(table: Table) -> Path:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return local_path(snapshot.manifest_list)


def manifests_of(table: Table) -> list[str]:
    return [str(row["manifest_path"]) for row in read_avro(list_of(table))[1]]


def read_avro(path: Path) -> tuple[Record, list[Record]]:
    reader = fastavro.reader(BytesIO(path.read_bytes()))
    return dict(reader.metadata), [record for record in reader if isinstance(record, dict)]


def write_avro(path: Path, header: Record, records: Iterable[Record]) -> None:
    kept = {key: value for key, value in header.items() if not key.startswith("avro.")}
    with path.open("wb") as stream:
        fastavro.writer(
            stream, json.loads(header["avro.schema"]), records, codec="deflate", metadata=kept
        )


def local_path(location: str) -> Path:
    return Path("/" + location.removeprefix("file:").lstrip("/"))
