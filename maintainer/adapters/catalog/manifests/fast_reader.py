"""Reads manifests and manifest lists many times faster than `manifest`, with the same results.

The reader is generated from the writer's schema, and makes the digest while it decodes. If the fast
reader fails, because of an unusual schema or corrupt bytes, the slow reader reads the file again;
its error messages are better.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from io import BytesIO
from typing import Any, Final, TypeVar

import fastavro

from maintainer.adapters.catalog.limits import (
    MAX_DOCUMENT_BYTES,
    MAX_LISTED_MANIFESTS,
    MAX_MANIFEST_BYTES,
    ImplausibleError,
    TooLargeError,
    UnreadableFileError,
)
from maintainer.adapters.catalog.manifests import avro_schema, manifest
from maintainer.adapters.catalog.manifests.container import Container, Inflater, open_container
from maintainer.adapters.catalog.manifests.digest_sums import Groups, Tally
from maintainer.adapters.catalog.manifests.field_summaries import SUMMARY_NAMES
from maintainer.adapters.catalog.manifests.generated_reader import (
    PADDING,
    NotGeneratedError,
    ReadBlock,
    Source,
)
from maintainer.adapters.catalog.manifests.manifest import PATH_COLUMN, ListedManifest, delete_key
from maintainer.adapters.catalog.manifests.partition import Spec
from maintainer.domain.file_sizes import path_key
from maintainer.domain.inventory import Content, ManifestContent, ManifestDigest, SizeClasses
from maintainer.domain.scan_cost import ReaderFault, SlowRead
from maintainer.domain.units import MIB

try:
    from pyiceberg.avro.decoder_fast import CythonBinaryDecoder
except ImportError:  # a PyIceberg without this decoder: the slow reader reads everything
    CythonBinaryDecoder = None  # type: ignore[assignment,misc]

T = TypeVar("T")
OnSlow = Callable[[SlowRead], object]

_LOG: Final = logging.getLogger(__name__)
# Small blocks are decoded together, because PyIceberg writes a block for each entry.
_BATCH_BYTES: Final = 1 << 18
_PENDING_ENTRIES: Final = 100_000  # sizes that are kept before they are added up
_PENDING_BYTES: Final = 64 * MIB  # the bytes of these entries, including partitions
_COMPILED_SCHEMAS: Final = 256
_PREPARED: Final = ("read_int", "read_ints", "read", "skip", "tell")
_CONTENTS: Final = (
    Content.DATA,
    Content.POSITION_DELETES,
    Content.EQUALITY_DELETES,
    Content.DELETION_VECTORS,
)
_ENTRY_VARIABLES: Final = {
    101: "file_format", 103: "records", 104: "size", 134: "content", 144: "offset",
    145: "content_size",
    100: "path", 125: "lower", 128: "upper", 143: "referenced",
}  # fmt: skip
_SIZE_FIELDS: Final = frozenset({101, 103, 104, 134, 144, 145})
_BOUNDS: Final = frozenset({125, 128})
_PATH: Final = 100
_PARTITION: Final = 102
_SUMMARIES: Final = 507
# Integers whose width differs from file to file. A layout of them together with the next fields
# would rarely match.
_VARYING: Final = frozenset({108, 109})  # column sizes, value counts
_KEYS: Final = {  # the content, and the fields from which the key of a file is computed
    None: ("", frozenset[int]()),
    ManifestContent.DATA: ("path_key(path or b'')", frozenset({100})),
    ManifestContent.DELETES: (
        "delete_key(content == 2, referenced, lower, upper)",
        _BOUNDS | {143},
    ),
}
_ADD_ENTRY: Final = """
if status == 1 or status == 0:
 if content:
  if content == 1:
   if offset is not None or (file_format or "").lower() == "puffin":
    content, size = 3, content_size or 0
  elif content != 2: raise ValueError(content)
 group = get((partition, content or 0, file_format))
 if group is None: group = sink[partition, content or 0, file_format] = ([], [], [], [])
 group[0].append(size)
 group[1].append(records)
 group[2].append(sequence)
