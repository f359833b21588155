"""The sort order of a rewrite, as Iceberg's procedure reads it."""

from __future__ import annotations

from re import IGNORECASE
from re import compile as compile_regex

_NAME = r"(?:`[^`]+`|\w+)"
_COLUMN = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_COLUMNS = rf"{_COLUMN}(?:\s*,\s*{_COLUMN})*"
_TRANSFORM = (
    r"(?:(?:bucket|truncate)\s*\(\s*(?:\d+\s*,\s*{column}|{column}\s*,\s*\d+)\s*\)"
    r"|(?:identity|years?|months?|days?|date|hours?|date_hour)\s*\(\s*{column}\s*\))"
).replace("{column}", _COLUMN)
_FIELD = rf"(?:{_TRANSFORM}|{_COLUMN})(?:\s+(?:ASC|DESC))?(?:\s+NULLS\s+(?:FIRST|LAST))?"
_FIELDS = compile_regex(rf"\s*{_FIELD}(?:\s*,\s*{_FIELD})*\s*", IGNORECASE)
_NAMED = compile_regex(rf"({_COLUMN})(\s*\()?")  # a transform is followed by its bracket
_WORDS = compile_regex(r"(?i)(`[^`]+`)|\s+(?:ASC|DESC|NULLS\s+(?:FIRST|LAST))\b")
_LEVEL = compile_regex(r"`([^`]+)`|(\w+)")
_ZORDER = compile_regex(rf"\s*zorder\s*\(\s*{_COLUMNS}\s*\)\s*", IGNORECASE)


def is_sort_order(text: str) -> bool:
    """True for columns and transforms with ASC, DESC and NULLS, and for ``zorder(a, b)``."""
    return any(form.fullmatch(text) for form in (_FIELDS, _ZORDER))


def find_columns(text: str) -> list[tuple[str, ...]]:
    """The columns that a sort order names, level by level, in lower case."""
    found = []
    for name, bracket in _NAMED.findall(_WORDS.sub(r"\1", text)):
        if not bracket and not name.isdigit():  # else a transform, or its number
            levels = _LEVEL.findall(name)
            found.append(tuple((quoted or plain).lower() for quoted, plain in levels))
    return found
