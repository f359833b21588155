"""Manifests read whole by fastavro and added up one entry after another, without any of our
readers: what those must come to, on any table of any writer.
"""

from __future__ import annotations

import base64
import json
import zlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import fastavro
import pyarrow as pa
import pytest
import zstandard

from maintainer.adapters.catalog.limits import UnreadableFileError
from maintainer.adapters.catalog.manifests import fast_reader as fast
from maintainer.adapters.catalog.manifests.manifest import ListedManifest, describe_manifest
from maintainer.adapters.catalog.manifests.metadata import MetadataError, parse_metadata
from maintainer.adapters.catalog.manifests.partition import Spec
from maintainer.domain.file_sizes import WHOLE_PARTITION, ListedFile, path_key, unpack_files
from maintainer.domain.inventory import (
    HISTOGRAM_BOUNDS_BYTES,
    Content,
    ManifestContent,
    ManifestDigest,
    SizeClasses,
)

Record = dict[str, Any]

DELETED: Final = 2  # an entry's status
PATH_OF_POSITIONS: Final = (
    2147483546  # Iceberg's reserved id of the column file_path in position delete files
)
EQUALITY_IDS: Final = 135  # Iceberg's id of the columns that equality deletes compare
FIRST_ROW_ID: Final = 142  # Iceberg's id of a field that format version 3 has
CONTENTS: Final = (Content.DATA, Content.POSITION_DELETES, Content.EQUALITY_DELETES)
QUOTED: Final = {
    "%": "%25",
    "/": "%2F",
    "=": "%3D",
    "\n": "%0A",
    "\r": "%0D",
    "\t": "%09",
    "\x00": "%00",
}
_SYNC: Final = {"type": "fixed", "name": "sync", "size": 16}
_HEAD: Final = fastavro.parse_schema({
    "type": "record", "name": "head", "fields": [
        {"name": "magic", "type": {"type": "fixed", "name": "magic", "size": 4}}, {"name": "meta",
        "type": {"type": "map", "values": "bytes"}},
        {"name": "sync", "type": _SYNC},
    ],
})  # fmt: skip
_BLOCK: Final = fastavro.parse_schema({
    "type": "record", "name": "block", "fields": [{"name": "count", "type": "long"},
    {"name": "data", "type": "bytes"}, {"name": "sync", "type": _SYNC}],
})  # fmt: skip


@dataclass(frozen=True)
class PlainFile:
    """An Avro file, whole."""

    header: Mapping[str, bytes]
    records: tuple[Record, ...]

    @property
    def codec(self) -> str:
        return self.header.get("avro.codec", b"null").decode()

    @property
    def schema(self) -> Record:
        found: Record = json.loads(self.header["avro.schema"])
        return found


@dataclass
class Checked:
    """What `check_every_manifest` saw: the digests that were right, what no reader can read, and
    how it was written.
    """

    digests: dict[str, ManifestDigest] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    codecs: set[str] = field(default_factory=set)
    field_ids: set[int] = field(default_factory=set)  # of the files in manifests

    @property
    def contents(self) -> set[Content]:
        return {share.content for digest in self.digests.values() for share in digest.partitions}

    @property
    def entries(self) -> int:
        return sum(digest.entries_read for digest in self.digests.values())


def check_every_manifest(warehouse: Path) -> Checked:
    """Every manifest list below a directory and every manifest that it names, or that lies there:
    ours equals fastavro's, entry by entry.
    """
    checked = Checked()
    for path in sorted(warehouse.rglob("snap-*.avro")):
        for listed in _check_list(path, checked):
            if listed.path not in checked.digests:
                _check_manifest(listed, checked)
    named = {local_path(name) for name in (*checked.digests, *checked.refused)}
    for path in sorted(set(warehouse.rglob("*-m[0-9]*.avro")) - named):
        with suppress(UnreadableFileError):
            _check_manifest(describe_manifest(str(path), path.read_bytes()), checked)
    return checked


def _check_list(path: Path, checked: Checked) -> Sequence[ListedManifest]:
    raw = path.read_bytes()
    plain = read_or_refuse(path)
    if plain is None:
        with pytest.raises(UnreadableFileError):
            fast.read_manifest_list(raw)
        checked.refused.add(str(path))
        return ()
    listed = fast._read_list(raw)
    has_deletes = any(
        row.get("content") and row["added_files_count"] + row["existing_files_count"]
        for row in plain.records
    )
    assert [
        (
            one.path,
            one.length_bytes,
            one.spec_id,
            one.content,
            one.sequence_number,
            one.live_entries,
            one.keeps_files,
        )
        for one in listed
    ] == [
        (
            row["manifest_path"],
            row["manifest_length"],
            row["partition_spec_id"],
            ManifestContent.DELETES if row.get("content") else ManifestContent.DATA,
            row.get("sequence_number") or 0,
            row["added_files_count"] + row["existing_files_count"],
            has_deletes and not row.get("content"),
        )
        for row in plain.records
    ], path
    return listed


