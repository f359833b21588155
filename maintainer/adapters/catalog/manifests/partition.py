"""Formats partition values for people: ``day=2026-01-01/bucket=3``."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any, Final
from uuid import UUID

from maintainer.domain.inventory import NULL_TEXT, PartitionField, PartitionSpec, escape

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - Iceberg's timestamp without a zone
_EPOCH_UTC: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DATE: Final = date(1970, 1, 1)
# Iceberg's decimals have up to 38 digits; the default context rounds to 28 digits.
_DECIMALS: Final = Context(prec=76)


@dataclass(frozen=True, slots=True)
class SpecField:
    """One field of a partition spec."""

    field_id: int
    name: str
    transform: str
    column: tuple[str, ...] = ()  # the nested name of the source column
    type_name: str = ""  # of the source column


@dataclass(frozen=True, slots=True)
class Spec:
    """The parts of a partition spec that the text of its values needs."""

    spec_id: int
    fields: tuple[SpecField, ...]

    @property
    def is_partitioned(self) -> bool:
        """Whether the spec has fields other than void ones, which v1 keeps for dropped fields."""
        return any(field.transform != "void" for field in self.fields)

    def describe(self) -> PartitionSpec:
        """Return the spec as the inventory has it."""
        return PartitionSpec(
            self.spec_id,
            tuple(
                PartitionField(field.name, field.transform, field.column, field.type_name)
                for field in self.fields
            ),
        )


@dataclass(frozen=True, slots=True)
class StoredField:
    """One field of the partition struct in a manifest."""

    name: str
    field_id: int | None
    type_name: str  # Avro's logical type, or else its type
    scale: int
    is_utc: bool


def header_spec(metadata: Mapping[str, bytes], spec_id: int) -> Spec | None:
    """Read the spec in a manifest's header, if the table's metadata no longer has the spec."""
    try:
        fields = json.loads(metadata.get("partition-spec", b"[]"))
        return Spec(
            spec_id,
            tuple(
                SpecField(int(f["field-id"]), str(f["name"]), str(f["transform"])) for f in fields
            ),
        )
    except (ValueError, KeyError, TypeError):
        return None


def compile_partition_text(
    stored: Sequence[StoredField], spec: Spec | None
) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that writes a partition struct as a text.

    Without a spec the manifest's field names are used.
    """
    by_id = {field.field_id: field for field in spec.fields} if spec is not None else {}
    columns: list[tuple[str, str, Callable[[Any], str]]] = []
    for position, field in enumerate(stored):
        known = by_id.get(field.field_id) if field.field_id is not None else _at(spec, position)
        transform = known.transform if known is not None else "identity"
        if transform == "void":
            continue
        columns.append(
            (
                field.name,
                escape(known.name if known is not None else field.name) + "=",
                _writer(transform, field),
            )
        )

    def write(values: Mapping[str, Any]) -> str:
        return "/".join(
            label + (NULL_TEXT if (value := values.get(name)) is None else to_text(value))
            for name, label, to_text in columns
        )

    return write


def _at(spec: Spec | None, position: int) -> SpecField | None:
    return spec.fields[position] if spec is not None and position < len(spec.fields) else None


def _writer(transform: str, field: StoredField) -> Callable[[Any], str]:
    if transform in {"year", "years"}:
        return lambda value: f"{1970 + value:04d}"
    if transform in {"month", "months"}:
        return lambda value: f"{1970 + value // 12:04d}-{value % 12 + 1:02d}"
    if transform in {"day", "days"}:
        return _safely(_write_date)
    if transform in {"hour", "hours"}:
        return _safely(lambda value: (_EPOCH + timedelta(hours=value)).strftime("%Y-%m-%d-%H"))
    return _safely(_plain_writer(field))


def _plain_writer(field: StoredField) -> Callable[[Any], str]:
    match field.type_name:
        case "date":
            return _write_date
        case (
            "timestamp-millis"
            | "timestamp-micros"
            | "timestamp-nanos"
            | "local-timestamp-millis"
            | "local-timestamp-micros"
            | "local-timestamp-nanos"
        ):
            return _timestamp_writer(
                field.type_name.rpartition("-")[2],
                field.is_utc and not field.type_name.startswith("local"),
            )
        case "time-micros":
            return lambda value: (_EPOCH + timedelta(microseconds=value)).time().isoformat()
        case "time-millis":
            return lambda value: (_EPOCH + timedelta(milliseconds=value)).time().isoformat()
        case "decimal":
            return lambda value: format(
                Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-field.scale, _DECIMALS),
                "f",
            )
        case "uuid":
            return lambda value: (
                str(UUID(bytes=value)) if isinstance(value, bytes) else escape(str(value))
            )
        case "boolean":
            return lambda value: "true" if value else "false"
        case "bytes" | "fixed":
            return lambda value: (
                base64.b64encode(value).decode("ascii").replace("/", "%2F").replace("=", "%3D")
            )
        case _:
            return lambda value: escape(str(value))


def _write_date(days: int) -> str:
    return (_EPOCH_DATE + timedelta(days=days)).isoformat()


def _timestamp_writer(unit: str, is_utc: bool) -> Callable[[int], str]:
    epoch = _EPOCH_UTC if is_utc else _EPOCH
    if unit == "nanos":
        return lambda value: _write_nanos(epoch, value)
    factor = 1000 if unit == "millis" else 1
    return lambda value: (epoch + timedelta(microseconds=value * factor)).isoformat()


def _write_nanos(epoch: datetime, nanos: int) -> str:
    micros, rest = divmod(nanos, 1000)
    moment = epoch + timedelta(microseconds=micros)
    if rest == 0:
        return moment.isoformat()
    offset = "+00:00" if moment.tzinfo is not None else ""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')}{rest:03d}{offset}"


def _safely(to_text: Callable[[Any], str]) -> Callable[[Any], str]:
    """Use the raw value if `to_text` fails.

    A date that Python cannot represent, or a value of another type, must still name a partition.
    """

    def write(value: Any) -> str:  # noqa: ANN401 - any value that a manifest stores
        try:
            return to_text(value)
        except (OverflowError, ValueError, TypeError, AttributeError):
            return escape(str(value))

    return write
