"""Manifests of every format version, codec and shape against a naive computation."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from typing import Any, Final

import fastavro
import msgspec
import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from maintainer.adapters.catalog.limits import UnreadableFileError
from maintainer.adapters.catalog.manifests.fast_reader import digest_manifest, read_manifest_list
from maintainer.adapters.catalog.manifests.manifest import (
    PATH_COLUMN,
    ListedManifest,
    describe_manifest,
)
from maintainer.adapters.catalog.manifests.partition import Spec, SpecField
from maintainer.domain.file_sizes import unpack_files
from maintainer.domain.inventory import (
    DIGEST_VERSION,
    Content,
    ManifestContent,
    ManifestDigest,
    SizeClasses,
)
from tests.plain_manifests import check_digest

CLASSES: Final = SizeClasses.around(1000)
SPEC: Final = Spec(
    3,
    (
        SpecField(1000, "day", "day"),
        SpecField(1001, "key", "identity"),
        SpecField(1002, "price", "identity"),
    ),
)
SPECS: Final = {3: SPEC}


def optional(name: str, kind: object, field_id: int) -> dict[str, Any]:
    return {"name": name, "type": ["null", kind], "default": None, "field-id": field_id}


def required(name: str, kind: object, field_id: int) -> dict[str, Any]:
    return {"name": name, "type": kind, "field-id": field_id}


def stats(name: str, key_id: int, value_id: int, kind: str, field_id: int) -> dict[str, Any]:
    pair = {
        "type": "record",
        "name": f"k{key_id}_v{value_id}",
        "fields": [required("key", "int", key_id), required("value", kind, value_id)],
    }
    return optional(name, {"type": "array", "logicalType": "map", "items": pair}, field_id)


DECIMAL: Final = {
    "type": "fixed",
    "name": "decimal_9_2",
    "size": 4,
    "logicalType": "decimal",
    "precision": 9,
    "scale": 2,
}


def manifest_schema(version: int, *, with_unknown_fields: bool = False) -> dict[str, Any]:
    """As the specification lays them out, each version's own fields in its own order."""
    partition = {
        "type": "record",
        "name": "r102",
        "fields": [
            optional("day", {"type": "int", "logicalType": "date"}, 1000),
            optional("key", "string", 1001),
            optional("price", DECIMAL, 1002),
        ],
    }
    file_fields = [
        required("file_path", "string", 100),
        required("file_format", "string", 101),
        required("partition", partition, 102),
        required("record_count", "long", 103),
        required("file_size_in_bytes", "long", 104),
    ]
    if version == 1:
        file_fields.append(required("block_size_in_bytes", "long", 105))
    else:
        file_fields.insert(0, required("content", "int", 134))
    file_fields += [
        stats("column_sizes", 117, 118, "long", 108),
        stats("lower_bounds", 126, 127, "bytes", 125),
    ]
    file_fields += [
        stats("upper_bounds", 129, 130, "bytes", 128),
        optional("key_metadata", "bytes", 131),
    ]
    file_fields.append(
        optional("split_offsets", {"type": "array", "items": "long", "element-id": 133}, 132)
    )
    if version == 3:
        file_fields += [
            optional("referenced_data_file", "string", 143),
            optional("content_offset", "long", 144),
            optional("content_size_in_bytes", "long", 145),
        ]
        file_fields.insert(-3, optional("first_row_id", "long", 142))
    fields = [required("status", "int", 0), optional("snapshot_id", "long", 1)]
    if version > 1:
        fields += [
            optional("sequence_number", "long", 3),
            optional("file_sequence_number", "long", 4),
        ]
    if with_unknown_fields:
        shade = {"type": "enum", "name": "shade", "symbols": ["DARK", "LIGHT"]}
        later = {
            "type": "record",
            "name": "later",
            "fields": [required("shade", shade, 901), required("again", "shade", 902)],
        }
        file_fields.insert(2, required("future", {"type": "map", "values": later}, 900))
        # The decimal is defined here, in a field that is skipped, and only referred to in the
        # partition.
        file_fields.insert(0, optional("earlier", DECIMAL, 903))
        partition["fields"][2]["type"] = ["null", "decimal_9_2"]  # type: ignore[index]
        fields.insert(1, required("weight", {"type": "array", "items": "double"}, 904))
    fields.append(required("data_file", {"type": "record", "name": "r2", "fields": file_fields}, 2))
    return {"type": "record", "name": "manifest_entry", "fields": fields}


