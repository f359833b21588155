"""Types a condition against the columns of a table.

Refused is what Spark can only evaluate with a cast of the column: Iceberg cannot convert a cast to
a filter, so the job would fail. A cast of the constant, such as of '5' to a number, is legal: Spark
makes it once. What is not known is legal, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from re import compile as compile_regex
from typing import Final, TypeAlias, assert_never

from maintainer.domain.condition_tree import (
    Between,
    CastTo,
    Column,
    Compared,
    Computed,
    Condition,
    Constant,
    DateOf,
    Group,
    Joined,
    Listed,
    Not,
    Null,
    Number,
    Prefixed,
    Term,
    Text,
    Transformed,
    Truth,
    Typed,
)
from maintainer.domain.identifier import TableIdentifier

# The columns of a table: the path of each, and its type as in Iceberg's schema.
ColumnTypes: TypeAlias = tuple[tuple[tuple[str, ...], str], ...]
NESTED: Final = frozenset({"list", "map", "struct"})


class _Kind(StrEnum):
    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth value"
    TIME = "date or time"
    BYTES = "binary value"


_KINDS: Final[Mapping[str, _Kind]] = {
    "int": _Kind.NUMBER,
    "long": _Kind.NUMBER,
    "float": _Kind.NUMBER,
    "double": _Kind.NUMBER,
    "decimal": _Kind.NUMBER,
    "string": _Kind.TEXT,
    "uuid": _Kind.TEXT,
    "boolean": _Kind.TRUTH,
    "date": _Kind.TIME,
    "timestamp": _Kind.TIME,
    "timestamptz": _Kind.TIME,
    "timestamp_ns": _Kind.TIME,
    "timestamptz_ns": _Kind.TIME,
    "fixed": _Kind.BYTES,
    "binary": _Kind.BYTES,
}
# The kinds of Spark's types that are not numbers.
_CASTS: Final[Mapping[str, _Kind]] = {
    "BOOLEAN": _Kind.TRUTH,
    "STRING": _Kind.TEXT,
    "BINARY": _Kind.BYTES,
    "DATE": _Kind.TIME,
    "TIMESTAMP": _Kind.TIME,
    "TIMESTAMP_LTZ": _Kind.TIME,
    "TIMESTAMP_NTZ": _Kind.TIME,
}
# The texts that Spark can cast to a type; another text fails the job. Beside a text, Spark casts
# the column where its type is decimal.
_WHOLE: Final = compile_regex(r"\s*[+-]?\d+\s*")
_FRACTION: Final = compile_regex(
    r"(?i)\s*[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?[df]?|inf(inity)?|nan)\s*"
)
_TIME: Final = compile_regex(r"(?i)\s*([+-]?\d{4,7}(\D.*)?|(epoch|now|today|tomorrow|yester).*)")
_CASTABLE: Final = {
    "int": _WHOLE,
    "long": _WHOLE,
    "float": _FRACTION,
    "double": _FRACTION,
    "boolean": compile_regex(r"(?i)\s*(t|true|y|yes|1|f|false|n|no|0)\s*"),
    "date": _TIME,
    "timestamp": _TIME,
    "timestamptz": _TIME,
    "timestamp_ns": _TIME,
    "timestamptz_ns": _TIME,
    "fixed": compile_regex(r"(?s).*"),
    "binary": compile_regex(r"(?s).*"),
}
_MAX_SHOWN: Final = 40


def find_type_problem(
    tree: Condition, columns: ColumnTypes, table: TableIdentifier | None = None
) -> str | None:
    """What no table with these columns can answer, with the position; None if nothing is known.

    A column may have the name of its own table, with or without namespace and catalog, in front.
    """
    known: dict[tuple[str, ...], str] = {}
    for path, type_name in columns:
        lower = tuple(level.lower() for level in path)  # as Spark resolves names
        known[lower] = type_name if known.get(lower, type_name) == type_name else ""
    whole = () if table is None else (table.catalog, *table.namespace, table.name)
    names = tuple(level.lower() for level in whole)
    for start in range(len(names)):
        qualified = {(*names[start:], *path): type_name for path, type_name in known.items()}
        known = qualified | known
    return next(_find_problems(tree, known), None)


def _find_problems(tree: Condition, known: Mapping[tuple[str, ...], str]) -> Iterator[str]:
    match tree:
        case Joined(_, parts):
            for part in parts:
                yield from _find_problems(part, known)
        case Not(inner) | Group(inner):
            yield from _find_problems(inner, known)
        case Truth():
            return
        case Column():
            yield from _check(tree, [Truth(is_true=True)], known)
        case Null(term, _):
            yield from _find_column(_column_of(term), known)
        case Prefixed(term, _, _):
            yield from _check_prefix(term, known)
        case _:
            yield from _check(tree.term, _values_of(tree), known)


def _values_of(tree: Compared | Listed | Between) -> Sequence[Constant]:
    match tree:
        case Compared():
            return [tree.value]
        case Listed():
            return tree.values
        case Between():
            return [tree.low, tree.high]
        case _:  # pragma: no cover
            assert_never(tree)


def _column_of(term: Term) -> Column:
    return term if isinstance(term, Column) else term.column


def _check(
    term: Term, values: Iterable[Constant], known: Mapping[tuple[str, ...], str]
) -> Iterator[str]:
    column = _column_of(term)
    yield from _find_column(column, known)
    type_name = known.get(_path(column), "")
    if type_name in NESTED:
        yield f"compares {_place(column)}, which is a {type_name}, and no value"
    plain = _plain(type_name)
    if isinstance(term, DateOf) and _KINDS.get(plain, _Kind.TIME) is not _Kind.TIME:
        yield f"makes a date of {_place(column)}, which is a {type_name}"
    compared = _compared_type(term, plain)
    for value in values:
        if compared in _KINDS and not _fits(value, compared):
            yield (
                f"compares {_place(column)}, which is a {type_name}, with a "
                f"{_kind_of_constant(value)}; Iceberg has no filter for that"
            )


def _check_prefix(term: Term, known: Mapping[tuple[str, ...], str]) -> Iterator[str]:
    column = _column_of(term)
    yield from _find_column(column, known)
    type_name = known.get(_path(column), "")
    compared = _compared_type(term, _plain(type_name))
    if _KINDS.get(compared, _Kind.TEXT) is not _Kind.TEXT or compared in NESTED:
        yield f"looks for a prefix in {_place(column)}, which is a {type_name}"


def _plain(type_name: str) -> str:
    """The name of a type without its parameters."""
    return type_name.partition("(")[0].partition("[")[0]


def _find_column(column: Column, known: Mapping[tuple[str, ...], str]) -> Iterator[str]:
    path = _path(column)
    above = [known.get(path[:end]) for end in range(1, len(path))]
    if "list" in above or "map" in above:
        yield f"names {_place(column)}, which is inside of a list or a map"
    elif path not in known:
        yield f"names {_place(column)}, which the table does not have"


def _path(column: Column) -> tuple[str, ...]:
    return tuple(level.lower() for level, _ in column.levels)


def _place(column: Column) -> str:
    name = ".".join(level for level, _ in column.levels)
    shown = name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}…"
    return f"the column {shown} at character {column.at + 1}"


def _compared_type(term: Term, type_name: str) -> str:
    """The type of the column's side; empty where it is not known."""
    match term:
        case Column():
            return type_name
        case DateOf():
            return "date" if type_name else ""
        case Transformed(path, _, _):
            # The other transforms give numbers or dates, depending on Iceberg's version.
            return "int" if type_name and path[-1][0].lower() == "bucket" else ""
        case _:  # pragma: no cover
            assert_never(term)


def _fits(value: Constant, type_name: str) -> bool:
    """Whether Spark compares the constant with this type without a cast of the column."""
    if _kind_of_constant(value) is _KINDS[type_name]:
        return True
    castable = _CASTABLE.get(type_name)
    match value:
        case Text(pieces):
            return castable is not None and castable.fullmatch("".join(pieces)) is not None
        case CastTo(_, "STRING"):  # of which only Spark knows the text
            return castable is not None
        case _:
            return False


def _kind_of_constant(value: Constant) -> _Kind:
    match value:
        case Number() | Computed():
            return _Kind.NUMBER
        case Text():
            return _Kind.TEXT
        case Truth():
            return _Kind.TRUTH
        case Typed(type_name, _):
            return _Kind.BYTES if type_name == "X" else _Kind.TIME
        case CastTo(_, type_name):
            return _CASTS.get(type_name.upper(), _Kind.NUMBER)
        case _:  # the present date or time, and date arithmetic; no Enclosed stands alone
            return _Kind.TIME
