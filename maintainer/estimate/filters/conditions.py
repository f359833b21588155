"""The parts of a condition that can be evaluated without Spark.

These are comparisons of a column with known values, joined by AND.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from re import compile as compile_regex
from typing import Final

from maintainer.domain.condition import check_condition
from maintainer.domain.condition_tokens import Token, read_tokens
from maintainer.domain.units import read_whole

_NUMBER: Final = compile_regex(r"(\d{1,38}(\.\d{0,38})?)[lL]?")
_UNITS: Final[Mapping[str, timedelta]] = {
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
}
_MOST_OF_A_UNIT: Final = 1_000_000
_TODAY: Final = frozenset({"current_date", "curdate"})
_NOW: Final = frozenset({"current_timestamp", "now"})


class Kind(StrEnum):
    """The kind of a value."""

    NUMBER = "number"
    TEXT = "text"
    DATE = "date"  # a literal with a type: DATE '...'
    TIMESTAMP = "timestamp"  # a literal with a type; without a zone, in the session's zone
    TIMESTAMP_NTZ = "timestamp_ntz"
    TODAY = "today"  # with an offset
    NOW = "now"  # with an offset


@dataclass(frozen=True, slots=True)
class Value:
    """One side of a comparison."""

    kind: Kind
    text: str = ""
    number: Decimal = Decimal(0)
    offset: timedelta = timedelta(0)


class Operator(StrEnum):
    """The comparison operator. IN takes several values, the last two take none."""

    EQUAL = "="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    IN = "in"
    IS_NULL = "is null"
    IS_NOT_NULL = "is not null"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column, level by level in lower case, with operator and values."""

    column: tuple[str, ...]
    operator: Operator
    values: tuple[Value, ...] = ()


_COMPARING: Final[Mapping[str, Operator]] = {
    operator.value: operator for operator in Operator if operator.value[0] in "=<>"
}
_TURNED: Final[Mapping[Operator, Operator]] = {
    Operator.EQUAL: Operator.EQUAL,
    Operator.LESS: Operator.GREATER,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.GREATER: Operator.LESS,
    Operator.AT_LEAST: Operator.AT_MOST,
}


def read_conjuncts(text: str) -> tuple[Comparison | None, ...]:
    """The conjuncts of a condition; None for each that cannot be evaluated here.

    No condition is refused here: a part that must not reach Spark is None too.
    """
    return tuple(_read_all(list(read_tokens(text)))) if check_condition(text) is None else (None,)


def _read_all(tokens: Sequence[Token]) -> Iterator[Comparison | None]:
    parts = _split(tokens)
    for part in parts if parts is not None else ():
        inner = _find_inner(part)
        yield from _read_all(inner) if inner is not None else _read_part(part)
    if parts is None:
        yield None


def _split(tokens: Sequence[Token]) -> list[Sequence[Token]] | None:
    """Split at each AND that is outside brackets and does not belong to a BETWEEN.

    None when the parts are joined by anything but AND.
    """
    parts: list[Sequence[Token]] = []
    depth, start, is_between = 0, 0, False
    for number, token in enumerate(tokens):
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        word = token.text.upper() if token.kind == "word" and depth == 0 else ""
        if word in {"OR", "NOT"} and not (word == "NOT" and _text(tokens, number - 1) == "IS"):
            return None
        if word == "BETWEEN":
            is_between = True
        elif word == "AND" and is_between:
            is_between = False
        elif word == "AND":
            parts.append(tokens[start:number])
            start = number + 1
    return [*parts, tokens[start:]]


def _text(tokens: Sequence[Token], number: int) -> str:
    return tokens[number].text.upper() if 0 <= number < len(tokens) else ""


def _find_inner(part: Sequence[Token]) -> Sequence[Token] | None:
    """The tokens inside brackets that enclose the whole part."""
    depth = 0
    for token in part[:-1]:
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        if depth == 0:
            return None
    return part[1:-1] if part[0].text == "(" else None


def _read_part(part: Sequence[Token]) -> Iterator[Comparison | None]:
    column, rest = _read_column(part)
    if not column:
        yield _read_turned(part)
        return
    words = [token.text.upper() for token in rest]
    match words:
        case ["IS", "NULL"]:
            yield Comparison(column, Operator.IS_NULL)
        case ["IS", "NOT", "NULL"]:
            yield Comparison(column, Operator.IS_NOT_NULL)
        case ["IN", "(", *_, ")"]:
            values = [_read_value(item) for item in _split_list(rest[2:-1])]
            known = tuple(value for value in values if value is not None)
            yield Comparison(column, Operator.IN, known) if len(known) == len(values) else None
        case ["BETWEEN", *_] if "AND" in words:
            middle = words.index("AND")
            yield _compare(column, Operator.AT_LEAST, _read_value(rest[1:middle]))
            yield _compare(column, Operator.AT_MOST, _read_value(rest[middle + 1 :]))
        case _:
            operator, value = _read_operator(rest)
            yield _compare(column, operator, _read_value(value))


