"""Reads Avro's container format.

A file has a header with the writer's schema, and then compressed blocks. A sync marker follows each
block.
"""

from __future__ import annotations

import binascii
import bz2
import contextlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import zstandard

from maintainer.adapters.catalog.limits import (
    MAX_BLOCK_BYTES,
    MAX_MANIFEST_BYTES,
    TooLargeError,
    UnreadableFileError,
)

try:
    import deflate
except ImportError:  # a platform without libdeflate
    deflate = None  # type: ignore[assignment]

_NAME: Final = "the file, decompressed,"
MAGIC: Final = b"Obj\x01"
SYNC_BYTES: Final = 16
_MAX_VARINT_BYTES: Final = 10  # Avro's long has 64 bits, with 7 bits in each byte
_USUAL_BLOCK_BYTES: Final = 80 << 10
_MAX_ROOM_BYTES: Final = 4 << 20


Decompress = Callable[[bytes], bytes | bytearray]


@dataclass(frozen=True, slots=True)
class Container:
    """An Avro file after its header."""

    raw: bytes
    schema: bytes  # the writer's schema as JSON
    metadata: Mapping[str, bytes]
    codec: str
    sync: bytes
    body_start: int
    most_bytes: int = MAX_MANIFEST_BYTES  # for all decompressed blocks together

    def blocks(self, inflate: Decompress | None = None) -> Iterator[tuple[int, bytes | bytearray]]:
        """Yield the number of records and the decompressed bytes of each block.

        `inflate` decompresses them, or else zlib. UnreadableFileError for a corrupt file.
        """
        position, end, left = self.body_start, len(self.raw), self.most_bytes
        decompress = (
            inflate
            if inflate is not None and self.codec == "deflate"
            else _decompressor(self.codec)
        )
        while position < end:
            start = position
            count, position = read_long(self.raw, position)
            data, position = _read_bytes(self.raw, position)
            if count < 0:
                raise UnreadableFileError(f"the block at byte {start} claims {count} records")
            if self.raw[position : position + SYNC_BYTES] != self.sync:
                raise UnreadableFileError(
                    f"the block at byte {start} does not end in the file's sync marker"
                )
            position += SYNC_BYTES
            try:
                plain = decompress(data)
            except (
                zlib.error,
                zstandard.ZstdError,
                OSError,
                ValueError,
            ) as error:
                raise UnreadableFileError(
                    f"the block at byte {start} cannot be decompressed ({self.codec}): {error}"
                ) from error
            # Every record of Iceberg takes bytes. A block could claim any number of empty records.
            if count > len(plain):
                raise UnreadableFileError(
                    f"the block at byte {start} claims {count} records in {len(plain)} bytes"
                )
            left -= len(plain)
            if left < 0:
                raise TooLargeError(_NAME, None, self.most_bytes)
            yield count, plain


def open_container(raw: bytes, most_bytes: int = MAX_MANIFEST_BYTES) -> Container:
    """Read an Avro file's header; all decompressed blocks may have at most `most_bytes`.

    UnreadableFileError if the file is truncated or is not an Avro file.
    """
    if raw[: len(MAGIC)] != MAGIC:
        raise UnreadableFileError("it is not an Avro file" if raw else "it is empty")
    metadata: dict[str, bytes] = {}
    position = len(MAGIC)
    while True:
        count, position = read_long(raw, position)
        if count == 0:
            break
        if count < 0:  # in Avro the block's size in bytes follows a negative count
            count = -count
            _, position = read_long(raw, position)
        for _ in range(count):
            key, position = _read_bytes(raw, position)
            metadata[key.decode("utf-8", "replace")], position = _read_bytes(raw, position)
    sync = raw[position : position + SYNC_BYTES]
    if len(sync) < SYNC_BYTES:
        raise UnreadableFileError("it ends inside its header")
    schema = metadata.get("avro.schema")
    if schema is None:
        raise UnreadableFileError("its header has no avro.schema")
    codec = metadata.get("avro.codec", b"null").decode("utf-8", "replace")
    return Container(raw, schema, metadata, codec, sync, position + SYNC_BYTES, most_bytes)


def read_long(raw: bytes, position: int) -> tuple[int, int]:
    """Read Avro's zigzag variable-length integer; return the integer and the position behind it."""
    value = 0
    for index in range(_MAX_VARINT_BYTES):
        if position + index >= len(raw):
            raise UnreadableFileError(f"it ends inside a number at byte {position}")
        byte = raw[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:  # noqa: PLR2004 - the high bit says that more bytes follow
            return (value >> 1) ^ -(value & 1), position + index + 1
    raise UnreadableFileError(
        f"the number at byte {position} is longer than {_MAX_VARINT_BYTES} bytes"
    )


def _read_bytes(raw: bytes, position: int) -> tuple[bytes, int]:
    length, start = read_long(raw, position)
    if length < 0 or start + length > len(raw):
        raise UnreadableFileError(
            f"it ends at byte {len(raw)}, inside a field of {length} bytes that starts at byte "
            f"{start}"
        )
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
            return _decompress_bzip2
        case _:
            raise UnreadableFileError(
                f"its codec {codec!r} is none of null, deflate, zstandard, snappy, bzip2"
            )


class Inflater:
    """Inflates the blocks of one file with libdeflate, or with zlib.

    If libdeflate fails, zlib inflates the block too, because its errors name the damage. libdeflate
    needs the size of its output in advance, so the buffer has room for a usual block and for the
    largest block of the file so far.
    """

    def __init__(self) -> None:
        self._room = _USUAL_BLOCK_BYTES

    def __call__(self, data: bytes) -> bytes | bytearray:
        """Inflate one block; ValueError or zlib.error if it is corrupt or too large."""
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
        raise ValueError(f"it has more than {MAX_BLOCK_BYTES} bytes")
    if not inflater.eof:
        raise ValueError("the compressed data is cut short")
    return plain


def _decompress_zstandard(data: bytes) -> bytes:
    size = zstandard.frame_content_size(data)
    if size > MAX_BLOCK_BYTES:
        raise ValueError(f"it holds {size} bytes, more than {MAX_BLOCK_BYTES}")
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=MAX_BLOCK_BYTES)


def _decompress_bzip2(data: bytes) -> bytes:
    inflater = bz2.BZ2Decompressor()
    plain = inflater.decompress(data, MAX_BLOCK_BYTES)
    if not inflater.eof:
        raise ValueError(
            f"the compressed data is cut short, or has more than {MAX_BLOCK_BYTES} bytes"
        )
    return plain


def _decompress_snappy(data: bytes) -> bytes:
    body, checksum = data[:-4], data[-4:]
    length, shift = 0, 0
    for byte in body[:5]:  # Snappy begins with the decompressed length, a varint of 32 bits
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:  # noqa: PLR2004 - the high bit says that more bytes follow
            break
    if length > MAX_BLOCK_BYTES:
        raise ValueError(f"it holds {length} bytes, more than {MAX_BLOCK_BYTES}")
    import pyarrow as pa  # noqa: PLC0415 - a slow import, and few manifests have this codec

    try:
        plain: bytes = pa.Codec("snappy").decompress(body, decompressed_size=length, asbytes=True)
    except pa.ArrowException as error:
        raise ValueError(error) from error
    if binascii.crc32(plain).to_bytes(4, "big") != checksum:
        raise ValueError("its checksum does not match")
    return plain