@st.composite
def entries(draw: st.DrawFn, version: int) -> dict[str, Any]:
    content = draw(st.integers(0, 2)) if version > 1 else 0
    is_vector = version == 3 and content == 1 and draw(st.booleans())
    numbers = st.lists(
        st.fixed_dictionaries({"key": st.integers(1, 9), "value": st.integers(0, 2**40)}),
        max_size=3,
    )
    bounds = st.lists(
        st.fixed_dictionaries(
            {
                "key": st.sampled_from([1, 9, PATH_COLUMN]),
                "value": st.sampled_from([b"", b"a", b"b"]),
            }
        ),
        max_size=3,
    )
    file = {
        "content": content,
        "file_path": draw(st.text(max_size=5)),
        "file_format": "PUFFIN"
        if is_vector
        else draw(st.sampled_from(["PARQUET", "parquet", "ORC", "AVRO"])),
        "partition": {
            "day": draw(st.none() | st.integers(-100_000, 2_000_000)),
            "key": draw(st.none() | st.sampled_from(["a", "null", "a/b=c", "ü%"])),
            "price": draw(
                st.none()
                | st.integers(-(2**31), 2**31 - 1).map(lambda n: n.to_bytes(4, "big", signed=True))
            ),
        },
        "record_count": draw(st.integers(0, 2**40)),
        "file_size_in_bytes": draw(
            st.sampled_from([0, 749, 750, 1000, 1800, 1801]) | st.integers(0, 2**40)
        ),
        "block_size_in_bytes": 64,
        "column_sizes": draw(st.none() | numbers),
        "lower_bounds": draw(st.none() | bounds),
        "upper_bounds": draw(st.none() | bounds),
        "key_metadata": None,
        "split_offsets": draw(st.none() | st.lists(st.integers(0, 99), max_size=2)),
        "referenced_data_file": draw(st.none() | st.just("file")) if is_vector else None,
        "first_row_id": draw(st.none() | st.integers(0, 2**40)) if content == 0 else None,
        "content_offset": 4 if is_vector else None,
        "content_size_in_bytes": draw(st.integers(1, 5000)) if is_vector else None,
        "future": {"x": {"shade": "DARK", "again": "LIGHT"}},
        "earlier": None,
    }
    status = draw(st.integers(0, 2))
    return {
        "status": status,
        "snapshot_id": 7,
        "sequence_number": draw(st.none() | st.integers(0, 99)) if version > 1 else None,
        "file_sequence_number": None,
        "weight": [0.5],
        "data_file": file,
    }


def write(
    schema: dict[str, Any], records: Sequence[dict[str, Any]], codec: str = "deflate", **header: str
) -> bytes:
    """A manifest in several blocks; fastavro passes numbers and bytes of logical types through."""
    if codec in {"zstandard", "snappy"}:
        return frame(schema, records, codec)
    stream = BytesIO()
    fastavro.writer(
        stream,
        json.loads(json.dumps(schema)),
        records,
        codec=codec,
        sync_interval=200,
        metadata=header,
    )
    return stream.getvalue()


def frame(
    schema: dict[str, Any], records: Sequence[dict[str, Any]], codec: str, spoil: int = 0
) -> bytes:
    """A manifest of one record a block, for the codecs that fastavro would need further libraries
    for.
    """
    head = write(schema, [], "null").replace(b"\x08null", long(len(codec)) + codec.encode())
    raw = head
    for record in records:
        stream = BytesIO()
        fastavro.schemaless_writer(stream, json.loads(json.dumps(schema)), record)
        plain = stream.getvalue()
        packed = (
            zstandard.compress(plain)
            if codec == "zstandard"
            else pa.Codec("snappy").compress(plain, asbytes=True)
            + zlib.crc32(plain).to_bytes(4, "big")
        )
        packed = packed[:-1] + bytes([packed[-1] ^ spoil])
        raw += long(1) + long(len(packed)) + packed + head[-16:]
    return raw


def long(value: int) -> bytes:
    encoded, value = bytearray(), (value << 1) ^ (value >> 63)
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def listed_as(raw: bytes, content: ManifestContent = ManifestContent.DATA) -> ListedManifest:
    return ListedManifest("m.avro", len(raw), 3, content, sequence_number=5)


