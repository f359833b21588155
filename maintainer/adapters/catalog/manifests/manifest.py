"""Reads manifest lists and manifests by field id, and only the fields that health needs.

The narrow interface is `read_manifest_list` and `digest_manifest`: bytes in, values out,
UnreadableFileError for corrupt bytes. This is the slow reader. It reads everything that fastavro
reads; `fast_reader` returns the same values sooner and falls back to it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import fastavro
from fastavro.types import Schema

from maintainer.adapters.catalog.limits import (
    MAX_DOCUMENT_BYTES,
    MAX_MANIFEST_BYTES,
    UnreadableFileError,
    at_most_listed,
    refuse_empty_items,
)
from maintainer.adapters.catalog.manifests.container import Container, open_container
from maintainer.adapters.catalog.manifests.deletes import bound_of_path, delete_key
from maintainer.adapters.catalog.manifests.digest_sums import Groups, Tally
from maintainer.adapters.catalog.manifests.partition import (
    Spec,
    StoredField,
    compile_partition_text,
    header_spec,
)
from maintainer.domain.filelist import path_key
from maintainer.domain.inventory import Content, ManifestContent, ManifestDigest, SizeClasses

# Iceberg's field ids; in files without ids a field is found by its name.
LIST_FIELDS: Final = {
    500: "manifest_path", 501: "manifest_length", 502: "partition_spec_id", 515: "sequence_number",
    517: "content", 519: "key_metadata",
    504: "added_files_count", 505: "existing_files_count",
}  # fmt: skip
ENTRY_FIELDS: Final = {0: "status", 2: "data_file", 3: "sequence_number"}
FILE_FIELDS: Final = {
    101: "file_format", 102: "partition", 103: "record_count", 104: "file_size_in_bytes",
    134: "content", 144: "content_offset", 145: "content_size_in_bytes",
    100: "file_path", 125: "lower_bounds", 128: "upper_bounds", 143: "referenced_data_file",
}  # fmt: skip
_LIVE: Final = (0, 1)  # EXISTING, ADDED
_STATUSES: Final = (0, 1, 2)  # and DELETED
_CONTENTS: Final = (Content.DATA, Content.POSITION_DELETES, Content.EQUALITY_DELETES)
_NAMED_TYPES: Final = (
    "record",
    "fixed",
    "enum",
)  # a tuple, because a value may be a union, which has no hash
_COMPILED_SCHEMAS: Final = 256  # manifests of one table share a few schemas


@dataclass(frozen=True, slots=True)
class ListedManifest:
    """A manifest as its manifest list describes it."""

    path: str
    length_bytes: int | None  # None for a v1 snapshot, which lists paths alone
    spec_id: int
    content: ManifestContent
    sequence_number: int
    is_encrypted: bool = False
    live_entries: int | None = None  # added and existing, as the list claims; None: unknown
    keeps_files: bool = False  # its digest lists single data files, because deletes apply to some

    @property
    def lists_files(self) -> bool:
        """Say whether the digest of this manifest lists single files."""
        return self.keeps_files or self.content is ManifestContent.DELETES


@dataclass(frozen=True, slots=True)
class Reader:
    """How to read the records of one schema; fastavro drops every field that is not wanted."""

    writer: Schema
    wanted: Schema
    names: Mapping[str, str]  # our name -> the file's name, for the record's own fields
    file_names: Mapping[str, str]
    partition: tuple[StoredField, ...] = ()


def read_manifest_list(
    raw: bytes, most_bytes: int = MAX_DOCUMENT_BYTES
) -> tuple[ListedManifest, ...]:
    """Return the manifests of one snapshot in the list's order."""
    container = open_container(raw, most_bytes)
    reader = compile_reader(container.schema, is_list=True)
    names = reader.names
    return list_manifests(
        [record.get(names[name]) for name in LIST_FIELDS.values()]
        for record in _records(container, reader)
    )


def list_manifests(rows: Iterable[Iterable[Any]]) -> tuple[ListedManifest, ...]:
    """Convert a list's rows, each with the values of `list_manifest`.

    If the snapshot has deletes, data manifests keep their files to join them with deletes.
    """
    listed = tuple(map(list_manifest, at_most_listed(rows)))
    if all(
        manifest.content is ManifestContent.DATA or manifest.live_entries == 0
        for manifest in listed
    ):
        return listed
    return tuple(
        replace(manifest, keeps_files=manifest.content is ManifestContent.DATA)
        for manifest in listed
    )