def _check_manifest(listed: ListedManifest, checked: Checked) -> None:
    path = local_path(listed.path)
    plain = read_or_refuse(path)
    if plain is None:
        with pytest.raises((UnreadableFileError, FileNotFoundError)):
            fast.digest_manifest(path.read_bytes(), listed, {}, SizeClasses.around(1))
        checked.refused.add(listed.path)
        return
    sizes = [size_of(record["data_file"]) for record in plain.records]
    target = max(
        1, sum(sizes) // max(1, len(sizes))
    )  # so that some files are small and some are large
    partition_of = partition_writer(plain)
    for way in (replace(listed, keeps_files=True), listed):
        digest = fast._digest(
            path.read_bytes(), way, newest_specs(path.parent), SizeClasses.around(target)
        )
        assert (digest.path, digest.spec_id, digest.content, digest.sequence_number) == (
            way.path,
            way.spec_id,
            way.content,
            way.sequence_number,
        )
        check_digest(digest, plain.records, partition_of, target)
        checked.digests[listed.path] = digest
    checked.codecs.add(plain.codec)
    checked.field_ids |= {
        one["field-id"] for one in record_type(plain.schema, "data_file")["fields"]
    }


# -- the sum


def check_digest(
    digest: ManifestDigest,
    records: Sequence[Record],
    partition_of: Callable[[Record], str],
    target_bytes: int,
) -> None:
    """What a manifest's records come to, each looked at by itself."""
    groups: dict[tuple[str, Content], list[Record]] = defaultdict(list)
    for record in records:
        if record["status"] != DELETED:
            groups[
                partition_of(record["data_file"]["partition"]), content_of(record["data_file"])
            ].append(record)
    assert digest.entries_read == len(records)
    assert sorted((share.partition, share.content) for share in digest.partitions) == sorted(groups)
    listed = []
    for position, share in enumerate(digest.partitions):
        mine = groups[share.partition, share.content]
        files = [record["data_file"] for record in mine]
        sizes = [size_of(file) for file in files]
        sequences = [
            digest.sequence_number
            if record.get("sequence_number") is None
            else record["sequence_number"]
            for record in mine
        ]
        small, large = (
            ([], []) if share.content is not Content.DATA else _small_and_large(sizes, target_bytes)
        )
        assert (share.spec_id, share.file_count, share.bytes) == (
            digest.spec_id,
            len(mine),
            sum(sizes),
        )
        assert share.record_count == sum(file["record_count"] for file in files)
        assert (share.small_count, share.small_bytes, share.large_count, share.large_bytes) == (
            len(small),
            sum(small),
            len(large),
            sum(large),
        )
        assert (share.newest_sequence_number or 0) == max(sequences)
        if share.content is Content.DATA:
            assert (share.sizes.count, share.sizes.bytes) == (len(sizes), sum(sizes))
            assert not share.sizes.listed or sorted(share.sizes.listed) == sorted(sizes)
        keys = [key_of(file, digest.content) for file in files]
        listed += [
            ListedFile(position, key, size, file["record_count"], sequence)
            for key, size, file, sequence in zip(keys, sizes, files, sequences, strict=True)
        ]
    assert list(unpack_files(digest.files)) == (sorted(listed) if digest.lists_files else [])
    data = [
        record["data_file"]
        for (_, content), mine in groups.items()
        if content is Content.DATA
        for record in mine
    ]
    bins = Counter(
        bisect_right(HISTOGRAM_BOUNDS_BYTES, file["file_size_in_bytes"]) for file in data
    )
    assert digest.histogram == tuple(
        bins[index] for index in range(len(HISTOGRAM_BOUNDS_BYTES) + 1)
    )
    sizes = [file["file_size_in_bytes"] for file in data]
    edges = (-1, *(bound - 1 for bound in HISTOGRAM_BOUNDS_BYTES), max(sizes, default=0))
    assert digest.histogram_bytes == tuple(
        sum(size for size in sizes if low < size <= high) for low, high in pairwise(edges)
    )
    assert dict(digest.formats) == Counter(file["file_format"].lower() for file in data)


def _small_and_large(sizes: Iterable[int], target_bytes: int) -> tuple[list[int], list[int]]:
    """Below three quarters of the target, and above nine fifths."""
    sizes = list(sizes)
    return [size for size in sizes if size < target_bytes * 3 // 4], [
        size for size in sizes if size > target_bytes * 9 // 5
    ]


def content_of(file: Record) -> Content:
    return (
        Content.DELETION_VECTORS
        if file["file_format"] == "PUFFIN"
        else CONTENTS[file.get("content") or 0]
    )


def size_of(file: Record) -> int:
    return int(
        file["content_size_in_bytes"]
        if file["file_format"] == "PUFFIN"
        else file["file_size_in_bytes"]
    )


def key_of(file: Record, content: ManifestContent) -> int:
    """Of a data file its own path's, of a delete file that of the one data file it applies to, so
    far as that is said.
    """
    if content is ManifestContent.DATA:
        return path_key(file["file_path"].encode())
    if content_of(file) is Content.EQUALITY_DELETES:
        return WHOLE_PARTITION
    if file.get("referenced_data_file") is not None:
        return path_key(file["referenced_data_file"].encode())
    first, last = (_path_bound(file.get(name)) for name in ("lower_bounds", "upper_bounds"))
    return path_key(first) if first is not None and first == last else WHOLE_PARTITION