def naive_partition(stored: dict[str, Any]) -> str:
    day, key, price = stored["day"], stored["key"], stored["price"]
    parts = [
        "null"
        if day is None
        else (np.datetime64("1970-01-01") + np.timedelta64(day, "D")).astype(str)
    ]
    parts.append(
        "null"
        if key is None
        else {"null": "%6Eull", "a/b=c": "a%2Fb%3Dc", "ü%": "ü%25"}.get(key, key)
    )
    cents = None if price is None else int.from_bytes(price, "big", signed=True)
    parts.append(
        "null"
        if cents is None
        else f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02d}"
    )
    return "/".join(
        f"{name}={part}" for name, part in zip(("day", "key", "price"), parts, strict=True)
    )


def check_against_naive(digest: ManifestDigest, records: Sequence[dict[str, Any]]) -> None:
    check_digest(digest, records, naive_partition, CLASSES.target_bytes)


@given(
    st.data(),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
    st.sampled_from(["null", "deflate", "zstandard", "snappy", "bzip2"]),
)
def test_a_digest_equals_the_naive_sum_of_its_entries(
    data: st.DataObject, version: int, with_unknown_fields: bool, codec: str
) -> None:
    records = data.draw(st.lists(entries(version), max_size=8))
    raw = write(manifest_schema(version, with_unknown_fields=with_unknown_fields), records, codec)
    check_against_naive(digest_manifest(raw, listed_as(raw), SPECS, CLASSES), records)


@given(st.data(), st.sampled_from(["null", "deflate"]))
def test_damaged_bytes_are_unreadable_or_harmless_but_never_anything_else(
    data: st.DataObject, codec: str
) -> None:
    raw = write(manifest_schema(3), data.draw(st.lists(entries(3), min_size=1, max_size=3)), codec)
    position = data.draw(st.integers(0, len(raw) - 1))
    damaged = (
        raw[:position]
        + data.draw(st.binary(max_size=4))
        + raw[position + data.draw(st.integers(0, 4)) :]
    )
    with suppress(UnreadableFileError):
        digest_manifest(
            damaged, ListedManifest("m.avro", None, 3, ManifestContent.DATA, 1), SPECS, CLASSES
        )


@given(st.data())
def test_a_manifest_cut_anywhere_is_unreadable(data: st.DataObject) -> None:
    raw = write(manifest_schema(2), data.draw(st.lists(entries(2), min_size=1, max_size=3)))
    with pytest.raises(UnreadableFileError):
        digest_manifest(
            raw[: data.draw(st.integers(0, len(raw) - 1))], listed_as(raw), SPECS, CLASSES
        )


def entry(**changes: object) -> dict[str, Any]:
    file = {
        "content": 0, "file_path": "f", "file_format": "PARQUET", "partition": {"day": 20454,
        "key": "k", "price": None},
        "record_count": 10, "file_size_in_bytes": 100,
    }  # fmt: skip
    status = changes.pop("status", 1)
    return {"status": status, "data_file": file | changes}


def digest_of(*records: dict[str, Any], version: int = 3) -> ManifestDigest:
    raw = write(manifest_schema(version), records)
    return digest_manifest(raw, listed_as(raw), SPECS, CLASSES)


KNOWN_DIGESTS: Final = {
    1: "4222e60f30c6f3b0031d2a9402dee33972a655868cd212c449556d4e9358794e",
    2: "4222e60f30c6f3b0031d2a9402dee33972a655868cd212c449556d4e9358794e",  # files packed otherwise
    3: "77173581c37fbb582fe9b140ee8a97eae1558b49145ef2751c14dfa4277971d4",  # bytes of each bin
    4: "f8f13d2c131f1a1e3b8b962821e6b729ecc391368d88b190534945bd77418d63",  # a bin up to 10 MiB
    5: "4b322fcf20a17ce0b9776698add94bcc618585214987ff9493a2bb8532a63078",  # faults of the list
}  # by DIGEST_VERSION


def test_a_digest_that_comes_out_otherwise_than_before_has_another_version() -> None:
    sizes = [
        size * factor
        for factor in (1, 7, 100_000)
        for size in (0, 749, 750, 999, 1800, 1801, 70_000)
    ]
    partitions = [{"day": day, "key": "k", "price": None} for day in (None, 20454)]
    files = [
        {"file_size_in_bytes": size, "partition": partition}
        for size in sizes * 8
        for partition in partitions
    ]
    deletes: list[dict[str, Any]] = [
        {"content": 1},
        {"content": 2},
        {"content": 1, "file_format": "PUFFIN", "content_offset": 4, "content_size_in_bytes": 40},
    ]
    raw = write(manifest_schema(3), [entry(**changes) for changes in (*files, *deletes)])
    digest = digest_manifest(
        raw, replace(listed_as(raw), length_bytes=None, keeps_files=True), SPECS, CLASSES
    )
    reported = msgspec.json.encode(
        [replace(digest, files=b"", length_bytes=0), list(unpack_files(digest.files))]
    )
    assert sha256(reported).hexdigest() == KNOWN_DIGESTS[DIGEST_VERSION]


