"""How many files of a partition a policy's own filter selects, from the partition's values.

Iceberg projects the filter onto each file's own partition spec. A comparison with a source column
of the spec excludes the partition, takes all of it, or takes a part. For a part, and for
comparisons with other columns, the column bounds of each file decide; they are not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from re import compile as compile_regex
from typing import Any, Final, TypeAlias

from maintainer.domain.inventory import PartitionField, PartitionSpec, read_partition
from maintainer.estimate.filters.conditions import Comparison, Kind, Operator, Value, read_conjuncts
from maintainer.estimate.filters.filter_writer import write_boundaries

_Range: TypeAlias = tuple[Any, Any]  # the least and the greatest value, of one ordered type

# The range of time zones: a session's time differs from UTC by at most this much.
_EARLIEST_ZONE, _LATEST_ZONE = timedelta(hours=-12), timedelta(hours=14)
# the longest time from the decision to the statement; at its start a job is decided again
_UNTIL_IT_RUNS = timedelta(hours=1)
_LONGEST_DAY = timedelta(hours=25)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DATE: Final = compile_regex(r"\d{4}-\d\d-\d\d")
_MOMENT: Final = compile_regex(
    r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d(?:\.\d{1,6})?))?( ?(?:UTC|Z|\+00:00))?"
)
_PERIODS: Final = frozenset({"year", "month", "day", "hour"})
_TIMES: Final = frozenset({"date", "timestamp", "timestamptz"})
_LAST_OFF: Final = "1970-01-01-00"


class Taken(StrEnum):
    """The files of a partition that a filter selects."""

    NONE = "none"
    SOME = "some"  # unknown: all, some or none
    ALL = "all"


@dataclass(frozen=True, slots=True)
class PartitionFilter:
    """A policy's own filter. Without a filter all files are selected."""

    conjuncts: tuple[Comparison | None, ...] = ()
    now: datetime | None = None  # None: conditions on today's date cannot be evaluated
    specs: Mapping[int, PartitionSpec] = field(default_factory=dict)

    @classmethod
    def read(
        cls, where: str | None, now: datetime | None, specs: Iterable[PartitionSpec]
    ) -> PartitionFilter:
        """Read the filter of a policy for a table with these specs."""
        return (
            cls(read_conjuncts(where), now, {spec.spec_id: spec for spec in specs})
            if where
            else cls()
        )

    def take(self, spec_id: int, partition: str) -> Taken:
        """How many files of one partition, given by its text, the filter selects."""
        if not self.conjuncts:
            return Taken.ALL
        spec = self.specs.get(spec_id)
        values = read_partition(partition, spec) if spec is not None else None
        if spec is None or values is None:
            return Taken.SOME
        found = {_take(conjunct, spec, values, self.now) for conjunct in self.conjuncts}
        return (
            Taken.NONE if Taken.NONE in found else Taken.SOME if Taken.SOME in found else Taken.ALL
        )


def _take(
    conjunct: Comparison | None,
    spec: PartitionSpec,
    values: Mapping[str, str | None],
    now: datetime | None,
) -> Taken:
    """How many files of a partition one conjunct selects.

    It checks all fields made from the column: one that excludes or includes the whole partition
    decides.
    """
    if conjunct is None:
        return Taken.SOME
    fields = [
        one
        for one in spec.fields
        if one.transform != "void"
        and tuple(level.lower() for level in one.column) == conjunct.column
    ]
    found = {_take_by_field(conjunct, one, values[one.name], now) for one in fields}
    return Taken.NONE if Taken.NONE in found else Taken.ALL if Taken.ALL in found else Taken.SOME


def _take_by_field(
    conjunct: Comparison, by: PartitionField, text: str | None, now: datetime | None
) -> Taken:
    if conjunct.operator in {Operator.IS_NULL, Operator.IS_NOT_NULL}:
        return (
            Taken.ALL if (text is None) is (conjunct.operator is Operator.IS_NULL) else Taken.NONE
        )
    if text is None:
        return Taken.NONE  # a null matches no comparison
    held = _read_range(by, text)
    found = (
        {
            _compare(conjunct.operator, held, _bound(value, by.type_name, now))
            for value in conjunct.values
        }
        if held is not None
        else {Taken.SOME}
    )
    if Taken.ALL in found:
        return Taken.ALL
    # Iceberg's periods before 1970 may be wrong by one, as in its first versions. So Iceberg also
    # takes the neighbouring periods.
    is_off = by.transform in _PERIODS and text <= _LAST_OFF[: len(text)]
    return Taken.NONE if found == {Taken.NONE} and not is_off else Taken.SOME


