"""The fast reader against the slow one, which is the reference."""

from __future__ import annotations

import json
import logging
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.avro.decoder_fast import CythonBinaryDecoder

from maintainer.adapters.catalog.limits import UnreadableFileError
from maintainer.adapters.catalog.manifests import fast_reader as fast
from maintainer.adapters.catalog.manifests import manifest
from maintainer.adapters.catalog.manifests.container import read_long
from maintainer.adapters.catalog.manifests.generated_reader import (
    PADDING,
    NotGeneratedError,
    Source,
)
from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.domain.inventory import ManifestContent, ManifestDigest
from maintainer.domain.scan_cost import ReaderFault, SlowRead
from tests.adapters.catalog.lake import Lake, local_path, rows
from tests.adapters.catalog.manifests.test_manifest import (
    CLASSES,
    LATER_LIST_SCHEMA,
    SPECS,
    entries,
    entry,
    listed_as,
    long,
    manifest_schema,
    required,
    write,
)
from tests.examples import examples

LISTED: Final = {
    "manifest_path": "a" * 2000,
    "manifest_length": 2**40,
    "partition_spec_id": 2,
    "added_snapshot_id": 1,
    "content": 1,
    "sequence_number": 8,
}
CODECS: Final = ("null", "deflate", "zstandard", "snappy", "bzip2")


@pytest.fixture
def fresh_check() -> Iterator[None]:
    fast.slow_reader_reason.cache_clear()
    yield
    fast.slow_reader_reason.cache_clear()


def check_equal(raw: bytes, listed: ListedManifest | None = None) -> ManifestDigest:
    listed = listed or listed_as(raw)
    ways = (
        listed,
        replace(listed, content=ManifestContent.DELETES),
        replace(listed, keeps_files=True),
    )
    found = [fast._digest(raw, way, SPECS, CLASSES) for way in ways]
    assert found == [manifest.digest_manifest(raw, way, SPECS, CLASSES) for way in ways]
    return found[0]


@given(st.data(), st.sampled_from([1, 2, 3]), st.booleans(), st.sampled_from(CODECS))
def test_both_readers_make_the_same_digest(
    data: st.DataObject, version: int, with_unknown_fields: bool, codec: str
) -> None:
    records = data.draw(st.lists(entries(version), max_size=15))
    check_equal(
        write(manifest_schema(version, with_unknown_fields=with_unknown_fields), records, codec)
    )


def test_files_of_formats_that_are_written_in_two_ways_are_listed_in_the_same_order() -> None:
    records = [
        entry(file_format=name, file_size_in_bytes=size)
        for size, name in enumerate(["PARQUET", "ORC", "parquet"])
    ]
    digest = check_equal(write(manifest_schema(2), records))
    assert [partition.sizes.listed for partition in digest.partitions] == [(0, 1, 2)]
    assert dict(digest.formats) == {"orc": 1, "parquet": 2}


PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")


def takes_bytes(schema: Any) -> bool:
    """Whether a value of the schema has a size at all."""
    match schema:
        case "null":
            return False
        case {"type": "record", "fields": fields}:
            return any(takes_bytes(field["type"]) for field in fields)
        case _:
            return True


@st.composite
def schemas(draw: st.DrawFn, names: list[str], depth: int = 3) -> Any:
    """Any type that a later format, or another writer, may put into a field that we do not know."""
    name = f"n{len(names)}"
    kind = draw(
        st.sampled_from(
            [
                *PRIMITIVES,
                *(["record", "array", "map", "union", "fixed", "enum", "named"] if depth else []),
            ]
        )
    )
    match kind:
        case "record":
            names.append(name)
            return {
                "type": "record",
                "name": name,
                "fields": [
                    {"name": f"f{n}", "type": draw(schemas(names, depth - 1))}
                    for n in range(draw(st.integers(0, 3)))
                ],
            }
        case "array":
            known = len(names)
            items = draw(schemas(names, depth - 1))
            if not takes_bytes(items):  # test_hostile.py: it is refused
                del names[known:]
                items = "long"
            return {"type": "array", "items": items}
        case "map":
            return {"type": "map", "values": draw(schemas(names, depth - 1))}
        case "union":
            return draw(st.lists(st.sampled_from(PRIMITIVES), unique=True, min_size=1, max_size=3))
        case "fixed":
            names.append(name)
            return {"type": "fixed", "name": name, "size": draw(st.integers(1, 20))}
        case "enum":
            names.append(name)
            return {"type": "enum", "name": name, "symbols": ["A", "B"]}
        case "named":
            return draw(st.sampled_from(names)) if names and depth == 3 else "long"
        case _:
            return kind


