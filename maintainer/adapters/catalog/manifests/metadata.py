"""Decodes the parts of a metadata.json, plain or gzip, that health needs."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from maintainer.adapters.catalog.limits import (
    BYTES_PER_VALUE,
    MAX_DOCUMENT_BYTES,
    MAX_PARTS,
    MAX_PROPERTIES,
    MAX_REDUCED_BYTES,
    MAX_SCHEMA_BYTES,
    MAX_VALUES,
    TooLargeError,
    TooManyError,
)
from maintainer.adapters.catalog.manifests.partition import Spec, SpecField
from maintainer.adapters.catalog.manifests.summary import LazySummary, read_operation
from maintainer.domain.condition_types import NESTED, ColumnTypes
from maintainer.domain.inventory import FaultKind, Ref, Snapshot, StatisticsFile
from maintainer.domain.location import PLACE_PROPERTIES

_NAME: Final = "metadata.json, decoded,"
MAX_FORMAT_VERSION: Final = 3
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
_FIRST_FIELD_ID: Final = 1000  # in Iceberg v1, partition fields without ids are numbered from here
# Of a table's columns; in a wider table no condition is typed before its job.
MAX_TYPED_COLUMNS = 500
MAX_TYPED_CHARACTERS = 10_000  # of their names
_MOST_ORDER_CHARACTERS = 4_000  # of a sort order; some thirty columns
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_Named = tuple[tuple[str, ...], str]  # a column's nested name and its type


class MetadataError(Exception):
    """No inventory can be made from a metadata.json."""

    def __init__(self, kind: FaultKind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


class _SpecField(msgspec.Struct, rename="kebab"):
    name: str
    transform: str
    field_id: int | None = None
    source_id: int | None = None


class _Spec(msgspec.Struct, rename="kebab"):
    spec_id: int
    fields: list[_SpecField]


class _Column(msgspec.Struct):
    id: int
    name: str
    type: Any


class _Schema(msgspec.Struct, rename="kebab"):
    fields: msgspec.Raw
    schema_id: int = 0


class _Snapshot(msgspec.Struct, rename="kebab"):
    snapshot_id: int
    timestamp_ms: int
    parent_snapshot_id: int | None = None
    sequence_number: int = 0
    manifest_list: str | None = None
    manifests: list[str] | None = None  # v1 without a manifest list
    summary: msgspec.Raw = msgspec.Raw(b"null")
    first_row_id: int | None = None  # from format v3 on
    added_rows: int | None = None


class _Ref(msgspec.Struct, rename="kebab"):
    snapshot_id: int
    type: str
    max_ref_age_ms: int | None = None
    max_snapshot_age_ms: int | None = None
    min_snapshots_to_keep: int | None = None


class _Statistics(msgspec.Struct, rename="kebab"):
    snapshot_id: int
    statistics_path: str
    file_size_in_bytes: int = 0


class _SortOrder(msgspec.Struct, rename="kebab"):
    order_id: int
    fields: list[msgspec.Raw]


class _Document(msgspec.Struct, rename="kebab"):
    format_version: int | None = None
    table_uuid: str | None = None
    view_uuid: str | None = None
    current_version_id: int | None = None  # only views have versions
    location: str | None = None
    properties: dict[str, Any] | None = None
    current_snapshot_id: int | None = None
    snapshots: list[_Snapshot] | None = None
    refs: dict[str, _Ref] | None = None
    default_spec_id: int | None = None
    partition_specs: list[_Spec] | None = None
    partition_spec: list[_SpecField] | None = None  # v1
    current_schema_id: int | None = None
    schemas: list[_Schema] | None = None
    schema: _Schema | None = None  # v1
    metadata_log: list[msgspec.Raw] | None = None
    statistics: list[_Statistics] | None = None
    partition_statistics: list[_Statistics] | None = None
    default_sort_order_id: int | None = None
    sort_orders: list[_SortOrder] | None = None
    next_row_id: int | None = None  # from format v3 on


class _Version(msgspec.Struct, rename="kebab"):
    format_version: int


@dataclass(frozen=True, slots=True)
class ManifestSource:
    """The place where a snapshot's manifests are listed: a manifest list, or (v1) the metadata."""

    list_path: str | None
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """The parts of a table's metadata that an inventory needs."""

    table_uuid: str
    format_version: int
    location: str
    properties: Mapping[str, str]
    current_snapshot_id: int | None
    snapshots: tuple[Snapshot, ...]  # oldest first
    sources: Mapping[int, ManifestSource]  # by snapshot id
    refs: tuple[Ref, ...]
    default_spec_id: int
    specs: Mapping[int, Spec]
    metadata_files: int = 1  # this file and those in its log
    statistics: tuple[StatisticsFile, ...] = ()
    partition_statistics: tuple[StatisticsFile, ...] = ()
    sort_order: str = ""
    next_row_id: int | None = None
    columns: int | None = None  # of the current schema; None: unknown
    column_types: ColumnTypes | None = None  # None: unknown, or too many

    @property
    def is_partitioned(self) -> bool:
        """Whether new files are partitioned."""
        spec = self.specs.get(self.default_spec_id)
        return spec is not None and spec.is_partitioned


