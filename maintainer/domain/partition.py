"""The text of a partition: "day=2026-01-01/bucket=3".

Readers write it, and it is parsed where values are needed.
"""

from __future__ import annotations

from re import compile as compile_regex
from typing import Final

from maintainer.domain.inventory import PartitionSpec

NULL_TEXT: Final = "null"
# Characters that could give two partitions the same text. "%" comes first, as it is the escape.
_ESCAPES: Final = {
    "%": "%25",
    "/": "%2F",
    "=": "%3D",
    "\n": "%0A",
    "\r": "%0D",
    "\t": "%09",
    "\x00": "%00",
}
_ESCAPED: Final = compile_regex(r"%[0-9A-F]{2}")


def escape(text: str) -> str:
    """Escape separators inside a value, and the text "null", which means no value."""
    if text == NULL_TEXT:
        return "%6Eull"
    return "".join(_ESCAPES.get(character, character) for character in text)


def unescape(text: str) -> str:
    """The inverse of escape()."""
    return _ESCAPED.sub(lambda found: chr(int(found[0][1:], 16)), text)


def null_partition(spec: PartitionSpec) -> str:
    """The text of the partition with only null values; empty for a spec without fields."""
    return "/".join(
        f"{escape(field.name)}={NULL_TEXT}" for field in spec.fields if field.transform != "void"
    )


def read_partition(text: str, spec: PartitionSpec) -> dict[str, str | None] | None:
    """Field name to value, unescaped; None for null.

    None as a whole when the text does not fit the spec.
    """
    names = [field.name for field in spec.fields if field.transform != "void"]
    if not names:
        return None if text else {}
    parts = [part.partition("=") for part in text.split("/")]
    if [unescape(label) for label, _, _ in parts] != names or any(
        not separator for _, separator, _ in parts
    ):
        return None
    return {
        name: None if value == NULL_TEXT else unescape(value)
        for name, (_, _, value) in zip(names, parts, strict=True)
    }
