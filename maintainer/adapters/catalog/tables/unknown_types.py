"""Reads tables with columns of a type that PyIceberg does not know, such as variant.

The daemon reads only metadata and footers, and no values of such a type. So each unknown type is
read as binary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError
from pyiceberg.exceptions import ValidationError as WrappedError
from pyiceberg.types import PrimitiveType

_REFUSED: Final = ("Unsupported field type", "Type not recognized")  # in PyIceberg's messages
_INSTEAD: Final = "binary"


def names_unknown_type(error: Exception) -> bool:
    """Return whether PyIceberg refused the metadata only because of an unknown type."""
    found = error.__cause__ if isinstance(error, WrappedError) else error
    return isinstance(found, ValidationError) and all(
        any(words in one["msg"] for words in _REFUSED) for one in found.errors()
    )


def with_known_types(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table's metadata in which known types replace the unknown types."""
    found = dict(metadata)
    if "schemas" in found:
        found["schemas"] = [_know_fields(schema) for schema in found["schemas"]]
    return found


def _know_fields(struct: Mapping[str, Any]) -> dict[str, Any]:
    fields = [{**field, "type": _know(field["type"])} for field in struct["fields"]]
    return {**struct, "fields": fields}


def _know(kind: Any) -> Any:  # noqa: ANN401 - a type in JSON: a name, or an object
    match kind:
        case {"type": "struct"}:
            return _know_fields(kind)
        case {"type": "list", "element": element}:
            return {**kind, "element": _know(element)}
        case {"type": "map", "key": key, "value": value}:
            return {**kind, "key": _know(key), "value": _know(value)}
        case str():
            return kind if _is_known(kind) else _INSTEAD
        case _:
            return kind


def _is_known(name: str) -> bool:
    try:
        PrimitiveType.model_validate(name)
    except ValueError:
        return False
    return True
