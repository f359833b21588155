"""The Avro schema of a manifest list or a manifest, reduced to the fields that health needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import fastavro
from fastavro.types import Schema

from maintainer.adapters.catalog.limits import UnreadableFileError, refuse_empty_items
from maintainer.adapters.catalog.manifests.partition import StoredField

# Iceberg's field ids; in files without ids a field is found by its name.
LIST_FIELDS: Final = {
    500: "manifest_path", 501: "manifest_length", 502: "partition_spec_id", 515: "sequence_number",
    517: "content", 519: "key_metadata",
    504: "added_files_count", 505: "existing_files_count", 507: "partitions",
}  # fmt: skip
ENTRY_FIELDS: Final = {0: "status", 2: "data_file", 3: "sequence_number"}
FILE_FIELDS: Final = {
    101: "file_format", 102: "partition", 103: "record_count", 104: "file_size_in_bytes",
    134: "content", 144: "content_offset", 145: "content_size_in_bytes",
    100: "file_path", 125: "lower_bounds", 128: "upper_bounds", 143: "referenced_data_file",
}  # fmt: skip
# A tuple, because a value may be a union, which is not hashable.
_NAMED_TYPES: Final = ("record", "fixed", "enum")
_COMPILED_SCHEMAS: Final = 256  # manifests of one table share a few schemas


@dataclass(frozen=True, slots=True)
class Reader:
    """How to read the records of one schema; fastavro drops all fields that are not needed."""

    writer: Schema
    wanted: Schema
    names: Mapping[str, str]  # the file's name of each field, by the name in LIST_FIELDS and others
    file_names: Mapping[str, str]
    partition: tuple[StoredField, ...] = ()


@lru_cache(maxsize=_COMPILED_SCHEMAS)
def compile_reader(schema: bytes, *, is_list: bool) -> Reader:
    """Compile the reader of files with this schema (JSON).

    UnreadableFileError if the schema is not that of a manifest or a manifest list.
    """
    try:
        record = json.loads(schema)
        stored = _stored_partition(record) if not is_list else ()
        writer = fastavro.parse_schema(_without_logical_types(record))
        defined = defined_types(writer)
        refuse_empty_items(writer, defined)
        pruning = _Pruning(defined)
        fields = pruning.prune(writer, LIST_FIELDS if is_list else ENTRY_FIELDS)
        file_names: Mapping[str, str] = {}
        if not is_list:
            # Iceberg's id of data_file.
            data_file = next(f for f in fields if id_of(f, ENTRY_FIELDS) == 2)  # noqa: PLR2004
            inner = pruning.prune(pruning.resolve(data_file["type"]), FILE_FIELDS)
            file_names = _own_names(inner, FILE_FIELDS)
            data_file["type"] = {**pruning.resolve(data_file["type"]), "fields": inner}
        wanted = fastavro.parse_schema(
            _plain(pruning.complete({**_as_record(writer), "fields": fields}))
        )
        return Reader(
            writer,
            wanted,
            _own_names(fields, LIST_FIELDS if is_list else ENTRY_FIELDS),
            file_names,
            stored,
        )
    except UnreadableFileError:
        raise
    except Exception as error:
        raise UnreadableFileError(
            f"its Avro schema cannot be used: {type(error).__name__} {error}"
        ) from error


class _Pruning:
    """Drops fields of a parsed schema.

    If a dropped field had the definition of a named type, the type is defined at its first use.
    """

    def __init__(self, defined: Mapping[str, Any]) -> None:
        self._defined = defined

    def resolve(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401 - an Avro schema is any JSON
        return _as_record(self._defined[schema] if isinstance(schema, str) else schema)

    @staticmethod
    def prune(schema: Any, wanted: Mapping[int, str]) -> list[dict[str, Any]]:  # noqa: ANN401
        return [dict(f) for f in _as_record(schema)["fields"] if id_of(f, wanted) is not None]

    def complete(self, schema: Any) -> Any:  # noqa: ANN401 - as above
        return self._complete(schema, set())

    def _complete(self, schema: Any, seen: set[str]) -> Any:  # noqa: ANN401 - as above
        match schema:
            case str() if schema in self._defined and schema not in seen:
                return self._complete(self._defined[schema], seen)
            case list():
                return [self._complete(branch, seen) for branch in schema]
            case {"type": "record", "fields": fields}:
                seen.add(schema["name"])
                return {
                    **schema,
                    "fields": [{**f, "type": self._complete(f["type"], seen)} for f in fields],
                }
            case {"type": "array", "items": items}:
                return {**schema, "items": self._complete(items, seen)}
            case {"type": "map", "values": values}:
                return {**schema, "values": self._complete(values, seen)}
            case {"name": str() as name}:
                seen.add(name)
                return schema
            case _:
                return schema


def _as_record(schema: Any) -> dict[str, Any]:  # noqa: ANN401 - an Avro schema is any JSON
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise UnreadableFileError(
            f"its Avro schema has {type(schema).__name__} where a record belongs"
        )
    return schema


def id_of(schema_field: Mapping[str, Any], wanted: Mapping[int, str]) -> int | None:
    """Return the id of a wanted field; its name decides only if the writer omitted ids."""
    field_id = schema_field.get("field-id")
    if field_id is not None:
        return field_id if field_id in wanted else None
    return next((known for known, name in wanted.items() if name == schema_field["name"]), None)


def _own_names(fields: list[dict[str, Any]], wanted: Mapping[int, str]) -> dict[str, str]:
    own = {
        found: schema_field["name"]
        for schema_field in fields
        if (found := id_of(schema_field, wanted)) is not None
    }
    return {name: own.get(field_id, name) for field_id, name in wanted.items()}


def _without_logical_types(schema: Any) -> Any:  # noqa: ANN401 - an Avro schema is any JSON
    """Remove logical types, to get raw numbers and bytes: Python cannot represent all dates."""
    match schema:
        case dict():
            return {
                key: _without_logical_types(value)
                for key, value in schema.items()
                if key not in {"logicalType", "default"}
            }
        case list():
            return [_without_logical_types(branch) for branch in schema]
        case _:
            return schema


def _plain(schema: Any) -> Any:  # noqa: ANN401 - an Avro schema is any JSON
    """Remove fastavro's own keys, so that fastavro can parse the schema again."""
    match schema:
        case dict():
            return {key: _plain(value) for key, value in schema.items() if not key.startswith("__")}
        case list():
            return [_plain(branch) for branch in schema]
        case _:
            return schema


