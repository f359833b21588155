"""Blocks of Avro files, inflated."""

from __future__ import annotations

import zlib
from random import Random

import pytest

from maintainer.adapters.catalog.manifests import container
from maintainer.adapters.catalog.manifests.container import Inflater

USUAL = Random(7).randbytes(64_000)  # what the random numbers are is all the same


def deflated(plain: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(plain) + compressor.flush()


def refuse(_data: bytes) -> bytes:
    message = "zlib was asked"
    raise AssertionError(message)


def test_blocks_of_usual_size_and_smaller_ones_are_never_inflated_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(container, "_inflate", refuse)
    inflate = Inflater()
    for plain in (USUAL, b"", b"x", b"x" * 70_000, USUAL[:100]):
        assert inflate(deflated(plain)) == plain


def test_a_larger_block_is_inflated_by_zlib_and_the_next_like_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inflate = Inflater()
    large = USUAL * 5
    assert inflate(deflated(large)) == large
    monkeypatch.setattr(container, "_inflate", refuse)
    assert inflate(deflated(large[:-1])) == large[:-1]
    with pytest.raises(AssertionError, match="zlib was asked"):
        inflate(deflated(large + b"x"))


def test_a_block_that_inflates_to_very_much_leaves_no_such_room_behind() -> None:
    inflate = Inflater()
    huge = bytes(container._MAX_ROOM_BYTES + 1)
    assert inflate(deflated(huge)) == huge
    assert inflate._room == container._MAX_ROOM_BYTES


def test_broken_blocks_are_reported_in_zlibs_words(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = deflated(USUAL)
    with pytest.raises(ValueError, match="cut short"):
        Inflater()(whole[:-10])
    with pytest.raises(zlib.error):
        Inflater()(b"\xff" * 50)
    monkeypatch.setattr(container, "MAX_BLOCK_BYTES", 100_000)
    with pytest.raises(ValueError, match="more than 100000 bytes"):
        Inflater()(deflated(USUAL * 2))


def test_without_libdeflate_zlib_inflates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "deflate", None)
    assert Inflater()(deflated(USUAL)) == USUAL
