"""A table of many files made in seconds: its manifests are hard links of one."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, Final
from uuid import UUID

import pyarrow as pa
from pyiceberg.catalog import load_catalog

from tests.benchmarks.manifest_files import path_of, read_avro, write_avro

FILES_A_MANIFEST: Final = 4_000
COLUMNS: Final = 20
_PARTITION: Final = "column_0"
_BOUND_BYTES: Final = 8


def make_table(directory: Path, manifests: int, partitions: int = 0) -> Path:
    """A table of one snapshot whose manifests are many names of one, with so many partitions in
    each; its metadata.json.
    """
    directory.mkdir()
    catalog = load_catalog(
        "bench",
        type="sql",
        uri=f"sqlite:///{directory}/catalog.db",
        warehouse=f"file://{directory}",
    )
    catalog.create_namespace("bench")
    rows = pa.table({f"column_{number}": [number] for number in range(COLUMNS)})
    table = catalog.create_table("bench.files", rows.schema)
    if partitions:
        with table.update_spec() as update:
            update.add_identity(_PARTITION)
    table.append(rows)
    catalog.close()
    return write_copies(table.metadata_location, manifests, partitions)


def write_copies(metadata_location: str, manifests: int, partitions: int = 0) -> Path:
    """Put so many manifests of FILES_A_MANIFEST files, which are many names of one, in the place of
    the only one of a table of one file; its metadata.json.
    """
    metadata = json.loads(path_of(metadata_location).read_bytes())
    list_path = path_of(metadata["snapshots"][0]["manifest-list"])
    list_header, (listed,) = read_avro(list_path)
    manifest = path_of(listed["manifest_path"])
    header, (entry,) = read_avro(manifest)
    many = write_avro(
        header, [vary(entry, number, partitions) for number in range(FILES_A_MANIFEST)]
    )
    copies = [manifest.with_name(f"copy-{number}.avro") for number in range(manifests)]
    copies[0].write_bytes(many)
    for copy in copies[1:]:
        copy.hardlink_to(copies[0])
    reported = listed | {"manifest_length": len(many), "added_files_count": FILES_A_MANIFEST}
    list_path.write_bytes(
        write_avro(list_header, [reported | {"manifest_path": f"file://{copy}"} for copy in copies])
    )
    return path_of(metadata_location)


def vary(entry: dict[str, Any], number: int, partitions: int) -> dict[str, Any]:
    """Another file with statistics of its own: what is the same in all files is inflated and passed
    over for nothing, as in no real table.
    """
    random = Random(number)
    size = 1_000 + number * 7_919 * 4_099 % (1 << 30)
    reported = entry["data_file"]
    values = {_PARTITION: number % partitions} if partitions else {}
    statistics = {
        "column_sizes": [
            {"key": each["key"], "value": random.randrange(1 << 12)}
            for each in reported["column_sizes"]
        ],
        "value_counts": [
            {"key": each["key"], "value": size // 100 + 1} for each in reported["value_counts"]
        ],
        "null_value_counts": [
            {"key": each["key"], "value": random.randrange(3)}
            for each in reported["null_value_counts"]
        ],
        "lower_bounds": [
            {"key": each["key"], "value": random.randbytes(_BOUND_BYTES)}
            for each in reported["lower_bounds"]
        ],
        "upper_bounds": [
            {"key": each["key"], "value": random.randbytes(_BOUND_BYTES)}
            for each in reported["upper_bounds"]
        ],
    }
    identity = {
        "file_path": f"{reported['file_path']}-{UUID(int=random.getrandbits(128))}.parquet",
        "file_size_in_bytes": size,
        "record_count": size // 100 + 1,
    }
    return entry | {"data_file": reported | identity | statistics | {"partition": values}}
