"""The shape of a noun: its fields and their types, down to the nouns inside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any, get_args, get_type_hints

_DIGITS = 8


def digest_shape(noun: type) -> str:
    """A digest that differs if a field of the noun, or of a noun inside it, is another one."""
    return sha256("\n".join(_describe(noun, set())).encode()).hexdigest()[:_DIGITS]


def _describe(noun: Any, seen: set[type]) -> Iterator[str]:  # noqa: ANN401 - a type or its part
    if isinstance(noun, type) and is_dataclass(noun) and noun not in seen:
        seen.add(noun)
        types = get_type_hints(noun)
        for field in fields(noun):
            yield f"{noun.__name__}.{field.name}: {types[field.name]!r}"
            yield from _describe(types[field.name], seen)
    for part in get_args(noun):
        yield from _describe(part, seen)