elif status != 2: raise ValueError(status)
""".strip().splitlines()


def ignore(_reason: SlowRead) -> None:
    """Do nothing, for callers that do not count slow reads."""


def read_manifest_list(
    raw: bytes, on_slow: OnSlow = ignore, most_bytes: int = MAX_DOCUMENT_BYTES
) -> tuple[ListedManifest, ...]:
    """Return the manifests of one snapshot in the list's order.

    UnreadableFileError for corrupt bytes.
    """
    return _read(
        "a manifest list",
        on_slow,
        partial(_read_list, raw, most_bytes),
        partial(manifest.read_manifest_list, raw, most_bytes),
    )


def digest_manifest(  # noqa: PLR0913, PLR0917 - the input, the criteria and the limit
    raw: bytes,
    listed: ListedManifest,
    specs: Mapping[int, Spec],
    classes: SizeClasses,
    on_slow: OnSlow = ignore,
    most_bytes: int = MAX_MANIFEST_BYTES,
) -> ManifestDigest:
    """Make the digest of a manifest's live entries; UnreadableFileError for corrupt bytes."""
    arguments = raw, listed, specs, classes, most_bytes
    return _read(
        listed.path,
        on_slow,
        partial(_digest, *arguments),
        partial(manifest.digest_manifest, *arguments),
    )


def _read(
    what: str, on_slow: OnSlow, read_fast: Callable[[], T], read_slowly: Callable[[], T]
) -> T:
    reason = SlowRead.READER
    if slow_reader_reason() is None:
        try:
            return read_fast()
        except (TooLargeError, ImplausibleError):
            raise
        except Exception as error:  # noqa: BLE001 - the slow reader has better error messages
            reason = SlowRead.SCHEMA if isinstance(error, NotGeneratedError) else SlowRead.CONTENTS
            _LOG.debug("%s is left to the slow reader: %s %s", what, type(error).__name__, error)
    found = read_slowly()
    on_slow(reason)  # not reached if the slow reader fails too: the file is then unreadable
    return found


@lru_cache(maxsize=1)
def slow_reader_reason() -> ReaderFault | None:
    """Return why the slow reader reads everything; None if the fast reader works.

    An upgrade of PyIceberg may change its decoder, so that the fast reader no longer works.
    """
    found = _check_decoder()
    if found is None:
        return None
    fault, words = found
    _LOG.warning("manifests are read slowly: %s", words)
    return fault


def _check_decoder() -> tuple[ReaderFault, str] | None:
    """Read a sample manifest with both readers; return the fault and its message."""
    if CythonBinaryDecoder is None:
        return ReaderFault.NO_DECODER, "this PyIceberg has no compiled Avro decoder"
    raw = _sample()
    listed, classes = (
        ListedManifest("sample", len(raw), 0, ManifestContent.DATA, 1),
        SizeClasses.around(1000),
    )
    try:
        found = _digest(raw, listed, {}, classes)
    except Exception as error:  # noqa: BLE001 - internal code of a library may raise any error
        return (
            ReaderFault.DECODER_FAILS,
            f"PyIceberg's Avro decoder fails on a sample: {type(error).__name__} {error}",
        )
    if found == manifest.digest_manifest(raw, listed, {}, classes):
        return None
    return ReaderFault.DECODER_WRONG, "PyIceberg's Avro decoder reads a sample wrongly"


