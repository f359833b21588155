"""Tables of a wanted shape: data files of wanted sizes in wanted partitions, written by PyArrow,
committed by PyIceberg, deletes by Iceberg itself.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import (
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
    schema_to_pyarrow,
)
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import parse_transform
from pyiceberg.typedef import Record
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
)

from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableInventory
from maintainer.measure.health import measure, target_file_size
from tests.adapters.catalog.lake import know_nothing
from tests.conformance.session import Session

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "number", LongType()),
    NestedField(3, "word", StringType()),
    NestedField(4, "at", TimestamptzType()),
    NestedField(5, "local", TimestampType()),
    NestedField(6, "day", DateType()),
    NestedField(7, "price", DecimalType(9, 2)),
    NestedField(8, "flag", BooleanType()),
    NestedField(9, "rate", DoubleType()),
    NestedField(10, "small", IntegerType()),
    NestedField(11, "od`d \"na'me", StringType()),
    NestedField(12, "nested", StructType(NestedField(15, "key", StringType()))),
    NestedField(13, "payload", BinaryType()),
    NestedField(14, "raw", BinaryType()),
)
DEFAULTS: Mapping[str, Any] = {
    "number": 7, "word": "w", "at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    "local": datetime(2026, 1, 2, 3, 4, 5), "day": date(2026, 1, 2),  # noqa: DTZ001
    "price": Decimal("1.50"), "flag": True, "rate": 0.5, "small": 1, (
        "od`d "
        "\"na'me"
    ): "x", "nested": {"key": "k"}, "raw": b"r",
}  # fmt: skip
KIB = 1024
_WRITABLE = 2  # the format version that PyIceberg writes at most
_FOOTER_BYTES = 5500  # about what a file has beside its payload


@dataclass(frozen=True)
class File:
    """One data file: its size, the values of all its rows, its rows, and in how many row groups
    they lie.
    """

    bytes: int = 20 * KIB
    values: Mapping[str, Any] = field(default_factory=dict)
    rows: int = 10
    row_groups: int = 1


@dataclass(frozen=True)
class Deletes:
    """One commit of delete files over the data files with these numbers."""

    # "file": one for each data file, bound to it; "partition": one for all of them; "equality";
    # "vector": Spark deletes, merge-on-read
    kind: str
    files: Sequence[int]
    rows: int = 5  # that each data file loses
    where: str = ""  # of a vector


Fields = Sequence[tuple[str, str]]  # (column, transform): a partition spec


@dataclass(frozen=True)
class Batch:
    """One commit of data files; with fields the table gets that partition spec before."""

    files: Sequence[File]
    fields: Fields | None = None


@dataclass(frozen=True)
class Layout:
    """A table as it is to be made."""

    batches: Sequence[Batch]
    fields: Fields = ()
    deletes: Sequence[Deletes] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    format_version: int = 2
    default: int | None = None  # of a column `rank` that is added then, in format version 3
    statements: Sequence[str] = ()  # what Spark does at the end, on {table}


class Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class Lake:
    """The catalog that PyIceberg and Spark share."""

    def __init__(self, directory: Path, session: Session) -> None:
        self.directory = directory
        self.session = session
        self.properties = {
            "type": "sql",
            "uri": f"sqlite:///{directory}/catalog.db",
            "warehouse": f"file://{directory}/warehouse",
        }
        self.catalog = SqlCatalog("lake", **self.properties)
        self.catalog.create_namespace_if_not_exists("c")
        self.ours = PyIcebergCatalog("lake", self.properties, Clock())

    def close(self) -> None:
        self.ours.close()
        self.catalog.close()

    def make(self, name: str, layout: Layout, seed: int = 0) -> TableIdentifier:
        """A table of that layout; the same layout makes the same table."""
        folder = self.directory / "files" / name
        folder.mkdir(parents=True)
        table = self.catalog.create_table(
            ("c", name),
            SCHEMA,
            location=f"file://{folder}/table",
            properties={
                "format-version": str(min(layout.format_version, _WRITABLE)),
                **layout.properties,
            },
        )
        if layout.fields:
            _respec(table, layout.fields)
        writer = _Writer(folder, random.Random(seed))
        for batch in layout.batches:
            if batch.fields is not None:
                _respec(table, batch.fields)
            with (
                table.transaction() as transaction,
                transaction.update_snapshot().fast_append() as append,
            ):
                for file in batch.files:
                    append.append_data_file(writer.write(table, file))
        if layout.format_version > _WRITABLE:
            self.session.sql(
                f"ALTER TABLE lake.c.{name} SET TBLPROPERTIES ('format-version' = "
                f"'{layout.format_version}')"
            )
        for deletes in layout.deletes:
            self._delete(name, deletes, writer)
        if layout.default is not None:
            self.session.add_column(f"lake.c.{name}", "rank", layout.default)
        for statement in layout.statements:
            self.session.sql(statement.format(table=f"lake.c.{name}"))
        return TableIdentifier("lake", ("c",), name)

    def read(self, table: TableIdentifier) -> TableHealth:
        """The table's health, as a scan measures it."""
        return measure(self.inventory(table))

    def list_files(self, table: TableIdentifier) -> TableInventory:
        """The table's inventory with all of its files, as a scan keeps it of one with deletes."""
        with mock.patch.object(ListedManifest, "lists_files", new=True):
            return self.inventory(table)

    def inventory(self, table: TableIdentifier) -> TableInventory:
        """The table's inventory, as a scan reads it."""
        inventory = self.ours.inventory(
            table, lambda _, properties: target_file_size(properties), know_nothing
        )
        assert isinstance(inventory, TableInventory), inventory
        assert inventory.unreadable == ()
        return inventory

    def files(self, table: TableIdentifier) -> dict[str, str]:
        """Path and partition, as PyIceberg has them, of the data files."""
        found = self.catalog.load_table(("c", table.name)).inspect.data_files()
        return {
            row["file_path"]: str({"spec": row["spec_id"], **(row["partition"] or {})})
            for row in found.to_pylist()
        }

    def row_ids(self, table: TableIdentifier) -> dict[int, int]:
        """The row id of each row that has one, by its column id; those are unique in these tables.

        Empty before format version 3.
        """
        if self.catalog.load_table(("c", table.name)).format_version <= _WRITABLE:
            return {}
        found = self.session.sql(f"SELECT id, _row_id AS row FROM {table}")
        return {row["id"]: row["row"] for row in found if row["row"] is not None}

    def _delete(self, name: str, deletes: Deletes, writer: _Writer) -> None:
        if deletes.kind == "vector":
            self.session.sql(f"DELETE FROM lake.c.{name} WHERE {deletes.where}")
            return
        chosen = [writer.written[number] for number in deletes.files]
        parts = [[file] for file in chosen] if deletes.kind == "file" else [chosen]
        self.session.commit_deletes(
            f"lake.c.{name}", [writer.write_deletes(part, deletes) for part in parts]
        )


