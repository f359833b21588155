"""Manifest lists and manifests, read by field id and only as far as health needs them.

The narrow interface is `read_manifest_list` and `digest_manifest`: bytes in, values out, UnreadableFileError when the bytes are broken.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import fastavro
from fastavro.types import Schema

from maintainer.adapters.catalog.container import Container, UnreadableFileError, open_container
from maintainer.adapters.catalog.partition import Spec, SpecField, StoredField, compile_partition_text
from maintainer.domain.inventory import HISTOGRAM_BOUNDS_BYTES, Content, ManifestContent, ManifestDigest, PartitionDigest, SizeClasses, histogram_bin

# Iceberg's field ids; files without ids are read by the names beside them.
_LIST_FIELDS: Final = {500: "manifest_path", 501: "manifest_length", 502: "partition_spec_id", 515: "sequence_number", 517: "content", 519: "key_metadata"}
_ENTRY_FIELDS: Final = {0: "status", 2: "data_file"}
_FILE_FIELDS: Final = {
    101: "file_format", 102: "partition", 103: "record_count", 104: "file_size_in_bytes", 134: "content", 144: "content_offset", 145: "content_size_in_bytes",
}  # fmt: skip
_LIVE: Final = (0, 1)  # EXISTING, ADDED
_STATUSES: Final = (0, 1, 2)  # and DELETED
_CONTENTS: Final = (Content.DATA, Content.POSITION_DELETES, Content.EQUALITY_DELETES)
_NAMED_TYPES: Final = ("record", "fixed", "enum")  # a tuple: what is looked up may be a union, which has no hash
_COMPILED_SCHEMAS: Final = 256  # manifests of one table share a few schemas


@dataclass(frozen=True, slots=True)
class ListedManifest:
    """A manifest as its manifest list names it."""

    path: str
    length_bytes: int | None  # None: a v1 snapshot that lists paths alone
    spec_id: int
    content: ManifestContent
    sequence_number: int
    is_encrypted: bool = False


@dataclass(slots=True)
class _Share:
    file_count: int = 0
    bytes: int = 0
    record_count: int = 0
    small_count: int = 0
    small_bytes: int = 0
    large_count: int = 0
    large_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Reader:
    """How to read the records of files with one schema: fastavro's resolution drops every field that is not wanted."""

    writer: Schema
    wanted: Schema
    names: Mapping[str, str]  # our name -> the file's own, for the record's own fields
    file_names: Mapping[str, str]
    partition: tuple[StoredField, ...] = ()


@dataclass(slots=True)
class _Tally:
    classes: SizeClasses
    shares: dict[tuple[str, Content], _Share] = field(default_factory=dict)
    histogram: list[int] = field(default_factory=lambda: [0] * (len(HISTOGRAM_BOUNDS_BYTES) + 1))
    formats: dict[str, int] = field(default_factory=dict)

    def add(self, partition: str, content: Content, size: int, records: int, file_format: str) -> None:
        key = (partition, content)
        share = self.shares.get(key)
        if share is None:
            share = self.shares[key] = _Share()
        share.file_count += 1
        share.bytes += size
        share.record_count += records
        if content is not Content.DATA:
            return
        self.histogram[histogram_bin(size)] += 1
        self.formats[file_format] = self.formats.get(file_format, 0) + 1
        if size < self.classes.small_below_bytes:
            share.small_count += 1
            share.small_bytes += size
        elif size > self.classes.large_above_bytes:
            share.large_count += 1
            share.large_bytes += size


def read_manifest_list(raw: bytes) -> tuple[ListedManifest, ...]:
    """The manifests of one snapshot, in the order of the list."""
    container = open_container(raw)
    reader = _compile(container.schema, is_list=True)
    names = reader.names
    manifests = []
    for record in _records(container, reader):
        path, length, spec_id = record.get(names["manifest_path"]), record.get(names["manifest_length"]), record.get(names["partition_spec_id"])
        if not isinstance(path, str) or not isinstance(length, int) or not isinstance(spec_id, int):
            message = f"it lists a manifest without path, length or spec: {path!r}, {length!r}, {spec_id!r}"
            raise UnreadableFileError(message)
        content = record.get(names["content"]) or 0
        if content not in {0, 1}:
            message = f"it lists {path} with content {content!r}, which is neither data (0) nor deletes (1)"
            raise UnreadableFileError(message)
        manifests.append(
            ListedManifest(
                path=path,
                length_bytes=length,
                spec_id=spec_id,
                content=ManifestContent.DELETES if content else ManifestContent.DATA,
                sequence_number=record.get(names["sequence_number"]) or 0,
                is_encrypted=bool(record.get(names["key_metadata"])),
            )
        )
    return tuple(manifests)


def describe_manifest(path: str, raw: bytes) -> ListedManifest:
    """A manifest that no list describes (format v1's inline paths), described by its own header."""
    metadata = open_container(raw).metadata
    spec_id = _header_number(metadata, "partition-spec-id")
    content = ManifestContent.DELETES if metadata.get("content") == b"deletes" else ManifestContent.DATA
    return ListedManifest(path, None, spec_id, content, sequence_number=0)