def _path_bound(bounds: Sequence[Record] | None) -> bytes | None:
    found: bytes | None = None
    for bound in bounds or ():
        if bound["key"] == PATH_OF_POSITIONS:
            found = bound["value"]
    return found


# -- partitions


def partition_writer(plain: PlainFile) -> Callable[[Record], str]:
    """By the spec in the manifest's own header, and the values as fastavro's logical types give
    them.
    """
    transforms = {
        one["field-id"]: (one["name"], one["transform"])
        for one in json.loads(plain.header["partition-spec"])
    }
    stored = record_type(record_type(plain.schema, "data_file"), "partition")["fields"]
    columns = [
        (one["name"], *transforms[one["field-id"]], _is_zoned(one["type"])) for one in stored
    ]
    texts: dict[tuple[object, ...], str] = {}

    def write(values: Record) -> str:
        key = tuple(values.values())
        if key not in texts:
            texts[key] = "/".join(
                f"{quote(name)}="
                f"{partition_value(values[stored_name], transform, is_zoned=is_zoned)}"
                for stored_name, name, transform, is_zoned in columns
                if transform != "void"
            )
        return texts[key]

    return write


def _is_zoned(kind: object) -> bool:
    branches = kind if isinstance(kind, list) else [kind]
    return any(
        isinstance(branch, dict) and branch.get("adjust-to-utc", False) for branch in branches
    )


# One case for each type of Iceberg.
def partition_value(value: object, transform: str, *, is_zoned: bool) -> str:  # noqa: C901
    match value:
        case None:
            return "null"
        case int() if transform == "year":
            return str(1970 + value)
        case int() if transform == "month":
            return f"{1970 + value // 12}-{value % 12 + 1:02}"
        case int() if transform == "day":
            return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
        case int() if transform == "hour":
            # Hours have no zone.
            return f"{datetime(1970, 1, 1) + timedelta(hours=value):%Y-%m-%d-%H}"  # noqa: DTZ001
        case bool():
            return str(value).lower()
        case datetime():
            return (value if is_zoned else value.replace(tzinfo=None)).isoformat()
        case date():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case bytes():
            return quote(base64.b64encode(value).decode())
        case _:
            return quote(str(value))


def quote(text: str) -> str:
    return (
        "%6Eull"
        if text == "null"
        else "".join(QUOTED.get(character, character) for character in text)
    )


# -- files


def read_or_refuse(path: Path) -> PlainFile | None:
    try:
        return read_plainly(path.read_bytes())
    except Exception:  # noqa: BLE001 - a broken file can make fastavro raise anything
        return None


def read_plainly(raw: bytes) -> PlainFile:
    """An Avro file by fastavro's decoder; the blocks are taken apart here, because fastavro would
    need further libraries for two of the codecs.
    """
    stream = BytesIO(raw)
    head = _as_record(fastavro.schemaless_reader(stream, _HEAD, None))
    assert head["magic"] == b"Obj\x01"
    schema = fastavro.parse_schema(json.loads(head["meta"]["avro.schema"]))
    codec = head["meta"].get("avro.codec", b"null").decode()
    records: list[Record] = []
    while stream.tell() < len(raw):
        block = _as_record(fastavro.schemaless_reader(stream, _BLOCK, None))
        assert block["sync"] == head["sync"]
        data = BytesIO(_unpack(block["data"], codec))
        records += [
            _as_record(fastavro.schemaless_reader(data, schema, None))
            for _ in range(block["count"])
        ]
        assert not data.read()
    return PlainFile(head["meta"], tuple(records))


def _unpack(data: bytes, codec: str) -> bytes:
    match codec:
        case "deflate":
            return zlib.decompress(data, wbits=-15)
        case "zstandard":
            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
        case "snappy":  # its length is a number of seven bits a byte
            length = sum(
                (byte & 127) << (7 * index) for index, byte in enumerate(_first_number(data))
            )
            return bytes(
                pa.Codec("snappy").decompress(data[:-4], decompressed_size=length, asbytes=True)
            )
        case "null":
            return data
        case _:
            message = f"no plain reader for the codec {codec}"
            raise AssertionError(message)


def _first_number(data: bytes) -> Iterator[int]:
    for byte in data:
        yield byte
        if byte < 128:
            return


def newest_specs(directory: Path) -> Mapping[int, Spec]:
    """The specs of the table whose metadata lies there; none where that is broken: a manifest has
    its own in its header.
    """
    found = sorted(directory.glob("*.metadata.json"))
    try:
        return parse_metadata(found[-1].read_bytes()).specs if found else {}
    except MetadataError:
        return {}


def record_type(schema: Record, name: str) -> Record:
    found: Record = next(one["type"] for one in schema["fields"] if one["name"] == name)
    return found


def _as_record(value: object) -> Record:
    assert isinstance(value, dict)
    return value


def local_path(location: str) -> Path:
    return Path("/" + location.removeprefix("file:").lstrip("/"))