def parse_metadata(raw: bytes, most_bytes: int = MAX_DOCUMENT_BYTES) -> TableMetadata:
    """Decode a metadata.json.

    MetadataError if it is corrupt, of a view, or of an unknown format version. TooLargeError if it
    has more than `most_bytes` decompressed, or would need more memory than allowed.
    """
    return _accept_or_explain(_decode(raw, most_bytes), len(raw))


def reduce_metadata(raw: bytes, most_bytes: int = MAX_DOCUMENT_BYTES) -> bytes:
    """Write a metadata.json again, as JSON without what no inventory needs.

    The result has at most MAX_REDUCED_BYTES and MAX_PARTS. Errors as of `parse_metadata`.
    """
    document = _decode(raw, most_bytes)
    _refuse_many(document)
    reduced = msgspec.json.encode(
        msgspec.structs.replace(
            document,
            schemas=None,
            schema=_find_schema(document),
            sort_orders=[
                order
                for order in document.sort_orders or ()
                if order.order_id == document.default_sort_order_id
            ],
            metadata_log=[msgspec.Raw(b"0")] * len(document.metadata_log or ()),
        )
    )
    if len(reduced) > MAX_REDUCED_BYTES:
        raise TooLargeError("the history in metadata.json", len(reduced), MAX_REDUCED_BYTES)
    return reduced


def accept_metadata(reduced: bytes) -> TableMetadata:
    """Decode what `reduce_metadata` has written; MetadataError as of `parse_metadata`."""
    return _accept_or_explain(_DOCUMENTS.decode(reduced), len(reduced))


