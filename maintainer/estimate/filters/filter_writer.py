"""A filter for rewrite_data_files that selects the files of some partitions, as Spark SQL.

Iceberg projects the filter onto each file's own partition spec, and takes all files that may match.
For the filter's own spec, exactly these partitions match. For other specs, files with overlapping
values match too.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from re import compile as compile_regex
from typing import Final

from maintainer.domain.condition_tokens import quote_identifier, quote_text
from maintainer.domain.inventory import PartitionField, PartitionSpec, read_partition

MAX_WHERE_CHARACTERS: Final = 8_000  # of 10,000 in a statement; the rest is for the policy's filter
_PARAMETER: Final = compile_regex(r"(bucket|truncate)\[(\d{1,10})\]")
_LARGEST_INT: Final = 2**31 - 1
_WHOLE: Final = compile_regex(r"-?\d{1,19}")
_TIME: Final = compile_regex(r"-?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(\+00:00)?")
_YEAR, _MONTH, _DAY, _HOUR = (
    compile_regex(text)
    for text in (r"\d{4}", r"\d{4}-\d\d", r"\d{4}-\d\d-\d\d", r"\d{4}-\d\d-\d\d-\d\d")
)
_PERIODS: Final = {"year": _YEAR, "month": _MONTH, "day": _DAY, "hour": _HOUR}
_TIMESTAMPS: Final = {"timestamp": "TIMESTAMP_NTZ", "timestamptz": "TIMESTAMP"}


def write_where(
    catalog: str, partitions: Iterable[tuple[int, str]], specs: Iterable[PartitionSpec]
) -> str | None:
    """The filter for these (spec, partition).

    None where a partition cannot be expressed, or the filter is too long.
    """
    by_id = {spec.spec_id: spec for spec in specs}
    written = [_write_partition(catalog, text, by_id.get(spec_id)) for spec_id, text in partitions]
    alternatives = list(dict.fromkeys(text for text in written if text is not None))
    if len(written) == 0 or None in written:
        return None
    joined = " OR ".join(alternatives)
    return joined if len(joined) <= MAX_WHERE_CHARACTERS else None


def _write_partition(catalog: str, text: str, spec: PartitionSpec | None) -> str | None:
    values = read_partition(text, spec) if spec is not None else None
    if not values or spec is None:
        return None  # an unpartitioned table has no partitions to select
    conditions = [
        _write_condition(catalog, field, values[field.name])
        for field in spec.fields
        if field.transform != "void"
    ]
    if any(condition is None for condition in conditions):
        return None
    return "(" + " AND ".join(condition for condition in conditions if condition is not None) + ")"


def _write_condition(catalog: str, field: PartitionField, value: str | None) -> str | None:
    if not field.column:
        return None
    column = ".".join(quote_identifier(level) for level in field.column)
    if value is None:
        return f"{column} IS NULL"
    if field.transform in _PERIODS:
        return _write_period(column, field, value)
    if field.transform == "identity":
        return _write_equal(column, field.type_name, value)
    parameter = _PARAMETER.fullmatch(field.transform)
    if parameter is None:
        return None
    # A bucket's number is an integer for every column type.
    literal = _write_literal("long" if parameter[1] == "bucket" else field.type_name, value)
    # The catalog's name is necessary, because the session's catalog does not have this function.
    return (
        f"{quote_identifier(catalog)}.system.{parameter[1]}({parameter[2]}, {column}) = {literal}"
        if literal is not None
        else None
    )


def _write_equal(column: str, type_name: str, value: str) -> str | None:
    if type_name in {"float", "double"} and value == "nan":
        # Iceberg reads this as its is_nan; it cannot use Spark's function isnan.
        return f"{column} = CAST('nan' AS {type_name.upper()})"
    literal = _write_literal(type_name, value)
    return f"{column} = {literal}" if literal is not None else None


def _write_literal(type_name: str, value: str) -> str | None:
    match type_name:
        case "string" | "uuid":
            return quote_text(value)
        case "boolean":
            return value if value in {"true", "false"} else None
        case "int" | "long":
            return _write_whole(value)
        case "float" | "double":
            return _write_number(value, type_name.upper())
        case "date":
            return f"DATE '{value}'" if _DAY.fullmatch(value) else None
        case "timestamp" | "timestamptz":
            return _write_time(type_name, value)
        case _ if type_name.startswith("decimal("):
            return _write_number(value, type_name.upper())
        case _ if type_name == "binary" or type_name.startswith("fixed["):
            return _write_bytes(value)
        case _:
            return None


def _write_whole(value: str) -> str | None:
    """A plain number for an INT.

    Spark would cast a function of an INT column for the comparison with a BIGINT, and Iceberg would
    no longer recognise it.
    """
    if _WHOLE.fullmatch(value) is None:
        return None
    return value if abs(int(value)) <= _LARGEST_INT else f"CAST('{value}' AS BIGINT)"


def _write_number(value: str, type_name: str) -> str | None:
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    return f"CAST('{number}' AS {type_name})"


def _write_time(type_name: str, value: str) -> str | None:
    if _TIME.fullmatch(value) is None or value.endswith("+00:00") is not (
        type_name == "timestamptz"
    ):
        return None
    return _moment(type_name, value.removesuffix("+00:00").replace("T", " "))


def _moment(type_name: str, text: str) -> str:
    return f"{_TIMESTAMPS[type_name]} '{text}{' UTC' if type_name == 'timestamptz' else ''}'"


def _write_bytes(value: str) -> str | None:
    try:
        return f"X'{base64.b64decode(value, validate=True).hex()}'"
    except binascii.Error:
        return None


def _write_period(column: str, field: PartitionField, value: str) -> str | None:
    """From the start of the period to the start of the next."""
    if _PERIODS[field.transform].fullmatch(value) is None or (
        field.type_name != "date" and field.type_name not in _TIMESTAMPS
    ):
        return None
    try:
        start, end = write_boundaries(value, is_date=field.type_name == "date")
    except (ValueError, OverflowError):
        return None  # Python cannot represent the period
    if field.type_name == "date":
        return f"{column} >= DATE '{start}' AND {column} < DATE '{end}'"
    return (
        f"{column} >= {_moment(field.type_name, start)} AND {column} < "
        f"{_moment(field.type_name, end)}"
    )


def write_boundaries(value: str, *, is_date: bool) -> tuple[str, str]:
    """The start of a period and of the next one, as SQL dates or times.

    ValueError or OverflowError for a period that Python's calendar does not have.
    """
    numbers = [int(part) for part in value.split("-")]
    match numbers:
        case [year]:
            start, end = date(year, 1, 1), date(year + 1, 1, 1)
        case [year, month]:
            start, end = date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
        case [year, month, day]:
            start = date(year, month, day)
            end = start + timedelta(days=1)
        case _:
            return _write_hour(numbers)
    suffix = "" if is_date else " 00:00:00"
    return f"{start}{suffix}", f"{end}{suffix}"


def _write_hour(numbers: Sequence[int]) -> tuple[str, str]:
    year, month, day, hour = numbers
    start = date(year, month, day)
    # The last hour of a day ends on the next day.
    end = start + timedelta(days=1) if hour == 23 else start  # noqa: PLR2004
    return f"{start} {hour:02}:00:00", f"{end} {(hour + 1) % 24:02}:00:00"