def test_deletion_vectors_that_share_a_puffin_file_count_by_their_own_size() -> None:
    vector = {
        "content": 1,
        "file_format": "PUFFIN",
        "file_size_in_bytes": 70_000,
        "content_size_in_bytes": 40,
    }
    (share,) = digest_of(
        entry(**vector, content_offset=4), entry(**vector, content_offset=44)
    ).partitions
    assert (share.content, share.file_count, share.bytes, share.record_count) == (
        Content.DELETION_VECTORS,
        2,
        80,
        20,
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": 3}, "entry 2 has status 3"),
        ({"status": -1}, "entry 2 has status -1"),
        ({"content": 9}, "entry 2 has content 9"),
        ({"file_size_in_bytes": -5}, "entry 2 claims -5 bytes and 10 records"),
        ({"record_count": -1}, "entry 2 claims 100 bytes and -1 records"),
    ],
)
def test_an_entry_that_cannot_be_true_makes_its_manifest_unreadable(
    changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(UnreadableFileError, match=words):
        digest_of(entry(), entry(**changes))


def test_a_spec_that_the_table_no_longer_has_is_taken_from_the_manifests_own_header() -> None:
    spec = json.dumps(
        [
            {"field-id": 1000, "name": "d", "transform": "day", "source-id": 1},
            {"field-id": 1001, "name": "k", "transform": "void", "source-id": 2},
        ]
    )
    raw = write(
        manifest_schema(2),
        [entry()],
        **{"partition-spec": spec, "partition-spec-id": "3", "content": "data"},
    )
    (share,) = digest_manifest(raw, listed_as(raw), {}, CLASSES).partitions
    assert share.partition == "d=2026-01-01/price=null"
    described = describe_manifest("m.avro", raw)
    assert (described.spec_id, described.content, described.length_bytes) == (
        3,
        ManifestContent.DATA,
        None,
    )


def test_a_files_own_field_names_do_not_matter_only_ids_do() -> None:
    text = (
        json.dumps(manifest_schema(2))
        .replace('"file_size_in_bytes"', '"size"')
        .replace('"data_file"', '"file"')
        .replace('"status"', '"state"')
    )
    record = entry()
    record["data_file"]["size"] = record["data_file"].pop("file_size_in_bytes")
    raw = write(json.loads(text), [{"state": 1, "file": record["data_file"]}])
    (share,) = digest_manifest(raw, listed_as(raw), SPECS, CLASSES).partitions
    assert share.bytes == 100


def test_a_file_without_field_ids_is_read_by_names() -> None:
    def strip(node: object) -> object:
        match node:
            case dict():
                return {key: strip(value) for key, value in node.items() if key != "field-id"}
            case list():
                return [strip(value) for value in node]
            case _:
                return node

    schema = strip(manifest_schema(2))
    assert isinstance(schema, dict)
    raw = write(schema, [entry()])
    (share,) = digest_manifest(raw, listed_as(raw), SPECS, CLASSES).partitions
    assert (share.partition, share.bytes) == ("day=2026-01-01/key=k/price=null", 100)


def test_a_snappy_blocks_checksum_is_checked() -> None:
    raw = frame(manifest_schema(2), [entry()], "snappy", spoil=1)
    with pytest.raises(UnreadableFileError, match="checksum does not match"):
        digest_manifest(raw, listed_as(raw), SPECS, CLASSES)


def test_a_manifest_cut_between_two_blocks_is_shorter_than_its_list_says() -> None:
    two, one = (frame(manifest_schema(2), [entry()] * count, "snappy") for count in (2, 1))
    cut = two[: len(one)]
    assert (
        digest_manifest(
            cut, ListedManifest("m.avro", None, 3, ManifestContent.DATA, 1), SPECS, CLASSES
        ).entries_read
        == 1
    )
    with pytest.raises(
        UnreadableFileError, match=f"it has {len(one)} bytes, the manifest list says {len(two)}"
    ):
        digest_manifest(cut, listed_as(two), SPECS, CLASSES)


def test_a_block_that_holds_more_than_its_records_is_unreadable() -> None:
    raw = write(manifest_schema(2), [entry(), entry()], "null")
    sync = raw[-16:]
    start = raw.index(sync) + 16
    assert raw[start] == 4, "the block does not begin with the count of two records"
    raw = raw[:start] + long(1) + raw[start + 1 :]
    with pytest.raises(UnreadableFileError, match=r"leaves .* bytes over"):
        digest_manifest(raw, listed_as(raw), SPECS, CLASSES)


def test_a_block_whose_compressed_data_is_cut_short_is_unreadable() -> None:
    raw = write(manifest_schema(2), [entry()], "deflate")
    head, sync = raw[: raw.index(raw[-16:]) + 16], raw[-16:]
    stream = BytesIO()
    fastavro.schemaless_writer(stream, json.loads(json.dumps(manifest_schema(2))), entry())
    packer = zlib.compressobj(wbits=-15)
    unfinished = packer.compress(stream.getvalue()) + packer.flush(
        zlib.Z_SYNC_FLUSH
    )  # all of the record, but no end of the stream
    with pytest.raises(UnreadableFileError, match="cut short"):
        digest_manifest(
            head + long(1) + long(len(unfinished)) + unfinished + sync,
            ListedManifest("m", None, 3, ManifestContent.DATA, 1),
            SPECS,
            CLASSES,
        )


def test_a_codec_that_we_do_not_have_is_named() -> None:
    raw = write(manifest_schema(2), [entry()], "null").replace(b"\x08null", b"\x06lz9")
    with pytest.raises(UnreadableFileError, match="codec 'lz9' is none of"):
        digest_manifest(
            raw, ListedManifest("m.avro", None, 3, ManifestContent.DATA, 1), SPECS, CLASSES
        )


LIST_SCHEMA: Final = {
    "type": "record",
    "name": "manifest_file",
    "fields": [
        required("manifest_path", "string", 500),
        required("manifest_length", "long", 501),
        required("partition_spec_id", "int", 502),
        required("added_snapshot_id", "long", 503),
        optional(
            "partitions",
            {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "r508",
                    "fields": [required("contains_null", "boolean", 509)],
                },
            },
            507,
        ),
    ],
}
LATER_LIST_SCHEMA: Final = {
    **LIST_SCHEMA,
    "fields": [
        *LIST_SCHEMA["fields"],
        required("content", "int", 517),
        required("sequence_number", "long", 515),
        optional("key_metadata", "bytes", 519),
    ],
}