def _respec(table: Table, fields: Fields) -> None:
    with table.update_spec() as update:
        for old in table.spec().fields:
            update.remove_field(old.name)
        for column, transform in fields:
            update.add_field(column, parse_transform(transform))


class _Writer:
    def __init__(self, folder: Path, random: random.Random) -> None:
        self._folder = folder
        self._random = random
        self.written: list[DataFile] = []

    def write(self, table: Table, file: File) -> DataFile:
        path = self._folder / f"{len(self.written):05}.parquet"
        rows = {
            **DEFAULTS,
            **{name: value for name, value in file.values.items() if "." not in name},
        }
        if "nested.key" in file.values:
            rows["nested"] = {"key": file.values["nested.key"]}
        start = len(self.written) * 1_000_000
        payload = max(1, (file.bytes - _FOOTER_BYTES - file.row_groups * 2000) // file.rows)
        records = [
            {"id": start + number, **rows, "payload": self._random.randbytes(payload)}
            for number in range(file.rows)
        ]
        data = pa.Table.from_pylist(records, schema_to_pyarrow(SCHEMA, include_field_ids=True))
        pq.write_table(
            data,
            path,
            row_group_size=-(-file.rows // file.row_groups),
            use_dictionary=False,
            compression="none",
        )
        made = _describe(
            table,
            path,
            _partition(table.spec(), {**rows, "nested.key": (rows["nested"] or {}).get("key")}),
        )
        self.written.append(made)
        return made

    def write_deletes(self, files: Sequence[DataFile], deletes: Deletes) -> dict[str, Any]:
        path = self._folder / f"delete-{len(list(self._folder.glob('delete-*')))}.parquet"
        first = files[0]
        if deletes.kind == "equality":
            numbers = [
                self.written.index(file) * 1_000_000 + row
                for file in files
                for row in range(deletes.rows)
            ]
            data = pa.table(
                [pa.array(numbers, pa.int64())], schema=pa.schema([_numbered("id", pa.int64(), 1)])
            )
        else:
            pairs = [(file.file_path, row) for file in files for row in range(deletes.rows)]
            schema = pa.schema(
                [
                    _numbered("file_path", pa.string(), 2147483546),
                    _numbered("pos", pa.int64(), 2147483545),
                ]
            )
            data = pa.table([[path for path, _ in pairs], [row for _, row in pairs]], schema=schema)
        pq.write_table(data, path)
        return {
            "path": f"file://{path}",
            "bytes": path.stat().st_size,
            "records": data.num_rows,
            "spec_id": first.spec_id,
            "equality_ids": [1] if deletes.kind == "equality" else [],
            "referenced": first.file_path if deletes.kind == "file" else "",
            "partition_like": first.file_path,
        }


def _numbered(name: str, kind: pa.DataType, field_id: int) -> pa.Field:
    return pa.field(name, kind, nullable=False, metadata={"PARQUET:field_id": str(field_id)})


def _partition(spec: PartitionSpec, values: Mapping[str, Any]) -> Record:
    found = []
    for one in spec.fields:
        kind = SCHEMA.find_type(one.source_id)
        name = SCHEMA.find_column_name(one.source_id)
        assert name is not None
        value = values[name]
        transformed = None if value is None else one.transform.transform(kind)(_to_iceberg(value))
        found.append(transformed)
    return Record(*found)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _to_iceberg(value: object) -> object:
    match value:
        case datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            return (moment - _EPOCH) // (datetime.resolution)
        case date():
            return (value - _EPOCH.date()).days
        case _:
            return value


def _describe(table: Table, path: Path, partition: Record) -> DataFile:
    metadata = pq.read_metadata(path)
    statistics = data_file_statistics_from_parquet_metadata(
        parquet_metadata=metadata,
        stats_columns=compute_statistics_plan(SCHEMA, table.properties),
        parquet_column_mapping=parquet_path_to_id_mapping(SCHEMA),
    )
    made = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"file://{path}",
        file_format=FileFormat.PARQUET,
        partition=partition,
        file_size_in_bytes=path.stat().st_size,
        sort_order_id=None,
        equality_ids=None,
        key_metadata=None,
        **statistics.to_serialized_dict(),
    )
    made.spec_id = table.spec().spec_id
    return made
