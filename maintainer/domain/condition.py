"""Names, values and conditions as Spark SQL. They come from strangers.

A condition of a policy or of a table property is one expression on the table's own columns
that cannot leave its brackets. The tokens are those of Spark's lexer, and everything that is not
known to be harmless is refused, because everybody who can write a table can write its properties,
and a condition runs with the maintainer's rights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from re import DOTALL, VERBOSE
from re import compile as compile_regex
from typing import Final

from maintainer.domain.errors import InvalidValueError

MAX_NAME_CHARACTERS: Final = 1_000  # of one level of a name
_LITERAL_ESCAPES: Final = {
    "\\": "\\\\",
    "'": "\\'",
    "$": "\\u0024",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\0": "\\u0000",
    "\x1a": "\\u001a",
}
MAX_CONDITION_CHARACTERS: Final = 10_000
MAX_CONDITION_DEPTH: Final = 50  # nested brackets, because Spark's parser is recursive

# Outside quotes only ASCII is allowed, and no number directly before a letter: Spark's lexer would
# split such tokens differently.
_TOKEN: Final = compile_regex(
    r"""
      (?P<blank>[ \t\r\n]+)
    | (?P<comment>--|/\*|\*/)
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<name>`(?:[^`]|``)+`)
    | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?
        (?:[lLsSyYfFdD]|[bB][dD])?(?![A-Za-z0-9_]))
    | (?P<raw>[rR]['"])
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<open>[(\[])
    | (?P<close>[)\]])
    | (?P<sign>::|[.,=<>!+\-*/%~&|^])
    """,
    VERBOSE | DOTALL,
)
_CLOSES: Final = {"(": ")", "[": "]"}
_QUOTES: Final = {"'", '"', "`"}

# Keywords that can begin or continue a query: SELECT, MAP and REDUCE (both run programs), FROM,
# TABLE, VALUES and WITH; then the keywords that join queries.
_QUERY_WORDS: Final = frozenset((
    "SELECT", "MAP", "REDUCE", "TRANSFORM", "USING", "FROM", "TABLE", "VALUES", "WITH", "UNION",
    "EXCEPT", "INTERSECT", "MINUS", "JOIN", "LATERAL",
))  # fmt: skip
_WORDS_BEFORE_BRACKETS: Final = frozenset((
    "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "ANY", "SOME", "ALL", "CASE",
    "WHEN", "THEN", "ELSE", "DIV", "INTERVAL", "ESCAPE",
    "DECIMAL", "DEC", "NUMERIC", "CHAR", "CHARACTER", "VARCHAR",  # types with a size
))  # fmt: skip
# Functions that depend only on their arguments and the time. Others may call any Java code,
# such as reflect() and java_method(), and anybody can define functions of a catalog.
CONDITION_FUNCTIONS: Final = frozenset((
    "abs", "add_months", "cast", "ceil", "ceiling", "coalesce", "concat", "contains", "curdate",
    "current_date", "current_timestamp", "date", "date_add", "date_diff", "date_format",
    "date_from_unix_date", "date_sub", "date_trunc", "dateadd", "datediff", "day", "dayofmonth",
    "dayofweek", "dayofyear", "endswith", "floor", "from_unixtime", "from_utc_timestamp",
    "greatest", "hour", "if", "ifnull", "isnan", "isnotnull", "isnull", "last_day", "least",
    "left", "length", "localtimestamp", "lower", "ltrim", "make_date", "make_timestamp",
    "minute", "mod", "month", "months_between", "next_day", "now", "nullif", "nvl", "pmod",
    "quarter", "replace", "right", "round", "rtrim", "second", "startswith", "substr",
    "substring", "timestamp", "timestamp_micros", "timestamp_millis", "timestamp_seconds",
    "timestampadd", "timestampdiff", "to_date", "to_timestamp", "to_timestamp_ntz",
    "to_utc_timestamp", "trim", "trunc", "try_cast", "try_to_timestamp", "unix_date",
    "unix_timestamp", "upper", "weekday", "weekofyear", "year",
))  # fmt: skip
# in the namespace `system` of each catalog
ICEBERG_FUNCTIONS: Final = frozenset(["bucket", "days", "hours", "months", "truncate", "years"])
_ICEBERG_NAMESPACE: Final = "system"
_ALLOWED: Final = (
    f"{', '.join(sorted(CONDITION_FUNCTIONS))}, and of a catalog's {_ICEBERG_NAMESPACE} "
    f"{', '.join(sorted(ICEBERG_FUNCTIONS))}"
)
_SHOWN_CHARACTERS: Final = 40


def quote_identifier(level: str) -> str:
    """One level of a name in backticks.

    InvalidValueError when it is empty, too long or not valid Unicode.
    """
    if not level or len(level) > MAX_NAME_CHARACTERS:
        raise InvalidValueError(
            f"name {level[:40]!r} has {len(level)} characters; a level has 1 to "
            f"{MAX_NAME_CHARACTERS}"
        )
    _refuse_surrogates(level)
    return "`" + level.replace("`", "``") + "`"


def quote_text(text: str) -> str:
    """A SQL string literal for Spark with spark.sql.parser.escapedStringLiterals=false.

    The driver sets this option. A dollar sign is escaped too: Spark would substitute ``${...}``
    anywhere in a statement.
    """
    _refuse_surrogates(text)
    return "'" + "".join(_LITERAL_ESCAPES.get(character, character) for character in text) + "'"


