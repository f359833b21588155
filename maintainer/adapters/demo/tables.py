"""The lake's tables from PyArrow and PyIceberg: schemas, files and commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import orc, parquet
from pyiceberg.catalog import Catalog
from pyiceberg.io.pyarrow import parquet_file_to_data_file, schema_to_pyarrow
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
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
from maintainer.adapters.demo.rows import FIRST_DAY, FIRST_MOMENT, Row, draw_money

PAGE_VIEW_HOURS = 48
# files of an hourly commit in its partition; one more file is late, for the hour before
PAGE_VIEW_WRITERS = 33
MOVEMENT_DAYS = 300
MOVEMENT_SNAPSHOTS_KEPT = 12
RATE_EDITIONS = 280
ORDER_MONTHS = 12
ORDER_MONTHS_PER_COMMIT = 4
SENSOR_DAYS = 60
SENSOR_STATIONS = 4  # a file a day from each: one less than rewrite_data_files needs for a group
REQUEST_COMMITS = 20
REQUEST_FILES_PER_COMMIT = 20
ACCESS_COMMITS = 8
ACCESS_FILES_PER_COMMIT = 10
_SIX_HOURS = timedelta(hours=6)
_GRANTED_SHARE = 0.97  # some sign-ins fail

# Makes a value of a row from the file's random generator, the row's number, and the numbers that
# identify the file.
Draw = Callable[[Random, int, tuple[int, ...]], object]


@dataclass(frozen=True, slots=True)
class _Part:
    """A data file to write: its path in the data folder without the ending, and what names it."""

    path: str
    numbers: tuple[int, ...]
    rows: int = 0  # 0: the usual number of rows of the table's files


@dataclass(frozen=True, slots=True)
class _Batch:
    """The files of one commit."""

    at: datetime
    parts: tuple[_Part, ...]
    is_overwrite: bool = False


@dataclass(frozen=True, slots=True)
class _Table:
    """A table with the rows of its files; a null makes a column optional."""

    name: tuple[str, ...]
    rows: int  # of a file
    columns: tuple[tuple[str, IcebergType, Draw], ...]
    batches: Callable[[datetime], Iterator[_Batch]]
    # the transform, the id of its column, and the name of the field
    partitioned_by: tuple[Transform[Any, Any], int, str] | None = None
    properties: tuple[tuple[str, str], ...] = ()
    optional: tuple[str, ...] = ()
    keep: int | None = None  # snapshots
    path: str = ""  # in the warehouse; empty: the path that the catalog chooses

    def new_table(self, location: str | None = None) -> NewTable:
        fields = (
            NestedField(number, name, kind, required=name not in self.optional)
            for number, (name, kind, _) in enumerate(self.columns, start=1)
        )
        spec = UNPARTITIONED_PARTITION_SPEC
        if self.partitioned_by is not None:
            transform, source, name = self.partitioned_by
            spec = PartitionSpec(
                PartitionField(source_id=source, field_id=1000, transform=transform, name=name)
            )
        return NewTable(self.name, Schema(*fields), spec, self.properties, location)

    def draw_rows(self, part: _Part) -> Iterator[Row]:
        random = rows.seed(self.name[-1], *part.numbers)
        for number in range(part.rows or self.rows):
            yield tuple(draw(random, number, part.numbers) for _, _, draw in self.columns)


def _page_view_batches(newest: datetime) -> Iterator[_Batch]:
    for hour in range(PAGE_VIEW_HOURS):
        parts = [
            _Part(f"hour={hour:03d}/writer-{writer:03d}", (hour, writer))
            for writer in range(PAGE_VIEW_WRITERS)
        ]
        if hour:
            late = f"hour={hour - 1:03d}/writer-{PAGE_VIEW_WRITERS:03d}-late"
            parts.append(_Part(late, (hour - 1, PAGE_VIEW_WRITERS), rows=5))
        yield _Batch(newest - timedelta(hours=PAGE_VIEW_HOURS - hour), tuple(parts))


def _movement_batches(newest: datetime) -> Iterator[_Batch]:
    for day in range(MOVEMENT_DAYS):
        at = newest - timedelta(days=MOVEMENT_DAYS - day)
        yield _Batch(at, (_Part(f"day-{day:04d}", (day,)),))


def _rate_batches(newest: datetime) -> Iterator[_Batch]:
    for edition in range(RATE_EDITIONS):
        at = newest - (RATE_EDITIONS - edition) * _SIX_HOURS
        yield _Batch(at, (_Part(f"edition-{edition:04d}", (edition,)),), is_overwrite=True)


def _order_batches(newest: datetime) -> Iterator[_Batch]:
    for first in range(1, ORDER_MONTHS + 1, ORDER_MONTHS_PER_COMMIT):
        months = range(first, first + ORDER_MONTHS_PER_COMMIT)
        at = newest - timedelta(days=10 * (ORDER_MONTHS + 1 - first))
        yield _Batch(at, tuple(_Part(f"month-{month:02d}", (month,)) for month in months))


def _sensor_batches(newest: datetime) -> Iterator[_Batch]:
    for station in range(SENSOR_STATIONS):
        parts = tuple(
            _Part(f"station-{station}-day-{day:03d}", (day, station)) for day in range(SENSOR_DAYS)
        )
        yield _Batch(newest - timedelta(days=40 - station), parts)


def _hourly_batches(name: str, commits: int, files: int) -> Callable[[datetime], Iterator[_Batch]]:
    def find_batches(newest: datetime) -> Iterator[_Batch]:
        for commit in range(commits):
            numbers = range(commit * files, (commit + 1) * files)
            parts = tuple(_Part(name.format(number), (number,)) for number in numbers)
            yield _Batch(newest - timedelta(hours=commits - commit), parts)

    return find_batches


_MONEY = DecimalType(12, 2)
_LONG, _INT, _TEXT, _TIME = LongType(), IntegerType(), StringType(), TimestamptzType()


def _one_of(*values: object) -> Draw:
    return lambda random, _number, _file: random.choice(values)


def _between(least: int, above: int) -> Draw:
    return lambda random, _number, _file: random.randrange(least, above)


def _moment_after(span: timedelta) -> Draw:
    """A moment within the span of the file, which begins at as many spans as its first number."""
    most = span // timedelta(milliseconds=1)
    return lambda random, _number, file: (
        FIRST_MOMENT + file[0] * span + timedelta(milliseconds=random.randrange(most))
    )


_PAGE = _one_of(
    "/", "/search", "/cart", "/checkout", "/account", "/help", "/deals", "/item/1041",
    "/item/2203", "/item/3370", "/item/4512", "/item/5128",
)  # fmt: skip
_COUNTRY = _one_of("DE", "FR", "GB", "ES", "IT", "NL", "PL", "SE", "US", "JP")
_CURRENCIES = (
    "USD", "GBP", "JPY", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "CAD", "AUD", "NZD",
    "CNY", "INR", "BRL", "MXN", "ZAR", "TRY", "KRW",
)  # fmt: skip
_PAIRS = [(base, quote) for base in _CURRENCIES for quote in _CURRENCIES if base != quote]
_TABLES = (
    _Table(
        ("streaming", "page_views"),
        36,
        (
            ("view_id", _LONG, lambda _, number, file: (file[0] * 1000 + file[1]) * 100 + number),
            ("viewed_at", _TIME, _moment_after(timedelta(hours=1))),
            ("visitor", _TEXT, lambda random, *_: f"visitor-{random.randrange(40_000):05d}"),
            ("page", _TEXT, _PAGE),
            ("referrer", _TEXT, _one_of(None, None, "search", "newsletter", "social", "direct")),
            ("country", _TEXT, _COUNTRY),
            ("device", _TEXT, _one_of("phone", "tablet", "desktop")),
            ("duration_ms", _INT, _between(80, 30_000)),
        ),
        _page_view_batches,
        (HourTransform(), 2, "viewed_at_hour"),
        optional=("referrer",),
    ),
    _Table(
        ("warehouse", "events_by_day"),
        480,
        (
            ("event_day", DateType(), lambda _random, _, file: FIRST_DAY + timedelta(days=file[0])),
            ("event_id", _LONG, lambda _, number, file: file[0] * 10_000 + number),
            ("kind", _TEXT, _one_of("receipt", "pick", "transfer", "return", "count")),
            ("sku", _TEXT, lambda random, *_: f"sku-{random.randrange(9000):04d}"),
            ("quantity", _INT, _between(1, 400)),
            ("unit_cost", _MONEY, lambda random, *_: draw_money(random, 50, 90_000)),
            ("batch_code", _TEXT, lambda random, *_: random.randbytes(12).hex()),
        ),
        _movement_batches,
        (IdentityTransform(), 1, "event_day"),
        (
            ("commit.manifest-merge.enabled", "false"),
            ("write.target-file-size-bytes", str(16 * 1024)),
        ),
        keep=MOVEMENT_SNAPSHOTS_KEPT,
    ),
    _Table(
        ("reference", "exchange_rates"),
        len(_PAIRS),
        (
            ("base", _TEXT, lambda _random, number, _: _PAIRS[number][0]),
            ("quote", _TEXT, lambda _random, number, _: _PAIRS[number][1]),
            (
                "rate",
                DecimalType(18, 6),
                lambda random, *_: Decimal(random.randrange(1_000, 200_000_000)).scaleb(-6),
            ),
            (
                "published_at",
                _TIME,
                lambda _, __, file: FIRST_MOMENT + file[0] * _SIX_HOURS,
            ),
        ),
        _rate_batches,
    ),
    _Table(
        ("sales", "orders"),
        15_000,
        (
            ("order_id", _LONG, lambda _, number, file: file[0] * 1_000_000 + number),
            (
                "order_date",
                DateType(),
                lambda random, _, file: (
                    date(FIRST_DAY.year - 1, file[0], 1) + timedelta(days=random.randrange(28))
                ),
            ),
            ("customer_id", _LONG, _between(1, 60_000)),
            (
                "state",
                _TEXT,
                _one_of("placed", "paid", "shipped", *["delivered"] * 3, "returned"),
            ),
            ("items", _INT, _between(1, 12)),
            ("total", _MONEY, lambda random, *_: draw_money(random, 300, 250_000)),
            ("checkout", _TEXT, lambda random, *_: random.randbytes(16).hex()),
        ),
        _order_batches,
        (MonthTransform(), 2, "order_date_month"),
        (("write.target-file-size-bytes", str(512 * 1024)),),
    ),
    _Table(
        ("archive", "sensor_daily"),
        24,
        (
            (
                "measured_at",
                _TIME,
                lambda _, number, file: FIRST_MOMENT + timedelta(days=file[0], hours=number),
            ),
            ("sensor_id", _INT, lambda _, number, file: file[1] * 100 + number % 3),
            ("unit", _TEXT, _one_of("celsius", "percent", "hectopascal")),
            ("reading", DoubleType(), lambda random, *_: round(random.uniform(-20, 40), 3)),
        ),
        _sensor_batches,
        (DayTransform(), 1, "measured_at_day"),
    ),
    _Table(
        ("logs", "raw_requests"),
        40,
        (
            ("received_at", _TIME, _moment_after(timedelta(minutes=5))),
            ("request_id", _TEXT, lambda random, *_: random.randbytes(8).hex()),
            ("method", _TEXT, _one_of(*["GET"] * 3, "POST", "PUT")),
            ("path", _TEXT, _PAGE),
            ("status", _INT, _one_of(*[200] * 5, 301, 304, 404, 429, 500)),
            ("sent_bytes", _LONG, _between(120, 90_000)),
            ("agent", _TEXT, _one_of("browser", "app-ios", "app-android", "crawler")),
        ),
        _hourly_batches("shipper-{:04d}", REQUEST_COMMITS, REQUEST_FILES_PER_COMMIT),
        properties=(("write.format.default", "orc"),),
    ),
    _Table(
        ("logs", "gateway", "access log"),
        30,
        (
            ("signed_in_at", _TIME, _moment_after(timedelta(minutes=10))),
            ("user_name", _TEXT, lambda random, *_: f"user-{random.randrange(2000):04d}"),
            ("is_granted", BooleanType(), lambda random, *_: random.random() < _GRANTED_SHARE),
            ("country", _TEXT, _COUNTRY),
        ),
        _hourly_batches("gateway-{:03d}", ACCESS_COMMITS, ACCESS_FILES_PER_COMMIT),
        path="logs/gateway/access_log",  # without the blank of the table's name
    ),
)


def create_tables(
    catalog: Catalog, warehouse: Path, newest: datetime, say: Callable[[str], None]
) -> None:
    """Make all tables except those that MERGE changes; no commit is newer than `newest`."""
    for table in _TABLES:
        new = table.new_table(f"file://{warehouse}/{table.path}" if table.path else None)
        _create(catalog, table, new, newest, say)


def _create(
    catalog: Catalog, table: _Table, new: NewTable, newest: datetime, say: Callable[[str], None]
) -> None:
    metadata, io = describe_table(catalog, new)
    is_orc = metadata.properties.get("write.format.default") == "orc"
    schema = schema_to_pyarrow(
        metadata.schema(), file_format=FileFormat.ORC if is_orc else FileFormat.PARQUET
    )
    data = Path(metadata.location.removeprefix("file://")) / "data"
    data.mkdir(parents=True)

    def write(part: _Part) -> DataFile:
        made = rows.make_table(schema, table.draw_rows(part))
        if is_orc:
            return _write_orc(data / f"{part.path}.orc", made, metadata.default_spec_id)
        path = data / f"{part.path}.parquet"
        path.parent.mkdir(exist_ok=True)
        parquet.write_table(made, path, compression="zstd", store_schema=False)
        return parquet_file_to_data_file(io, metadata, f"file://{path}")

    commits = [
        DatedCommit(batch.at, tuple(map(write, batch.parts)), batch.is_overwrite)
        for batch in table.batches(newest)
    ]
    create_with_history(catalog, new, commits, table.keep)
    say(
        f"{'.'.join(new.name)}: {sum(len(commit.files) for commit in commits)} files in "
        f"{len(commits)} commits"
    )


def _write_orc(path: Path, made: pa.Table, spec_id: int) -> DataFile:
    orc.write_table(made, str(path), compression="zstd")
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"file://{path}",
        file_format=FileFormat.ORC,
        partition=Record(),
        record_count=made.num_rows,
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
        spec_id=spec_id,
    )