def _compare(
    column: tuple[str, ...], operator: Operator | None, value: Value | None
) -> Comparison | None:
    return (
        Comparison(column, operator, (value,))
        if operator is not None and value is not None
        else None
    )


def _read_turned(part: Sequence[Token]) -> Comparison | None:
    """A comparison with the value first and the column second."""
    for number, token in enumerate(part):
        if token.kind == "sign" and token.text in _COMPARING:
            operator, rest = _read_operator(part[number:])
            column, left = _read_column(rest)
            return (
                _compare(column, _TURNED[operator], _read_value(part[:number]))
                if operator is not None and column and not left
                else None
            )
    return None


def _read_operator(tokens: Sequence[Token]) -> tuple[Operator | None, Sequence[Token]]:
    """The operator from the longest run of signs, and the remaining tokens.

    Spark has no other operators that begin with one of these.
    """
    signs = 0
    while signs < len(tokens) and tokens[signs].kind == "sign" and tokens[signs].text in "<>=!":
        signs += 1
    return _COMPARING.get("".join(token.text for token in tokens[:signs])), tokens[signs:]


def _read_column(tokens: Sequence[Token]) -> tuple[tuple[str, ...], Sequence[Token]]:
    """The column name at the start of the tokens, and the remaining tokens.

    The name is empty when the tokens begin with a value or a call.
    """
    levels: list[str] = []
    at = 0
    while at < len(tokens) and tokens[at].kind in {"word", "name"}:
        levels.append(tokens[at].name.lower())
        at += 1
        if _text(tokens, at) != ".":
            break
        at += 1
    is_value = len(tokens) > at and tokens[at].kind in {"open", "text"}
    if is_value or (len(levels) == 1 and tokens[0].kind == "word" and levels[0] in _TODAY | _NOW):
        return (), tokens
    return tuple(levels), tokens[at:]


def _split_list(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    items: list[Sequence[Token]] = []
    start, depth = 0, 0
    for number, token in enumerate(tokens):
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        if token.text == "," and depth == 0:
            items.append(tokens[start:number])
            start = number + 1
    return [*items, tokens[start:]]


def _read_value(tokens: Sequence[Token]) -> Value | None:
    """A literal, or today or now with an offset; None for anything else."""
    kinds, words = [token.kind for token in tokens], [token.text.lower() for token in tokens]
    match kinds:
        case ["number"]:
            return _read_number(words[0], 1)
        case ["sign", "number"] if words[0] == "-":
            return _read_number(words[1], -1)
        case ["text"]:
            return _read_text(Kind.TEXT, tokens[0])
        case ["word", "text"] if words[0] in {Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ}:
            return _read_text(Kind(words[0]), tokens[1])
        case _:
            return _read_moment(words, tokens)


def _read_number(text: str, sign: int) -> Value | None:
    found = _NUMBER.fullmatch(text)
    return Value(Kind.NUMBER, number=sign * Decimal(found[1])) if found is not None else None


def _read_text(kind: Kind, token: Token) -> Value | None:
    """Plain texts only: Spark's settings decide what a backslash or double quotes mean."""
    return (
        Value(kind, token.text[1:-1]) if token.text[0] == "'" and "\\" not in token.text else None
    )


def _read_moment(words: Sequence[str], tokens: Sequence[Token]) -> Value | None:
    match list(words):
        case [function, "(", *called, ",", days, ")"] if function in {"date_add", "date_sub"}:
            base, offset = _read_base(called), _read_offset([days], tokens[-2:-1])
            sign = 1 if function == "date_add" else -1
            return (
                Value(Kind.TODAY, offset=sign * offset)
                if base is Kind.TODAY and offset is not None
                else None
            )
    end = 3 if words[1:3] == ["(", ")"] else 1
    base = _read_base(words[:end])
    if base is None or len(words) == end:
        return Value(base) if base is not None else None
    offset = _read_offset(words[end + 1 :], tokens[end + 1 :])
    if (
        words[end] not in {"+", "-"}
        or offset is None
        or (base is Kind.NOW and words[end + 1] != "interval")
    ):
        return None
    is_whole = not offset % timedelta(days=1)
    return (
        Value(base, offset=offset if words[end] == "+" else -offset)
        if base is Kind.NOW or is_whole
        else None
    )


def _read_base(words: Sequence[str]) -> Kind | None:
    match list(words):
        case [word] | [word, "(", ")"] if word in _TODAY:
            return Kind.TODAY
        case ["current_timestamp"] | [("now" | "current_timestamp"), "(", ")"]:
            return Kind.NOW
        case _:
            return None


def _read_offset(words: Sequence[str], tokens: Sequence[Token]) -> timedelta | None:
    """An offset in days, or an interval with one unit."""
    match list(words):
        case [days]:
            return _span(days, "day")
        case ["interval", number, unit] if unit.removesuffix("s") in _UNITS:
            plain = number.strip("'") if tokens[1].kind == "text" else number
            return _span(plain, unit.removesuffix("s"))
        case _:
            return None


def _span(text: str, unit: str) -> timedelta | None:
    number = read_whole(text)
    return number * _UNITS[unit] if number is not None and number <= _MOST_OF_A_UNIT else None