def _refuse_surrogates(text: str) -> None:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidValueError(
            f"text {text[:40]!r} holds half of a surrogate pair, which UTF-8 cannot carry"
        )


@dataclass(frozen=True, slots=True)
class Token:
    """A token of Spark's lexer."""

    kind: str
    text: str
    at: int  # position in characters, from 0

    @property
    def name(self) -> str:
        """The name that this token is, without backticks."""
        return self.text[1:-1].replace("``", "`") if self.kind == "name" else self.text


def check_condition(text: str, parts: int = 1) -> str | None:
    """Why Spark must not get this condition, with the position and the bound; None when it may.

    The bounds are those of a condition that is joined from this many parts.
    """
    if not text.strip() or len(text) > parts * MAX_CONDITION_CHARACTERS:
        return (
            f"has {len(text)} characters; it must have 1 to {parts * MAX_CONDITION_CHARACTERS} "
            f"that are not all blank"
        )
    if any("\ud800" <= character <= "\udfff" for character in text):
        return (
            f"is {_shorten(text)}, which holds half of a surrogate pair, which UTF-8 cannot carry"
        )
    tokens: list[Token] = []
    for token in read_tokens(text):
        if token.kind in {"comment", "raw", "unknown"}:
            return _describe_refused(token)
        tokens.append(token)
    return _check_words(tokens) or _check_brackets(tokens, parts * MAX_CONDITION_DEPTH)


def join_conditions(first: str, second: str) -> str:
    """Join both conditions with AND; InvalidValueError if one of them could leave its brackets."""
    return f"{enclose('condition', first, 2)} AND {enclose('condition', second)}"


def enclose(thing: str, text: str, parts: int = 1) -> str:
    """The condition in brackets, so that it cannot change the text around it.

    InvalidValueError, with the name of the thing, if that is impossible.
    """
    problem = check_condition(text, parts)
    if problem is not None:
        raise InvalidValueError(f"{thing} {problem}")
    return f"({text})"


def read_tokens(text: str) -> Iterator[Token]:
    """All tokens except blanks."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        token = (
            Token(str(match.lastgroup), match[0], at)
            if match is not None
            else Token("unknown", text[at], at)
        )
        if token.kind != "blank":
            yield token
        at += len(token.text)


def _describe_refused(token: Token) -> str:
    place = f"at character {token.at + 1}"
    if token.kind == "raw":
        return (
            f"holds a raw text ({token.text}) {place}; a text is written in plain quotes, a "
            f"backslash doubled"
        )
    if token.kind == "comment":
        return (
            f"holds a comment ({token.text}) {place}; a condition is one expression without "
            f"comments"
        )
    if token.text in _QUOTES:
        return f"holds a {token.text} {place} that is never closed, or closed at once"
    return (
        f"holds {token.text!r} {place}; outside of quotes there are words and numbers of ASCII, "
        f"operators, commas and brackets alone"
    )


def _check_words(tokens: Sequence[Token]) -> str | None:
    found = next(
        (token for token in tokens if token.kind == "word" and token.text.upper() in _QUERY_WORDS),
        None,
    )
    if found is None:
        return None
    return (
        f"holds {_shorten(found.text)} at character {found.at + 1}; a condition holds no query "
        f"(a column of that name is written in backticks)"
    )


def _check_brackets(tokens: Sequence[Token], deepest: int) -> str | None:
    awaited: list[str] = []
    for number, token in enumerate(tokens):
        place = f"at character {token.at + 1}"
        if token.kind == "open":
            awaited.append(_CLOSES[token.text])
            if len(awaited) > deepest:
                return f"has brackets {len(awaited)} deep {place}; they may be {deepest} deep"
            if token.text == "(" and not _may_open(tokens, number):
                called = _shorten(".".join(_path_before(tokens, number)) or tokens[number - 1].text)
                return f"calls {called} {place}; it may call {_ALLOWED}"
        elif token.kind == "close" and (not awaited or awaited.pop() != token.text):
            return (
                f"closes a bracket with {token.text} {place} that was not opened so; every "
                f"bracket is closed where it was opened, and none else"
            )
    return (
        f"has {len(awaited)} brackets that are never closed; 0 may be left open"
        if awaited
        else None
    )


def _may_open(tokens: Sequence[Token], number: int) -> bool:
    """True when the bracket groups, or encloses values or the arguments of an allowed function."""
    before = tokens[number - 1] if number else None
    if before is None or before.kind in {"sign", "open"}:
        return before is None or before.text != "."
    match _path_before(tokens, number):
        case [word] if before.kind == "word":
            return word.upper() in _WORDS_BEFORE_BRACKETS or word.lower() in CONDITION_FUNCTIONS
        case [*_, namespace, function]:
            return namespace.lower() == _ICEBERG_NAMESPACE and function.lower() in ICEBERG_FUNCTIONS
        case _:
            return False


def _path_before(tokens: Sequence[Token], number: int) -> list[str]:
    """The levels of the name that ends before this token; empty if no name ends there."""
    levels: list[str] = []
    at = number - 1
    while at >= 0 and tokens[at].kind in {"word", "name"}:
        levels.insert(0, tokens[at].name)
        if at == 0 or tokens[at - 1].text != ".":
            break
        at -= 2
    return levels


def _shorten(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…")
