"""A summary in the manifest list is wrong only if it excludes a value of the manifest."""

from __future__ import annotations

import struct
from dataclasses import replace
from math import nan
from typing import Any, Final
from uuid import UUID

import pytest

from maintainer.adapters.catalog.manifests import fast_reader as fast
from maintainer.adapters.catalog.manifests import manifest
from maintainer.adapters.catalog.manifests.field_summaries import (
    FieldSummary,
    find_summary_fault,
    read_summaries,
)
from maintainer.adapters.catalog.manifests.partition import StoredField
from tests.adapters.catalog.manifests.test_manifest import (
    CLASSES,
    LATER_LIST_SCHEMA,
    SPECS,
    entry,
    listed_as,
    manifest_schema,
    optional,
    required,
    write,
)

OUTSIDE: Final[str] = "f: a value is outside the bounds of the summary"
HIGH, LOW = UUID(int=1 << 127).bytes, UUID(int=1).bytes  # Java's order is the reverse


def number(value: int, width: int = 4) -> bytes:
    return value.to_bytes(width, "little", signed=True)


def fault(type_name: str, summary: FieldSummary, *values: object) -> str:
    field = StoredField("f", 1000, type_name, 2, is_utc=False)
    return find_summary_fault([summary], [field], [(value,) for value in values])


def bounds(lower: bytes | None, upper: bytes | None) -> FieldSummary:
    return False, False, lower, upper


@pytest.mark.parametrize(
    ("type_name", "lower", "upper", "inside", "outside"),
    [
        ("int", number(-3), number(7), [-3, 7], 8),
        ("date", number(-3), number(7), [0], -4),
        ("long", number(-3, 8), number(7, 8), [-3, 7], 2**40),
        ("long", number(-3), number(7), [7], 8),  # promoted from int
        ("boolean", b"\x00", b"\x00", [False], True),
        ("float", struct.pack("<f", 0.5), struct.pack("<f", 2), [0.5, 2.0], 2.5),
        ("double", struct.pack("<d", -0.5), struct.pack("<d", 2), [-0.5, 2.0], -1.0),
        ("string", b"b", b"d", ["b", "cx", "d"], "da"),
        ("string", "\uffff".encode(), "\U00010000".encode(), ["\uffff", "\U00010000"], "a"),
        ("string", "\U00010000".encode(), "\uffff".encode(), ["\uffff", "\U00010000"], "a"),
        ("bytes", b"\x10", b"\x81", [b"\x10", b"\x80\xff"], b"\x81\x00"),
        ("fixed", b"\x10\x00", b"\x80\x00", [b"\x20\x00"], b"\x00\x00"),
        ("decimal", b"\xff", b"\x01\x00", [b"\xff\xff", b"\x00\x00\x01"], b"\xfe"),
        ("uuid", LOW, HIGH, [LOW, HIGH], bytes(16)),
        ("uuid", HIGH, LOW, [LOW, HIGH], UUID(int=2).bytes),
    ],
)
def test_only_a_value_outside_of_the_bounds_makes_a_summary_wrong(
    type_name: str, lower: bytes, upper: bytes, inside: list[Any], outside: object
) -> None:
    assert not fault(type_name, bounds(lower, upper), *inside)
    assert fault(type_name, bounds(lower, upper), *inside, outside) == OUTSIDE


def test_nulls_and_nans_that_a_summary_denies_make_it_wrong() -> None:
    is_null, is_nan = "that a value is null", "that a value is not a number"
    half = struct.pack("<d", 0.5)
    assert is_null in fault("int", (False, None, number(1), number(1)), 1, None)
    assert not fault("int", (True, None, None, None), None)
    assert not fault("int", (None, None, None, None), None)
    assert is_nan in fault("double", (False, False, half, half), 0.5, nan)
    assert not fault("double", (False, None, half, half), 0.5, nan)
    assert not fault("double", (False, True, None, None), nan)
    assert "has no bounds" in fault("int", bounds(None, None), 1)
    assert "has no bounds" in fault("int", bounds(number(1), None), 1)


def test_what_cannot_be_compared_is_not_wrong() -> None:
    assert not fault("double", bounds(b"\x01", b"\x01"), 0.5)
    assert not fault("boolean", bounds(b"", b""), *[True])
    assert not fault("string", bounds(b"\xff", b"\xff"), "a")
    assert not fault("map", bounds(b"a", b"b"), (1, 2))
    assert not fault("int", bounds(number(1), number(2)))
    field = StoredField("f", 1000, "int", 0, is_utc=False)
    assert not find_summary_fault(None, [field], [(9,)])
    assert not find_summary_fault([bounds(number(1), number(1))] * 2, [field], [(9,)])


def test_only_whole_summaries_are_used() -> None:
    assert read_summaries(None) is None
    assert read_summaries([{"contains_null": True}]) == ((True, None, None, None),)
    assert read_summaries([(False, None, b"a", b"b")]) == ((False, None, b"a", b"b"),)
    assert read_summaries([(False, None, "a", b"b")]) is None
    assert read_summaries([7]) is None


SUMMARY = {
    "type": "record",
    "name": "r508",
    "fields": [
        required("contains_null", "boolean", 509),
        optional("contains_nan", "boolean", 518),
        optional("lower_bound", "bytes", 510),
        optional("later", {"type": "array", "items": "long"}, 599),
        optional("upper_bound", "bytes", 511),
    ],
}
LATER: Final[Any] = LATER_LIST_SCHEMA
LIST: Final = {
    **LATER,
    "fields": [
        optional("partitions", {"type": "array", "items": SUMMARY}, 507)
        if field["name"] == "partitions"
        else field
        for field in LATER["fields"]
    ],
}
DAY: Final = {"contains_null": False, "lower_bound": number(5), "upper_bound": number(9)}
REST: Final = {"contains_null": True, "contains_nan": False, "later": [1, 2]}


def test_both_readers_read_the_summaries_and_find_the_fault() -> None:
    record = {
        "manifest_path": "a",
        "manifest_length": 9,
        "partition_spec_id": 3,
        "added_snapshot_id": 1,
        "content": 0,
        "sequence_number": 8,
        "partitions": [DAY, REST, REST],
    }
    others = [
        record | {"manifest_path": "b", "partitions": None},
        record | {"manifest_path": "c", "partitions": []},
    ]
    raw = write(LIST, [record, *others])
    found = fast._read_list(raw)
    assert found == manifest.read_manifest_list(raw)
    empty = (True, False, None, None)
    assert [one.summaries for one in found] == [
        ((False, None, number(5), number(9)), empty, empty),
        None,
        (),
    ]
    right, wrong = (
        write(manifest_schema(2), [entry(partition={"day": day, "key": None, "price": None})])
        for day in (9, 10)
    )
    for stored, reason in ((right, ""), (wrong, f"day{OUTSIDE[1:]}")):
        listed = replace(listed_as(stored), summaries=found[0].summaries)
        for digest in (fast._digest, manifest.digest_manifest):
            assert digest(stored, listed, SPECS, CLASSES).list_fault == reason
    listed = replace(listed_as(right), live_entries=0)
    assert "no live files" in fast._digest(right, listed, SPECS, CLASSES).list_fault