def digest_manifest(raw: bytes, listed: ListedManifest, specs: Mapping[int, Spec], classes: SizeClasses) -> ManifestDigest:
    """What a manifest's live entries add up to, small and large judged by `classes`."""
    if listed.length_bytes is not None and len(raw) < listed.length_bytes:
        message = f"it has {len(raw)} bytes, the manifest list says {listed.length_bytes}"
        raise UnreadableFileError(message)
    container = open_container(raw)
    reader = _compile(container.schema, is_list=False)
    spec = specs.get(listed.spec_id) or _header_spec(container.metadata, listed.spec_id)
    write_partition = compile_partition_text(reader.partition, spec)
    texts: dict[tuple[Any, ...], str] = {}
    tally, entries = _Tally(classes), 0
    status_name, file_name, names = reader.names["status"], reader.names["data_file"], reader.file_names
    for entry in _records(container, reader):
        entries += 1
        status = entry.get(status_name)
        if status not in _STATUSES:
            message = f"entry {entries} has status {status!r}, which is none of existing (0), added (1), deleted (2)"
            raise UnreadableFileError(message)
        if status not in _LIVE:
            continue
        file = entry[file_name]
        values = file.get(names["partition"]) or {}
        key = tuple(values.values())
        text = texts.get(key)
        if text is None:
            text = texts[key] = write_partition(values)
        tally.add(text, *_measure(file, names, entries))
    return ManifestDigest(
        path=listed.path,
        length_bytes=len(raw) if listed.length_bytes is None else listed.length_bytes,
        spec_id=listed.spec_id,
        content=listed.content,
        sequence_number=listed.sequence_number,
        partitions=tuple(_partition_digest(listed.spec_id, key, tally.shares[key]) for key in sorted(tally.shares)),
        histogram=tuple(tally.histogram),
        formats=tuple(sorted(tally.formats.items())),
        entries_read=entries,
    )


def _measure(file: Mapping[str, Any], names: Mapping[str, str], position: int) -> tuple[Content, int, int, str]:
    """(content, size in bytes, records, format) of a file entry."""
    content_id = file.get(names["content"]) or 0
    file_format = str(file.get(names["file_format"]) or "").lower()
    size, records = file.get(names["file_size_in_bytes"]), file.get(names["record_count"])
    if content_id not in {0, 1, 2}:
        message = f"entry {position} has content {content_id!r}, which is none of data (0), position deletes (1), equality deletes (2)"
        raise UnreadableFileError(message)
    content = _CONTENTS[content_id]
    if content is Content.POSITION_DELETES and (file_format == "puffin" or file.get(names["content_offset"]) is not None):
        # Many vectors share one Puffin file: its size counted once for each would be many times what is there.
        content, size = Content.DELETION_VECTORS, file.get(names["content_size_in_bytes"]) or 0
    if not isinstance(size, int) or not isinstance(records, int) or size < 0 or records < 0:
        message = f"entry {position} claims {size!r} bytes and {records!r} records"
        raise UnreadableFileError(message)
    return content, size, records, file_format


def _partition_digest(spec_id: int, key: tuple[str, Content], share: _Share) -> PartitionDigest:
    partition, content = key
    return PartitionDigest(
        spec_id=spec_id,
        partition=partition,
        content=content,
        file_count=share.file_count,
        bytes=share.bytes,
        record_count=share.record_count,
        small_count=share.small_count,
        small_bytes=share.small_bytes,
        large_count=share.large_count,
        large_bytes=share.large_bytes,
    )


def _records(container: Container, reader: _Reader) -> Iterator[dict[str, Any]]:
    for count, data in container.blocks():
        stream = io.BytesIO(data)
        for index in range(count):
            try:
                record = fastavro.schemaless_reader(stream, reader.writer, reader.wanted)
            except Exception as error:
                # Broken bytes surface as whatever type the decoder trips over; all of them mean the same here.
                message = f"record {index} of a block of {count} cannot be decoded: {type(error).__name__} {error}".rstrip()
                raise UnreadableFileError(message) from error
            if not isinstance(record, dict):
                message = f"its records are {type(record).__name__}, not structs"
                raise UnreadableFileError(message)
            yield record
        if stream.tell() != len(data):
            message = f"a block of {count} records leaves {len(data) - stream.tell()} bytes over"
            raise UnreadableFileError(message)