def _sample() -> bytes:
    """Write a manifest that uses every method of the decoder."""
    partition = {
        "type": "record",
        "name": "r102",
        "fields": [
            {"name": "day", "type": ["null", "int"], "field-id": 1000},
            {"name": "rate", "type": "double", "field-id": 1001},
        ],
    }
    file_fields = [
        {"name": "file_path", "type": "string", "field-id": 100},
        {"name": "file_format", "type": "string", "field-id": 101},
        {"name": "partition", "type": partition, "field-id": 102},
        {"name": "record_count", "type": "long", "field-id": 103},
        {"name": "counts", "type": {"type": "array", "items": "long"}, "field-id": 108},
        {"name": "bounds", "type": {"type": "map", "values": "bytes"}, "field-id": 125},
        {"name": "weight", "type": "float", "field-id": 900},
        {"name": "file_size_in_bytes", "type": "long", "field-id": 104},
    ]  # fmt: skip
    fields = [
        {"name": "status", "type": "int", "field-id": 0},
        {
            "name": "data_file",
            "type": {"type": "record", "name": "r2", "fields": file_fields},
            "field-id": 2,
        },
    ]
    files = [
        {
            "file_path": "p" * 3000, "file_format": "PARQUET", "partition": {"day": day,
            "rate": -0.5}, "record_count": size, "counts": [1, -1, 2**40],
            "bounds": {"a": b"\x80" * 20}, "weight": 1.5, "file_size_in_bytes": size,
        }
        for size, day in ((1, None), (300, -3), (2**40, 70_000))
    ]  # fmt: skip
    stream = BytesIO()
    records = [{"status": status, "data_file": file} for status in (0, 1, 2) for file in files]
    fastavro.writer(
        stream,
        {"type": "record", "name": "manifest_entry", "fields": fields},
        records,
        codec="deflate",
    )
    return stream.getvalue()


def _digest(
    raw: bytes,
    listed: ListedManifest,
    specs: Mapping[int, Spec],
    classes: SizeClasses,
    most_bytes: int = MAX_MANIFEST_BYTES,
) -> ManifestDigest:
    container = manifest.open_listed(raw, listed, most_bytes)
    read_block = _compile_entries(container.schema, listed.content if listed.lists_files else None)
    reader = avro_schema.compile_reader(container.schema, is_list=False)
    write_partition = manifest.partition_writer(container, reader, listed, specs)
    names = [stored.name for stored in reader.partition]
    texts: dict[tuple[Any, ...], str] = {}
    groups: Groups = {}
    tally, pending, pending_bytes = Tally(classes, listed.sequence_number), 0, 0

    def write(values: tuple[Any, ...]) -> str:
        return write_partition(dict(zip(names, values, strict=True)))

    is_checked = False
    for count, size, padded in _batches(container):
        _read_exactly(read_block, count, size, padded, groups)
        tally.count(count)
        if not is_checked and manifest.is_suspicious(listed, len(raw), tally.entries):
            is_checked = True
            manifest.refuse_repeats(container)
        pending += count
        pending_bytes += size
        if pending >= _PENDING_ENTRIES or pending_bytes >= _PENDING_BYTES:
            _add_groups(tally, groups, texts, write)
            groups, pending, pending_bytes = {}, 0, 0
    _add_groups(tally, groups, texts, write)
    tally.list_fault = manifest.find_list_fault(listed, reader, texts)
    return manifest.make_digest(listed, len(raw), tally)


def _add_groups(
    tally: Tally,
    groups: Groups,
    texts: dict[tuple[Any, ...], str],
    write: Callable[[tuple[Any, ...]], str],
) -> None:
    for (partition, content, file_format), group in groups.items():
        text = texts.get(partition)
        if text is None:
            text = texts[partition] = write(partition)
        tally.add_files(text, _CONTENTS[content], str(file_format or "").lower(), group)


def _read_list(raw: bytes, most_bytes: int = MAX_DOCUMENT_BYTES) -> tuple[ListedManifest, ...]:
    container = open_container(raw, most_bytes)
    read_block = _compile_list(container.schema)
    rows: list[tuple[Any, ...]] = []
    for count, size, padded in _batches(container):
        _read_exactly(read_block, count, size, padded, rows)
        if len(rows) > MAX_LISTED_MANIFESTS:
            break
    return manifest.list_manifests(rows)


def _read_exactly(
    read_block: ReadBlock, count: int, size: int, padded: bytes, sink: object
) -> None:
    decoder = CythonBinaryDecoder(padded)
    read_block(decoder, padded, size, count, sink)
    if decoder.tell() != size:
        raise UnreadableFileError(
            f"a block of {count} records and {size} bytes ends at byte {decoder.tell()}"
        )


