"""Lines travel in portions that fit into a message and say which one is the last."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.adapters.spark.driver.link.outbox import MAX_MESSAGE_BYTES, ROWS, Outbox
from maintainer.adapters.spark.driver.lists import portions as module
from maintainer.adapters.spark.driver.lists.portions import (
    MAX_PORTION_BYTES,
    pack,
    read_text,
    unpack,
    write_text,
)

LINES = st.lists(st.text(max_size=40).map(json.dumps), max_size=60)


@given(LINES, st.integers(1, 200))
def test_lines_come_out_as_they_went_in(lines: list[str], enough: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ENOUGH_RAW_BYTES", enough)
        packed = list(pack(lines))
    assert [portion.is_last for portion in packed] == [False] * (len(packed) - 1) + [True]
    texts = [unpack(read_text(write_text(portion.data))) for portion in packed if portion.lines]
    assert [line for text in texts for line in text.split("\n")] == lines
    assert sum(portion.lines for portion in packed) == len(lines)


def test_portions_of_lines_that_hardly_compress_fit_into_a_message() -> None:
    chance = random.Random(1)
    lines = (json.dumps([f"data/{chance.randbytes(90).hex()}", n]) for n in range(20_000))
    packed = list(pack(lines))
    assert len(packed) > 10
    assert max(len(portion.data) for portion in packed) <= MAX_PORTION_BYTES
    outbox = Outbox()
    fields: dict[str, object] = {"portion": 10**6, "data": write_text(b"x" * MAX_PORTION_BYTES)}
    kept = outbox.keep(outbox.write(ROWS, "m-0a1b2c3d4e5f" * 4, fields))
    assert len(json.dumps(kept)) < MAX_MESSAGE_BYTES
    assert "is_shortened" not in kept


def test_a_line_that_fits_into_no_portion_is_refused_with_its_size() -> None:
    with pytest.raises(
        ValueError, match=r"1 lines has 600,000 bytes.*one of its lines is too long"
    ):
        list(pack([random.Random(1).randbytes(300_000).hex()]))
    with pytest.raises(ValueError, match=r"has 9,000,000 bytes"):
        list(pack(["x" * 9_000_000]))


@pytest.mark.parametrize("cut", [0, 1, 9, -1])
def test_a_torn_portion_is_no_portion(cut: int) -> None:
    (packed,) = pack(["one", "two"])
    with pytest.raises(ValueError, match="a portion"):
        unpack(packed.data[:cut])


def test_a_portion_that_grows_without_bound_is_not_read() -> None:
    (packed,) = pack(["x" * 1000])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MAX_RAW_BYTES", 100)
        with pytest.raises(ValueError, match="longer than 100 bytes"):
            unpack(packed.data)