# One case for each type of Avro.
def values_of(schema: Any, defined: dict[str, Any]) -> st.SearchStrategy[Any]:  # noqa: C901, PLR0912
    match schema:
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "int":
            return st.integers(-(2**31), 2**31 - 1)
        case "long":
            return st.integers(-(2**63), 2**63 - 1)
        case "float" | "double":
            return st.floats(width=32)
        case "bytes":
            return st.binary(max_size=200)
        case "string":
            return st.text(max_size=200)
        case list():
            return st.one_of([values_of(branch, defined) for branch in schema])
        case {"type": "record"}:
            defined[schema["name"]] = schema
            return st.fixed_dictionaries(
                {field["name"]: values_of(field["type"], defined) for field in schema["fields"]}
            )
        case {"type": "array"}:
            return st.lists(values_of(schema["items"], defined), max_size=3)
        case {"type": "map"}:
            return st.dictionaries(
                st.text(max_size=3), values_of(schema["values"], defined), max_size=3
            )
        case {"type": "fixed"}:
            defined[schema["name"]] = schema
            return st.binary(min_size=schema["size"], max_size=schema["size"])
        case {"type": "enum"}:
            defined[schema["name"]] = schema
            return st.sampled_from(schema["symbols"])
        case _:
            return values_of(defined[schema], defined)


@given(st.data())
def test_fields_of_any_type_that_we_do_not_know_are_passed_over(data: st.DataObject) -> None:
    names: list[str] = []
    unknown = data.draw(st.lists(schemas(names), min_size=1, max_size=4))
    defined: dict[str, Any] = {}
    strategies = [values_of(schema, defined) for schema in unknown]
    schema = manifest_schema(2)
    added = [required(f"unknown_{n}", kind, 2000 + n) for n, kind in enumerate(unknown)]
    values = [
        {f"unknown_{n}": data.draw(strategy) for n, strategy in enumerate(strategies)}
        for _ in range(3)
    ]
    if data.draw(st.booleans()):
        schema["fields"] = added + schema["fields"]
        records = [entry() | more for more in values]
    else:
        data_file = next(field for field in schema["fields"] if field["name"] == "data_file")[
            "type"
        ]
        data_file["fields"] = data_file["fields"] + added
        records = [entry(**more) for more in values * 3]
    assert check_equal(write(schema, records)).entries_read == len(records)


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(st.data(), st.sampled_from(["null", "deflate"]))
def test_damaged_bytes_never_lead_the_fast_reader_out_of_its_block(
    data: st.DataObject, codec: str
) -> None:
    raw = write(
        manifest_schema(3, with_unknown_fields=True),
        data.draw(st.lists(entries(3), min_size=1, max_size=5)),
        codec,
    )
    start = raw.index(raw[-16:]) + 16
    position = data.draw(st.integers(start, len(raw) - 17))
    damage = data.draw(
        st.binary(min_size=1, max_size=4)
        | st.sampled_from([long(2**62), long(-(2**62)), long(-1), long(2**31), b"\x80" * 12])
    )
    damaged = raw[:position] + damage[: len(raw) - 16 - position] + raw[position + len(damage) :]
    listed = ListedManifest("m.avro", None, 3, ManifestContent.DATA, 1)
    with suppress(UnreadableFileError):
        fast.digest_manifest(damaged, listed, SPECS, CLASSES)


@pytest.mark.parametrize("length", [2**62, -(2**62), -1, 2**31, 2**16, 5000])
@pytest.mark.parametrize(
    "kind",
    [
        "bytes",
        {"type": "array", "items": "long"},
        {"type": "array", "items": "double"},
        {"type": "map", "values": "string"},
    ],
)
def test_a_length_that_leaves_the_block_is_refused(kind: object, length: int) -> None:
    source = Source({})
    source.add(*(f"{name} = decoder.{name}" for name in fast._PREPARED))
    source.skip(kind)
    source.skip("double")
    source.read("long", "last")
    block = long(length) + b"\x02" * 100
    padded = block + bytes(PADDING)
    decoder = CythonBinaryDecoder(padded)
    try:
        source.compile()(decoder, padded, len(block), 1, None)
    except (ValueError, EOFError):
        return
    assert decoder.tell() != len(block)


def write_tree() -> bytes:
    """A manifest of a schema that refers to itself."""
    schema = manifest_schema(2)
    tree = {
        "type": "record",
        "name": "tree",
        "fields": [{"name": "next", "type": ["null", "tree"]}],
    }
    schema["fields"].insert(0, required("tree", tree, 2000))
    return write(schema, [{**entry(), "tree": {"next": {"next": None}}}])


def test_a_schema_that_refers_to_itself_is_left_to_the_slow_reader() -> None:
    raw = write_tree()
    with pytest.raises(NotGeneratedError, match="nested deeper than"):
        fast._digest(raw, listed_as(raw), SPECS, CLASSES)
    slow: list[SlowRead] = []
    assert fast.digest_manifest(raw, listed_as(raw), SPECS, CLASSES, slow.append).entries_read == 1
    assert slow == [SlowRead.SCHEMA]