def _decode(raw: bytes, most_bytes: int) -> _Document:
    plain = _decompress(raw, most_bytes) if raw[:2] == _GZIP else raw
    if plain.count(b",") > min(MAX_VALUES, most_bytes // BYTES_PER_VALUE):
        raise TooLargeError(_NAME, None, most_bytes)
    try:
        return _DOCUMENTS.decode(plain)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        _refuse_newer_version(plain)
        raise MetadataError(
            FaultKind.METADATA_CORRUPT,
            f"metadata.json ({len(raw)} bytes) cannot be decoded: {error}",
        ) from error


def _refuse_many(document: _Document) -> None:
    """Raise TooLargeError if the document has more parts than this process may keep."""
    properties = len(document.properties or ())
    if properties > MAX_PROPERTIES:
        raise TooManyError("properties", properties, MAX_PROPERTIES)
    parts = properties + sum(
        len(part or ())
        for part in (
            document.snapshots,
            document.refs,
            document.statistics,
            document.partition_statistics,
            document.metadata_log,
            document.partition_spec,
            document.partition_specs,
            *(spec.fields for spec in document.partition_specs or ()),
        )
    )
    if parts > MAX_PARTS:
        raise TooManyError("snapshots, refs and other parts", parts, MAX_PARTS)
    schema = _find_schema(document)
    if schema is not None and len(memoryview(schema.fields)) > MAX_SCHEMA_BYTES:
        raise TooLargeError("the schema", len(memoryview(schema.fields)), MAX_SCHEMA_BYTES)


def _accept_or_explain(document: _Document, length: int) -> TableMetadata:
    try:
        _refuse_many(document)
        return _accept(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MetadataError(
            FaultKind.METADATA_CORRUPT,
            f"metadata.json ({length} bytes) has a snapshot whose summary cannot be decoded: "
            f"{error}",
        ) from error
    except OverflowError as error:
        raise MetadataError(
            FaultKind.METADATA_CORRUPT, f"metadata.json has an impossible time: {error}"
        ) from error


_DOCUMENTS: Final = msgspec.json.Decoder(_Document)
_COLUMNS: Final = msgspec.json.Decoder(list[_Column])
_VERSIONS: Final = msgspec.json.Decoder(_Version)


def _decompress(raw: bytes, most_bytes: int) -> bytes:
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    try:
        plain = inflater.decompress(raw, most_bytes)
    except zlib.error as error:
        raise MetadataError(
            FaultKind.METADATA_CORRUPT,
            f"metadata.json ({len(raw)} bytes) is not valid gzip: {error}",
        ) from error
    if inflater.unconsumed_tail:
        raise TooLargeError(_NAME, None, most_bytes)
    if not inflater.eof:
        raise MetadataError(
            FaultKind.METADATA_CORRUPT,
            f"metadata.json ({len(raw)} bytes) is gzip, but cut short",
        )
    return plain


def _refuse_newer_version(plain: bytes) -> None:
    """Raise an error for a newer format version, before its changes are reported as corrupt."""
    try:
        version = _VERSIONS.decode(plain).format_version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    if version > MAX_FORMAT_VERSION:
        raise MetadataError(
            FaultKind.UNSUPPORTED, f"format version {version} is above {MAX_FORMAT_VERSION}"
        )


def _accept(document: _Document) -> TableMetadata:
    if document.view_uuid is not None or (
        document.current_version_id is not None and document.table_uuid is None
    ):
        raise MetadataError(FaultKind.VIEW, "its metadata is that of a view")
    version = document.format_version
    if version is None or document.location is None:
        raise MetadataError(
            FaultKind.UNSUPPORTED,
            "its metadata has no format-version or no location, so it is not an Iceberg table",
        )
    if not 1 <= version <= MAX_FORMAT_VERSION:
        raise MetadataError(
            FaultKind.UNSUPPORTED,
            f"format version {version} is not among 1 to {MAX_FORMAT_VERSION}",
        )
    properties = _as_text(document.properties)
    for name, path in [("location", document.location)] + [
        (f"property {name}", properties.get(name, "")) for name in PLACE_PROPERTIES
    ]:
        if "\0" in path:
            raise MetadataError(
                FaultKind.METADATA_CORRUPT, f"its {name} has a NUL character: {path!r}"
            )
    snapshots = document.snapshots or []
    current = document.current_snapshot_id
    if current is not None and current < 0:
        current = None  # Java writes -1 for "none"
    if current is not None and all(snapshot.snapshot_id != current for snapshot in snapshots):
        raise MetadataError(
            FaultKind.METADATA_CORRUPT,
            f"current-snapshot-id {current} is not among its {len(snapshots)} snapshots",
        )
    columns = _columns(document)
    return TableMetadata(
        table_uuid=document.table_uuid or document.location,
        format_version=version,
        location=document.location,
        properties=properties,
        current_snapshot_id=current,
        snapshots=tuple(
            sorted(
                map(_snapshot, snapshots),
                key=lambda snapshot: (snapshot.sequence_number, snapshot.committed_at),
            )
        ),
        sources={
            snapshot.snapshot_id: ManifestSource(
                snapshot.manifest_list, tuple(snapshot.manifests or ())
            )
            for snapshot in snapshots
        },
        refs=_refs(document.refs, current),
        default_spec_id=document.default_spec_id or 0,
        specs=_specs(document, columns),
        metadata_files=1 + len(document.metadata_log or ()),
        statistics=_statistics(document.statistics),
        partition_statistics=_statistics(document.partition_statistics),
        sort_order=_write_order(document),
        next_row_id=document.next_row_id,
        columns=sum(type_name not in NESTED for _, type_name in columns.values()) or None,
        column_types=_bound_types(columns),
    )


def _write_order(document: _Document) -> str:
    """The table's sort order as its text in the metadata; empty: not sorted."""
    fields = next(
        (
            order.fields
            for order in document.sort_orders or ()
            if order.order_id == document.default_sort_order_id
        ),
        (),
    )
    return ", ".join(bytes(field).decode() for field in fields)[:_MOST_ORDER_CHARACTERS]


def _statistics(files: list[_Statistics] | None) -> tuple[StatisticsFile, ...]:
    return tuple(
        StatisticsFile(file.snapshot_id, file.statistics_path, file.file_size_in_bytes)
        for file in files or ()
    )


def _snapshot(snapshot: _Snapshot) -> Snapshot:
    # A copy, because the raw value would keep the whole document in memory.
    summary = bytes(snapshot.summary)
    return Snapshot(
        snapshot_id=snapshot.snapshot_id,
        parent_id=snapshot.parent_snapshot_id,
        sequence_number=snapshot.sequence_number,
        committed_at=_EPOCH + timedelta(milliseconds=snapshot.timestamp_ms),
        operation=read_operation(summary),
        summary=LazySummary(summary),
        first_row_id=snapshot.first_row_id,
        added_rows=snapshot.added_rows,
    )


def _refs(refs: dict[str, _Ref] | None, current: int | None) -> tuple[Ref, ...]:
    # Older metadata has no refs. Iceberg reads the current snapshot of such metadata as main.
    if not refs:
        return () if current is None else (Ref("main", current, is_branch=True),)
    return tuple(
        Ref(
            name,
            ref.snapshot_id,
            ref.type == "branch",
            ref.max_ref_age_ms,
            ref.max_snapshot_age_ms,
            ref.min_snapshots_to_keep,
        )
        for name, ref in sorted(refs.items())
    )


def _specs(document: _Document, columns: Mapping[int, _Named]) -> dict[int, Spec]:
    specs = document.partition_specs
    if specs is None:
        specs = [_Spec(document.default_spec_id or 0, document.partition_spec or [])]
    return {
        spec.spec_id: Spec(
            spec.spec_id,
            tuple(
                _spec_field(position, field, columns) for position, field in enumerate(spec.fields)
            ),
        )
        for spec in specs
    }


def _spec_field(position: int, field: _SpecField, columns: Mapping[int, _Named]) -> SpecField:
    column, type_name = (
        columns.get(field.source_id, ((), "")) if field.source_id is not None else ((), "")
    )
    return SpecField(
        _FIRST_FIELD_ID + position if field.field_id is None else field.field_id,
        field.name,
        field.transform,
        column,
        type_name,
    )


def _columns(document: _Document) -> Mapping[int, _Named]:
    """Return the columns of the current schema by id; empty for an unknown schema.

    A list and a map are one column each, without what is inside of them.
    """
    current = _find_schema(document)
    try:
        return dict(_name_columns(current.fields, ())) if current is not None else {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def _find_schema(document: _Document) -> _Schema | None:
    """Find the current schema; None if the document does not name it."""
    schemas = document.schemas or ([document.schema] if document.schema is not None else [])
    return next(
        (schema for schema in schemas if schema.schema_id == document.current_schema_id),
        schemas[0] if len(schemas) == 1 else None,
    )


def _name_columns(
    fields: msgspec.Raw | object, within: tuple[str, ...]
) -> Iterator[tuple[int, _Named]]:
    columns = (
        _COLUMNS.decode(fields)
        if isinstance(fields, msgspec.Raw)
        else msgspec.convert(fields, list[_Column])
    )
    for column in columns:
        name = (*within, column.name)
        match column.type:
            case str() as type_name:
                yield column.id, (name, type_name)
            case {"type": "struct", "fields": inner}:
                yield column.id, (name, "struct")
                yield from _name_columns(inner, name)
            case {"type": "list" | "map" as type_name}:  # which partitions never use
                yield column.id, (name, type_name)
            case _:
                continue


def _bound_types(columns: Mapping[int, _Named]) -> ColumnTypes | None:
    """Return the columns with their types; None beyond a bound, because the store keeps them."""
    characters = sum(len(level) for path, _ in columns.values() for level in path)
    if not columns or len(columns) > MAX_TYPED_COLUMNS or characters > MAX_TYPED_CHARACTERS:
        return None
    return tuple(columns.values())


def _as_text(values: dict[str, Any] | None) -> dict[str, str]:
    return {
        key: value if isinstance(value, str) else str(value)
        for key, value in (values or {}).items()
        if value is not None
    }
