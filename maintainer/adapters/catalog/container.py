"""Avro's container format: a header with the writer's schema, then compressed blocks, each closed by a sync marker."""

from __future__ import annotations

import binascii
import bz2
import contextlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import zstandard

try:
    import deflate
except ImportError:  # a platform without it
    deflate = None  # type: ignore[assignment]

MAGIC: Final = b"Obj\x01"
SYNC_BYTES: Final = 16
MAX_BLOCK_BYTES: Final = 1 << 30  # decompressed; Spark writes blocks of 64 KB, PyIceberg one entry a block
_MAX_VARINT_BYTES: Final = 10  # Avro: a long of 64 bits, 7 bits a byte
_USUAL_BLOCK_BYTES: Final = 80 << 10
_MAX_ROOM_BYTES: Final = 4 << 20


Decompress = Callable[[bytes], bytes | bytearray]


class UnreadableFileError(Exception):
    """A metadata file that is truncated, corrupt, encrypted, or written in a way we cannot read."""


@dataclass(frozen=True, slots=True)
class Container:
    """An Avro file whose header was read."""

    raw: bytes
    schema: bytes  # the writer's schema, JSON
    metadata: Mapping[str, bytes]
    codec: str
    sync: bytes
    body_start: int

    def blocks(self, inflate: Decompress | None = None) -> Iterator[tuple[int, bytes | bytearray]]:
        """Each block's number of records and its decompressed bytes, deflate by `inflate` or by zlib; UnreadableFileError where the file is broken."""
        position, end = self.body_start, len(self.raw)
        decompress = inflate if inflate is not None and self.codec == "deflate" else _decompressor(self.codec)
        while position < end:
            start = position
            count, position = read_long(self.raw, position)
            data, position = _read_bytes(self.raw, position)
            if count < 0:
                message = f"the block at byte {start} claims {count} records"
                raise UnreadableFileError(message)
            if self.raw[position : position + SYNC_BYTES] != self.sync:
                message = f"the block at byte {start} does not end in the file's sync marker"
                raise UnreadableFileError(message)
            position += SYNC_BYTES
            try:
                yield count, decompress(data)
            except (zlib.error, zstandard.ZstdError, pa.ArrowException, OSError, ValueError) as error:
                message = f"the block at byte {start} cannot be decompressed ({self.codec}): {error}"
                raise UnreadableFileError(message) from error


def open_container(raw: bytes) -> Container:
    """Read an Avro file's header; UnreadableFileError when it is no Avro file or cut short."""
    if raw[: len(MAGIC)] != MAGIC:
        message = "it is not an Avro file" if raw else "it is empty"
        raise UnreadableFileError(message)
    metadata: dict[str, bytes] = {}
    position = len(MAGIC)
    while True:
        count, position = read_long(raw, position)
        if count == 0:
            break
        if count < 0:  # Avro: a negative count is followed by the block's size in bytes
            count = -count
            _, position = read_long(raw, position)
        for _ in range(count):
            key, position = _read_bytes(raw, position)
            metadata[key.decode("utf-8", "replace")], position = _read_bytes(raw, position)
    sync = raw[position : position + SYNC_BYTES]
    if len(sync) < SYNC_BYTES:
        message = "it ends inside its header"
        raise UnreadableFileError(message)
    schema = metadata.get("avro.schema")
    if schema is None:
        message = "its header has no avro.schema"
        raise UnreadableFileError(message)
    codec = metadata.get("avro.codec", b"null").decode("utf-8", "replace")
    return Container(raw, schema, metadata, codec, sync, position + SYNC_BYTES)


def read_long(raw: bytes, position: int) -> tuple[int, int]:
    """Avro's zigzag variable-length integer, and the position behind it."""
    value = 0
    for index in range(_MAX_VARINT_BYTES):
        if position + index >= len(raw):
            message = f"it ends inside a number at byte {position}"
            raise UnreadableFileError(message)
        byte = raw[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:  # noqa: PLR2004 - the high bit says that more bytes follow
            return (value >> 1) ^ -(value & 1), position + index + 1
    message = f"the number at byte {position} is longer than {_MAX_VARINT_BYTES} bytes"
    raise UnreadableFileError(message)


def _read_bytes(raw: bytes, position: int) -> tuple[bytes, int]:
    length, start = read_long(raw, position)
    if length < 0 or start + length > len(raw):
        message = f"it ends at byte {len(raw)}, inside a field of {length} bytes that starts at byte {start}"
        raise UnreadableFileError(message)
    return raw[start : start + length], start + length


def _decompressor(codec: str) -> Decompress:
    match codec:
        case "null":
            return bytes
        case "deflate":
            return _inflate
        case "zstandard":
            return _decompress_zstandard
        case "snappy":
            return _decompress_snappy
        case "bzip2":
            return bz2.decompress
        case _:
            message = f"its codec {codec!r} is none of null, deflate, zstandard, snappy, bzip2"
            raise UnreadableFileError(message)


class Inflater:
    """Inflates the blocks of one file by libdeflate where it is installed, and by zlib what it refuses, which has the words for what is broken.

    libdeflate wants to know where to put what comes out: there is room for a usual block, and for as much as the file's largest so far.
    """

    def __init__(self) -> None:
        self._room = _USUAL_BLOCK_BYTES

    def __call__(self, data: bytes) -> bytes | bytearray:
        """The block's bytes; ValueError or zlib.error when they are broken or too many."""
        if deflate is not None:
            with contextlib.suppress(deflate.DeflateError):
                return deflate.deflate_decompress(data, self._room)
        plain = _inflate(data)
        self._room = max(self._room, min(len(plain), _MAX_ROOM_BYTES))
        return plain


def _inflate(data: bytes) -> bytes:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    plain = inflater.decompress(data, MAX_BLOCK_BYTES)
    if inflater.unconsumed_tail:
        message = f"it holds more than {MAX_BLOCK_BYTES} bytes"
        raise ValueError(message)
    if not inflater.eof:
        message = "the compressed data is cut short"
        raise ValueError(message)
    return plain


def _decompress_zstandard(data: bytes) -> bytes:
    inflater = zstandard.ZstdDecompressor().decompressobj()
    plain = inflater.decompress(data)
    if not inflater.eof:
        message = "the compressed data is cut short"
        raise ValueError(message)
    return plain


def _decompress_snappy(data: bytes) -> bytes:
    body, checksum = data[:-4], data[-4:]
    length, shift = 0, 0
    for byte in body[:5]:  # Snappy: the plain length first, as a varint of 32 bits
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:  # noqa: PLR2004 - the high bit says that more bytes follow
            break
    if length > MAX_BLOCK_BYTES:
        message = f"it holds {length} bytes, more than {MAX_BLOCK_BYTES}"
        raise ValueError(message)
    plain: bytes = pa.Codec("snappy").decompress(body, decompressed_size=length, asbytes=True)
    if binascii.crc32(plain).to_bytes(4, "big") != checksum:
        message = "its checksum does not match"
        raise ValueError(message)
    return plain
