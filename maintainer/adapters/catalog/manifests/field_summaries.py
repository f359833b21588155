"""Compares the partitions in a manifest with the summaries of their fields in the manifest list.

Readers skip a manifest whose summaries exclude what they look for, so a summary that excludes the
manifest's own entries hides rows and deletes. Java before Iceberg 1.11 wrote such summaries for
binary fields (apache/iceberg 15128). Bounds may be rounded outwards, so a summary is wrong only if
a value is outside of it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from math import isnan
from typing import Any, Final

from maintainer.adapters.catalog.manifests.partition import StoredField

# contains_null, contains_nan, lower bound, upper bound; None: not written
FieldSummary = tuple[bool | None, bool | None, bytes | None, bytes | None]
SUMMARY_NAMES: Final = ("contains_null", "contains_nan", "lower_bound", "upper_bound")
_FLOATS: Final = {4: "<f", 8: "<d"}
_Key = Callable[[Any], Any]


def read_summaries(stored: object) -> tuple[FieldSummary, ...] | None:
    """Return the summaries of a manifest's partition fields; None if there are none to use."""
    if not isinstance(stored, list):
        return None
    found = [_read_summary(one) for one in stored]
    known = tuple(one for one in found if one is not None)
    return known if len(known) == len(found) else None


def _read_summary(stored: object) -> FieldSummary | None:
    values = (
        tuple(stored.get(name) for name in SUMMARY_NAMES) if isinstance(stored, Mapping) else stored
    )
    match values:
        case (
            bool() | None as has_null,
            bool() | None as has_nan,
            bytes() | None as lower,
            bytes() | None as upper,
        ):
            return has_null, has_nan, lower, upper
        case _:
            return None


def find_summary_fault(
    summaries: Sequence[FieldSummary] | None,
    fields: Sequence[StoredField],
    partitions: Collection[tuple[Any, ...]],
) -> str:
    """Say which field's summary excludes one of these partitions; empty if none does.

    A summary that cannot be compared is not wrong.
    """
    if not summaries or len(summaries) != len(fields):
        return ""
    for position, (field, summary) in enumerate(zip(fields, summaries, strict=True)):
        values = {partition[position] for partition in partitions if len(partition) == len(fields)}
        reason = _find_fault(summary, field, values)
        if reason:
            return f"{field.name}: {reason}"
    return ""


def _find_fault(summary: FieldSummary, field: StoredField, values: set[Any]) -> str:
    has_null, has_nan, lower, upper = summary
    if None in values and has_null is False:
        return "the summary denies that a value is null"
    nans = {value for value in values if isinstance(value, float) and isnan(value)}
    if nans and has_nan is False:
        return "the summary denies that a value is not a number"
    known = values - nans - {None}
    if not known:
        return ""
    if lower is None or upper is None:
        # Readers take a missing bound to mean that all values are null.
        return "the summary has no bounds, although there are values"
    try:
        is_inside = any(
            of_bound(lower) <= min(map(of_value, known))
            and max(map(of_value, known)) <= of_bound(upper)
            for of_value, of_bound in _orders(field, next(iter(known)))
        )
    except (struct.error, KeyError, IndexError, TypeError, ValueError):
        return ""
    return "" if is_inside else "a value is outside the bounds of the summary"


def _orders(field: StoredField, value: object) -> tuple[tuple[_Key, _Key], ...]:
    """Return the orders in which Iceberg's versions compare values: keys of a value and a bound."""
    match value:
        case bool():
            return ((int, lambda bound: bound[0]),)
        case int():
            return ((int, _read_integer),)
        case float():
            return ((float, _read_float),)
        case str():
            return (
                (_as_utf16, lambda bound: _as_utf16(bound.decode())),  # before Iceberg compared
                (str, bytes.decode),  # code points
            )
        case bytes() if field.type_name == "decimal":
            return ((_read_decimal, _read_decimal),)
        case bytes() if field.type_name == "uuid":
            return ((bytes, bytes), (_signed_halves, _signed_halves))
        case bytes():
            return ((bytes, bytes),)
        case _:
            raise TypeError(type(value).__name__)


def _read_integer(bound: bytes) -> int:
    return int.from_bytes(bound, "little", signed=True)


def _read_float(bound: bytes) -> float:
    found: float = struct.unpack(_FLOATS[len(bound)], bound)[0]
    return found


def _read_decimal(unscaled: bytes) -> int:
    return int.from_bytes(unscaled, "big", signed=True)


def _as_utf16(text: str) -> bytes:
    return text.encode("utf-16-be")


def _signed_halves(value: bytes) -> tuple[int, int]:
    """Return the key by which Java's UUID is compared."""
    return _read_decimal(value[:8]), _read_decimal(value[8:])
