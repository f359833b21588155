"""A table as a daily job writes it: one manifest for each commit, partitions by day and bucket, and
statistics of 20 columns that differ from file to file.

Its delete files, if it has any, are those of later merges: position deletes of one data file or of
a whole partition, and equality deletes of a partition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Final
from uuid import UUID

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, DayTransform
from pyiceberg.types import (
    DateType,
    DoubleType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
)

from maintainer.adapters.catalog.manifests.manifest import PATH_COLUMN
from tests.benchmarks.manifest_files import path_of, read_avro, write_avro

FILES_A_MANIFEST: Final = 4_000
DAYS_A_MANIFEST: Final = 10  # a commit has data of this day and of the days before
BUCKETS: Final = 16
DELETES_A_MANIFEST: Final = 400  # one delete file for ten data files
FIRST_DAY: Final = 20_000  # days since 1970
_COLUMNS: Final[tuple[IcebergType, ...]] = (
    LongType(), TimestamptzType(), *[LongType()] * 7, *[DoubleType()] * 4, *[IntegerType()] * 2,
    DateType(), *[StringType()] * 4,
)  # fmt: skip
_ID, _TIME, _PATH, _POSITION = 1, 2, PATH_COLUMN, PATH_COLUMN - 1
_TEXT_BYTES: Final = 16  # to which writers cut the bounds of texts
_LARGEST: Final = 700 << 20
_MOST_NULLS: Final = 3
_KINDS: Final = (1, 1, 1, 1, 2)  # position deletes, and after four of them one equality delete
_SCOPED: Final = 0.7  # the share of position deletes that belong to one data file
# Statistics to choose from: so many that no two alike lie within what a compressor remembers.
_STATISTICS: Final = 500


def make_table(directory: Path, manifests: int, *, has_deletes: bool = False) -> Path:
    """Write the table and its SQL catalog; its metadata.json."""
    directory.mkdir()
    catalog = load_catalog(
        "bench",
        type="sql",
        uri=f"sqlite:///{directory}/catalog.db",
        warehouse=f"file://{directory}",
    )
    catalog.create_namespace("bench")
    schema = Schema(
        *(
            NestedField(number, f"column_{number}", type_, required=False)
            for number, type_ in enumerate(_COLUMNS, 1)
        )
    )
    spec = PartitionSpec(
        PartitionField(_TIME, 1000, DayTransform(), "day"),
        PartitionField(_ID, 1001, BucketTransform(BUCKETS), "bucket"),
    )
    table = catalog.create_table("bench.files", schema, partition_spec=spec)
    now = datetime.now(UTC)
    for commit in range(manifests):
        value = {_ID: commit, _TIME: now}
        table.append(
            pa.Table.from_pylist(
                [{f"column_{number}": value.get(number) for number in range(1, len(_COLUMNS) + 1)}],
                schema=table.schema().as_arrow(),
            )
        )
    catalog.close()
    metadata = path_of(table.metadata_location)
    _fill(metadata, has_deletes=has_deletes)
    return metadata


def _fill(metadata: Path, *, has_deletes: bool) -> None:
    """Put many files in the place of the only one of each manifest."""
    snapshots = json.loads(metadata.read_bytes())["snapshots"]
    list_path = path_of(snapshots[-1]["manifest-list"])
    list_header, rows = read_avro(list_path)
    filled = []
    for row in sorted(rows, key=lambda each: each["sequence_number"]):
        commit = row["sequence_number"] - 1
        path = path_of(row["manifest_path"])
        header, (template,) = read_avro(path)
        entries = list(_vary(template, commit))
        path.write_bytes(write_avro(header, entries))
        filled.append(row | _listed(path, len(entries)))
        if has_deletes:
            deletes = path.with_name(f"deletes-{path.name}")
            found = list(_delete_rows(entries, commit))
            deletes.write_bytes(write_avro(header | {"content": "deletes"}, found))
            # They are of the next commit, so that they apply to this one's files.
            sequence = {"content": 1, "sequence_number": row["sequence_number"] + 1}
            filled.append(row | _listed(deletes, len(found)) | sequence)
    list_path.write_bytes(write_avro(list_header, filled))


def _listed(path: Path, entries: int) -> dict[str, Any]:
    return {
        "manifest_path": f"file://{path}",
        "manifest_length": path.stat().st_size,
        "added_files_count": entries,
    }


def _vary(template: dict[str, Any], commit: int) -> Iterator[dict[str, Any]]:
    """The files of one commit."""
    random = Random(commit)
    folder = template["data_file"]["file_path"].rpartition("/data/")[0]
    statistics = [_statistics(random) for _ in range(_STATISTICS)]
    for number in range(FILES_A_MANIFEST):
        day, bucket = divmod(number % (DAYS_A_MANIFEST * BUCKETS), BUCKETS)
        size = _draw_size(random)
        place = {"day": FIRST_DAY + commit + day, "bucket": bucket}
        name = UUID(int=random.getrandbits(128))
        own = {
            "file_path": f"{folder}/data/day={place['day']}/bucket={bucket}/{number:05}-{name}"
            ".parquet",
            "file_size_in_bytes": size,
            "record_count": size // 100 + 1,
            "partition": place,
        }
        yield template | {
            "data_file": template["data_file"] | own | statistics[number % _STATISTICS]
        }


def _draw_size(random: Random) -> int:
    """Bytes of a file; as many files lie below a megabyte as above it."""
    return int(1_000 * (_LARGEST / 1_000) ** random.random())


def _statistics(random: Random) -> dict[str, Any]:
    columns = range(1, len(_COLUMNS) + 1)
    size = _draw_size(random)
    each, records = size // len(_COLUMNS), size // 100 + 1
    return {
        "column_sizes": [
            {"key": key, "value": random.randrange(each, 2 * each)} for key in columns
        ],
        "value_counts": [{"key": key, "value": records} for key in columns],
        "null_value_counts": [
            {"key": key, "value": random.randrange(_MOST_NULLS)} for key in columns
        ],
        "nan_value_counts": [
            {"key": key, "value": 0} for key in columns if isinstance(_COLUMNS[key - 1], DoubleType)
        ],
        "lower_bounds": [{"key": key, "value": _bound(random, key)} for key in columns],
        "upper_bounds": [{"key": key, "value": _bound(random, key)} for key in columns],
        "split_offsets": [4],
    }


def _bound(random: Random, column: int) -> bytes:
    """Any value of the column, as Iceberg writes it."""
    match _COLUMNS[column - 1]:
        case IntegerType() | DateType():
            return random.randrange(FIRST_DAY).to_bytes(4, "little")
        case StringType():
            return random.randbytes(_TEXT_BYTES // 2).hex().encode()
        case _:
            return random.randrange(1 << 50).to_bytes(8, "little")


def _delete_rows(entries: list[dict[str, Any]], commit: int) -> Iterator[dict[str, Any]]:
    """Delete files in the partitions of these data files."""
    random = Random(f"deletes of {commit}")
    for number in range(DELETES_A_MANIFEST):
        entry = random.choice(entries)
        file, content = entry["data_file"], _KINDS[number % len(_KINDS)]
        path = file["file_path"]
        records = random.randrange(1, file["record_count"] + 1)
        bounds = [
            {"key": _PATH, "value": path.encode()},
            {"key": _POSITION, "value": random.randbytes(8)},
        ]
        further = (
            bounds if random.random() < _SCOPED else [{"key": _PATH, "value": f"{path}~".encode()}]
        )
        own: dict[str, Any] = {
            "content": content,
            "file_path": path.replace(".parquet", f"-{number:05}-deletes.parquet"),
            "file_size_in_bytes": 1_000 + 10 * records,
            "record_count": records,
        }
        if content == 1:
            own |= dict.fromkeys(("value_counts", "null_value_counts", "nan_value_counts"))
            own |= {"column_sizes": None, "lower_bounds": bounds, "upper_bounds": further}
        else:
            own |= {"equality_ids": [_ID]}
        yield entry | {"data_file": file | own}
