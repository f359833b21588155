"""How a partition of one spec maps to partitions of another, where the values show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.partition import NULL_TEXT, escape, read_partition

# Times as text are prefixes of each other: "2026-01-31-05", "2026-01-31", "2026-01", "2026".
_TIMES: Final = {"hour": 13, "day": 10, "month": 7, "year": 4}
_DATES: Final = frozenset({"date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})


def count_partitions(
    places: Iterable[tuple[int, str]], specs: Mapping[int, PartitionSpec], output: PartitionSpec
) -> int | None:
    """The number of partitions of the output spec that files of these (spec, partition) lie in.

    None when unknown.
    """
    found = set()
    for spec_id, text in places:
        translated = (
            text if spec_id == output.spec_id else _translate(text, specs.get(spec_id), output)
        )
        if translated is None:
            return None
        found.add(translated)
    return len(found)


def _translate(text: str, spec: PartitionSpec | None, output: PartitionSpec) -> str | None:
    values = read_partition(text, spec) if spec is not None else None
    if spec is None or values is None:
        return None
    parts = []
    for wanted in output.fields:
        if wanted.transform == "void":
            continue
        source = next((field for field in spec.fields if _tells(field, wanted)), None)
        if source is None:
            return None
        value = values[source.name]
        text = NULL_TEXT if value is None else escape(_shorten(value, wanted))
        parts.append(f"{escape(wanted.name)}={text}")
    return "/".join(parts)


def _tells(field: PartitionField, wanted: PartitionField) -> bool:
    if not field.column or field.column != wanted.column:
        return False
    if field.transform == wanted.transform:
        return True
    if field.transform == "identity":
        return wanted.transform in _TIMES and field.type_name in _DATES
    return _TIMES.get(field.transform, 0) > _TIMES.get(wanted.transform, len(_TIMES) * 10)


def _shorten(value: str, wanted: PartitionField) -> str:
    length = _TIMES.get(wanted.transform)
    return value.replace("T", "-")[:length] if length is not None else value