def defined_types(schema: Any) -> dict[str, Any]:  # noqa: ANN401 - an Avro schema is any JSON
    """Return the named types in a schema, by name."""
    defined: dict[str, Any] = {}
    pending = [schema]
    while pending:
        match pending.pop():
            case dict() as node:
                if isinstance(node.get("name"), str) and node.get("type") in _NAMED_TYPES:
                    defined[node["name"]] = node
                pending += [value for key, value in node.items() if not key.startswith("__")]
            case list() as branches:
                pending += branches
            case _:
                continue
    return defined


# An Avro schema is any JSON.
def _stored_partition(record: Any) -> tuple[StoredField, ...]:  # noqa: ANN401
    defined = defined_types(record)
    fields = _as_record(record)["fields"]
    # Iceberg's id of data_file.
    data_file = next((f for f in fields if id_of(f, ENTRY_FIELDS) == 2), None)  # noqa: PLR2004
    if data_file is None:
        raise UnreadableFileError("its entries have no data_file")
    file_type = (
        defined.get(data_file["type"], data_file["type"])
        if isinstance(data_file["type"], str)
        else data_file["type"]
    )
    fields = _as_record(file_type)["fields"]
    # Iceberg's id of partition.
    partition = next((f for f in fields if id_of(f, FILE_FIELDS) == 102), None)  # noqa: PLR2004
    if partition is None:
        return ()
    struct = (
        defined.get(partition["type"], partition["type"])
        if isinstance(partition["type"], str)
        else partition["type"]
    )
    return tuple(_stored_field(f, defined) for f in _as_record(struct)["fields"])


def _stored_field(schema_field: Mapping[str, Any], defined: Mapping[str, Any]) -> StoredField:
    kind = schema_field["type"]
    if isinstance(kind, list):
        kind = next((branch for branch in kind if branch != "null"), "null")
    if isinstance(kind, str):
        kind = defined.get(kind, {"type": kind})
    return StoredField(
        name=schema_field["name"],
        field_id=schema_field.get("field-id"),
        type_name=str(kind.get("logicalType") or kind["type"]),
        scale=int(kind.get("scale", 0)),
        is_utc=bool(kind.get("adjust-to-utc", False)),
    )
