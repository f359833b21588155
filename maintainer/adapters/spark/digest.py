"""Manifests added up by Spark: the statements that read them, and the file that the answer comes
back in.

Iceberg's `entries` table has no column for the manifest, but reads each manifest as a file of its
own: `input_file_name()` is its path, and `monotonically_increasing_id()` follows its order.
Manifests are read by the executors, through the table's own FileIO; nothing is committed.
"""

from __future__ import annotations

import base64
import gzip
import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from maintainer.adapters.spark.procedure import quote_identifier
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Content
from maintainer.domain.reading import DigestManifests, FoundFiles, FoundManifest, PartitionValue

_CONTENTS: Final = (
    Content.DATA,
    Content.POSITION_DELETES,
    Content.EQUALITY_DELETES,
    Content.DELETION_VECTORS,
)
_ENTRIES, _SIZES = 5, 9  # positions in a row
_PATH_COLUMN: Final = 2147483546  # Iceberg's id of file_path in position deletes
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - Iceberg's timestamp without a zone
_EPOCH_DATE: Final = date(1970, 1, 1)
# Spark's names of types by Iceberg's; the others are called the same.
_TYPES: Final = {"integer": "int", "timestamp": "timestamptz", "timestamp_ntz": "timestamp"}
_VALUES_AS_TEXT: Final = (
    "map('ignoreNullFields', 'false', 'timeZone', 'UTC', 'timestampFormat', "
    "\"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\", "
    "'timestampNTZFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\")"
)
_IS_VECTOR: Final = (
    "data_file.content = 1 AND (lower(data_file.file_format) = 'puffin' OR "
    "data_file.content_offset IS NOT NULL)"
)
_KEY: Final = (
    "CASE WHEN data_file.content = 0 THEN crc32(data_file.file_path) WHEN data_file.content = 2 "
    "THEN NULL "
    "WHEN data_file.referenced_data_file IS NOT NULL THEN crc32(data_file.referenced_data_file) "
    f"WHEN try_element_at(data_file.lower_bounds, {_PATH_COLUMN}) = "
    f"try_element_at(data_file.upper_bounds, {_PATH_COLUMN}) "
    f"THEN crc32(try_element_at(data_file.lower_bounds, {_PATH_COLUMN})) END"
)


def digest_statements(table: TableIdentifier, action: DigestManifests) -> list[str]:
    """What reads the manifests of the action's snapshot: the types of partition values where there
    are any, then one row a manifest and group of files.
    """
    name = ".".join(
        quote_identifier(level) for level in (table.catalog, *table.namespace, table.name)
    )
    entries = f"{name}.entries VERSION AS OF {action.snapshot_id}"
    types = (
        [f"SELECT data_file.partition AS partition FROM {entries} LIMIT 0"]  # noqa: S608 - every level is quoted
        if action.is_partitioned
        else []
    )
    return [*types, _files_statement(entries, action)]


def _files_statement(entries: str, action: DigestManifests) -> str:
    keys = "manifest, spec, partition, content, format"
    file = {
        "position": "monotonically_increasing_id()",
        "size": (
            f"CASE WHEN {_IS_VECTOR} THEN coalesce(data_file.content_size_in_bytes, 0) ELSE "
            f"data_file.file_size_in_bytes END"
        ),
        "records": "data_file.record_count",
        "sequence": "sequence_number",
    }
    lists = {"sizes": "size"}
    if action.lists_files:
        file["key"] = _KEY
        lists |= {"records": "records", "sequences": "sequence", "keys": "key"}
    entry = {
        "manifest": "input_file_name()",
        "spec": "data_file.spec_id",
        "partition": f"to_json(data_file.partition, {_VALUES_AS_TEXT})"
        if action.is_partitioned
        else "'{}'",
        "content": f"CASE WHEN {_IS_VECTOR} THEN 3 ELSE data_file.content END",
        "format": "lower(data_file.file_format)",
        "live": "status < 2",
        "file": f"struct({_columns(file)})",
    }
    group = {
        "entries": "count(*)",
        "record_count": "sum(file.records) FILTER (WHERE live)",
        "newest": "max(file.sequence) FILTER (WHERE live)",
        "files": "sort_array(collect_list(file) FILTER (WHERE live))",  # by position
    }
    answer = {
        "first": "get(files, 0).position",
        **{name: f"transform(files, file -> file.{part})" for name, part in lists.items()},
    }
    grouped = (
        f"SELECT {keys}, {_columns(group)} FROM (SELECT {_columns(entry)} FROM {entries}) GROUP "  # noqa: S608 - as above
        f"BY {keys}"
    )
    return (
        f"SELECT {keys}, entries, record_count, newest, {_columns(answer)} FROM ({grouped}) "  # noqa: S608 - as above
        f"ORDER BY manifest"
    )