@lru_cache(maxsize=_COMPILED_SCHEMAS)
def _compile(schema: bytes, *, is_list: bool) -> _Reader:
    try:
        record = json.loads(schema)
        stored = _stored_partition(record) if not is_list else ()
        writer = fastavro.parse_schema(_without_logical_types(record))
        defined = _defined_types(writer)
        pruning = _Pruning(defined)
        fields = pruning.prune(writer, _LIST_FIELDS if is_list else _ENTRY_FIELDS)
        file_names: Mapping[str, str] = {}
        if not is_list:
            data_file = next(f for f in fields if _id_of(f, _ENTRY_FIELDS) == 2)  # noqa: PLR2004 - Iceberg's id of data_file
            inner = pruning.prune(pruning.resolve(data_file["type"]), _FILE_FIELDS)
            file_names = _own_names(inner, _FILE_FIELDS)
            data_file["type"] = {**pruning.resolve(data_file["type"]), "fields": inner}
        wanted = fastavro.parse_schema(_plain(pruning.complete({**_as_record(writer), "fields": fields})))
        return _Reader(writer, wanted, _own_names(fields, _LIST_FIELDS if is_list else _ENTRY_FIELDS), file_names, stored)
    except UnreadableFileError:
        raise
    except Exception as error:
        message = f"its Avro schema cannot be used: {type(error).__name__} {error}"
        raise UnreadableFileError(message) from error


class _Pruning:
    """Drops fields of a parsed schema; a named type that was defined in a dropped field is defined where it is first used."""

    def __init__(self, defined: Mapping[str, Any]) -> None:
        self._defined = defined

    def resolve(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401 - an Avro schema is any JSON
        return _as_record(self._defined[schema] if isinstance(schema, str) else schema)

    @staticmethod
    def prune(schema: Any, wanted: Mapping[int, str]) -> list[dict[str, Any]]:  # noqa: ANN401 - as above
        return [dict(f) for f in _as_record(schema)["fields"] if _id_of(f, wanted) is not None]

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
                return {**schema, "fields": [{**f, "type": self._complete(f["type"], seen)} for f in fields]}
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
        message = f"its Avro schema has {type(schema).__name__} where a record belongs"
        raise UnreadableFileError(message)
    return schema


def _id_of(schema_field: Mapping[str, Any], wanted: Mapping[int, str]) -> int | None:
    """The wanted field's id; by name only where the writer left ids out."""
    field_id = schema_field.get("field-id")
    if field_id is not None:
        return field_id if field_id in wanted else None
    return next((known for known, name in wanted.items() if name == schema_field["name"]), None)


def _own_names(fields: list[dict[str, Any]], wanted: Mapping[int, str]) -> dict[str, str]:
    own = {found: schema_field["name"] for schema_field in fields if (found := _id_of(schema_field, wanted)) is not None}
    return {name: own.get(field_id, name) for field_id, name in wanted.items()}


def _without_logical_types(schema: Any) -> Any:  # noqa: ANN401 - an Avro schema is any JSON
    """Raw numbers and bytes: a value must not fail because Python's calendar ends before Iceberg's."""
    match schema:
        case dict():
            return {key: _without_logical_types(value) for key, value in schema.items() if key not in {"logicalType", "default"}}
        case list():
            return [_without_logical_types(branch) for branch in schema]
        case _:
            return schema


def _plain(schema: Any) -> Any:  # noqa: ANN401 - an Avro schema is any JSON
    """Without fastavro's own marks, so that it parses the schema anew."""
    match schema:
        case dict():
            return {key: _plain(value) for key, value in schema.items() if not key.startswith("__")}
        case list():
            return [_plain(branch) for branch in schema]
        case _:
            return schema


def _defined_types(schema: Any) -> dict[str, Any]:  # noqa: ANN401 - an Avro schema is any JSON
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


def _stored_partition(record: Any) -> tuple[StoredField, ...]:  # noqa: ANN401 - an Avro schema is any JSON
    defined = _defined_types(record)
    data_file = next((f for f in _as_record(record)["fields"] if _id_of(f, _ENTRY_FIELDS) == 2), None)  # noqa: PLR2004 - data_file's id
    if data_file is None:
        message = "its entries have no data_file"
        raise UnreadableFileError(message)
    file_type = defined.get(data_file["type"], data_file["type"]) if isinstance(data_file["type"], str) else data_file["type"]
    partition = next((f for f in _as_record(file_type)["fields"] if _id_of(f, _FILE_FIELDS) == 102), None)  # noqa: PLR2004 - partition's id
    if partition is None:
        return ()
    struct = defined.get(partition["type"], partition["type"]) if isinstance(partition["type"], str) else partition["type"]
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


def _header_spec(metadata: Mapping[str, bytes], spec_id: int) -> Spec | None:
    """The spec that the manifest itself carries, for one that the table's metadata no longer has."""
    try:
        fields = json.loads(metadata.get("partition-spec", b"[]"))
        return Spec(spec_id, tuple(SpecField(int(f["field-id"]), str(f["name"]), str(f["transform"])) for f in fields))
    except (ValueError, KeyError, TypeError):
        return None


def _header_number(metadata: Mapping[str, bytes], key: str) -> int:
    text = metadata.get(key, b"0")
    try:
        return int(text)
    except ValueError as error:
        message = f"its header says {key} {text!r}, which is no number"
        raise UnreadableFileError(message) from error