def test_what_the_fast_reader_stumbles_over_is_reported_and_what_it_reads_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    manifest_bytes, list_bytes = (
        write(manifest_schema(2), [entry()]),
        write(LATER_LIST_SCHEMA, [LISTED]),
    )
    slow: list[SlowRead] = []

    def read() -> None:
        assert (
            fast.digest_manifest(
                manifest_bytes, listed_as(manifest_bytes), SPECS, CLASSES, slow.append
            ).entries_read
            == 1
        )
        assert len(fast.read_manifest_list(list_bytes, slow.append)) == 1

    read()
    assert slow == []

    def stumble(*_arguments: object) -> None:
        raise IndexError

    for name in ("_digest", "_read_list"):
        monkeypatch.setattr(fast, name, stumble)
    read()
    assert slow == [SlowRead.CONTENTS] * 2


def test_both_readers_read_the_same_manifest_list() -> None:
    raw = write(
        LATER_LIST_SCHEMA,
        [
            LISTED,
            LISTED
            | {
                "manifest_path": "ü",
                "key_metadata": b"k",
                "partitions": [{"contains_null": True}] * 3,
            },
        ],
    )
    assert fast._read_list(raw) == manifest.read_manifest_list(raw)
    assert [listed.is_encrypted for listed in fast._read_list(raw)] == [False, True]


def test_both_readers_agree_on_every_manifest_of_a_real_table(lake: Lake) -> None:
    table = lake.make_table("shop", "orders")
    for day in (1, 2, 3):
        table.append(rows(3, day))
    table.delete("id = 1")
    inventory = lake.read("shop", "orders")
    assert len(inventory.manifests) == 2
    for digest in inventory.manifests:
        raw = local_path(digest.path).read_bytes()
        listed = ListedManifest(
            digest.path, len(raw), digest.spec_id, digest.content, digest.sequence_number
        )
        assert fast._digest(raw, listed, {}, inventory.size_classes) == manifest.digest_manifest(
            raw, listed, {}, inventory.size_classes
        )


def test_the_installed_decoder_passes_the_check() -> None:
    assert fast.slow_reader_reason() is None


class _WrongDecoder:
    """A decoder whose numbers are off by one."""

    def __init__(self, data: bytes) -> None:
        self._decoder = _RealDecoder(data)

    def read_int(self) -> int:
        return int(self._decoder.read_int()) ^ 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decoder, name)


_RealDecoder: Final = CythonBinaryDecoder


class _OlderDecoder:
    def __init__(self, data: bytes) -> None:
        pass


@pytest.mark.parametrize(
    ("decoder", "words", "fault"),
    [
        (None, "has no compiled Avro decoder", ReaderFault.NO_DECODER),
        (_WrongDecoder, "Avro decoder", None),
        (_OlderDecoder, "fails on a sample: AttributeError", ReaderFault.DECODER_FAILS),
    ],
)
@pytest.mark.usefixtures("fresh_check")
def test_a_decoder_that_an_upgrade_broke_is_reported_once_and_not_used(
    decoder: object,
    words: str,
    fault: ReaderFault | None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(fast, "CythonBinaryDecoder", decoder)
    raw = write(manifest_schema(2), [entry()])
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            slow: list[SlowRead] = []
            assert (
                fast.digest_manifest(raw, listed_as(raw), SPECS, CLASSES, slow.append).entries_read
                == 1
            )
            assert slow == [SlowRead.READER]
    (warning,) = [record.getMessage() for record in caplog.records]
    assert warning.startswith("manifests are read slowly: ")
    assert words in warning
    assert fast.slow_reader_reason() in (
        {fault} if fault else {ReaderFault.DECODER_FAILS, ReaderFault.DECODER_WRONG}
    )


def test_what_the_fast_reader_alone_would_take_wrongly_is_reported_in_the_slow_readers_words() -> (
    None
):
    raw = write(json.loads(json.dumps(manifest_schema(2))), [entry(), entry(status=3)])
    with pytest.raises(UnreadableFileError, match="entry 2 has status 3"):
        fast.digest_manifest(raw, listed_as(raw), SPECS, CLASSES)


def test_a_corrupt_number_of_items_ends_with_the_block_in_both_readers() -> None:
    later = entry(future={}) | {"weight": [0.5, 0.5]}
    raw = write(manifest_schema(2, with_unknown_fields=True), [later], "null")
    start = raw.index(raw[-16:]) + 16
    weights = long(2) + struct.pack("<dd", 0.5, 0.5)
    count, position = read_long(raw, start)
    length, position = read_long(raw, position)
    block = raw[position : position + length].replace(weights, long(2**50) + weights[1:])
    assert len(block) > length
    damaged = raw[:start] + long(count) + long(len(block)) + block + raw[-16:]
    for digest in (fast.digest_manifest, manifest.digest_manifest):
        with pytest.raises(UnreadableFileError, match="are left"):
            digest(damaged, listed_as(damaged), SPECS, CLASSES)
