"""The lake's tables from PyArrow and PyIceberg: schemas, files and commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import orc, parquet
from pyiceberg.catalog import Catalog
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import parquet_file_to_data_file, schema_to_pyarrow
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.transforms import (
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    Transform,
)
from pyiceberg.typedef import Record
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
)

from maintainer.adapters.demo import rows
from maintainer.adapters.demo.history import (
    DatedCommit,
    NewTable,
    create_with_history,
    describe_table,
)
from maintainer.adapters.demo.rows import Row

PAGE_VIEW_HOURS = 48
PAGE_VIEW_WRITERS = (
    33  # files of each hourly commit in its partition; one more is late, for the hour before
)
MOVEMENT_DAYS = 300
MOVEMENT_SNAPSHOTS_KEPT = 12
RATE_EDITIONS = 280
ORDER_MONTHS = 12
ORDER_MONTHS_PER_COMMIT = 4
SENSOR_DAYS = 60
SENSOR_STATIONS = 4  # one file each a day: one less than rewrite_data_files takes as a group
REQUEST_COMMITS = 20
REQUEST_FILES_PER_COMMIT = 20
ACCESS_COMMITS = 8
ACCESS_FILES_PER_COMMIT = 10


@dataclass(frozen=True, slots=True)
class _Part:
    """A data file to write: its path in the data folder without the ending, and its rows."""

    path: str
    rows: Iterator[Row]


@dataclass(frozen=True, slots=True)
class _Batch:
    """The files of one commit."""

    at: datetime
    parts: tuple[_Part, ...]
    is_overwrite: bool = False


def _schema(*columns: tuple[str, IcebergType, bool]) -> Schema:
    return Schema(
        *(
            NestedField(number, name, kind, required=required)
            for number, (name, kind, required) in enumerate(columns, start=1)
        )
    )


def _by(transform: Transform[Any, Any], source: int, name: str) -> PartitionSpec:
    return PartitionSpec(
        PartitionField(source_id=source, field_id=1000, transform=transform, name=name)
    )


_MONEY = DecimalType(12, 2)

_PAGE_VIEWS = NewTable(
    ("streaming", "page_views"),
    _schema(
        ("view_id", LongType(), True),
        ("viewed_at", TimestamptzType(), True),
        ("visitor", StringType(), True),
        ("page", StringType(), True),
        ("referrer", StringType(), False),
        ("country", StringType(), True),
        ("device", StringType(), True),
        ("duration_ms", IntegerType(), True),
    ),
    _by(HourTransform(), 2, "viewed_at_hour"),
)
_MOVEMENTS = NewTable(
    ("warehouse", "events_by_day"),
    _schema(
        ("event_day", DateType(), True),
        ("event_id", LongType(), True),
        ("kind", StringType(), True),
        ("sku", StringType(), True),
        ("quantity", IntegerType(), True),
        ("unit_cost", _MONEY, True),
        ("batch_code", StringType(), True),
    ),
    _by(IdentityTransform(), 1, "event_day"),
    (("commit.manifest-merge.enabled", "false"), ("write.target-file-size-bytes", str(16 * 1024))),
)
_RATES = NewTable(
    ("reference", "exchange_rates"),
    _schema(
        ("base", StringType(), True),
        ("quote", StringType(), True),
        ("rate", DecimalType(18, 6), True),
        ("published_at", TimestamptzType(), True),
    ),
)
_ORDERS = NewTable(
    ("sales", "orders"),
    _schema(
        ("order_id", LongType(), True),
        ("order_date", DateType(), True),
        ("customer_id", LongType(), True),
        ("state", StringType(), True),
        ("items", IntegerType(), True),
        ("total", _MONEY, True),
        ("checkout", StringType(), True),
    ),
    _by(MonthTransform(), 2, "order_date_month"),
    (("write.target-file-size-bytes", str(512 * 1024)),),
)
_SENSORS = NewTable(
    ("archive", "sensor_daily"),
    _schema(
        ("measured_at", TimestamptzType(), True),
        ("sensor_id", IntegerType(), True),
        ("unit", StringType(), True),
        ("reading", DoubleType(), True),
    ),
    _by(DayTransform(), 1, "measured_at_day"),
)
_REQUESTS = NewTable(
    ("logs", "raw_requests"),
    _schema(
        ("received_at", TimestamptzType(), True),
        ("request_id", StringType(), True),
        ("method", StringType(), True),
        ("path", StringType(), True),
        ("status", IntegerType(), True),
        ("sent_bytes", LongType(), True),
        ("agent", StringType(), True),
    ),
    properties=(("write.format.default", "orc"),),
)
_ACCESS = NewTable(
    ("logs", "gateway", "access log"),
    _schema(
        ("signed_in_at", TimestamptzType(), True),
        ("user_name", StringType(), True),
        ("is_granted", BooleanType(), True),
        ("country", StringType(), True),
    ),
)


def create_tables(
    catalog: Catalog, warehouse: Path, newest: datetime, say: Callable[[str], None]
) -> None:
    """Make all tables except those that MERGE changes; no commit is newer than `newest`."""
    _create(catalog, _PAGE_VIEWS, _page_view_batches(newest), say)
    _create(catalog, _MOVEMENTS, _movement_batches(newest), say, keep=MOVEMENT_SNAPSHOTS_KEPT)
    _create(catalog, _RATES, _rate_batches(newest), say)
    _create(catalog, _ORDERS, _order_batches(newest), say)
    _create(catalog, _SENSORS, _sensor_batches(newest), say)
    _create(catalog, _REQUESTS, _request_batches(newest), say)
    access = NewTable(
        _ACCESS.name, _ACCESS.schema, location=f"file://{warehouse}/logs/gateway/access_log"
    )  # a blank in the table's name is enough; none in paths
    _create(catalog, access, _access_batches(newest), say)


def _create(
    catalog: Catalog,
    new: NewTable,
    batches: Iterator[_Batch],
    say: Callable[[str], None],
    keep: int | None = None,
) -> None:
    metadata, io = describe_table(catalog, new)
    is_orc = metadata.properties.get("write.format.default") == "orc"
    write = _write_orc if is_orc else _write_parquet
    schema = schema_to_pyarrow(
        metadata.schema(), file_format=FileFormat.ORC if is_orc else FileFormat.PARQUET
    )
    data = Path(metadata.location.removeprefix("file://")) / "data"
    data.mkdir(parents=True)
    commits = [
        DatedCommit(
            batch.at,
            tuple(write(data, part, schema, metadata, io) for part in batch.parts),
            batch.is_overwrite,
        )
        for batch in batches
    ]
    create_with_history(catalog, new, commits, keep)
    say(
        f"{'.'.join(new.name)}: {sum(len(commit.files) for commit in commits)} files in "
        f"{len(commits)} commits"
    )


def _write_parquet(
    data: Path, part: _Part, schema: pa.Schema, metadata: TableMetadata, io: FileIO
) -> DataFile:
    path = data / f"{part.path}.parquet"
    path.parent.mkdir(exist_ok=True)
    parquet.write_table(
        rows.make_table(schema, part.rows), path, compression="zstd", store_schema=False
    )
    return parquet_file_to_data_file(io, metadata, f"file://{path}")


def _write_orc(
    data: Path,
    part: _Part,
    schema: pa.Schema,
    metadata: TableMetadata,
    io: FileIO,  # noqa: ARG001 - a writer like the one above
) -> DataFile:
    path = data / f"{part.path}.orc"
    table = rows.make_table(schema, part.rows)
    orc.write_table(table, str(path), compression="zstd")
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"file://{path}",
        file_format=FileFormat.ORC,
        partition=Record(),
        record_count=table.num_rows,
        file_size_in_bytes=path.stat().st_size,
        column_sizes={},
        value_counts={},
        null_value_counts={},
        nan_value_counts={},
        lower_bounds={},
        upper_bounds={},
        key_metadata=None,
        split_offsets=None,
        equality_ids=None,
        sort_order_id=None,
        spec_id=metadata.default_spec_id,
    )


def _page_view_batches(newest: datetime) -> Iterator[_Batch]:
    for hour in range(PAGE_VIEW_HOURS):
        parts = [
            _Part(f"hour={hour:03d}/writer-{writer:03d}", rows.page_views(hour, writer))
            for writer in range(PAGE_VIEW_WRITERS)
        ]
        if hour:
            parts.append(
                _Part(
                    f"hour={hour - 1:03d}/writer-{PAGE_VIEW_WRITERS:03d}-late",
                    rows.page_views(hour - 1, PAGE_VIEW_WRITERS, count=5),
                )
            )
        yield _Batch(newest - timedelta(hours=PAGE_VIEW_HOURS - hour), tuple(parts))


def _movement_batches(newest: datetime) -> Iterator[_Batch]:
    for day in range(MOVEMENT_DAYS):
        yield _Batch(
            newest - timedelta(days=MOVEMENT_DAYS - day),
            (_Part(f"day-{day:04d}", rows.stock_movements(day)),),
        )


def _rate_batches(newest: datetime) -> Iterator[_Batch]:
    for edition in range(RATE_EDITIONS):
        yield _Batch(
            newest - timedelta(hours=6 * (RATE_EDITIONS - edition)),
            (_Part(f"edition-{edition:04d}", rows.exchange_rates(edition)),),
            is_overwrite=True,
        )


def _order_batches(newest: datetime) -> Iterator[_Batch]:
    for first in range(1, ORDER_MONTHS + 1, ORDER_MONTHS_PER_COMMIT):
        months = range(first, first + ORDER_MONTHS_PER_COMMIT)
        yield _Batch(
            newest - timedelta(days=10 * (ORDER_MONTHS + 1 - first)),
            tuple(_Part(f"month-{month:02d}", rows.orders(month)) for month in months),
        )


def _sensor_batches(newest: datetime) -> Iterator[_Batch]:
    for station in range(SENSOR_STATIONS):
        parts = tuple(
            _Part(f"station-{station}-day-{day:03d}", rows.sensor_readings(day, station))
            for day in range(SENSOR_DAYS)
        )
        yield _Batch(newest - timedelta(days=40 - station), parts)


def _request_batches(newest: datetime) -> Iterator[_Batch]:
    for commit in range(REQUEST_COMMITS):
        files = range(commit * REQUEST_FILES_PER_COMMIT, (commit + 1) * REQUEST_FILES_PER_COMMIT)
        yield _Batch(
            newest - timedelta(hours=REQUEST_COMMITS - commit),
            tuple(_Part(f"shipper-{file:04d}", rows.raw_requests(file)) for file in files),
        )


def _access_batches(newest: datetime) -> Iterator[_Batch]:
    for commit in range(ACCESS_COMMITS):
        files = range(commit * ACCESS_FILES_PER_COMMIT, (commit + 1) * ACCESS_FILES_PER_COMMIT)
        yield _Batch(
            newest - timedelta(hours=ACCESS_COMMITS - commit),
            tuple(_Part(f"gateway-{file:03d}", rows.access_log(file)) for file in files),
        )