def _columns(expressions: Mapping[str, str]) -> str:
    return ", ".join(f"{expression} AS {name}" for name, expression in expressions.items())


def read_found(path: Path) -> Iterator[FoundManifest]:
    """Every manifest that is whole in the driver's file; the file may end anywhere, as that of a
    driver that was killed does.
    """
    types: dict[str, str] = {}
    pending: list[list[Any]] = []
    for line in _read_lines(path):
        match line:
            case {"schema": {"fields": list(fields)}}:
                types |= _partition_types(fields)
                continue
            case list() as row if not pending or row[0] == pending[0][0]:
                pending.append(row)
                continue
            case _:  # the next manifest, or the end of the statement: what is pending is whole
                if pending:
                    yield _read_manifest(pending, types)
                pending = [line] if isinstance(line, list) else []


def _read_lines(path: Path) -> Iterator[Any]:
    """The lines up to where the file ends or is cut off."""
    with (
        suppress(EOFError, zlib.error, ValueError),
        gzip.open(path, "rt", encoding="utf-8") as lines,
    ):
        for line in lines:
            yield json.loads(line)


def _partition_types(fields: list[dict[str, Any]]) -> dict[str, str]:
    """Iceberg's types of the partition's values, from the schema in which partitions are still
    structs.
    """
    kinds = [
        field["type"]
        for field in fields
        if field["name"] == "partition" and isinstance(field["type"], dict)
    ]
    return {
        column["name"]: _TYPES.get(column["type"], column["type"])
        for kind in kinds
        for column in kind["fields"]
    }


def _read_manifest(rows: list[list[Any]], types: Mapping[str, str]) -> FoundManifest:
    files = sorted(
        (_read_files(row, types) for row in rows if row[_SIZES]), key=lambda group: group.first
    )
    return FoundManifest(
        rows[0][0], rows[0][1], sum(row[_ENTRIES] for row in rows), dict(types), tuple(files)
    )


def _read_files(row: list[Any], types: Mapping[str, str]) -> FoundFiles:
    _, _, partition, content, file_format, _, record_count, newest, first, sizes, *each = row
    values = json.loads(partition, parse_float=Decimal)
    return FoundFiles(
        {name: _read_value(value, types.get(name, "")) for name, value in values.items()},
        _CONTENTS[content],
        file_format,
        first,
        tuple(sizes),
        record_count,
        newest,
        *map(tuple, each),
    )


def _read_value(value: Any, kind: str) -> PartitionValue:  # noqa: ANN401 - any JSON
    """A value as the manifest stores it; ValueError for a time that Python's calendar does not
    have.
    """
    if value is None:
        return None
    match kind:
        case "date":
            return (date.fromisoformat(value) - _EPOCH_DATE).days
        case "timestamp" | "timestamptz":
            return (datetime.fromisoformat(value) - _EPOCH) // timedelta(microseconds=1)
        case "binary":
            return base64.b64decode(value)
        case "float":  # as wide as it is stored
            (narrow,) = struct.unpack("<f", struct.pack("<f", float(value)))
            return float(narrow)
        case "double":
            return float(value)
        case _:
            return Decimal(value) if kind.startswith("decimal") else value
