"""The tree of a condition, and its text for Spark, which is written from the tree alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from maintainer.domain.condition_tokens import quote_identifier, quote_text

_TIME_UNITS = frozenset({"hour", "minute", "second", "millisecond", "microsecond"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column, level by level, each with whether it stands in backticks."""

    levels: tuple[tuple[str, bool], ...]
    at: int = field(compare=False)  # the position in the text, from 0


@dataclass(frozen=True, slots=True)
class Transformed:
    """A column under one of Iceberg's partition transforms; the path names the function."""

    path: tuple[tuple[str, bool], ...]
    parameter: int | None  # of bucket and truncate
    column: Column


@dataclass(frozen=True, slots=True)
class DateOf:
    """CAST(column AS DATE)."""

    column: Column


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its sign and the letters of its type, as Spark's lexer reads it."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text; Spark may join adjacent pieces, so they stay apart."""

    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """TRUE or FALSE."""

    is_true: bool


@dataclass(frozen=True, slots=True)
class Typed:
    """A literal with its type in front: DATE '2026-01-01', X'1F'."""

    type_name: str
    text: str


@dataclass(frozen=True, slots=True)
class Moment:
    """The present date or time; brackets stay as they were."""

    name: str
    has_brackets: bool


@dataclass(frozen=True, slots=True)
class Interval:
    """INTERVAL with its numbers and units."""

    parts: tuple[tuple[int, str], ...]
    is_quoted: bool  # the numbers are texts

    @property
    def has_time(self) -> bool:
        return any(unit.lower().removesuffix("s") in _TIME_UNITS for _, unit in self.parts)


@dataclass(frozen=True, slots=True)
class Shifted:
    """A date or time plus or minus days or an interval."""

    base: Constant
    sign: str
    by: Constant | Interval  # a constant is a number of days


@dataclass(frozen=True, slots=True)
class Computed:
    """Arithmetic with numbers, in the order of the text: Spark applies the precedence."""

    left: Constant
    operator: str
    right: Constant


@dataclass(frozen=True, slots=True)
class Enclosed:
    """Brackets around arithmetic that is a part of other arithmetic."""

    inner: Shifted | Computed


@dataclass(frozen=True, slots=True)
class DateCall:
    """One of the functions of date arithmetic, on constants."""

    function: str
    arguments: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class CastTo:
    """CAST of a literal."""

    value: Constant
    type_name: str


Constant: TypeAlias = (
    Number | Text | Truth | Typed | Moment | Shifted | Computed | Enclosed | DateCall | CastTo
)
Term: TypeAlias = Column | Transformed | DateOf


@dataclass(frozen=True, slots=True)
class Compared:
    """A column and a constant, with a comparison operator."""

    term: Term
    operator: str
    value: Constant
    is_turned: bool = False  # the constant is on the left


@dataclass(frozen=True, slots=True)
class Listed:
    """[NOT] IN."""

    term: Term
    values: tuple[Constant, ...]
    is_negated: bool


@dataclass(frozen=True, slots=True)
class Between:
    """[NOT] BETWEEN."""

    term: Term
    low: Constant
    high: Constant
    is_negated: bool


@dataclass(frozen=True, slots=True)
class Prefixed:
    """[NOT] LIKE with a pattern that is a prefix."""

    term: Term
    prefix: str
    is_negated: bool


@dataclass(frozen=True, slots=True)
class Null:
    """IS [NOT] NULL."""

    term: Term
    is_negated: bool


@dataclass(frozen=True, slots=True)
class Not:
    """NOT."""

    inner: Condition


@dataclass(frozen=True, slots=True)
class Group:
    """Brackets."""

    inner: Condition


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions that are joined by AND or by OR."""

    word: str
    parts: tuple[Condition, ...]


Condition: TypeAlias = (
    Compared | Listed | Between | Prefixed | Null | Column | Truth | Not | Group | Joined
)


def write_condition(tree: Condition) -> str:
    """The condition as Spark SQL."""
    match tree:
        case Joined(word, parts):
            return f" {word} ".join(map(write_condition, parts))
        case Not(inner):
            return f"NOT {write_condition(inner)}"
        case Group(inner):
            return f"({write_condition(inner)})"
        case Compared(term, operator, value, is_turned):
            sides = [write_term(term), operator, write_constant(value)]
            return " ".join(reversed(sides) if is_turned else sides)
        case Column():
            return write_term(tree)
        case Truth():
            return write_constant(tree)
        case Null(term, is_negated):
            return f"{write_term(term)} IS {'NOT ' * is_negated}NULL"
        case _:
            return f"{write_term(tree.term)} {'NOT ' * tree.is_negated}{_write_range(tree)}"


def _write_range(tree: Listed | Between | Prefixed) -> str:
    match tree:
        case Listed():
            return f"IN ({', '.join(map(write_constant, tree.values))})"
        case Between():
            return f"BETWEEN {write_constant(tree.low)} AND {write_constant(tree.high)}"
        case Prefixed():
            return f"LIKE {quote_text(tree.prefix + '%')}"
        case _:  # pragma: no cover
            assert_never(tree)


def write_term(term: Term) -> str:
    """The column's side of a comparison as Spark SQL."""
    match term:
        case Column():
            return _write_path(term.levels)
        case DateOf():
            return f"CAST({write_term(term.column)} AS DATE)"
        case Transformed():
            given = "" if term.parameter is None else f"{term.parameter}, "
            return f"{_write_path(term.path)}({given}{write_term(term.column)})"
        case _:  # pragma: no cover
            assert_never(term)


def _write_path(levels: tuple[tuple[str, bool], ...]) -> str:
    return ".".join(quote_identifier(level) if is_quoted else level for level, is_quoted in levels)


def write_constant(value: Constant) -> str:
    """The constant as Spark SQL."""
    match value:
        case Number():
            return value.text
        case Text():
            return "".join(map(quote_text, value.pieces))
        case Truth():
            return str(value.is_true).lower()
        case Typed():
            blank = "" if value.type_name == "X" else " "
            return f"{value.type_name}{blank}'{value.text}'"
        case Moment():
            return f"{value.name}{'()' * value.has_brackets}"
        case Shifted() | Computed() | Enclosed():
            return _write_arithmetic(value)
        case DateCall():
            return f"{value.function}({', '.join(map(write_constant, value.arguments))})"
        case CastTo():
            return f"CAST({write_constant(value.value)} AS {value.type_name})"
        case _:  # pragma: no cover
            assert_never(value)


def _write_arithmetic(value: Shifted | Computed | Enclosed) -> str:
    match value:
        case Shifted(base, sign, by):
            added = _write_interval(by) if isinstance(by, Interval) else write_constant(by)
            return f"{write_constant(base)} {sign} {added}"
        case Computed(left, operator, right):
            return f"{write_constant(left)} {operator} {write_constant(right)}"
        case Enclosed(inner):
            return f"({write_constant(inner)})"
        case _:  # pragma: no cover
            assert_never(value)


def _write_interval(interval: Interval) -> str:
    quote = "'" * interval.is_quoted
    return "INTERVAL " + " ".join(
        f"{quote}{number}{quote} {unit}" for number, unit in interval.parts
    )