def _compare(operator: Operator, held: _Range, bounds: _Range | None) -> Taken:
    """Compare a partition's range with a value that lies within its bounds."""
    if bounds is None:
        return Taken.SOME
    (least, greatest), (low, high) = held, bounds
    match operator:
        case Operator.LESS:
            is_none, is_all = least >= high, greatest < low
        case Operator.AT_MOST:
            is_none, is_all = least > high, greatest <= low
        case Operator.GREATER:
            is_none, is_all = greatest <= low, least > high
        case Operator.AT_LEAST:
            is_none, is_all = greatest < low, least >= high
        case _:
            is_none, is_all = greatest < low or least > high, least == greatest == low == high
    return Taken.NONE if is_none else Taken.ALL if is_all else Taken.SOME


def _read_range(by: PartitionField, text: str) -> _Range | None:
    """The least and greatest column value in the partition; None when unknown."""
    try:
        if by.transform in _PERIODS:
            start, end = write_boundaries(text, is_date=by.type_name == "date")
            return (_count(start), _count(end) - 1) if by.type_name in _TIMES else None
        return (
            (value, value)
            if by.transform == "identity"
            and (value := _read_single(by.type_name, text)) is not None
            else None
        )
    except (ValueError, OverflowError, ArithmeticError):
        return None


def _read_single(type_name: str, text: str) -> int | Decimal | str | None:
    match type_name:
        case "string":
            return text
        case "int" | "long":
            return int(text)
        case "date" | "timestamp" | "timestamptz":
            return _count(text)
        case _:
            return Decimal(text) if type_name.startswith("decimal(") else None


def _count(text: str) -> int:
    """Days for a date, microseconds for a time.

    ValueError when the text is neither.
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no date and no time")
    day = date.fromisoformat(found[1])
    return (
        day.toordinal()
        if found[2] is None
        else _count_moment(datetime.fromisoformat(f"{found[1]}T{found[2]}").replace(tzinfo=UTC))
    )


def _count_moment(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _bound(value: Value, type_name: str, now: datetime | None) -> _Range | None:
    """The bounds of the value in the column's type.

    None where Spark would cast the value or the column.
    """
    try:
        match type_name:
            case "string":
                return (value.text, value.text) if value.kind is Kind.TEXT else None
            case "date":
                return _bound_date(value, now)
            case "timestamp" | "timestamptz":
                return _bound_moment(value, now, is_zoned=type_name == "timestamptz")
            case _:
                return (value.number, value.number) if value.kind is Kind.NUMBER else None
    except (ValueError, OverflowError):
        return None


def _bound_date(value: Value, now: datetime | None) -> _Range | None:
    if value.kind is Kind.TODAY and now is not None:
        days = [
            (now + zone + value.offset).toordinal()
            for zone in (_EARLIEST_ZONE, _LATEST_ZONE + _UNTIL_IT_RUNS)
        ]
        return days[0], days[1]
    if value.kind in {Kind.DATE, Kind.TEXT} and _DATE.fullmatch(value.text):
        return _count(value.text), _count(value.text)
    return None


def _bound_moment(value: Value, now: datetime | None, *, is_zoned: bool) -> _Range | None:
    if value.kind in {Kind.NOW, Kind.TODAY}:
        return _bound_now(value, now) if is_zoned and now is not None else None
    found = _MOMENT.fullmatch(value.text)
    is_other = value.kind is Kind.NUMBER or value.kind is (
        Kind.TIMESTAMP_NTZ if is_zoned else Kind.TIMESTAMP
    )
    if found is None or is_other or (found[3] is not None and not is_zoned):
        return None
    moment = datetime.fromisoformat(f"{found[1]}T{found[2] or '00:00:00'}").replace(tzinfo=UTC)
    is_exact = not is_zoned or found[3] is not None
    return (
        _count_moment(moment - (timedelta(0) if is_exact else _LATEST_ZONE)),
        _count_moment(moment - (timedelta(0) if is_exact else _EARLIEST_ZONE)),
    )


def _bound_now(value: Value, now: datetime) -> _Range:
    """Bounds for today's start, which depends on the session's time zone: within the last day."""
    earliest = now + value.offset - (_LONGEST_DAY if value.kind is Kind.TODAY else timedelta(0))
    return _count_moment(earliest), _count_moment(now + value.offset + _UNTIL_IT_RUNS)