def list_manifest(values: Iterable[Any]) -> ListedManifest:
    """Build a manifest from values of LIST_FIELDS; UnreadableFileError if impossible."""
    path, length, spec_id, sequence_number, content, key_metadata, added, existing = values
    if (
        not isinstance(path, str)
        or not isinstance(length, int)
        or length < 0
        or not isinstance(spec_id, int)
    ):
        message = (
            f"it lists a manifest without path, length or spec: {path!r}, {length!r}, {spec_id!r}"
        )
        raise UnreadableFileError(message)
    content = content or 0
    if content not in {0, 1}:
        message = (
            f"it lists {path} with content {content!r}, which is neither data (0) nor deletes (1)"
        )
        raise UnreadableFileError(message)
    kind = ManifestContent.DELETES if content else ManifestContent.DATA
    live = added + existing if isinstance(added, int) and isinstance(existing, int) else None
    return ListedManifest(
        path,
        length,
        spec_id,
        kind,
        sequence_number or 0,
        is_encrypted=bool(key_metadata),
        live_entries=live,
    )


def describe_manifest(path: str, raw: bytes) -> ListedManifest:
    """Describe a manifest by its own header, for format v1's inline paths without a list."""
    metadata = open_container(raw).metadata
    spec_id = _header_number(metadata, "partition-spec-id")
    content = (
        ManifestContent.DELETES if metadata.get("content") == b"deletes" else ManifestContent.DATA
    )
    return ListedManifest(path, None, spec_id, content, sequence_number=0)


def digest_manifest(
    raw: bytes,
    listed: ListedManifest,
    specs: Mapping[int, Spec],
    classes: SizeClasses,
    most_bytes: int = MAX_MANIFEST_BYTES,
) -> ManifestDigest:
    """Digest the live entries of a manifest; `classes` say which files are small or large."""
    container = open_listed(raw, listed, most_bytes)
    return make_digest(listed, len(raw), tally_entries(container, listed, specs, classes))


def open_listed(
    raw: bytes, listed: ListedManifest, most_bytes: int = MAX_MANIFEST_BYTES
) -> Container:
    """Open a manifest; UnreadableFileError if it is shorter than its list says."""
    if listed.length_bytes is not None and len(raw) < listed.length_bytes:
        message = f"it has {len(raw)} bytes, the manifest list says {listed.length_bytes}"
        raise UnreadableFileError(message)
    return open_container(raw, most_bytes)


def make_digest(listed: ListedManifest, length_bytes: int, tally: Tally) -> ManifestDigest:
    """Make the digest of a manifest from its sums."""
    return ManifestDigest(
        path=listed.path,
        length_bytes=length_bytes if listed.length_bytes is None else listed.length_bytes,
        spec_id=listed.spec_id,
        content=listed.content,
        sequence_number=listed.sequence_number,
        partitions=tally.partitions(listed.spec_id),
        histogram=tuple(tally.histogram),
        formats=tuple(sorted(tally.formats.items())),
        entries_read=tally.entries,
        files=tally.pack_files(),
        lists_files=listed.lists_files,
    )


def partition_writer(
    container: Container, reader: Reader, listed: ListedManifest, specs: Mapping[int, Spec]
) -> Callable[[Mapping[str, Any]], str]:
    """Return a function from a stored partition to its text."""
    return compile_partition_text(
        reader.partition,
        specs.get(listed.spec_id) or header_spec(container.metadata, listed.spec_id),
    )


def tally_entries(
    container: Container, listed: ListedManifest, specs: Mapping[int, Spec], classes: SizeClasses
) -> Tally:
    """Add up the live entries one at a time."""
    reader = compile_reader(container.schema, is_list=False)
    write_partition = partition_writer(container, reader, listed, specs)
    texts: dict[tuple[Any, ...], str] = {}
    tally = Tally(classes, listed.sequence_number)
    groups: Groups = {}
    status_name, file_name, sequence_name, names = (
        reader.names["status"],
        reader.names["data_file"],
        reader.names["sequence_number"],
        reader.file_names,
    )
    for entry in _records(container, reader):
        tally.count(1)
        status = entry.get(status_name)
        if status not in _STATUSES:
            message = (
                f"entry {tally.entries} has status {status!r}, which is none of existing (0), "
                f"added (1), deleted (2)"
            )
            raise UnreadableFileError(message)
        if status not in _LIVE:
            continue
        file = entry[file_name]
        values = file.get(names["partition"]) or {}
        key = tuple(values.values())
        text = texts.get(key)
        if text is None:
            text = texts[key] = write_partition(values)
        content, size, records, file_format = _measure(file, names, tally.entries)
        group = groups.setdefault((text, content, file_format), ([], [], [], []))
        group[0].append(size)
        group[1].append(records)
        group[2].append(entry.get(sequence_name))
        if listed.lists_files:
            group[3].append(
                _key_of(file, names, content)
                if listed.content is ManifestContent.DELETES
                else path_key(_path_of(file, names))
            )
    for (text, content, file_format), group in groups.items():
        tally.add_files(text, content, file_format.lower(), group)
    return tally


