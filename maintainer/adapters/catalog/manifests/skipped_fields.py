"""Byte layout of the fields that are skipped.

If a record has the layout of an earlier record, adjacent skipped fields are skipped in one step.
Statistics are the largest part of a file's entry, and have the same columns and widths from file to
file. The mask of a layout selects the bits that decide where the next value begins: all bits of a
length, a count or a union's branch; of any other number, the bits that say whether another byte
follows; no bits of contents. Bytes that are equal under the mask lead a reader through the same
steps, so every decisive bit has been checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

# The number of bytes, the mask and the masked bytes (both as little-endian numbers).
Layout = tuple[int, int, int]

NOTHING_LEARNT: Final[Layout] = (0, 0, 0)
_MAX_BYTES: Final = 1 << 15  # longer values have no layout
_WHOLE, _CONTINUES, _NOTHING = b"\xff", b"\x80", b"\0"
_CONTINUED: Final = 0x80  # this bit of a number's byte says that another byte follows
_NUMBERS: Final = ("int", "long")
_SIZED: Final = ("bytes", "string")
_FIXED_BYTES: Final = {"null": 0, "boolean": 1, "float": 4, "double": 8}


def learn(data: bytes, schemas: Sequence[Any], resolve: Callable[[Any], Any]) -> Layout:
    """Learn the layout of adjacent values of these Avro types.

    ValueError or IndexError if the bytes do not have these types.
    """
    if len(data) > _MAX_BYTES:
        return NOTHING_LEARNT
    walk = _Walk(data, resolve)
    for schema in schemas:
        walk.follow(resolve(schema))
    if walk.position != len(data):
        raise ValueError(f"{len(data)} bytes contain values of {walk.position} bytes")
    mask = int.from_bytes(walk.mask, "little")
    return len(data), mask, int.from_bytes(data, "little") & mask


class _Walk:
    """Walks from value to value and collects the decisive bits.

    This code runs often, so the most frequent types come first.
    """

    def __init__(self, data: bytes, resolve: Callable[[Any], Any]) -> None:
        self.position = 0
        self.mask = bytearray()
        self._data = data
        self._resolve = resolve

    def follow(self, schema: Any) -> None:  # noqa: ANN401 - an Avro schema is any JSON
        """Skip one value of a resolved type."""
        if schema in _NUMBERS:
            self._number(_CONTINUES)
        elif schema in _SIZED:
            self._contents(self._number(_WHOLE))
        elif isinstance(schema, str):
            self._contents(_FIXED_BYTES[schema])
        elif isinstance(schema, list):
            self.follow(self._resolve(schema[self._number(_WHOLE)]))
        else:
            self._follow_object(schema)

    def _follow_object(self, schema: Mapping[str, Any]) -> None:
        match schema:
            case {"type": "record", "fields": fields}:
                for field in fields:
                    self.follow(self._resolve(field["type"]))
            case {"type": "array", "items": items}:
                self._repeated([items])
            case {"type": "map", "values": values}:
                self._repeated(["string", values])
            case {"type": "fixed", "size": size}:
                self._contents(size)
            case {"type": "enum"}:
                self._number(_CONTINUES)
            case other:
                raise ValueError(f"the type {other!r} has no layout")

    def _repeated(self, items: list[Any]) -> None:
        parts: list[Any] = []
        for item in map(self._resolve, items):
            parts += (
                map(self._resolve, (field["type"] for field in item["fields"]))
                if isinstance(item, dict) and item["type"] == "record"
                else [item]
            )
        while count := self._number(_WHOLE):
            if count < 0:
                self._contents(self._number(_WHOLE))
                continue
            for _ in range(count):
                for part in parts:
                    self.follow(part)

    def _number(self, mask: bytes) -> int:
        data, position = self._data, self.position
        value = data[position]
        if value >= _CONTINUED:
            shift, value = 7, value - _CONTINUED
            while (byte := data[position := position + 1]) >= _CONTINUED:
                value |= (byte - _CONTINUED) << shift
                shift += 7
            value |= byte << shift
        self.mask += mask * (position + 1 - self.position)
        self.position = position + 1
        return (value >> 1) ^ -(value & 1)

    def _contents(self, size: int) -> None:
        if not 0 <= size <= len(self._data) - self.position:
            raise ValueError(size)
        self.position += size
        self.mask += _NOTHING * size