LIST_SCHEMA_OF_V3: Final = {
    **LATER_LIST_SCHEMA,
    "fields": [*LATER_LIST_SCHEMA["fields"], optional("first_row_id", "long", 520)],
}


def test_manifest_lists_of_each_version_are_read() -> None:
    first = {
        "manifest_path": "a",
        "manifest_length": 9,
        "partition_spec_id": 2,
        "added_snapshot_id": 1,
        "partitions": [{"contains_null": True}],
    }
    second = first | {
        "manifest_path": "b",
        "content": 1,
        "sequence_number": 8,
        "key_metadata": b"k",
    }
    read: dict[str, Any] = {"summaries": ((True, None, None, None),)}
    assert read_manifest_list(write(LIST_SCHEMA, [first])) == (
        ListedManifest("a", 9, 2, ManifestContent.DATA, 0, **read),
    )
    assert read_manifest_list(write(LATER_LIST_SCHEMA, [second])) == (
        ListedManifest("b", 9, 2, ManifestContent.DELETES, 8, is_encrypted=True, **read),
    )
    third = second | {"key_metadata": None, "first_row_id": 2**40}
    unnumbered = third | {"manifest_path": "c", "content": 0, "first_row_id": None}
    assert read_manifest_list(write(LIST_SCHEMA_OF_V3, [third, unnumbered])) == (
        ListedManifest("b", 9, 2, ManifestContent.DELETES, 8, **read),
        ListedManifest("c", 9, 2, ManifestContent.DATA, 8, keeps_files=True, **read),
    )
    with pytest.raises(UnreadableFileError, match="content 5"):
        read_manifest_list(write(LATER_LIST_SCHEMA, [second | {"content": 5}]))


def test_a_manifest_in_the_place_of_its_list_is_unreadable() -> None:
    with pytest.raises(UnreadableFileError):
        read_manifest_list(write(manifest_schema(2), [entry()]))