def _path_of(file: Mapping[str, Any], names: Mapping[str, str]) -> bytes:
    return str(file.get(names["file_path"]) or "").encode()


def _key_of(file: Mapping[str, Any], names: Mapping[str, str], content: Content) -> int:
    """Return the key of the one data file to which a position delete file or vector applies."""
    lower, upper = (
        bound_of_path(file.get(names[name])) for name in ("lower_bounds", "upper_bounds")
    )
    return delete_key(
        content is Content.EQUALITY_DELETES, file.get(names["referenced_data_file"]), lower, upper
    )


def _measure(
    file: Mapping[str, Any], names: Mapping[str, str], position: int
) -> tuple[Content, int, int, str]:
    """Return (content, size in bytes, records, file format as written) of an entry."""
    content_id = file.get(names["content"]) or 0
    file_format = str(file.get(names["file_format"]) or "")
    size, records = file.get(names["file_size_in_bytes"]), file.get(names["record_count"])
    if content_id not in {0, 1, 2}:
        message = (
            f"entry {position} has content {content_id!r}, which is none of data (0), position "
            f"deletes (1), equality deletes (2)"
        )
        raise UnreadableFileError(message)
    content = _CONTENTS[content_id]
    if content is Content.POSITION_DELETES and (
        file_format.lower() == "puffin" or file.get(names["content_offset"]) is not None
    ):
        # Many vectors share one Puffin file: its size, counted for each, would be many times the
        # truth.
        content, size = Content.DELETION_VECTORS, file.get(names["content_size_in_bytes"]) or 0
    if not isinstance(size, int) or not isinstance(records, int) or size < 0 or records < 0:
        message = f"entry {position} claims {size!r} bytes and {records!r} records"
        raise UnreadableFileError(message)
    return content, size, records, file_format


class _Block(io.BytesIO):
    """A block that raises an error at its end.

    fastavro silently skips fixed-width values behind the end, as many as a corrupt length claims.
    """

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        if size is not None and len(found) < size:
            message = f"{size} bytes are wanted where {len(found)} are left"
            raise EOFError(message)
        return found


def _records(container: Container, reader: Reader) -> Iterator[dict[str, Any]]:
    for count, data in container.blocks():
        stream = _Block(data)
        for index in range(count):
            try:
                record = fastavro.schemaless_reader(stream, reader.writer, reader.wanted)
            except Exception as error:
                # Corrupt bytes surface as any exception of the decoder; all of them mean the same
                # here.
                message = (
                    f"record {index} of a block of {count} cannot be decoded: "
                    f"{type(error).__name__} {error}"
                ).rstrip()
                raise UnreadableFileError(message) from error
            if not isinstance(record, dict):
                message = f"its records are {type(record).__name__}, not structs"
                raise UnreadableFileError(message)
            yield record
        if stream.tell() != len(data):
            message = f"a block of {count} records leaves {len(data) - stream.tell()} bytes over"
            raise UnreadableFileError(message)


@lru_cache(maxsize=_COMPILED_SCHEMAS)
def compile_reader(schema: bytes, *, is_list: bool) -> Reader:
    """Compile the reader of files with this schema (JSON).

    UnreadableFileError if it is not the schema of a manifest or a manifest list.
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
        message = f"its Avro schema cannot be used: {type(error).__name__} {error}"
        raise UnreadableFileError(message) from error


class _Pruning:
    """Drops fields of a parsed schema.

    A named type whose definition was in a dropped field is defined at its first use.
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
        message = f"its Avro schema has {type(schema).__name__} where a record belongs"
        raise UnreadableFileError(message)
    return schema


def id_of(schema_field: Mapping[str, Any], wanted: Mapping[int, str]) -> int | None:
    """Return the id of a wanted field; the name decides only where the writer left ids out."""
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
    """Keep raw numbers and bytes: Iceberg has dates beyond the end of Python's calendar."""
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
    """Remove fastavro's own keys, so that it parses the schema again."""
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
        message = "its entries have no data_file"
        raise UnreadableFileError(message)
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


def _header_number(metadata: Mapping[str, bytes], key: str) -> int:
    text = metadata.get(key, b"0")
    try:
        return int(text)
    except ValueError as error:
        message = f"its header says {key} {text!r}, which is no number"
        raise UnreadableFileError(message) from error
