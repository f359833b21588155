"""Conditions of policies, table properties and requests. They come from strangers.

A condition is a small language: comparisons of columns with constants, joined by AND, OR and NOT.
It is parsed, and written anew for Spark from its tree, because everybody who can write a table can
write its properties, and a condition runs with the maintainer's rights. Spark would evaluate any
expression of constants in the driver that all jobs share.
"""

from __future__ import annotations

from typing import Final

from maintainer.domain.condition_constants import RefusedError
from maintainer.domain.condition_parser import parse
from maintainer.domain.condition_tokens import Token, read_tokens
from maintainer.domain.condition_tree import Condition, write_condition
from maintainer.domain.errors import InvalidValueError

MAX_CONDITION_CHARACTERS: Final = 10_000
MAX_CONDITION_DEPTH: Final = 50  # nested brackets, NOT and calls: Spark's parser is recursive
_QUOTES: Final = {"'", '"', "`"}

# Keywords that can begin or continue a query: SELECT, MAP and REDUCE (both run programs), FROM,
# TABLE, VALUES and WITH; then the keywords that join queries.
_QUERY_WORDS: Final = frozenset((
    "SELECT", "MAP", "REDUCE", "TRANSFORM", "USING", "FROM", "TABLE", "VALUES", "WITH", "UNION",
    "EXCEPT", "INTERSECT", "MINUS", "JOIN", "LATERAL",
))  # fmt: skip
_SHOWN_CHARACTERS: Final = 40


def check_condition(text: str, parts: int = 1) -> str | None:
    """Why Spark must not get this condition, with the position and the bound; None when it may.

    The bounds are those of a condition that is joined from this many parts.
    """
    try:
        parse_condition(text, parts)
    except RefusedError as refused:
        return str(refused)
    return None


def parse_condition(text: str, parts: int = 1) -> Condition:
    """The tree of a condition; RefusedError says why there is none."""
    if not text.strip() or len(text) > parts * MAX_CONDITION_CHARACTERS:
        raise RefusedError(
            f"has {len(text)} characters; it must have 1 to {parts * MAX_CONDITION_CHARACTERS} "
            f"that are not all blank"
        )
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise RefusedError(
            f"is {_shorten(text)}, which holds half of a surrogate pair, which UTF-8 cannot carry"
        )
    tokens: list[Token] = []
    for token in read_tokens(text):
        if token.kind in {"comment", "raw", "unknown"}:
            raise RefusedError(_describe_refused(token))
        if token.kind == "word" and token.text.upper() in _QUERY_WORDS:
            raise RefusedError(
                f"holds {_shorten(token.text)} at character {token.at + 1}; a condition holds no "
                f"query (a column of that name is written in backticks)"
            )
        tokens.append(token)
    return parse(tokens, parts * MAX_CONDITION_DEPTH)


def rewrite_condition(thing: str, text: str, parts: int = 1) -> str:
    """The condition, written anew from its tree; InvalidValueError, with the name of the thing."""
    try:
        return write_condition(parse_condition(text, parts))
    except RefusedError as refused:
        raise InvalidValueError(f"{thing} {refused}") from None


def join_conditions(first: str, second: str) -> str:
    """Join both conditions with AND, as they are; InvalidValueError if one is no condition."""
    for text, parts in ((first, 2), (second, 1)):
        problem = check_condition(text, parts)
        if problem is not None:
            raise InvalidValueError(f"condition {problem}")
    return f"({first}) AND ({second})"


def enclose(thing: str, text: str, parts: int = 1) -> str:
    """The condition in brackets, written anew; InvalidValueError with the name of the thing."""
    return f"({rewrite_condition(thing, text, parts)})"


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


def _shorten(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…")
