"""A snapshot's summary that is decoded at its use; most of a long history is only counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec


class _Operation(msgspec.Struct):
    operation: Any = None


_OPERATIONS: Final = msgspec.json.Decoder(_Operation | None)
_SUMMARIES: Final = msgspec.json.Decoder(dict[str, Any] | None)


class LazySummary(Mapping[str, str]):
    """The summary without its operation.

    Values that are not strings become text; a summary that cannot be decoded is empty.
    """

    __slots__ = ("_found", "_raw")

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._found: dict[str, str] | None = None

    def __getitem__(self, key: str) -> str:
        return self._values()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    def __repr__(self) -> str:
        return repr(self._values())

    def _values(self) -> dict[str, str]:
        if self._found is None:
            try:
                values = _SUMMARIES.decode(self._raw) or {}
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                values = {}  # an invalid summary of another writer does not make a table unreadable
            self._found = {
                key: value if isinstance(value, str) else str(value)
                for key, value in values.items()
                if value is not None and key != "operation"
            }
        return self._found


def read_operation(raw: bytes) -> str:
    """Read a summary's operation, "" if it has none; msgspec.DecodeError if it is invalid."""
    found = _OPERATIONS.decode(raw)
    operation = None if found is None else found.operation
    return operation if isinstance(operation, str) else "" if operation is None else str(operation)