def _batches(container: Container) -> Iterator[tuple[int, int, bytes]]:
    """Join small blocks; yield (records, bytes, padded bytes)."""
    parts: list[bytes | bytearray] = []
    count = size = 0
    for records, data in container.blocks(Inflater()):
        parts.append(data)
        count += records
        size += len(data)
        if size >= _BATCH_BYTES:
            yield count, size, b"".join((*parts, bytes(PADDING)))
            parts, count, size = [], 0, 0
    if parts:
        yield count, size, b"".join((*parts, bytes(PADDING)))


@lru_cache(maxsize=_COMPILED_SCHEMAS)
def _compile_entries(schema: bytes, listing: ManifestContent | None) -> ReadBlock:
    key, further = _KEYS[listing]
    writer: Any = avro_schema.compile_reader(schema, is_list=False).writer
    source = _begin(writer)
    source.add("get = sink.get")
    with source.inside("for _ in range(count):"):
        source.add(
            f"status = sequence = {' = '.join(_ENTRY_VARIABLES.values())} = None", "partition = ()"
        )
        for field in writer["fields"]:
            match avro_schema.id_of(field, avro_schema.ENTRY_FIELDS):
                case 0:
                    source.read(field["type"], "status")
                case 2:
                    _read_file(source, field["type"], _SIZE_FIELDS | further)
                case 3:
                    source.read(field["type"], "sequence")
                case _:
                    source.skip(field["type"])
        source.add(*_ADD_ENTRY)
        if key:
            source.add(f"if status != 2: group[3].append({key})")
    return source.compile(path_key=path_key, delete_key=delete_key)


# An Avro schema is any JSON.
def _read_file(source: Source, schema: Any, wanted: frozenset[int]) -> None:  # noqa: ANN401
    unwanted: list[Any] = []
    for field in source.resolve(schema)["fields"]:
        known = avro_schema.id_of(field, avro_schema.FILE_FIELDS)
        found = known if known == _PARTITION or known in wanted else None
        if found is None and field.get("field-id") not in _VARYING:
            unwanted.append(field["type"])
            continue
        source.pass_over(unwanted)
        unwanted = []
        if found is None:
            source.skip(field["type"])
        elif found == _PARTITION:
            _read_partition(source, field["type"])
        elif found in _BOUNDS:
            source.read_keyed(field["type"], _ENTRY_VARIABLES[found], PATH_COLUMN)
        elif found == _PATH and source.resolve(field["type"]) == "string":
            source.read("bytes", _ENTRY_VARIABLES[found])  # a file's key is made from bytes
        else:
            source.read(field["type"], _ENTRY_VARIABLES[found])
    source.pass_over(unwanted)


def _read_partition(source: Source, schema: Any) -> None:  # noqa: ANN401 - as above
    struct = source.resolve(schema)
    if not isinstance(struct, dict) or struct["type"] != "record":
        raise NotGeneratedError("its partitions are not plain structs")
    values = []
    for field in struct["fields"]:
        values.append(source.name())
        source.read(field["type"], values[-1])
    source.add(f"partition = ({''.join(f'{value}, ' for value in values)})")


@lru_cache(maxsize=_COMPILED_SCHEMAS)
def _compile_list(schema: bytes) -> ReadBlock:
    writer: Any = avro_schema.compile_reader(schema, is_list=True).writer
    source = _begin(writer)
    variables = {found: f"field_{found}" for found in avro_schema.LIST_FIELDS}
    with source.inside("for _ in range(count):"):
        source.add(f"{' = '.join(variables.values())} = None")
        for field in writer["fields"]:
            found = avro_schema.id_of(field, avro_schema.LIST_FIELDS)
            if found is None:
                source.skip(field["type"])
            elif found == _SUMMARIES:
                source.read_structs(field["type"], variables[found], SUMMARY_NAMES)
            else:
                source.read(field["type"], variables[found])
        source.add(f"sink.append(({', '.join(variables.values())}))")
    return source.compile()


def _begin(writer: Any) -> Source:  # noqa: ANN401 - as above
    source = Source(avro_schema.defined_types(writer))
    source.add(*(f"{name} = decoder.{name}" for name in _PREPARED))
    return source
