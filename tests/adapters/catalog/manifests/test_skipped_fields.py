"""Values that are passed over in one step, because they lie as those of an earlier record did."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.avro.decoder_fast import CythonBinaryDecoder

from maintainer.adapters.catalog.manifests import fast_reader as fast
from maintainer.adapters.catalog.manifests.generated_reader import PADDING, Source
from maintainer.adapters.catalog.manifests.skipped_fields import NOTHING_LEARNT, Layout, learn
from tests.adapters.catalog.manifests.test_fast_reader import check_equal, schemas, values_of
from tests.adapters.catalog.manifests.test_manifest import (
    CLASSES,
    SPECS,
    entry,
    listed_as,
    long,
    manifest_schema,
    write,
)

BOUNDS: Final = {
    "type": "array",
    "items": {
        "type": "record",
        "name": "r",
        "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "bytes"}],
    },
}


def take(schema: Any) -> Any:
    """A schema without named references is resolved already, but for primitives in their long
    form.
    """
    return (
        schema["type"]
        if isinstance(schema, dict) and schema["type"] in {"int", "bytes"}
        else schema
    )


def matches(layout: Layout, data: bytes) -> bool:
    """As the generated reader asks."""
    size, mask, reported = layout
    return (
        bool(size)
        and len(data) >= size
        and int.from_bytes(data[:size], "little") & mask == reported
    )


def encode(schema: Any, value: object) -> bytes:
    stream = BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    return stream.getvalue()


def pairs(*widths: int) -> list[dict[str, object]]:
    return [
        {"key": number, "value": bytes([number] * width)} for number, width in enumerate(widths)
    ]


def test_a_layout_is_that_of_all_values_with_the_same_lengths_and_widths() -> None:
    first = encode(BOUNDS, pairs(8, 4, 8))
    layout = learn(first, [BOUNDS], take)
    assert layout[0] == len(first)
    like = encode(
        BOUNDS,
        [{"key": 60 - number, "value": b"\xff" * width} for number, width in enumerate((8, 4, 8))],
    )
    assert matches(layout, first)
    assert matches(layout, like + b"what follows")
    for other in (
        pairs(8, 8, 4),
        pairs(8, 4),
        pairs(8, 4, 8, 0),
        [{"key": 64, "value": b"x" * 7}, *pairs(4, 8)],
    ):
        assert not matches(layout, encode(BOUNDS, other) + bytes(40))


@given(st.data())
def test_what_matches_a_layout_is_as_long_as_its_reader_finds_it(data: st.DataObject) -> None:
    schema = data.draw(schemas([]).filter(lambda found: "named" not in str(found)))
    values = values_of(schema, {})
    first, second = (encode(schema, data.draw(values)) for _ in range(2))
    layout = learn(first, [schema], lambda inner: inner)
    assert matches(layout, first) or not first
    if matches(layout, second + bytes(20)) and second:
        assert layout[0] == len(second)


def test_values_that_are_cut_short_or_followed_by_more_have_no_layout() -> None:
    whole = encode(BOUNDS, pairs(8, 8))
    with pytest.raises(ValueError, match="23 bytes contain values of 22"):
        learn(whole + b"\x02", [BOUNDS], take)
    for end in range(len(whole)):
        with pytest.raises((ValueError, IndexError)):
            learn(whole[:end], [BOUNDS], take)
    with pytest.raises(ValueError, match="has no layout"):
        learn(b"\x02", [{"type": "decimal128"}], take)


def test_values_that_are_very_wide_are_read_each_time() -> None:
    assert learn(encode("bytes", b"x" * 40_000), ["bytes"], take) == NOTHING_LEARNT


def test_blocks_that_tell_their_size_are_passed_over_by_it() -> None:
    sized = long(-2) + long(4) + b"\x02\x04\x06\x08" + long(0)
    layout = learn(sized, [{"type": "array", "items": "long"}], take)
    assert matches(layout, long(-2) + long(4) + b"\xff" * 4 + long(0))
    assert not matches(layout, long(-2) + long(5) + b"\xff" * 4 + long(0))


class _Counting:
    """The decoder, and how many numbers it was asked for."""

    asked = 0

    def __init__(self, data: bytes) -> None:
        self._decoder = CythonBinaryDecoder(data)

    def read_int(self) -> int:
        type(self).asked += 1
        return self._decoder.read_int()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decoder, name)


def numbers_asked_for(monkeypatch: pytest.MonkeyPatch, records: list[dict[str, Any]]) -> int:
    raw = write(manifest_schema(2), records)
    fast._compile_entries.cache_clear()
    monkeypatch.setattr(fast, "CythonBinaryDecoder", _Counting)
    _Counting.asked = 0
    assert fast._digest(raw, listed_as(raw), SPECS, CLASSES).entries_read == len(records)
    return _Counting.asked


def test_statistics_that_lie_as_those_of_the_file_before_are_not_read_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = numbers_asked_for(monkeypatch, [entry() for _ in range(200)])
    like = numbers_asked_for(
        monkeypatch, [entry(lower_bounds=pairs(*(8,) * 30)) for _ in range(200)]
    )
    unlike = numbers_asked_for(
        monkeypatch, [entry(lower_bounds=pairs(*(8 + number % 7,) * 30)) for number in range(200)]
    )
    assert like < 1.2 * plain
    assert unlike > 3 * like


def test_files_among_them_whose_statistics_lie_otherwise_are_read_rightly() -> None:
    def widths(number: int) -> tuple[int, ...]:
        return (8,) * 5 if number % 7 else (8, 3, number % 5, 8)

    for many in (1, 50, 700):
        records = [
            entry(
                file_size_in_bytes=number,
                lower_bounds=pairs(*widths(number)),
                upper_bounds=pairs(*widths(number // 90)),
            )
            for number in range(many)
        ]
        assert check_equal(write(manifest_schema(2), records)).entries_read == many


@pytest.mark.parametrize("length", [2**62, -1, 5000, 9, 7])
def test_a_length_that_leaves_the_block_is_refused_after_records_that_were_passed_over(
    length: int,
) -> None:
    source = Source({})
    source.add(*(f"{name} = decoder.{name}" for name in fast._PREPARED))
    with source.inside("for _ in range(count):"):
        source.pass_over([BOUNDS])
        source.read("long", "last")
        source.add("sink.append(last)")
    read_block = source.compile()
    record = encode(BOUNDS, pairs(8)) + long(77)
    for block, count in (
        (record * 5, 5),
        (record * 5 + record.replace(long(8), long(length), 1), 6),
    ):
        decoder = CythonBinaryDecoder(block + bytes(PADDING))
        found: list[int] = []
        try:
            read_block(decoder, block + bytes(PADDING), len(block), count, found)
        except (ValueError, EOFError):
            assert count == 6
        assert found[:5] == [77] * 5
        assert count == 5 or decoder.tell() != len(block) or found != [77] * 6
