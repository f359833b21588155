"""Lines in compressed portions. A portion fits into one message."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MAX_PORTION_BYTES = 180_000  # compressed; as text it fits into one message
_ENOUGH_BYTES = 96 * 1024  # compressed; a portion is full then, and zlib still has some bytes
_ENOUGH_RAW_BYTES = 4 * 1024**2
_MAX_RAW_BYTES = 8 * 1024**2  # the last line may be long


@dataclass(frozen=True)
class Packed:
    """Some lines, compressed; `is_last` says that no more portions follow."""

    lines: int
    data: bytes
    is_last: bool = False


class Packer:
    """Compresses lines, and returns a portion when it is full."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._zlib = zlib.compressobj(level=6)
        self._data = bytearray()
        self._lines = self._raw_bytes = 0

    def add(self, line: str) -> Packed | None:
        """Add a line; return the portion that it completes, if any."""
        raw = (("\n" if self._lines else "") + line).encode()
        self._data += self._zlib.compress(raw)
        self._lines += 1
        self._raw_bytes += len(raw)
        if len(self._data) < _ENOUGH_BYTES and self._raw_bytes < _ENOUGH_RAW_BYTES:
            return None
        return self.finish()

    def finish(self, *, is_last: bool = False) -> Packed:
        """Return the lines since the last portion, even if there are none.

        ValueError if the lines do not fit into a portion.
        """
        data = bytes(self._data) + self._zlib.flush()
        packed, raw_bytes = Packed(self._lines, data, is_last), self._raw_bytes
        self._begin()
        if len(data) > MAX_PORTION_BYTES or raw_bytes > _MAX_RAW_BYTES:
            raise ValueError(
                f"a portion of {packed.lines} lines has {raw_bytes:,} bytes, {len(data):,} of them "
                f"compressed; the limits are {_MAX_RAW_BYTES:,} and {MAX_PORTION_BYTES:,}: one of "
                f"its lines is too long"
            )
        return packed


def pack(lines: Iterable[str]) -> Iterator[Packed]:
    """Yield the lines in portions; the last portion has `is_last`, and may be empty."""
    packer = Packer()
    for line in lines:
        packed = packer.add(line)
        if packed is not None:
            yield packed
    yield packer.finish(is_last=True)


def unpack(data: bytes) -> str:
    """Return the lines with a line break between them; ValueError if the portion is incomplete."""
    inflating = zlib.decompressobj()
    try:
        text = inflating.decompress(data, _MAX_RAW_BYTES)
    except zlib.error as error:
        raise ValueError(f"a portion cannot be read: {error}") from error
    if not inflating.eof:
        raise ValueError(f"a portion is incomplete, or longer than {_MAX_RAW_BYTES:,} bytes")
    return text.decode()


def write_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def read_text(text: str) -> bytes:
    """Read a portion from its text; ValueError if the text is not a portion."""
    return base64.b64decode(text, validate=True)
